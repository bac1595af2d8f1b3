"""How many of some itemsets each row contains, and counts in which a row that contains many weighs less for each.

Rows come as one bitmap for each item (see `vertical`), itemsets by the numbers of the chosen items.
"""

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint64Array
from veilset.raw.kernels import inlined, kernel
from veilset.raw.kernels.popcount import popcount


@inlined
def _set_common(bitmaps: Uint64Array, itemset: Int32Array, common: Uint64Array) -> None:
    """The rows that hold all items of an itemset."""
    first = bitmaps[itemset[0]]
    for word in range(common.size):
        common[word] = first[word]
    for place in range(1, itemset.size):
        other = bitmaps[itemset[place]]
        for word in range(common.size):
            common[word] &= other[word]


@inlined
def _lowest_bit(word: np.uint64) -> int:
    """The place of the lowest bit that is set."""
    return popcount((word & (~word + np.uint64(1))) - np.uint64(1))


@kernel
def count_contained(
    bitmaps: Uint64Array, rows: int, set_offsets: Int64Array, set_items: Int32Array
) -> Int64Array:
    """How many of the itemsets each row contains. No itemset may be empty."""
    contained = np.zeros(rows, np.int64)
    common = np.empty(bitmaps.shape[1], np.uint64)
    for i in range(set_offsets.size - 1):
        _set_common(bitmaps, set_items[set_offsets[i] : set_offsets[i + 1]], common)
        for word in range(common.size):
            left = common[word]
            while left != np.uint64(0):
                contained[(word << 6) + _lowest_bit(left)] += 1
                left &= left - np.uint64(1)
    return contained


@kernel
def add_capped(
    bitmaps: Uint64Array,
    weights: Int64Array,
    set_offsets: Int64Array,
    set_items: Int32Array,
    totals: Int64Array,
) -> None:
    """Add to each total the weights of the rows that contain an itemset. No itemset may be empty."""
    common = np.empty(bitmaps.shape[1], np.uint64)
    for i in range(set_offsets.size - 1):
        _set_common(bitmaps, set_items[set_offsets[i] : set_offsets[i + 1]], common)
        total = np.int64(0)
        for word in range(common.size):
            left = common[word]
            while left != np.uint64(0):
                total += weights[(word << 6) + _lowest_bit(left)]
                left &= left - np.uint64(1)
        totals[i] += total
