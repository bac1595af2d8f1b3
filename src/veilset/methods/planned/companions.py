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

from veilset.arrays import BoolArray, FloatArray, Int64Array
from veilset.itemsets import Itemset
from veilset.methods.planned.knowledge import Knowledge

RowsByItem = FloatArray | BoolArray
"""A row for each item, or for each of some itemsets."""

HARDLY_LIKELY = 1e-9
"""An item is at least this likely beside an itemset: its logarithm is taken."""
MOST_PAIRS = 1 << 28
"""2^28 pairs of itemsets are compared at most, some seconds: all pairs of 16,384 itemsets."""
MOST_PRODUCTS = 1 << 36
"""2^36 products at most, of an itemset, another one and an item, some seconds: all of 4,096 single items."""
PAIRS_AT_ONCE = 1 << 24
"""2^24 pairs at once: some hundred MB, however many itemsets there are."""
FEW_PAIRS = 1 << 22
"""Up to 2^22 pairs a product of matrices takes hundredths of a second, and nothing else is worth its while."""
COLUMNS_FOR_AN_ITEM = 8
"""A product of matrices goes through 8 columns in the time in which one column is picked and added."""
PAIRS_IN_CACHE = 1 << 15
"""2^15 pairs are picked at once: what a core keeps close by."""
MOST_AT_ONCE = 255
"""At most 255 itemsets are picked at once: they are counted in a byte."""


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
        likelihoods = _Likelihoods.of(itemsets, known, column, number)
        step = max(1, PAIRS_AT_ONCE // max(len(looked_at), len(column)))
        blocks = [itemsets[start : start + step] for start in range(0, len(itemsets), step)]
        others = _others(looked_at, column, len(itemsets))
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
    itemsets: Sequence[Itemset],
    others: "_PickedOthers | _MultipliedOthers",
    likelihoods: "_Likelihoods",
    column: Mapping[int, int],
) -> tuple[Int64Array, FloatArray]:
    """How many of the others are contained with each itemset: at least, and as expected."""
    likely, holds = likelihoods.beside(itemsets), _holds(itemsets, column)
    likely[holds > 0] = 1.0
    return others.contained(holds, np.log(np.clip(likely, HARDLY_LIKELY, 1.0)))


def _others(
    others: Sequence[Itemset], column: Mapping[int, int], n_itemsets: int
) -> "_PickedOthers | _MultipliedOthers":
    """Ready to be looked for beside that many itemsets, in the faster of two ways."""
    longest = max(map(len, others))
    is_picked = len(others) * n_itemsets > FEW_PAIRS and COLUMNS_FOR_AN_ITEM * longest <= len(column)
    if not is_picked:
        return _MultipliedOthers(_holds(others, column))
    picked = np.full((longest, len(others)), len(column))
    for place, other in enumerate(others):
        picked[: len(other), place] = [column[item] for item in other]
    return _PickedOthers(picked)


@dataclass(frozen=True, slots=True, eq=False)
class _MultipliedOthers:
    """Others as rows of held items: products of matrices look for them."""

    rows: FloatArray

    def contained(self, holds: FloatArray, logs: FloatArray) -> tuple[Int64Array, FloatArray]:
        """How many of them are contained with each itemset, at least and as expected.

        Each itemset has a row of items that it holds, and one of logarithms of how likely each item is beside it.
        """
        is_part = self.rows @ holds.T == self.rows.sum(axis=1)[:, None]
        return is_part.sum(axis=0), np.exp(self.rows @ logs.T).sum(axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class _PickedOthers:
    """Others as places of their few items among many: the n-th item of each in row n, or one place behind the last."""

    places: Int64Array

    def contained(self, holds: FloatArray, logs: FloatArray) -> tuple[Int64Array, FloatArray]:
        """As products of matrices tell it, up to rounding: only columns of held items are picked and added."""
        by_item, is_held = np.zeros(_one_more(logs)), np.ones(_one_more(holds), np.bool_)
        by_item[:-1], is_held[:-1] = logs.T, holds.T > 0
        least, expected = np.zeros(len(holds), np.int64), np.zeros(len(holds))
        step = min(max(1, PAIRS_IN_CACHE // len(holds)), MOST_AT_ONCE)
        picked, added = np.empty((step, len(holds))), np.empty((step + 1, len(holds)))
        is_picked, is_part = np.empty(picked.shape, np.bool_), np.empty(picked.shape, np.bool_)
        for start in range(0, self.places.shape[1], step):
            places = self.places[:, start : start + step]
            number = places.shape[1]
            _fold(np.add, by_item, places, added[1 : number + 1], picked[:number])
            np.exp(added[1 : number + 1], out=added[1 : number + 1])
            added[0] = expected  # in front of what is added to it one by one, as it would be without parts
            added[: number + 1].sum(axis=0, out=expected)
            _fold(np.logical_and, is_held, places, is_part[:number], is_picked[:number])
            least += is_part[:number].view(np.uint8).sum(axis=0, dtype=np.uint8)
        return least, expected


def _one_more(table: FloatArray) -> tuple[int, int]:
    """The shape of a table with a row for each of its columns, and one for no item."""
    return table.shape[1] + 1, table.shape[0]


def _fold(
    fold: np.ufunc, by_item: RowsByItem, places: Int64Array, folded: RowsByItem, picked: RowsByItem
) -> None:
    """Fold the rows at each column of places into one; arrays are reused, since new ones take time."""
    by_item.take(places[0], axis=0, out=folded, mode="clip")
    for each in places[1:]:
        by_item.take(each, axis=0, out=picked, mode="clip")
        fold(folded, picked, out=folded)


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
