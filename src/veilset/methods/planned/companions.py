"""What else a transaction contains that contains an itemset: how much each itemset loses under a cap.

Post-processing: everything here follows from noisy answers.

A transaction that contains an itemset contains all of its parts. Where these are counted with it, it contains at least
as many of the counted as the itemset has parts among them: a triple that is counted with its three pairs is never
contained alone. And what is frequent together is contained together: from the supports that are known so far follows
how likely each other itemset is where one is contained, and so how many are expected beside it. The sum over all
itemsets is known better, from the containment histogram; so what is expected tells itemsets apart, and nothing else.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.itemsets import Itemset
from veilset.methods.planned.knowledge import Knowledge

HARDLY_LIKELY = 1e-9
"""An item is at least this likely beside an itemset: its logarithm is taken."""
MOST_PAIRS = 1 << 28
"""2^28 pairs of itemsets are compared at most, some seconds: all pairs of 16,384 itemsets."""
MOST_PRODUCTS = 1 << 36
"""2^36 products at most, of an itemset, another one and an item, some seconds: all of 4,096 single items."""
PAIRS_AT_ONCE = 1 << 24
"""2^24 pairs at once: some hundred MB, however many itemsets there are."""


@dataclass(frozen=True, slots=True, eq=False)
class Companions:
    """Of each itemset: about its support, and how many a transaction contains with it: at least, and as expected."""

    supports: FloatArray
    least: Int64Array
    expected: FloatArray

    @classmethod
    def of(
        cls, itemsets: Sequence[Itemset], supports: FloatArray, known: Mapping[Itemset, float], number: int
    ) -> "Companions":
        """Of itemsets that are counted together, by the supports that are known, of itemsets and of all their items.

        An itemset is contained if each of its items is: those that it shares are, the others are as likely as one by
        one beside the itemset in question. Among very many, only some are looked for, evenly spaced: what is expected
        is in proportion, and what is contained at least is at least that.
        """
        stride = math.ceil(len(itemsets) / _most_looked_at(itemsets))
        looked_at = itemsets[::stride]
        column = {item: place for place, item in enumerate(sorted({i for each in looked_at for i in each}))}
        others, likelihoods = _holds(looked_at, column), _Likelihoods.of(itemsets, known, column, number)
        step = max(1, PAIRS_AT_ONCE // max(others.shape))
        blocks = [itemsets[start : start + step] for start in range(0, len(itemsets), step)]
        found = [_companions_of(block, others, likelihoods, column) for block in blocks]
        least, expected = (np.concatenate(columns) for columns in zip(*found, strict=True))
        is_itself = (
            np.arange(len(itemsets)) % stride == 0
        )  # which is contained for certain, and stands for none
        expected = stride * expected - (stride - 1) * is_itself + ~is_itself
        return cls(supports, np.maximum(least, 1), expected)

    @classmethod
    def at(cls, places: Int64Array, knowledge: Knowledge, number: int) -> "Companions":
        """Of those itemsets that are at some places of what is known, and are counted together."""
        itemsets = [knowledge.itemsets[place] for place in places.tolist()]
        return cls.of(itemsets, knowledge.means[places], supports_known(knowledge), number)


def supports_known(knowledge: Knowledge) -> dict[Itemset, float]:
    """The expected support of each itemset, at least 1."""
    return dict(zip(knowledge.itemsets, np.maximum(knowledge.means, 1.0).tolist(), strict=True))


def _most_looked_at(itemsets: Sequence[Itemset]) -> int:
    """With how many others each itemset can be compared, in some seconds for all of them."""
    items, longest = len({item for itemset in itemsets for item in itemset}), max(map(len, itemsets))
    for_each = MOST_PRODUCTS // len(itemsets)
    return max(1, min(MOST_PAIRS // len(itemsets), max(for_each // items, math.isqrt(for_each // longest))))


def _holds(itemsets: Sequence[Itemset], column: Mapping[int, int]) -> FloatArray:
    """A row for each itemset, with 1 for each item that it holds and that has a column."""
    holds = np.zeros((len(itemsets), len(column)))
    for row, itemset in enumerate(itemsets):
        holds[row, [column[item] for item in itemset if item in column]] = 1.0
    return holds


def _companions_of(
    itemsets: Sequence[Itemset], others: FloatArray, likelihoods: "_Likelihoods", column: Mapping[int, int]
) -> tuple[Int64Array, FloatArray]:
    """How many of the others, rows of held items, are contained with each itemset: at least, and as expected."""
    likely, holds = likelihoods.beside(itemsets), _holds(itemsets, column)
    likely[holds > 0] = 1.0
    contained = np.exp(others @ np.log(np.clip(likely, HARDLY_LIKELY, 1.0)).T)
    is_part = others @ holds.T == others.sum(axis=1)[:, None]
    return is_part.sum(axis=0), contained.sum(axis=0)


_Cells = dict[Itemset, list[tuple[int, float]]]
"""Of an itemset: columns of items, and how likely each of these is beside it."""


@dataclass(frozen=True, slots=True, eq=False)
class _Likelihoods:
    """How likely items are anywhere, where one item is contained, and where an itemset is contained."""

    anywhere: FloatArray
    by_item: _Cells
    by_itemset: _Cells

    @classmethod
    def of(
        cls,
        itemsets: Sequence[Itemset],
        known: Mapping[Itemset, float],
        column: Mapping[int, int],
        number: int,
    ) -> "_Likelihoods":
        """By the supports that are known; those of items that have a column."""
        by_item: _Cells = {}
        by_itemset: _Cells = {itemset: [] for itemset in itemsets}
        for larger, support in known.items():
            for place, item in enumerate(larger):
                if item not in column:
                    continue
                smaller = larger[:place] + larger[place + 1 :]
                if len(smaller) == 1:
                    likely = support / max(known.get(smaller, 1.0), 1.0)
                    by_item.setdefault(smaller, []).append((column[item], likely))
                if smaller in by_itemset:
                    likely = support / max(known.get(smaller, support), 1.0)
                    by_itemset[smaller].append((column[item], likely))
        anywhere = np.array([max(known.get((item,), 1.0), 1.0) for item in column]) / max(number, 1)
        return cls(anywhere, by_item, by_itemset)

    def beside(self, itemsets: Sequence[Itemset]) -> FloatArray:
        """How likely each item is where an itemset is contained, a row for each itemset.

        As the itemset with that item tells, where it is known; else as the one of its items tells with which it is
        most likely; and where nothing is known of both together, as likely as anywhere.
        """
        row_of = {item: row for row, item in enumerate(sorted({i for itemset in itemsets for i in itemset}))}
        beside_items = np.tile(self.anywhere, (len(row_of), 1))
        for item, row in row_of.items():
            for place, likely in self.by_item.get((item,), ()):
                beside_items[row, place] = likely
        beside = np.array([beside_items[[row_of[i] for i in each]].max(axis=0) for each in itemsets])
        for row, itemset in enumerate(itemsets):
            for place, likely in self.by_itemset[itemset]:
                beside[row, place] = likely
        return beside
