"""Supports of itemsets that a cluster has counted, kept by the driver: what one question counted serves the next.

A job costs a cluster far more than to count a few thousand itemsets in it, which is why many are counted at once.
The driver keeps supports, at most 131,072 of each size, never a row. They are as private as any exact count,
and an answer made of them is handed out as any other: to the gate, for a question that was paid for.
"""

from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.counts import ExactItemsets
from veilset.raw.engines.item_bitmaps import MOST_ITEMS, cells_of_supports
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.levelwise import LARGEST_KEPT, KeptSupports, LevelwiseSearch, may_be_few
from veilset.raw.engines.mining import offsets_by_sizes

ITEMSETS_IN_A_JOB = 1 << 13
"""8,192 candidates are counted in one job at first, then twice as many each time."""

SIZE_AHEAD = 3
"""Itemsets of 3 items are counted ahead: marginals are of few items, and pairs were counted by a search."""

MOST_TRIPLES_AHEAD = 1 << 15
"""Up to 32,768 triples are counted with the first that a marginal lacks: all of the most frequent items, 58 at most."""

CountOnCluster = Callable[[Int64Array, Int32Array], Int64Array]
"""Counts itemsets of item codes on the cluster: offsets and codes in, supports out."""


class ClusterSupports:
    """The most frequent items by numbers, number 0 the most frequent; searches over them, and what they counted."""

    def __init__(self, item_supports: Int64Array, count: CountOnCluster) -> None:
        by_support = np.argsort(-item_supports, kind="stable")[:MOST_ITEMS]
        self.codes = by_support[item_supports[by_support] > 0].astype(np.int32)
        self.places = np.full(item_supports.size, self.codes.size, np.int32)
        self.places[self.codes] = np.arange(self.codes.size, dtype=np.int32)
        self._item_supports, self._count = item_supports, count
        self._search = LevelwiseSearch(self, item_supports, first_batch=ITEMSETS_IN_A_JOB, breaks_ties=True)

    def __repr__(self) -> str:
        return "ClusterSupports(private)"

    def hold(self, codes: Int32Array | Int64Array) -> bool:
        """Whether each of these items has a number."""
        return bool((self.places[codes] < self.codes.size).all())

    def supports(self, offsets: Int64Array, numbers: Int32Array) -> Int64Array:
        """How many transactions hold each itemset of item numbers: counted by the cluster, in one job."""
        return self._count(offsets, self.codes[numbers])

    def top(self, k: int, which: ItemsetFilter) -> ExactItemsets | None:
        """The k itemsets of largest support that the filter lets through; None where too many might be."""
        return self._search.top(k, which) if may_be_few(self._item_supports, k, which) else None

    def marginal(self, codes: Int32Array, rows: int) -> Int64Array | None:
        """How many of the rows hold exactly which of the items; None where these are too many, or too rare.

        Bit i of a cell's number tells whether `codes[i]` is held. What was not counted before is, in one job.
        """
        if not 0 < codes.size <= LARGEST_KEPT or not self.hold(codes):
            return None
        numbers = self.places[codes]
        supports = np.full(1 << codes.size, rows, np.int64)
        sizes = np.array([mask.bit_count() for mask in range(supports.size)])
        unknown: list[tuple[Int64Array, Int32Array]] = []
        for size in range(1, codes.size + 1):
            masks = np.flatnonzero(sizes == size)
            itemsets = np.array([_members(mask, numbers) for mask in masks.tolist()], np.int32)
            known = (
                self._item_supports[self.codes[itemsets[:, 0]]] if size == 1 else self._kept.known(itemsets)
            )
            supports[masks] = known
            unknown.append((masks[known < 0], itemsets[known < 0]))
        self._count_unknown(unknown, supports)
        return cells_of_supports(supports)

    @property
    def _kept(self) -> KeptSupports:
        return self._search.kept

    def _count_unknown(self, unknown: list[tuple[Int64Array, Int32Array]], supports: Int64Array) -> None:
        """Set the supports, by their masks, of itemsets of several sizes, and keep them; with triples ahead."""
        wanted = [each for each in unknown if each[0].size]
        if not wanted:
            return
        ahead = [_triples(1 + int(sets.max())) for _, sets in wanted if sets.shape[1] == SIZE_AHEAD]
        new = [triples[self._kept.known(triples) < 0] for triples in ahead]
        counted = self._counted_together([sets for _, sets in wanted] + new)
        for (masks, _), found in zip(wanted, counted, strict=False):
            supports[masks] = found

    def _counted_together(self, groups: list[Int32Array]) -> list[Int64Array]:
        """The supports of each group of itemsets of one size, all of which are counted in one job and kept."""
        sizes = np.concatenate([np.full(each.shape[0], each.shape[1]) for each in groups])
        counted = self.supports(offsets_by_sizes(sizes), np.concatenate([np.ravel(each) for each in groups]))
        found = np.split(counted, np.cumsum([each.shape[0] for each in groups])[:-1])
        for itemsets, supports in zip(groups, found, strict=True):
            self._kept.note(itemsets, supports)
        return found


def _triples(items: int) -> Int32Array:
    """All triples of the most frequent items, in order; none where these would be too many."""
    if comb(items, SIZE_AHEAD) > MOST_TRIPLES_AHEAD:
        return np.empty((0, SIZE_AHEAD), np.int32)
    return np.array(list(combinations(range(items), SIZE_AHEAD)), np.int32)


def _members(mask: int, numbers: Int32Array) -> list[int]:
    """The numbers that a mask chooses, ascending."""
    return sorted(number for place, number in enumerate(numbers.tolist()) if mask >> place & 1)
