"""Marks on the items of each row that a truncation keeps, and the rows of what is marked.

Row r is `items[offsets[r]:offsets[r + 1]]`. A mark speaks of the item that stands as far from the first mark
as the item stands from the first row: `items[offsets[0] + i]` is kept where `keep[i]`.
"""

import numpy as np

from veilset.arrays import BoolArray, Int32Array, Int64Array, Uint32Array
from veilset.raw.kernels import inner, kernel


@kernel
def mark_short(offsets: Int64Array, limit: int) -> BoolArray:
    """Mark all items of the rows that hold at most `limit`, none of the others."""
    first = offsets[0]
    keep = np.empty(offsets[-1] - first, np.bool_)
    for row in range(offsets.size - 1):
        is_short = offsets[row + 1] - offsets[row] <= limit
        for i in range(offsets[row] - first, offsets[row + 1] - first):
            keep[i] = is_short
    return keep


@kernel
def mark_smallest_keys(offsets: Int64Array, keys: Uint32Array, limit: int) -> BoolArray:
    """Mark the `limit` items of smallest key in every longer row, and all items of the others.

    Only longer rows use up keys: one for each of their items, in order.
    """
    first = offsets[0]
    keep = np.ones(offsets[-1] - first, np.bool_)
    heap = np.empty(min(limit, keep.size), np.int64)
    used = np.int64(0)
    for row in range(offsets.size - 1):
        length = offsets[row + 1] - offsets[row]
        if length <= limit:
            continue
        for i in range(length):
            _offer(heap, i, np.int64(keys[used + i]) << 31 | i)
        largest = heap[0]
        for i in range(length):
            keep[offsets[row] - first + i] = (np.int64(keys[used + i]) << 31 | i) <= largest
        used += length
    return keep


@kernel
def mark_best_ranks(offsets: Int64Array, items: Int32Array, rank: Int64Array, limit: int) -> BoolArray:
    """Mark the `limit` items of smallest rank in every longer row, and all items of the others."""
    first = offsets[0]
    keep = np.ones(offsets[-1] - first, np.bool_)
    heap = np.empty(min(limit, keep.size), np.int64)
    for row in range(offsets.size - 1):
        start, length = offsets[row], offsets[row + 1] - offsets[row]
        if length <= limit:
            continue
        for i in range(length):
            _offer(heap, i, rank[items[start + i]] << 31 | i)
        largest = heap[0]
        for i in range(length):
            keep[start - first + i] = (rank[items[start + i]] << 31 | i) <= largest
    return keep


@inner
def _offer(heap: Int64Array, held: int, value: np.int64) -> None:
    """Put a value into the heap of the smallest seen so far; `held` values were offered before.

    The largest of them stands at the top, where a smaller newcomer takes its place. Values differ: the
    callers append the place in the row to the key, so that equal keys go to the item that comes first.
    """
    if held < heap.size:
        child = held
        while child > 0 and heap[(child - 1) >> 1] < value:
            heap[child] = heap[(child - 1) >> 1]
            child = (child - 1) >> 1
        heap[child] = value
    elif value < heap[0]:
        parent, child = 0, 1
        while child < heap.size:
            if child + 1 < heap.size and heap[child + 1] > heap[child]:
                child += 1
            if heap[child] <= value:
                break
            heap[parent] = heap[child]
            parent, child = child, 2 * child + 1
        heap[parent] = value


@kernel
def mark_chosen(offsets: Int64Array, items: Int32Array, is_chosen: BoolArray) -> BoolArray:
    """Mark the chosen items; a code beyond `is_chosen` is not chosen."""
    first = offsets[0]
    keep = np.empty(offsets[-1] - first, np.bool_)
    for i in range(keep.size):
        item = items[first + i]
        keep[i] = item < is_chosen.size and is_chosen[item]
    return keep


@kernel
def keep_marked(offsets: Int64Array, items: Int32Array, keep: BoolArray) -> tuple[Int64Array, Int32Array]:
    """The rows less the items that are not marked; their offsets start at 0."""
    first = offsets[0]
    number = np.int64(0)
    for is_kept in keep:
        number += is_kept
    kept_offsets = np.zeros(offsets.size, np.int64)
    kept_items = np.empty(number + 1, np.int32)
    kept = np.int64(0)
    for row in range(offsets.size - 1):
        for i in range(offsets[row], offsets[row + 1]):
            kept_items[kept] = items[i]  # stays only where `kept` moves on: no branch to mispredict
            kept += keep[i - first]
        kept_offsets[row + 1] = kept
    return kept_offsets, kept_items[:kept]
