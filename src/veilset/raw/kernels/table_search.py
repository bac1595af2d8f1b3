"""Depth-first search over a table of all sets of a few items: for many rows of hardly any different ones.

Rows that hold the same of the items are merged into one cell, which counts them. Adding up cells, item by item,
leaves in each the number of rows that hold at least its items: the supports of all sets, for less than bitmaps take to
count the pairs.
"""

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import kernel
from veilset.raw.kernels.projection import END, Projection
from veilset.raw.kernels.search_state import NUMBER, SUPPORT_FLOOR, FoundItemsets, Search, record, with_room

MOST_TABLE_ITEMS = 22
"""A table of 22 items has 4 million cells."""


@kernel
def table_pays(n_items: int, n_rows: int) -> bool:
    """Whether the supports of all sets of the items are had sooner than those of all pairs by bitmaps."""
    if n_items > MOST_TABLE_ITEMS:
        return False
    return n_items << n_items <= n_items * (n_items - 1) // 2 * (n_rows // 16)


@kernel
def supports_of_all(rows: Projection, n_items: int) -> Int64Array:
    """How many rows hold all items of each set; bit i of a set's number tells whether it holds item i."""
    table = np.zeros(1 << n_items, np.int64)
    held = np.int64(0)
    for item in rows.flat:
        if item == END:
            table[held] += 1
            held = np.int64(0)
        else:
            held |= 1 << np.int64(item)
    for item in range(n_items):
        step = 1 << item
        for start in range(0, table.size, 2 * step):
            for cell in range(start, start + step):
                table[cell] += table[cell + step]
    return table


@kernel
def search_table(
    found: FoundItemsets, search: Search, size: int, nodes: Int64Array, items: Int32Array, rows: Projection
) -> FoundItemsets:
    """Record what extends some itemsets of `size` items: the same ones as `search_bitmaps`, in the same order."""
    n_items = items.size
    supports = supports_of_all(rows, n_items)
    deepest = min(rows.longest, search.max_size - size)
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
        found = with_room(found, search, width[level] - at)
        n_next = 0
        for other in range(at + 1, width[level]):
            item = members[level, other]
            support = supports[shared[level + 1] | 1 << item]
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
