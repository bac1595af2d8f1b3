"""How many of some itemsets each row contains, and counts in which a row that contains many weighs less for each.

Rows come as one bitmap for each item (see `vertical`), itemsets by the numbers of the chosen items. Numbers of rows
are kept in planes: bit r of plane p is bit p of the number of row r. So 64 rows are added at once, by logic alone:
three bits of a weight make one bit of the same weight and one of twice that.
"""

import numpy as np

from veilset.arrays import BoolArray, Int32Array, Int64Array, Uint64Array
from veilset.raw.kernels import inner, kernel
from veilset.raw.kernels.popcount import popcount

_ONE = np.uint64(1)


@kernel
def count_contained(
    bitmaps: Uint64Array, rows: int, set_offsets: Int64Array, set_items: Int32Array
) -> Int64Array:
    """How many of the itemsets each row contains. No itemset may be empty."""
    words = (rows + 63) // 64
    levels = 1
    while (1 << levels) < set_offsets.size:
        levels += 1
    planes = np.zeros((levels, words), np.uint64)
    waiting = np.empty((levels, words), np.uint64)
    is_waiting = np.zeros(levels, np.bool_)
    common = np.empty(words, np.uint64)
    for i in range(set_offsets.size - 1):
        _set_common(bitmaps, set_items[set_offsets[i] : set_offsets[i + 1]], common)
        _add_one_bit(planes, waiting, is_waiting, common)
    for level in range(levels):
        if is_waiting[level]:
            _ripple(planes, level, waiting[level])
    return _numbers_of(planes, rows)


@kernel
def add_weighted(
    bitmaps: Uint64Array,
    contained: Int64Array,
    weights: Int64Array,
    set_offsets: Int64Array,
    set_items: Int32Array,
    totals: Int64Array,
) -> None:
    """Add to each total the weights of the rows that contain an itemset: `weights[n]` where a row contains n of them.

    No itemset may be empty, no weight negative. Most rows weigh what a row that contains one itemset weighs: they are
    counted. The others are brought together, and counted once for each bit of their weights.
    """
    whole = weights[min(1, weights.size - 1)]
    light, heavy = _by_weight(contained, weights, whole, bitmaps.shape[1])
    heavy_bitmaps = _brought_together(bitmaps, heavy, set_items)
    weight_planes = _planes_of(weights, contained, heavy, heavy_bitmaps.shape[1])
    common = np.empty(bitmaps.shape[1], np.uint64)
    heavy_common = np.empty(heavy_bitmaps.shape[1], np.uint64)
    for i in range(set_offsets.size - 1):
        itemset = set_items[set_offsets[i] : set_offsets[i + 1]]
        _set_common(bitmaps, itemset, common)
        totals[i] += whole * _both(common, light)
        if heavy.size > 0:
            _set_common(heavy_bitmaps, itemset, heavy_common)
            for bit in range(weight_planes.shape[0]):
                totals[i] += _both(heavy_common, weight_planes[bit]) << bit


@inner
def _set_common(bitmaps: Uint64Array, itemset: Int32Array, common: Uint64Array) -> None:
    """The rows that hold all items of an itemset."""
    first = bitmaps[itemset[0]]
    for word in range(common.size):
        common[word] = first[word]
    for place in range(1, itemset.size):
        other = bitmaps[itemset[place]]
        for word in range(common.size):
            common[word] &= other[word]


@inner
def _both(left: Uint64Array, right: Uint64Array) -> np.int64:
    """How many rows are in both."""
    number = np.int64(0)
    for word in range(left.size):
        number += popcount(left[word] & right[word])
    return number


@inner
def _add_one_bit(planes: Uint64Array, waiting: Uint64Array, is_waiting: BoolArray, bits: Uint64Array) -> None:
    """Add 1 to the numbers of the rows whose bit is set; spoils the bits.

    Bits of a weight wait until there are two to go into their plane, so that half as many go on to the next.
    """
    level = 0
    while is_waiting[level]:
        plane, other = planes[level], waiting[level]
        for word in range(bits.size):
            differ = plane[word] ^ other[word]
            carry = (plane[word] & other[word]) | (differ & bits[word])
            plane[word] = differ ^ bits[word]
            bits[word] = carry
        is_waiting[level] = False
        level += 1
    for word in range(bits.size):
        waiting[level, word] = bits[word]
    is_waiting[level] = True


@inner
def _ripple(planes: Uint64Array, first: int, bits: Uint64Array) -> None:
    """Add bits to the plane `first`, and what is carried to those after it; spoils the bits."""
    for level in range(first, planes.shape[0]):
        plane = planes[level]
        for word in range(bits.size):
            carry = plane[word] & bits[word]
            plane[word] ^= bits[word]
            bits[word] = carry


@inner
def _numbers_of(planes: Uint64Array, rows: int) -> Int64Array:
    """The number of each row, from all planes."""
    numbers = np.zeros(planes.shape[1] << 6, np.int64)
    for level in range(planes.shape[0]):
        for word in range(planes.shape[1]):
            plane = planes[level, word]
            if plane != np.uint64(0):
                of_word = numbers[word << 6 : (word + 1) << 6]
                for row in range(64):
                    of_word[row] += np.int64((plane >> np.uint64(row)) & _ONE) << level
    return numbers[:rows]


@inner
def _by_weight(
    contained: Int64Array, weights: Int64Array, whole: int, words: int
) -> tuple[Uint64Array, Int64Array]:
    """A bitmap of the rows that weigh `whole`, and a list of the other rows that contain any itemset."""
    light = np.zeros(words, np.uint64)
    heavy = np.empty(contained.size, np.int64)
    number = 0
    for row in range(contained.size):
        is_light = weights[contained[row]] == whole
        light[row >> 6] |= np.uint64(is_light) << np.uint64(row & 63)
        heavy[number] = row
        number += contained[row] > 0 and not is_light
    return light, heavy[:number]


@inner
def _brought_together(bitmaps: Uint64Array, rows: Int64Array, items: Int32Array) -> Uint64Array:
    """Bitmaps of the listed rows alone, for these items; those of other items stay empty."""
    together = np.zeros((bitmaps.shape[0], (rows.size + 63) // 64), np.uint64)
    is_done = np.zeros(bitmaps.shape[0], np.bool_)
    for item in items:
        if not is_done[item]:
            is_done[item] = True
            for place in range(rows.size):
                bit = (bitmaps[item, rows[place] >> 6] >> np.uint64(rows[place] & 63)) & _ONE
                together[item, place >> 6] |= bit << np.uint64(place & 63)
    return together


@inner
def _planes_of(weights: Int64Array, contained: Int64Array, rows: Int64Array, words: int) -> Uint64Array:
    """The weights of the listed rows, as planes."""
    largest = np.int64(0)
    for row in rows:
        largest = max(largest, weights[contained[row]])
    levels = 0
    while largest >> levels > 0:
        levels += 1
    planes = np.zeros((levels, words), np.uint64)
    for place in range(rows.size):
        weight = np.uint64(weights[contained[rows[place]]])
        for level in range(levels):
            planes[level, place >> 6] |= ((weight >> np.uint64(level)) & _ONE) << np.uint64(place & 63)
    return planes
