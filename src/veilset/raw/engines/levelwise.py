"""The most frequent itemsets, size by size, over bitmaps that are there already.

Candidates are itemsets whose subsets are all frequent enough, and the least support of a subset bounds that of the
candidate. Those of large bounds are counted first: what they hold raises the support that an itemset must
reach, and most of the others need not be counted. This suits few itemsets of many transactions; many itemsets are found
sooner by depth-first search (see `mining`).
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.counts import ExactItemsets
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.mining import allowed_items, check_rank, in_final_order, offsets_by_sizes
from veilset.raw.kernels.joining import join

MOST_COUNTED = 1 << 15
"""At most 32,768 candidates are counted for a question; more of them take longer than a depth-first search."""

FIRST_BATCH = 256
"""256 candidates are counted first, then twice as many each time."""

LARGEST_KEPT = 6
"""Supports of itemsets of up to 6 items are kept: six numbers of 10 bits fit in one."""

MOST_KEPT = 1 << 17
"""At most 131,072 supports of each size are kept."""


class CountedItems(Protocol):
    """Items by numbers of 10 bits, and who counts itemsets of them: bitmaps in memory, or a cluster."""

    codes: Int32Array
    """The code of each item number."""
    places: Int32Array
    """The number of each item code; where it is the number of items, there is none."""

    def supports(self, offsets: Int64Array, numbers: Int32Array) -> Int64Array:
        """How many transactions hold each itemset of item numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Itemsets of one size by item numbers, a row of each, in lexicographic order, and their supports."""

    itemsets: Int32Array
    supports: Int64Array

    def at_least(self, floor: int) -> "Level":
        """Those that are frequent enough."""
        chosen = self.supports >= floor
        return Level(self.itemsets[chosen], self.supports[chosen])


@dataclass(slots=True, eq=False)
class Wanted:
    """The supports that were found of itemsets of the wanted sizes, and the one that others must reach."""

    k: int
    floor: int
    best: Int64Array = field(default_factory=lambda: np.empty(0, np.int64))

    def add(self, supports: Int64Array) -> None:
        """Note some more; once there are k, the k-th is the floor."""
        self.best = np.concatenate([self.best, supports[supports >= self.floor]])
        if self.best.size >= self.k:
            self.best = np.partition(self.best, self.best.size - self.k)[self.best.size - self.k :]
            self.floor = max(self.floor, int(self.best[0]))


def relevant_items(supports: Int64Array, wanted: Wanted, which: ItemsetFilter) -> Int64Array:
    """The items of itemsets that can be among the wanted, as far as the supports of items tell."""
    allowed = allowed_items(which, supports.size)
    if which.min_size == 1:
        wanted.add(supports[allowed])
    return allowed[supports[allowed] >= wanted.floor]


def may_be_few(supports: Int64Array, k: int, which: ItemsetFilter) -> bool:
    """Whether the supports of items leave room for few candidates; where they do not, nobody need make bitmaps."""
    check_rank(k)
    number = relevant_items(supports, Wanted(k, which.min_count), which).size
    return number * (number - 1) // 2 <= MOST_COUNTED


class KeptSupports:
    """Supports that were counted, of itemsets of item numbers; at most `MOST_KEPT` of each size."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Int64Array, Int64Array]] = {}

    def __repr__(self) -> str:
        return "KeptSupports(private)"

    def known(self, itemsets: Int32Array) -> Int64Array:
        """The support of each itemset, numbers ascending; -1 where it was not counted, or is not kept any more."""
        number, size = itemsets.shape
        if size not in self._kept or number == 0:
            return np.full(number, -1, np.int64)
        keys, supports = self._kept[size]
        wanted = _keys(itemsets)
        places = np.searchsorted(keys, wanted)
        is_kept = np.append(keys, -1)[places] == wanted
        return np.where(is_kept, np.append(supports, -1)[places], -1)

    def note(self, itemsets: Int32Array, supports: Int64Array) -> None:
        """Keep these for the next search, rather than those of former ones where there is no room for both."""
        number, size = itemsets.shape
        if size > LARGEST_KEPT or number == 0:
            return
        keys, kept = self._kept.get(size, (np.empty(0, np.int64), np.empty(0, np.int64)))
        if keys.size + number > MOST_KEPT:
            keys, kept = keys[:0], kept[:0]
        merged, first = np.unique(np.concatenate([keys, _keys(itemsets)]), return_index=True)
        self._kept[size] = merged, np.concatenate([kept, supports])[first]


def _keys(itemsets: Int32Array) -> Int64Array:
    """One number for each itemset of up to six numbers of 10 bits."""
    return itemsets.astype(np.int64) @ (1 << 10 * np.arange(itemsets.shape[1], dtype=np.int64)[::-1])


