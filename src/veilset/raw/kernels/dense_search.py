"""Depth-first search for rows that hold much of the items: over bitmaps of them, or over a table of all supports."""

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint64Array
from veilset.raw.kernels import kernel
from veilset.raw.kernels.popcount import popcount
from veilset.raw.kernels.projection import END, Projection
from veilset.raw.kernels.search_state import NUMBER, SUPPORT_FLOOR, FoundItemsets, Search, record, with_room


@kernel
def bitmaps_of(rows: Projection, n_items: int) -> Uint64Array:
    """Which rows hold each item: bit r % 64 of word r // 64 stands for row r."""
    bitmaps = np.zeros((n_items, (rows.n_rows + 63) // 64), np.uint64)
    row = 0
    for item in rows.flat:
        if item == END:
            row += 1
        else:
            bitmaps[item, row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    return bitmaps


@kernel
def search_dense(
    found: FoundItemsets,
    search: Search,
    size: int,
    nodes: Int64Array,
    items: Int32Array,
    bitmaps: Uint64Array,
    table: Int64Array,
    longest: int,
) -> FoundItemsets:
    """Record what extends some itemsets of `size` items that differ in their last item alone.

    Itemset i ends in `items[i]`, was recorded as `nodes[i]` and is extended by the items after i. Supports are read
    from the table of all sets, or counted in bitmaps where it is empty; no row holds more than `longest` items. Level 0
    of the search is the given itemsets, and `members[level]` are those that it goes through now, `shared[level]` tells
    what they share, `covers[level]` the rows that hold it.
    """
    n_items, n_words = bitmaps.shape
    has_table = table.size > 0
    deepest = min(longest, search.max_size - size)
    covers = np.empty((deepest + 1, n_words), np.uint64)
    for word in range(n_words):
        covers[0, word] = ~np.uint64(0)
    shared = np.zeros(deepest + 1, np.int64)
    members = np.empty((deepest + 1, n_items), np.int64)
    member_nodes = np.empty((deepest + 1, n_items), np.int64)
    width = np.empty(deepest + 1, np.int64)
    left = np.empty(deepest + 1, np.int64)
    for item in range(n_items):  # assigned as a whole, they would take a second more to compile
        members[0, item] = item
        member_nodes[0, item] = nodes[item]
    width[0], left[0] = n_items, n_items - 1
    level = 0
    while level >= 0:
        left[level] -= 1
        at = left[level]
        if at < 0:
            level -= 1
            continue
        node = member_nodes[level, at]
        is_worth_it = found.supports[node] >= search.progress[SUPPORT_FLOOR]
        if not is_worth_it or size + level + width[level] - 1 - at < search.min_size:
            continue
        shared[level + 1] = shared[level] | 1 << members[level, at]
        for word in range(n_words):
            covers[level + 1, word] = covers[level, word] & bitmaps[members[level, at], word]
        found = with_room(found, search, width[level] - at)
        n_next = 0
        for other in range(at + 1, width[level]):
            item = members[level, other]
            if has_table:
                support = table[shared[level + 1] | 1 << item]
            else:
                support = count_common(covers, level + 1, bitmaps, item)
            if support >= search.progress[SUPPORT_FLOOR]:
                members[level + 1, n_next] = item
                member_nodes[level + 1, n_next] = search.progress[NUMBER]
                n_next += 1
                record(found, search, node, items[item], support, size + level + 1)
        if n_next >= 2 and level + 1 < deepest:
            level += 1
            width[level] = n_next
            left[level] = n_next - 1
    return found


@kernel
def count_common(covers: Uint64Array, level: int, bitmaps: Uint64Array, item: int) -> int:
    """How many rows the cover of a level and an item's bitmap share."""
    support = 0
    for word in range(bitmaps.shape[1]):
        support += popcount(covers[level, word] & bitmaps[item, word])
    return support
