"""Depth-first search over projected rows, until what is left of them is dense."""

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint32Array
from veilset.raw.kernels import inner, kernel
from veilset.raw.kernels.dense_search import bitmaps_of, search_dense
from veilset.raw.kernels.projection import END, Projection, occurrences_of, project_tails
from veilset.raw.kernels.search_state import NUMBER, SUPPORT_FLOOR, FoundItemsets, Search, record, with_room
from veilset.raw.kernels.support_table import supports_of_all, table_pays


@kernel
def bitmaps_pay(rows: Projection, n_items: int) -> bool:
    """Whether all pairs are counted sooner by bitmaps than by walking through the rows.

    The constants were measured; within a factor of two they make little difference.
    """
    by_bitmaps = n_items * (n_items - 1) // 2 * (4 + rows.n_rows // 128)
    by_walking = 4 * rows.pairs + rows.n_rows
    return by_bitmaps <= by_walking


@kernel
def search_rows(
    found: FoundItemsets, search: Search, size: int, nodes: Int64Array, items: Int32Array, rows: Projection
) -> FoundItemsets:
    """Record what extends some itemsets of `size` items that differ in their last item alone.

    Itemset i ends in `items[i]`, was recorded as `nodes[i]` and is extended by the items after i. The rows
    are those that hold what the itemsets share, less that, sorted, with i for `items[i]`.

    The last itemset comes first. Items are sorted by support, so large supports are found early, and all
    subsets of an itemset before the itemset is extended: by then 2^depth are found, which keeps the nesting shallow.
    """
    n_items = items.size
    if bitmaps_pay(rows, n_items):
        if table_pays(n_items, rows.n_rows):
            bitmaps, table = np.zeros((n_items, np.int64(0)), np.uint64), supports_of_all(rows, n_items)
        else:
            bitmaps, table = bitmaps_of(rows, n_items), np.empty(0, np.int64)
        return search_dense(found, search, size, nodes, items, bitmaps, table, rows.longest)
    where = occurrences_of(rows, n_items)
    counts = np.zeros(n_items, np.int64)
    codes = np.empty(n_items, np.uint32)
    for item in range(n_items):
        codes[item] = END
    extensions = np.empty(n_items, np.int64)
    for i in range(n_items - 2, -1, -1):
        floor = search.progress[SUPPORT_FLOOR]
        places = where.places[where.starts[i] : where.starts[i + 1]]
        if found.supports[nodes[i]] < floor or places.size < floor:
            continue
        if size + n_items - 1 - i < search.min_size:
            continue
        n_extensions, seen = count_extensions(rows.flat, places, floor, counts, extensions)
        sort_extensions(extensions, n_extensions, counts, i + 1, floor)
        found = with_room(found, search, n_extensions)
        first = search.progress[NUMBER]
        for e in range(n_extensions):
            item = extensions[e]
            record(found, search, nodes[i], items[item], counts[item], size + 1)
        clear_counts(rows.flat, places, seen, counts, i + 1)
        if n_extensions < 2 or size + 2 > search.max_size:
            continue
        next_nodes = np.empty(n_extensions, np.int64)
        next_items = np.empty(n_extensions, np.int32)
        for e in range(n_extensions):
            next_nodes[e] = first + e
            next_items[e] = items[extensions[e]]
            codes[extensions[e]] = e
        tails = project_tails(rows.flat, places, codes, seen)
        for e in range(n_extensions):
            codes[extensions[e]] = END
        if tails.n_rows >= search.progress[SUPPORT_FLOOR]:
            found = search_rows(found, search, size + 1, next_nodes, next_items, tails)
    return found


@inner
def count_extensions(
    flat: Uint32Array, places: Int64Array, floor: int, counts: Int64Array, extensions: Int64Array
) -> tuple[int, int]:
    """Count the items that follow the given places in their rows, and list those that reach the floor.

    Returns how many reach it, and how many items and row ends were seen.
    """
    n_extensions, seen = 0, 0
    for start in places:
        place = start + 1
        while flat[place] != END:
            item = flat[place]
            counts[item] += 1
            if counts[item] == floor:
                extensions[n_extensions] = item
                n_extensions += 1
            place += 1
        seen += place - start
    return n_extensions, seen


@inner
def sort_extensions(
    extensions: Int64Array, n_extensions: int, counts: Int64Array, first: int, floor: int
) -> None:
    """Sort the items that reach the floor, none of which is below `first`."""
    if n_extensions * n_extensions > counts.size - first:
        n_extensions = 0
        for item in range(first, counts.size):
            if counts[item] >= floor:
                extensions[n_extensions] = item
                n_extensions += 1
        return
    for end in range(1, n_extensions):
        item = extensions[end]
        place = end
        while place > 0 and extensions[place - 1] > item:
            extensions[place] = extensions[place - 1]
            place -= 1
        extensions[place] = item


@inner
def clear_counts(flat: Uint32Array, places: Int64Array, seen: int, counts: Int64Array, first: int) -> None:
    """Set the counts back to zero: those that were counted, or all from `first` on where that is less."""
    if seen >= counts.size - first:
        for item in range(first, counts.size):
            counts[item] = 0
        return
    for start in places:
        place = start + 1
        while flat[place] != END:
            counts[flat[place]] = 0
            place += 1