class LevelwiseSearch:
    """Finds the most frequent itemsets; supports that were counted for one search serve the next.

    `first_batch` candidates are counted first, all at once. `breaks_ties`: of itemsets that tie for the last places
    the first are returned, by size, then by codes; subsets come before their supersets.
    """

    def __init__(
        self,
        items: CountedItems,
        supports: Int64Array,
        *,
        first_batch: int = FIRST_BATCH,
        breaks_ties: bool = False,
    ) -> None:
        self._counted = items
        self._supports = supports
        self._first_batch, self._breaks_ties = first_batch, breaks_ties
        self.kept = KeptSupports()

    def top(self, k: int, which: ItemsetFilter) -> ExactItemsets | None:
        """The k itemsets of largest support that the filter lets through.

        None where a depth-first search has to find them: there are many candidates, or items without a number that are
        as frequent as what is wanted, which pairs of the others tell, or, unless ties are broken, several itemsets tie
        for the last place, of which that search knows which to choose.
        """
        wanted = Wanted(k, which.min_count)
        level, unnumbered = self._items(relevant_items(self._supports, wanted, which))
        if unnumbered >= wanted.floor and k > level.supports.size * (level.supports.size - 1) // 2:
            return None
        return self._from_items(level, wanted, which, unnumbered=unnumbered)

    def _from_items(
        self, items: Level, wanted: Wanted, which: ItemsetFilter, *, unnumbered: int
    ) -> ExactItemsets | None:
        """What `top` finds, of these items; others are in at most `unnumbered` transactions each."""
        level: Level | None = items
        levels = []
        counted = 0
        while level is not None and level.supports.size:
            size = level.itemsets.shape[1]
            if size > 1 and unnumbered >= wanted.floor:
                return None
            if size >= which.min_size:
                levels.append(level)
            if size == which.max_size or level.supports.size <= size:
                break
            level, number = self._next(
                level, wanted, MOST_COUNTED - counted, is_wanted=size + 1 >= which.min_size
            )
            counted += number
        found = [each.at_least(wanted.floor) for each in levels]
        is_ambiguous = sum(each.supports.size for each in found) > wanted.k and not self._breaks_ties
        if level is None or is_ambiguous or unnumbered >= wanted.floor:
            return None
        return self._in_codes(found, wanted.k)

    def _items(self, codes: Int64Array) -> tuple[Level, int]:
        """Those of the items that have a number, and the largest support of those that have none, if any: else -1."""
        numbers = self._counted.places[codes]
        has_number = numbers < self._counted.codes.size
        unnumbered = int(self._supports[codes[~has_number]].max(initial=-1))
        numbers = np.sort(numbers[has_number])
        return Level(numbers[:, None], self._supports[self._counted.codes[numbers]]), unnumbered

    def _next(self, level: Level, wanted: Wanted, most: int, *, is_wanted: bool) -> tuple[Level | None, int]:
        """The frequent itemsets of one more item, and how many were counted; None where these would be too many."""
        level = level.at_least(wanted.floor)
        candidates, bounds = join(level.itemsets, level.supports, most)
        if bounds.size > most:
            return None, 0
        supports = self.kept.known(candidates)
        if is_wanted:
            wanted.add(supports)  # what is known raises the floor before anything is counted
        order = np.argsort(-bounds, kind="stable")
        order = order[supports[order] < 0]
        begin, batch = 0, self._first_batch
        while begin < order.size and bounds[order[begin]] >= wanted.floor:
            chosen = np.sort(order[begin : begin + batch])
            chosen = chosen[bounds[chosen] >= wanted.floor]
            supports[chosen] = self._newly_counted(candidates[chosen])
            if is_wanted:
                wanted.add(supports[chosen])
            begin, batch = begin + batch, 2 * batch
        return Level(candidates, supports).at_least(wanted.floor), min(begin, order.size)

    def _newly_counted(self, itemsets: Int32Array) -> Int64Array:
        number, size = itemsets.shape
        if number == 0:
            return np.empty(0, np.int64)
        supports = self._counted.supports(np.arange(0, number * size + 1, size), np.ravel(itemsets))
        self.kept.note(itemsets, supports)
        return supports

    def _in_codes(self, levels: list[Level], k: int) -> ExactItemsets:
        """The first k of the itemsets, by item codes, in their final order."""
        items = [np.ravel(np.sort(self._counted.codes[each.itemsets], axis=1)) for each in levels]
        sizes = [np.full(each.supports.size, each.itemsets.shape[1]) for each in levels]
        supports = np.concatenate([np.empty(0, np.int64), *(each.supports for each in levels)])
        offsets = offsets_by_sizes(np.concatenate([np.empty(0, np.int64), *sizes]))
        flat = np.concatenate([np.empty(0, np.int32), *items])
        return in_final_order(offsets, flat, supports, k)
