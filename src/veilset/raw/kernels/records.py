"""Rows as records: items replaced by places in a tree, and each different row once, with its number of copies."""

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import inlined, inner, kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number without pattern: 2^64 over the golden ratio
_HALF = np.uint64(32)


@kernel
def placed(offsets: Int64Array, items: Int32Array, places: Int32Array) -> tuple[Int64Array, Int32Array]:
    """Every row with places instead of items, ascending; items of place -1 are left out."""
    new_offsets = np.zeros(offsets.size, np.int64)
    new_items = np.empty(offsets[-1] - offsets[0], np.int32)
    end = 0
    for row in range(offsets.size - 1):
        start = end
        for i in range(offsets[row], offsets[row + 1]):
            place = places[items[i]]
            if place >= 0:
                j = end
                while j > start and new_items[j - 1] > place:
                    new_items[j] = new_items[j - 1]
                    j -= 1
                new_items[j] = place
                end += 1
        new_offsets[row + 1] = end
    return new_offsets, new_items[:end].copy()


@kernel
def distinct(
    offsets: Int64Array, items: Int32Array, times: Int64Array
) -> tuple[Int64Array, Int32Array, Int64Array]:
    """The different rows that hold anything, in the order in which they first come, and how often each comes.

    Row r itself stands for `times[r]` rows.
    """
    rows = offsets.size - 1
    slots = 1
    while slots < 2 * rows:
        slots *= 2
    slot_of_last = np.uint64(slots - 1)
    found = np.full(slots, -1, np.int64)  # open addressing: the number of the distinct row in each slot
    first_row = np.empty(rows, np.int64)
    copies = np.empty(rows, np.int64)
    number = 0
    length = 0
    for row in range(rows):
        start, end = offsets[row], offsets[row + 1]
        if start == end:
            continue
        slot = np.int64(_mixed(items, start, end) & slot_of_last)
        while found[slot] >= 0 and not _is_same(offsets, items, first_row[found[slot]], row):
            slot = (slot + 1) & (slots - 1)
        if found[slot] < 0:
            found[slot] = number
            first_row[number] = row
            copies[number] = 0
            number += 1
            length += end - start
        copies[found[slot]] += times[row]
    new_offsets, new_items = _taken_rows(offsets, items, first_row[:number], length)
    return new_offsets, new_items, copies[:number].copy()


@inlined
def _mixed(items: Int32Array, start: int, end: int) -> np.uint64:
    """Well mixed bits of a row, the same for the same items."""
    mixed = np.uint64(0)
    for i in range(start, end):
        mixed = (mixed ^ np.uint64(items[i])) * _MIX
        mixed ^= mixed >> _HALF
    return mixed


@inlined
def _is_same(offsets: Int64Array, items: Int32Array, one: int, other: int) -> bool:
    """Whether two rows hold the same items."""
    start, length = offsets[one], offsets[one + 1] - offsets[one]
    other_start = offsets[other]
    same = offsets[other + 1] - other_start == length
    i = 0
    while same and i < length:
        same = items[start + i] == items[other_start + i]
        i += 1
    return bool(same)


@inner
def _taken_rows(
    offsets: Int64Array, items: Int32Array, chosen: Int64Array, length: int
) -> tuple[Int64Array, Int32Array]:
    """The chosen rows, which hold `length` items together."""
    new_offsets = np.zeros(chosen.size + 1, np.int64)
    new_items = np.empty(length, np.int32)
    for k in range(chosen.size):
        start, end = offsets[chosen[k]], offsets[chosen[k] + 1]
        new_items[new_offsets[k] : new_offsets[k] + end - start] = items[start:end]
        new_offsets[k + 1] = new_offsets[k] + end - start
    return new_offsets, new_items
