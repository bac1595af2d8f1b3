"""Rows that hold the same items: which class each belongs to, and its number within the class.

Row r is `items[offsets[r]:offsets[r + 1]]`. Rows are compared item by item: no two different rows share a class.
"""

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint32Array
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
