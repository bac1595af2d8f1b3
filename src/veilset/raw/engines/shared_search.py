"""The search for all itemsets above a count, shared by several threads.

Itemsets are extended by items after their last one only, so what extends one item has nothing to do with what extends
another: each thread takes every n-th item. Which thread finds an itemset makes no difference, because all that are
found are put in order afterwards. A search for the best k is not shared: what it finds early tells it what to skip.
"""

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.engines.large_arrays import empty_array
from veilset.raw.kernels.projection import Projection
from veilset.raw.kernels.row_search import bitmaps_pay, search_rows
from veilset.raw.kernels.search_state import NUMBER, SUPPORT_FLOOR, FoundItemsets, Search
from veilset.raw.threads import made_of_parts

ITEMSETS_FOR_A_THREAD = 1 << 18
"""Where fewer itemsets can be frequent, a thread takes longer to start than its share of the search."""

PAIRS_FOR_A_THREAD = 1 << 16
"""Where rows are walked through, a thread is also worth its start for this many pairs of items in them."""

MOST_LENGTH = 60
"""Of longer rows it makes no difference how long they are: there are subsets enough."""

NOT_EXTENDED = -1
"""As the support of an item: below any count, so that a search passes the item by."""


def search_in_shares(
    found: FoundItemsets,
    search: Search,
    nodes: Int64Array,
    items: Int32Array,
    rows: Projection,
    *,
    threads: int,
) -> FoundItemsets:
    """Record what extends single items, as `search_rows` does; all itemsets are wanted, not the best k."""
    threads = min(threads, _useful_threads(rows, items.size, int(search.progress[SUPPORT_FLOOR])))
    if threads == 1:
        return search_rows(found, search, 1, nodes, items, rows)

    def extend_share(first: int) -> tuple[FoundItemsets, int]:
        own = Search(
            search.k, search.min_size, search.max_size, np.zeros_like(search.tally), search.progress.copy()
        )
        share = _with_share(found, int(search.progress[NUMBER]), nodes[first::threads])
        return search_rows(share, own, 1, nodes, items, rows), int(own.progress[NUMBER])

    return _together(found, search, made_of_parts(range(threads), extend_share))


def _useful_threads(rows: Projection, n_items: int, min_count: int) -> int:
    """How many threads are worth their start, by the subsets of rows of average length and by pairs to walk through."""
    length = min((rows.flat.size - rows.n_rows) / max(1, rows.n_rows), MOST_LENGTH)
    itemsets = int(rows.n_rows * 2**length / max(1, min_count))
    walked = 0 if bitmaps_pay(rows, n_items) else rows.pairs // PAIRS_FOR_A_THREAD
    return 1 + max(itemsets // ITEMSETS_FOR_A_THREAD, walked)


def room_for_itemsets(number: int) -> FoundItemsets:
    """Room for that many itemsets."""
    return FoundItemsets(
        empty_array(number, np.int64), empty_array(number, np.int32), empty_array(number, np.int64)
    )


def _with_share(found: FoundItemsets, n_items: int, nodes: Int64Array) -> FoundItemsets:
    """The same items in as much room of their own, of which only those at some nodes are extended."""
    share = room_for_itemsets(found.items.size)
    share.supports[:n_items] = NOT_EXTENDED
    share.supports[nodes] = found.supports[nodes]
    return share


def _together(found: FoundItemsets, search: Search, shares: list[tuple[FoundItemsets, int]]) -> FoundItemsets:
    """The items, then what each thread has found: itemsets of a thread stand further behind than it thought."""
    n_items = int(search.progress[NUMBER])
    number = n_items + sum(end - n_items for _, end in shares)
    together = room_for_itemsets(number)
    together.parents[:n_items] = found.parents[:n_items]
    together.items[:n_items] = found.items[:n_items]
    together.supports[:n_items] = found.supports[:n_items]
    begin = n_items
    for share, end in shares:
        own, place = slice(n_items, end), slice(begin, begin + end - n_items)
        parents = share.parents[own]
        np.add(parents, begin - n_items, out=together.parents[place], where=parents >= n_items)
        np.copyto(together.parents[place], parents, where=parents < n_items)
        together.items[place] = share.items[own]
        together.supports[place] = share.supports[own]
        begin += end - n_items
    search.progress[NUMBER] = number
    return together
