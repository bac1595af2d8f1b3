"""Noisy records of a dataset to be published: itemsets, and how many copies of each. Public, like all of methods."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import SubPartitions
from veilset.itemsets import Itemsets

MOST_SCALED = 2
"""By how much copies are multiplied at the most where records are missing: beyond that they stand for too few."""


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Itemsets with the number of copies of each."""

    itemsets: Itemsets
    copies: Int64Array

    @classmethod
    def together(cls, parts: Sequence["Records"]) -> "Records":
        """All of them, equal ones once; those without items or without copies are left out.

        >>> one, two = Records(Itemsets.of([[0], []]), np.array([2, 9])), Records(Itemsets.of([[0]]), np.array([3]))
        >>> both = Records.together([one, two])
        >>> list(both.itemsets), both.copies.tolist()
        ([(0,)], [5])
        """
        lengths = np.concatenate([np.diff(part.itemsets.offsets) for part in parts])
        items = np.concatenate([part.itemsets.items for part in parts])
        copies = np.concatenate([part.copies for part in parts])
        every = Itemsets(np.append(0, np.cumsum(lengths)), items)
        totals: dict[tuple[int, ...], int] = {}
        for itemset, number in zip(every, copies.tolist(), strict=True):
            if itemset and number > 0:
                totals[itemset] = totals.get(itemset, 0) + number
        return cls(Itemsets.of(totals), np.array(list(totals.values()), dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Copies of sub-partitions, and of each partition how many of its own are in none of them."""

    copies: Int64Array
    rest: Int64Array


def fitted(found: SubPartitions, wanted: Int64Array | None) -> Fitted:
    """Noisy sizes of sub-partitions made to add up to those that are wanted of their partitions, as far as possible.

    Where they are too many, which empty sub-partitions that passed make them, the smallest go first; where too
    few, because small sub-partitions failed, all are scaled up, by a factor of MOST_SCALED at the most. Looks
    at noisy sizes only. Without anything wanted (of the root, whose size nobody asked for) they stay as they are.

    >>> found = SubPartitions(np.array([0, 0, 0, 1]), np.array([1, 2, 3, 1]), np.array([4, 20, 5, 10]))
    >>> fit = fitted(found, np.array([26, 50]))
    >>> fit.copies.tolist(), fit.rest.tolist()
    ([1, 20, 5, 20], [0, 30])
    """
    if wanted is None:
        return Fitted(found.sizes, np.zeros(1, np.int64))
    order = np.lexsort((-found.sizes, found.parents))  # the largest first in each partition
    parents, sizes = found.parents[order], found.sizes[order]
    before = np.cumsum(sizes) - sizes
    before -= before[np.searchsorted(parents, parents)]
    sums = np.bincount(found.parents, found.sizes, minlength=wanted.size)
    factors = np.clip(wanted / np.maximum(sums, 1), 1, MOST_SCALED)
    copies = np.empty_like(sizes)
    copies[order] = np.clip(wanted[parents] - before, 0, sizes) * factors[parents]
    used = np.bincount(found.parents, copies, minlength=wanted.size).astype(np.int64)
    return Fitted(copies, np.maximum(wanted - used, 0))
