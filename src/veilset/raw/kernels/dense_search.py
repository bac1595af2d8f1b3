"""Depth-first search for rows that hold much of the items: over bitmaps of them, or over a table of all supports."""

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint64Array
from veilset.raw.kernels import inner
from veilset.raw.kernels.popcount import popcount
from veilset.raw.kernels.projection import END, Projection
from veilset.raw.kernels.search_state import NUMBER, SUPPORT_FLOOR, FoundItemsets, Search, record, with_room


@inner
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


@inner
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
    what they share, `covers[level]` the rows that hold it. An item is perfect if all of these rows hold it: with
    it, supports are what they are without it, and need not be counted.
    """
    n_items, n_words = bitmaps.shape
    has_table = table.size > 0
    deepest = min(longest, search.max_size - size)
    covers = np.empty((deepest + 1, n_words), np.uint64)
    for word in range(n_words):
        covers[0, word] = ~np.uint64(0)
    n_covers = 1
    shared = np.zeros(deepest + 1, np.int64)
    members = np.empty((deepest + 1, n_items), np.int64)
    member_nodes = np.empty((deepest + 1, n_items), np.int64)
    is_perfect = np.zeros((deepest + 1, n_items), np.bool_)
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
        node, others = member_nodes[level, at], width[level] - 1 - at
        own = found.supports[node]
        if own < search.progress[SUPPORT_FLOOR] or size + level + others < search.min_size:
            continue
        shared[level + 1] = shared[level] | 1 << members[level, at]
        n_covers = min(n_covers, level + 1)
        if search.progress[NUMBER] + others > found.items.size:
            found = with_room(found, search, others)
        n_next = 0
        for other in range(at + 1, width[level]):
            item = members[level, other]
            if is_perfect[level, other]:
                support = own
            elif is_perfect[level, at]:
                support = found.supports[member_nodes[level, other]]
            elif has_table:
                support = table[shared[level + 1] | 1 << item]
            else:
                if n_covers < level + 2:
                    n_covers = cover_down(covers, n_covers, level + 1, bitmaps, members, left)
                support = count_common(covers, level + 1, bitmaps, item)
            if support >= search.progress[SUPPORT_FLOOR]:
                members[level + 1, n_next] = item
                member_nodes[level + 1, n_next] = search.progress[NUMBER]
                is_perfect[level + 1, n_next] = support == own
                n_next += 1
                record(found, search, node, items[item], support, size + level + 1)
        if n_next >= 2 and level + 1 < deepest:
            level += 1
            width[level], left[level] = n_next, n_next - 1
    return found


@inner
def cover_down(
    covers: Uint64Array,
    n_covers: int,
    level: int,
    bitmaps: Uint64Array,
    members: Int64Array,
    left: Int64Array,
) -> int:
    """Write the covers that are not known down to a level, and return how many are: one more than the level."""
    for below in range(n_covers, level + 1):
        item = members[below - 1, left[below - 1]]
        for word in range(bitmaps.shape[1]):
            covers[below, word] = covers[below - 1, word] & bitmaps[item, word]
    return max(n_covers, level + 1)


@inner
def count_common(covers: Uint64Array, level: int, bitmaps: Uint64Array, item: int) -> int:
    """How many rows the cover of a level and an item's bitmap share."""
    support = 0
    for word in range(bitmaps.shape[1]):
        support += popcount(covers[level, word] & bitmaps[item, word])
    return support
