"""Bitmaps of chosen items for all rows, block by block: a block's bitmaps stay in the cache while they are used.

`bitmaps[b, p]` tells which rows of block b hold the item of place p (as in `vertical`: all other items share the last
place, whose bits say nothing). A call takes some blocks, and adds what their rows contribute.
"""

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint16Array, Uint64Array
from veilset.raw.kernels import inner, kernel
from veilset.raw.kernels.containment import add_weighted, count_contained
from veilset.raw.kernels.supports import add_supports
from veilset.raw.kernels.vertical import Vertical, count_bits


@kernel
def fill_blocks(
    offsets: Int64Array, items: Int32Array, places: Int32Array, bitmaps: Uint64Array, counts: Int64Array
) -> None:
    """Set bit r of `bitmaps[block, places[item]]` for every item of every row r of each block, and count them."""
    rows_in_a_block = bitmaps.shape[2] << 6
    for block in range(bitmaps.shape[0]):
        of_block = bitmaps[block]
        first = block * rows_in_a_block
        for row in range(first, min(first + rows_in_a_block, offsets.size - 1)):
            word, bit = (row - first) >> 6, np.uint64(1) << np.uint64(row & 63)
            for i in range(offsets[row], offsets[row + 1]):
                of_block[places[items[i]], word] |= bit
        counts[block] = count_bits(of_block)


@kernel
def add_block_supports(
    bitmaps: Uint64Array,
    counts: Int64Array,
    rows: int,
    set_offsets: Int64Array,
    set_items: Int32Array,
    totals: Int64Array,
) -> None:
    """Add to each total how many of the rows hold all of an itemset (see `supports`)."""
    slots = np.arange(bitmaps.shape[1])
    starts, lists = np.zeros(slots.size, np.int64), np.empty(0, np.int32)
    for block in range(bitmaps.shape[0]):
        turned = Vertical(counts[block], slots, bitmaps[block], starts, lists)
        add_supports(turned, _rows_of(bitmaps, rows, block), set_offsets, set_items, totals)


@kernel
def set_contained(
    bitmaps: Uint64Array, set_offsets: Int64Array, set_items: Int32Array, contained: Uint16Array
) -> None:
    """Set how many of the itemsets each row contains; 0 behind the last row."""
    for block in range(bitmaps.shape[0]):
        contained[block] = count_contained(bitmaps[block], contained.shape[1], set_offsets, set_items)


@kernel
def add_contained(contained: Uint16Array, rows: int, totals: Int64Array) -> None:
    """Add 1 to `totals[n]` for each row that contains n itemsets; the last total takes larger n as well."""
    numbers, last = contained.reshape(-1), totals.size - 1
    for row in range(rows):
        totals[min(last, int(numbers[row]))] += 1


@kernel
def add_block_weights(
    bitmaps: Uint64Array,
    contained: Uint16Array,
    rows: int,
    weights: Int64Array,
    set_offsets: Int64Array,
    set_items: Int32Array,
    totals: Int64Array,
) -> None:
    """Add to each total `weights[n]` for each row that contains an itemset, and n of them in all."""
    for block in range(bitmaps.shape[0]):
        numbers = contained[block, : _rows_of(bitmaps, rows, block)].astype(np.int64)
        add_weighted(bitmaps[block], numbers, weights, set_offsets, set_items, totals)


@inner
def _rows_of(bitmaps: Uint64Array, rows: int, block: int) -> int:
    """How many of the rows are in a block; the last one may be shorter than the others."""
    rows_in_a_block = bitmaps.shape[2] << 6
    return int(min(rows_in_a_block, rows - block * rows_in_a_block))
