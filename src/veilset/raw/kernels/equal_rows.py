"""Rows that hold the same items: which class each belongs to, and its number within the class.

Row r is `items[offsets[r]:offsets[r + 1]]`. Rows are compared item by item: no two different rows share a class.
"""

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint32Array, Uint64Array
from veilset.raw.kernels import inlined, kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number without pattern: 2^64 over the golden ratio


@kernel
def number_equal_rows(
    offsets: Int64Array, items: Int32Array, longer_than: int
) -> tuple[Int32Array, Uint32Array]:
    """The first row of each row's class, and how many rows of its class stand before it.

    Only rows of more than `longer_than` items are looked at; the others are numbered 0, each in a class of its own.
    There must be fewer than 2^31 rows.
    """
    rows = offsets.size - 1
    firsts = np.empty(rows, np.int32)
    numbers = np.zeros(rows, np.uint32)
    looked_at = 0
    for row in range(rows):
        firsts[row] = row
        looked_at += offsets[row + 1] - offsets[row] > longer_than
    slots = 4
    while slots < 2 * looked_at:
        slots *= 2
    last_slot = np.uint64(slots - 1)
    found = np.full(slots, -1, np.int32)  # open addressing: the first row of the class in each slot
    marks = np.empty(
        slots, np.uint32
    )  # of that class: most other rows differ here, and need not be looked at
    members = np.zeros(rows, np.uint32)  # of the class whose first row this is
    for row in range(rows):
        start, end = offsets[row], offsets[row + 1]
        if end - start <= longer_than:
            continue
        mixed = _mixed(items, start, end)
        mark = np.uint32(mixed >> np.uint64(32))
        slot = mixed & last_slot
        while found[slot] >= 0 and not (
            marks[slot] == mark and _is_same(offsets, items, np.int64(found[slot]), row)
        ):
            slot = (slot + np.uint64(1)) & last_slot
        if found[slot] < 0:
            found[slot] = row
            marks[slot] = mark
        first = found[slot]
        firsts[row] = first
        numbers[row] = members[first]
        members[first] += np.uint32(1)
    return firsts, numbers


@inlined
def _mixed(items: Int32Array, start: int, end: int) -> np.uint64:
    """Well mixed bits of a row, the same for the same items."""
    mixed = np.uint64(end - start)
    for i in range(start, end):
        mixed = (mixed ^ np.uint64(items[i])) * _MIX
        mixed ^= mixed >> np.uint64(29)
    return mixed


@inlined
def _is_same(offsets: Int64Array, items: Int32Array, one: np.int64, other: int) -> bool:
    """Whether two rows hold the same items."""
    start, length = offsets[one], offsets[one + 1] - offsets[one]
    other_start = offsets[other]
    same = offsets[other + 1] - other_start == length
    i = 0
    while same and i < length:
        same = items[start + i] == items[other_start + i]
        i += 1
    return bool(same)


@kernel
def mix_rows(offsets: Int64Array, items: Int32Array, mixed: Uint64Array) -> None:
    """Write well mixed bits of each row, the same for the same items."""
    for row in range(offsets.size - 1):
        mixed[row] = _mixed(items, offsets[row], offsets[row + 1])


@kernel
def rows_in_buckets(
    offsets: Int64Array, mixed: Uint64Array, longer_than: int, bits: int
) -> tuple[Int64Array, Int32Array, Uint64Array]:
    """The rows of more than `longer_than` items by the uppermost bits of what was mixed of them, in their order.

    Those of bucket b stand from the b-th bound to the next; what was mixed of them stands in the same order.
    """
    shift = np.uint64(64 - bits)
    bounds = np.zeros((1 << bits) + 1, np.int64)
    for row in range(mixed.size):
        if offsets[row + 1] - offsets[row] > longer_than:
            bounds[np.int64(mixed[row] >> shift) + 1] += 1
    for bucket in range(1 << bits):
        bounds[bucket + 1] += bounds[bucket]
    ends = bounds[:-1].copy()
    rows = np.empty(bounds[-1], np.int32)
    mixed_of_rows = np.empty(bounds[-1], np.uint64)
    for row in range(mixed.size):
        if offsets[row + 1] - offsets[row] > longer_than:
            its_bucket = np.int64(mixed[row] >> shift)
            rows[ends[its_bucket]] = row
            mixed_of_rows[ends[its_bucket]] = mixed[row]
            ends[its_bucket] += 1
    return bounds, rows, mixed_of_rows


@kernel
def number_bucket(
    offsets: Int64Array, items: Int32Array, mixed: Uint64Array, rows: Int32Array, numbers: Uint32Array
) -> None:
    """Write, for some rows, how many of those before a row among them are equal to it; `mixed[i]` is of `rows[i]`."""
    slots = 4
    while slots < 2 * rows.size:
        slots *= 2
    last_slot = np.uint64(slots - 1)
    found = np.full(
        slots, -1, np.int32
    )  # open addressing: the place of the first row of the class in each slot
    marks = np.empty(slots, np.uint32)
    members = np.zeros(rows.size, np.uint32)  # of the class whose first row this is
    for place in range(rows.size):
        row = int(rows[place])
        mark = np.uint32(mixed[place] >> np.uint64(24))
        slot = mixed[place] & last_slot
        while found[slot] >= 0 and not (
            marks[slot] == mark and _is_same(offsets, items, np.int64(rows[found[slot]]), row)
        ):
            slot = (slot + np.uint64(1)) & last_slot
        if found[slot] < 0:
            found[slot] = place
            marks[slot] = mark
        numbers[row] = members[found[slot]]
        members[found[slot]] += np.uint32(1)
