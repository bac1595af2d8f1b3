"""What a search for itemsets has found so far, and the support below which it need not look."""

from typing import NamedTuple

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import inner, kernel

NUMBER, SUPPORT_FLOOR, NUMBER_ABOVE = 0, 1, 2
"""Places in `Search.progress`: itemsets found, smallest support of interest, wanted ones at or above it."""


class FoundItemsets(NamedTuple):
    """Itemsets as a tree: itemset n is itemset `parents[n]` and `items[n]`; the parent of one item is -1."""

    parents: Int64Array
    items: Int32Array
    supports: Int64Array


class Search(NamedTuple):
    """What is looked for, and how far the search has come.

    Wanted are the `k` itemsets of largest support among those of `min_size` to `max_size` items;
    `tally[support]` counts those found.
    """

    k: int
    min_size: int
    max_size: int
    tally: Int64Array
    progress: Int64Array


@inner
def with_room(found: FoundItemsets, search: Search, extra: int) -> FoundItemsets:
    """The same itemsets, with room for that many more."""
    number = search.progress[NUMBER]
    if number + extra <= found.items.size:
        return found
    capacity = max(2 * found.items.size, number + extra)
    parents = np.empty(capacity, np.int64)
    items = np.empty(capacity, np.int32)
    supports = np.empty(capacity, np.int64)
    for n in range(number):
        parents[n] = found.parents[n]
        items[n] = found.items[n]
        supports[n] = found.supports[n]
    return FoundItemsets(parents, items, supports)


@inner
def record(
    found: FoundItemsets,
    search: Search,
    parent: int | np.int64,
    item: int,
    support: int,
    size: int | np.int64,
) -> None:
    """Note an itemset of `size` items, for which there is room, and raise the floor if k are known now.

    Once k itemsets have a support of t or more, only larger supports than t can change the answer.
    """
    progress = search.progress
    number = progress[NUMBER]
    found.parents[number] = parent
    found.items[number] = item
    found.supports[number] = support
    progress[NUMBER] = number + 1
    if size >= search.min_size and support >= progress[SUPPORT_FLOOR]:
        search.tally[support] += 1
        progress[NUMBER_ABOVE] += 1
        while progress[NUMBER_ABOVE] >= search.k:
            progress[NUMBER_ABOVE] -= search.tally[progress[SUPPORT_FLOOR]]
            progress[SUPPORT_FLOOR] += 1


@kernel
def record_items(found: FoundItemsets, search: Search, items: Int32Array, supports: Int64Array) -> None:
    """Note single items, for which there is room, from the last to the first, as far as they matter."""
    # As literals these would make the compiler write `record` twice.
    no_parent, size = np.int64(-1), np.int64(1)
    for i in range(items.size - 1, -1, -1):
        if supports[i] >= search.progress[SUPPORT_FLOOR]:
            record(found, search, no_parent, items[i], supports[i], size)
