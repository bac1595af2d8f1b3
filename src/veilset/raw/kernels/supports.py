"""Supports of itemsets, from the rows of each item (see `vertical`)."""

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint64Array
from veilset.raw.kernels import inner, kernel
from veilset.raw.kernels.popcount import popcount
from veilset.raw.kernels.vertical import Vertical


@kernel
def add_supports(
    vertical: Vertical, rows: int, set_offsets: Int64Array, set_items: Int32Array, totals: Int64Array
) -> None:
    """Add to each total how many of the rows hold all of an itemset.

    Itemset i is `set_items[set_offsets[i]:set_offsets[i + 1]]`, in the numbers of the chosen items. The empty
    one is in all rows. Itemsets in lexicographic order share the work for common beginnings.
    """
    largest = 0
    for i in range(totals.size):
        largest = max(largest, set_offsets[i + 1] - set_offsets[i])
    common = np.empty((max(largest - 2, 0), vertical.bitmaps.shape[1]), np.uint64)
    common_items = np.full(largest, -1, np.int32)
    found = np.empty(rows, np.int32)

    for i in range(totals.size):
        itemset = set_items[set_offsets[i] : set_offsets[i + 1]]
        if itemset.size == 0:
            totals[i] += rows
            continue
        rarest = itemset[0]
        for item in itemset:
            if vertical.counts[item] < vertical.counts[rarest]:
                rarest = item
        if itemset.size == 1 or vertical.counts[rarest] == 0:
            totals[i] += vertical.counts[rarest]
        elif vertical.slots[rarest] >= 0:  # then the others have a bitmap, too
            totals[i] += _support_by_bitmaps(vertical, itemset, common, common_items)
        else:
            totals[i] += _support_by_lists(vertical, itemset, rarest, found)


@inner
def _support_by_bitmaps(
    vertical: Vertical,
    itemset: Int32Array,
    common: Uint64Array,
    common_items: Int32Array,
) -> np.int64:
    """Rows that hold two or more items: AND the bitmaps, count the bits.

    `common[d]` holds the AND of the d + 2 items with which `common_items` begins, from an earlier call.
    """
    before_last = itemset.size - 1
    same = 0
    while same < before_last and common_items[same] == itemset[same]:
        same += 1
    if same < before_last:
        for d in range(same, common_items.size):
            common_items[d] = itemset[d] if d < before_last else -1

    left = vertical.bitmaps[vertical.slots[itemset[0]]]
    for d in range(1, before_last):
        both = common[d - 1]
        if d >= same:
            right = vertical.bitmaps[vertical.slots[itemset[d]]]
            for word in range(both.size):
                both[word] = left[word] & right[word]
        left = both

    right = vertical.bitmaps[vertical.slots[itemset[before_last]]]
    support = np.int64(0)
    for word in range(left.size):
        support += popcount(left[word] & right[word])
    return support


@inner
def _support_by_lists(vertical: Vertical, itemset: Int32Array, rarest: int, found: Int32Array) -> np.int64:
    """Rows that hold all items: start from the list of the rarest, keep what the others hold as well."""
    left: np.int64 = vertical.counts[rarest]
    for i in range(left):
        found[i] = vertical.lists[vertical.starts[rarest] + i]
    for item in itemset:
        if item == rarest:
            continue
        if vertical.slots[item] >= 0:
            left = _keep_set(found[:left], vertical.bitmaps[vertical.slots[item]])
        else:
            start, end = vertical.starts[item], vertical.starts[item] + vertical.counts[item]
            left = _keep_listed(found[:left], vertical.lists[start:end])
    return left


@inner
def _keep_set(found: Int32Array, bitmap: Uint64Array) -> np.int64:
    """Move the rows whose bit is set to the front; returns how many there are."""
    kept = np.int64(0)
    for row in found:
        found[kept] = row
        kept += np.int64(bitmap[row >> 6] >> np.uint64(row & 63)) & 1
    return kept


@inner
def _keep_listed(found: Int32Array, listed: Int32Array) -> np.int64:
    """Move the rows that are listed, too, to the front; both ascend. Returns how many there are."""
    kept = i = np.int64(0)
    for row in found:
        while i < listed.size and listed[i] < row:
            i += 1
        if i == listed.size:
            break
        if listed[i] == row:
            found[kept] = row
            kept += 1
    return kept
