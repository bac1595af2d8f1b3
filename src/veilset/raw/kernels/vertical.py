"""Rows turned on their side: for each chosen item, the rows that hold it, as a bitmap or as a list.

Callers number the items that they choose 0, 1, ..., chosen - 1 and hand in `places`: `places[code]` is the
number of an item, and `chosen` for all others. Other items thus have a place, too, and what lands there is
thrown away: a store is cheaper than a branch that the processor cannot predict.

Measured (benchmarks/counting.py, AMD EPYC with AVX-512): to AND and count a word of two bitmaps takes 0.1 ns,
to look up one row of a list in a bitmap about 1 ns, with 10 ns to start either. So a bitmap pays for items
that more than one in 1,000 rows hold. To set a bit takes half as long as to append to a list, which makes
bitmaps for all the best choice as long as they stay in the cache: 4 MiB, or 1,000 items of 32,768 rows.
"""

from typing import NamedTuple

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint64Array
from veilset.raw.kernels import kernel
from veilset.raw.kernels.popcount import popcount

ROWS_FOR_A_BIT = 1_000
"""An item gets a bitmap if at least 1 in 1,000 rows holds it."""

CACHED_WORDS = 1 << 19
"""2^19 words of bitmaps, 4 MiB, stay in the cache."""


class Vertical(NamedTuple):
    """The rows that hold each chosen item: number i stands in `counts[i]` rows.

    They are the set bits of `bitmaps[slots[i]]`, or, where `slots[i]` is -1, `lists[starts[i]:][:counts[i]]`,
    ascending.
    """

    counts: Int64Array
    slots: Int64Array
    bitmaps: Uint64Array
    starts: Int64Array
    lists: Int32Array


def turn(offsets: Int64Array, items: Int32Array, places: Int32Array, chosen: int) -> Vertical:
    """The rows of each chosen item, in the form that suits how many items and how many rows there are."""
    turn_to = turn_to_bitmaps if bitmaps_fit(offsets.size - 1, chosen) else turn_to_lists
    return turn_to(offsets, items, places, chosen)


def bitmaps_fit(rows: int, chosen: int) -> bool:
    """Whether bitmaps of all chosen items stay in the cache."""
    return chosen * _words_for(rows) <= CACHED_WORDS


def turn_to_bitmaps(offsets: Int64Array, items: Int32Array, places: Int32Array, chosen: int) -> Vertical:
    """A bitmap for each chosen item."""
    bitmaps = np.zeros((chosen + 1, _words_for(offsets.size - 1)), np.uint64)
    set_bits(offsets, items, places, bitmaps)
    counts = count_bits(bitmaps[:chosen])
    return Vertical(counts, np.arange(chosen), bitmaps, np.zeros(chosen, np.int64), np.empty(0, np.int32))


def turn_to_lists(offsets: Int64Array, items: Int32Array, places: Int32Array, chosen: int) -> Vertical:
    """A list of rows for each chosen item, and a bitmap for those that many rows hold."""
    rows = offsets.size - 1
    counts = np.zeros(chosen + 1, np.int64)
    count_places(offsets, items, places, counts)
    ends = np.cumsum(counts)
    starts = ends - counts
    lists = np.empty(starts[chosen] + 1, np.int32)
    append_rows(offsets, items, places, starts.copy(), lists)

    has_bitmap = counts[:chosen] * ROWS_FOR_A_BIT >= rows
    bitmaps = np.zeros((np.count_nonzero(has_bitmap), _words_for(rows)), np.uint64)
    set_bits_of_lists(starts, lists, np.flatnonzero(has_bitmap), bitmaps)
    slots = np.where(has_bitmap, np.cumsum(has_bitmap) - 1, -1)
    return Vertical(counts[:chosen], slots, bitmaps, starts[:chosen], lists)


def _words_for(rows: int) -> int:
    return (rows + 63) // 64


@kernel
def count_places(offsets: Int64Array, items: Int32Array, places: Int32Array, counts: Int64Array) -> None:
    """Add 1 to `counts[places[item]]` for every item of every row."""
    for i in range(offsets[0], offsets[-1]):
        counts[places[items[i]]] += 1


@kernel
def set_bits(offsets: Int64Array, items: Int32Array, places: Int32Array, bitmaps: Uint64Array) -> None:
    """Set bit r of `bitmaps[places[item]]` for every item of every row r."""
    for row in range(offsets.size - 1):
        word, bit = row >> 6, np.uint64(1) << np.uint64(row & 63)
        for i in range(offsets[row], offsets[row + 1]):
            bitmaps[places[items[i]], word] |= bit


@kernel
def count_bits(bitmaps: Uint64Array) -> Int64Array:
    """How many bits of each bitmap are set."""
    counts = np.zeros(bitmaps.shape[0], np.int64)
    for slot in range(counts.size):
        bitmap = bitmaps[slot]
        for word in range(bitmap.size):
            counts[slot] += popcount(bitmap[word])
    return counts


@kernel
def append_rows(
    offsets: Int64Array, items: Int32Array, places: Int32Array, ends: Int64Array, lists: Int32Array
) -> None:
    """Append every row to the lists of its items: list p grows at `ends[p]`; the last place does not grow."""
    last = ends.size - 1
    for row in range(offsets.size - 1):
        for i in range(offsets[row], offsets[row + 1]):
            place = places[items[i]]
            lists[ends[place]] = row
            ends[place] += place < last


@kernel
def set_bits_of_lists(
    starts: Int64Array, lists: Int32Array, chosen: Int64Array, bitmaps: Uint64Array
) -> None:
    """Set in bitmap s the rows of list `chosen[s]`."""
    for slot in range(chosen.size):
        bitmap = bitmaps[slot]
        for i in range(starts[chosen[slot]], starts[chosen[slot] + 1]):
            bitmap[lists[i] >> 6] |= np.uint64(1) << np.uint64(lists[i] & 63)
