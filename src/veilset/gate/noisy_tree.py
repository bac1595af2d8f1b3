"""A noisy prefix tree: safe to show. What is done with it here looks at nothing else."""

from dataclasses import dataclass, replace

import numpy as np

from veilset.arrays import FloatArray, Int32Array, Int64Array
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Itemsets
from veilset.raw.kernels import search_state as kernel
from veilset.raw.kernels.fp_growth import grow_itemsets


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTree:
    """Nodes of a prefix tree that reached a threshold, with noisy counts; node 0 is the root, its count is 0.

    Node n stands for the path to `parents[n]` and then the item `order[ranks[n]]`. A parent stands before its
    children, and nodes of one depth stand together.
    """

    order: tuple[int, ...]
    parents: Int64Array
    ranks: Int32Array
    counts: Int64Array
    mechanism: DiscreteLaplace
    threshold: int

    def consistent(self, total: int) -> "NoisyTree":
        """The same with counts that some `total` transactions can have: children never outnumber their parent.

        From the leaves up, a node that is outnumbered moves towards the sum of its n children, which has n times the
        variance of its own count; then from the root down, children that still have too many each give up the same.
        """
        values = self.counts.astype(np.float64)
        values[0] = max(total, 0)
        number = np.bincount(self.parents[1:], minlength=values.size).astype(np.float64)
        levels = self._levels()
        for nodes in reversed(levels[:-1]):
            sums = self._sums_of_children(values)[nodes]
            own, weight = values[nodes], number[nodes]
            if nodes[0] > 0:
                values[nodes] = np.where(sums > own, (own * weight + sums) / (weight + 1), own)
        for nodes in levels[1:]:
            above = self.parents[nodes]
            for _ in range(2):  # twice, because a child cannot give up more than it has
                excess = np.maximum(self._sums_of_children(values) - values, 0)
                values[nodes] = np.maximum(values[nodes] - excess[above] / number[above], 0)
            sums = self._sums_of_children(values)
            values[nodes] *= np.minimum(1, values[above] / np.maximum(sums[above], 1e-9))
        return replace(self, counts=np.rint(values).astype(np.int64))

    def top(self, k: int, *, max_size: int, min_count: int = 1) -> tuple[Itemsets, Int64Array]:
        """The k itemsets of largest support in the tree, with their supports, by FP-growth; ties may add some."""
        counts = np.maximum(self.counts, 0)
        largest = int(counts[1:].sum(initial=0))
        tally = np.zeros(largest + 2, np.int64)
        search = kernel.Search(k, 1, max_size, tally, np.array([0, max(min_count, 1), 0]))
        nothing = kernel.FoundItemsets(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
        grown = grow_itemsets(self.parents, self.ranks, counts, len(self.order), nothing, search)
        number, floor = (int(search.progress[place]) for place in (kernel.NUMBER, kernel.SUPPORT_FLOOR))
        # The floor is one above the support of the k-th itemset, once k are found.
        wanted = np.flatnonzero(grown.supports[:number] >= min(floor, largest) - 1)
        itemsets = Itemsets.of(self._itemset(grown, int(place)) for place in wanted)
        return itemsets, grown.supports[wanted]

    def _itemset(self, grown: kernel.FoundItemsets, place: int) -> list[int]:
        items = []
        while place >= 0:
            items.append(self.order[grown.items[place]])
            place = int(grown.parents[place])
        return items

    def _levels(self) -> list[Int64Array]:
        """The nodes of each depth: those whose parents stand in the level above."""
        levels, first, last = [np.zeros(1, np.int64)], 0, 1
        while last < self.parents.size:
            first, last = last, int(np.searchsorted(self.parents, last))
            levels.append(np.arange(first, last))
        return levels

    def _sums_of_children(self, values: FloatArray) -> FloatArray:
        sums: FloatArray = np.zeros(values.size)
        np.add.at(sums, self.parents[1:], values[1:])
        return sums
