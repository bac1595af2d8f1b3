"""Choices on noisy values only: post-processing, which costs no privacy. Tie rules live here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import NoisyCounts
from veilset.itemsets import Itemsets, subset_pairs


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Supports of itemsets, as known from noisy answers; each lies between its `low` and its `high` in 95 %."""

    itemsets: Itemsets
    supports: Int64Array
    low: Int64Array
    high: Int64Array

    @classmethod
    def of(cls, counts: NoisyCounts) -> "Estimates":
        """One noisy count for each itemset, as it is."""
        return cls.within(counts.itemsets, counts.values, counts.mechanism.half_width())

    @classmethod
    def within(cls, itemsets: Itemsets, supports: Int64Array, half_widths: int | Int64Array) -> "Estimates":
        """Supports that are off by at most their half width in 95 %, up or down."""
        return cls(itemsets, supports, supports - half_widths, supports + half_widths)

    @classmethod
    def none(cls) -> "Estimates":
        """Of no itemset."""
        return cls.within(Itemsets.of([]), np.empty(0, np.int64), 0)

    @classmethod
    def joined(cls, parts: Sequence["Estimates"]) -> "Estimates":
        """Those of all parts, one after another; no itemset may be in two of them."""
        return cls(
            Itemsets.of(itemset for part in parts for itemset in part.itemsets),
            np.concatenate([part.supports for part in parts]),
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
        )

    def take(self, chosen: Int64Array) -> "Estimates":
        """Some of them, in that order."""
        itemsets = list(self.itemsets)
        return Estimates(
            Itemsets.of(itemsets[i] for i in chosen),
            self.supports[chosen],
            self.low[chosen],
            self.high[chosen],
        )

    @property
    def half_widths(self) -> FloatArray:
        """Half of what lies between `low` and `high`."""
        return (self.high - self.low) / 2


def count_of(min_support: Fraction, *, transactions: int) -> int:
    """A threshold as a count, once: below 1 it is a share of the transactions, from 1 up a count.

    >>> count_of(Fraction("0.07"), transactions=100), count_of(Fraction(40), transactions=100)
    (7, 40)
    """
    return math.ceil(min_support * max(transactions, 0) if min_support < 1 else min_support)


def consistent(itemsets: Itemsets, supports: Int64Array) -> Int64Array:
    """The closest supports in which a subset is never rarer than its superset, and none is negative.

    For each itemset, half-way between the largest support of its supersets and the smallest of its subsets
    (itself among both). Both are monotone over inclusion, so their mean is; no other consistent answer has a
    smaller largest change.

    >>> consistent(Itemsets.of([(0,), (0, 1), (1,)]), np.array([40, 50, 90])).tolist()
    [45, 45, 90]
    """
    above, below = supports.tolist(), supports.tolist()
    for part, whole in subset_pairs(itemsets):
        above[part] = max(above[part], int(supports[whole]))
        below[whole] = min(below[whole], int(supports[part]))
    middle: Int64Array = np.maximum((np.array(above, np.int64) + np.array(below, np.int64)) // 2, 0)
    return middle


def by_support(itemsets: Itemsets, supports: Int64Array) -> list[int]:
    """The order of a release: largest support first; ties by fewer items, then by item codes."""
    keys = [
        (-support, len(itemset), itemset)
        for itemset, support in zip(itemsets, supports.tolist(), strict=True)
    ]
    return sorted(range(len(keys)), key=keys.__getitem__)
