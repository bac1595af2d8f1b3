"""FP-growth on a prefix tree of counts: no data, only the tree.

The support of an itemset is the sum of the counts of all nodes that hold its last item and, above it on the
path, all others. From such nodes it is enough to climb: those reached at an earlier item, with the counts carried
up, are the nodes of the itemset with that item in front (Han, Pei, Yin 2000, without copies of the tree).
"""

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import inner, kernel
from veilset.raw.kernels.search_state import NUMBER, SUPPORT_FLOOR, FoundItemsets, Search, record, with_room


@kernel
def grow_itemsets(
    parents: Int64Array,
    ranks: Int32Array,
    counts: Int64Array,
    width: int,
    found: FoundItemsets,
    search: Search,
) -> FoundItemsets:
    """All itemsets of interest; a parent stands before its children, the root is node 0, ranks are below `width`."""
    sums = np.zeros((search.max_size, width), np.int64)
    nodes = np.empty((search.max_size, parents.size), np.int64)
    carried = np.empty((search.max_size, parents.size), np.int64)
    sizes = np.zeros(search.max_size, np.int64)
    itemsets = np.empty(search.max_size, np.int64)
    last = np.empty(search.max_size, np.int64)
    upcoming = np.zeros(search.max_size, np.int64)
    scratch = np.zeros(parents.size, np.int64)
    # Level 0 stands for the empty itemset: all nodes with their counts, and sums over their own items.
    totals = np.zeros(width, np.int64)
    for node in range(1, parents.size):
        totals[ranks[node]] += counts[node]
    for first in range(width):
        if totals[first] < search.progress[SUPPORT_FLOOR]:
            continue
        found = with_room(found, search, 1)
        itemsets[0] = search.progress[NUMBER]
        record(found, search, -1, first, totals[first], 1)
        if search.max_size == 1:
            continue
        sizes[0] = 0
        for node in range(1, parents.size):
            if ranks[node] == first:
                nodes[0, sizes[0]] = node
                carried[0, sizes[0]] = counts[node]
                sizes[0] += 1
        last[0], upcoming[0], level = first, 0, 0
        _add_up(parents, ranks, nodes[0, : sizes[0]], carried[0], sums[0, :first])
        while level >= 0:
            rank = upcoming[level]
            upcoming[level] += 1
            if rank >= last[level]:
                level -= 1
                continue
            if sums[level, rank] < search.progress[SUPPORT_FLOOR]:
                continue
            found = with_room(found, search, 1)
            number = search.progress[NUMBER]
            record(found, search, itemsets[level], rank, sums[level, rank], level + 2)
            if level + 2 < search.max_size and rank > 0:
                size = _climb(
                    parents,
                    ranks,
                    rank,
                    nodes[level, : sizes[level]],
                    carried[level],
                    nodes[level + 1],
                    scratch,
                )
                for i in range(size):
                    carried[level + 1, i] = scratch[nodes[level + 1, i]]
                    scratch[nodes[level + 1, i]] = 0
                level += 1
                sizes[level], itemsets[level], last[level], upcoming[level] = size, number, rank, 0
                _add_up(parents, ranks, nodes[level, :size], carried[level], sums[level, :rank])
    return found


@inner
def _climb(
    parents: Int64Array,
    ranks: Int32Array,
    rank: int,
    nodes: Int64Array,
    carried: Int64Array,
    reached: Int64Array,
    scratch: Int64Array,
) -> int:
    """List the ancestors of that rank, each once, and add up in `scratch` what is carried to them."""
    size = 0
    for i in range(nodes.size):
        node = parents[nodes[i]]
        while node > 0 and ranks[node] > rank:
            node = parents[node]
        if node > 0 and ranks[node] == rank and carried[i] > 0:
            if scratch[node] == 0:
                reached[size] = node
                size += 1
            scratch[node] += carried[i]
    return size


@inner
def _add_up(
    parents: Int64Array, ranks: Int32Array, nodes: Int64Array, carried: Int64Array, sums: Int64Array
) -> None:
    """For each rank, the sum of what is carried up through nodes of that rank."""
    sums[:] = 0
    for i in range(nodes.size):
        node = parents[nodes[i]]
        while node > 0:
            sums[ranks[node]] += carried[i]
            node = parents[node]
