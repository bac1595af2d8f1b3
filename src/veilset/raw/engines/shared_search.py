"""The search for all itemsets above a count, shared by several threads.

Itemsets are extended by items after their last one only, so what extends one item has nothing to do with what extends
another: each thread takes every n-th item. Which thread finds an itemset makes no difference, because all that are
found are put in order afterwards. A search for the best k is not shared: what it finds early tells it what to skip.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels.projection import Projection
from veilset.raw.kernels.row_search import search_rows
from veilset.raw.kernels.search_state import NUMBER, FoundItemsets, Search

PAIRS_FOR_A_THREAD = 1 << 15
"""With fewer pairs of items in the rows, a thread takes longer to start than its share of the search."""

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
    threads = min(threads, 1 + rows.pairs // PAIRS_FOR_A_THREAD)
    if threads == 1:
        return search_rows(found, search, 1, nodes, items, rows)

    def extend_share(first: int) -> tuple[FoundItemsets, int]:
        own = Search(
            search.k, search.min_size, search.max_size, np.zeros_like(search.tally), search.progress.copy()
        )
        share = _with_share(found, nodes, slice(first, None, threads))
        return search_rows(share, own, 1, nodes, items, rows), int(own.progress[NUMBER])

    with ThreadPoolExecutor(threads) as pool:
        shares = list(pool.map(extend_share, range(threads)))
    return _together(found, search, shares)


def _with_share(found: FoundItemsets, nodes: Int64Array, share: slice) -> FoundItemsets:
    """The same items, of which only a share is extended."""
    supports = np.full_like(found.supports, NOT_EXTENDED)
    supports[nodes[share]] = found.supports[nodes[share]]
    return found._replace(supports=supports)


def _together(found: FoundItemsets, search: Search, shares: list[tuple[FoundItemsets, int]]) -> FoundItemsets:
    """The items, then what each thread has found: itemsets of a thread stand further behind than it thought."""
    n_items = int(search.progress[NUMBER])
    parents, items, supports = [[column[:n_items]] for column in found]
    behind = 0
    for share, end in shares:
        of_thread = share.parents[n_items:end]
        parents.append(of_thread + behind * (of_thread >= n_items))
        items.append(share.items[n_items:end])
        supports.append(share.supports[n_items:end])
        behind += end - n_items
    search.progress[NUMBER] = n_items + behind
    return FoundItemsets(np.concatenate(parents), np.concatenate(items), np.concatenate(supports))
