"""The most frequent itemsets, size by size, over bitmaps that are there already.

Candidates are itemsets whose subsets are all frequent enough, and the least support of a subset bounds that of the
candidate. Those of large bounds are counted first: what they hold raises the support that an itemset must
reach, and most of the others need not be counted. This suits few itemsets of many transactions; many itemsets are found
sooner by depth-first search (see `mining`).
"""

from dataclasses import dataclass, field

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.counts import ExactItemsets
from veilset.raw.engines.item_bitmaps import ItemBitmaps
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


class LevelwiseSearch:
    """Finds the most frequent itemsets; supports that were counted for one search serve the next."""

    def __init__(self, bitmaps: ItemBitmaps, supports: Int64Array) -> None:
        self._bitmaps = bitmaps
        self._supports = supports
        self._kept: dict[int, tuple[Int64Array, Int64Array]] = {}

    def top(self, k: int, which: ItemsetFilter) -> ExactItemsets | None:
        """The k itemsets of largest support that the filter lets through.

        None where a depth-first search has to find them: there are many candidates, or items without a bitmap, or
        several itemsets tie for the last place, of which that search knows which ones to choose.
        """
        wanted = Wanted(k, which.min_count)
        level = self._items(relevant_items(self._supports, wanted, which))
        levels = []
        counted = 0
        while level is not None and level.supports.size:
            size = level.itemsets.shape[1]
            if size >= which.min_size:
                levels.append(level)
            if size == which.max_size or level.supports.size <= size:
                break
            level, number = self._next(
                level, wanted, MOST_COUNTED - counted, is_wanted=size + 1 >= which.min_size
            )
            counted += number
        found = [each.at_least(wanted.floor) for each in levels]
        is_ambiguous = sum(each.supports.size for each in found) > k
        return None if level is None or is_ambiguous else self._in_codes(found)

    def _items(self, codes: Int64Array) -> Level | None:
        """The items that matter; None where there is no bitmap of some."""
        if not self._bitmaps.hold(codes):
            return None
        numbers = np.sort(self._bitmaps.places[codes])
        return Level(numbers[:, None], self._supports[self._bitmaps.codes[numbers]])

    def _next(self, level: Level, wanted: Wanted, most: int, *, is_wanted: bool) -> tuple[Level | None, int]:
        """The frequent itemsets of one more item, and how many were counted; None where these would be too many."""
        level = level.at_least(wanted.floor)
        candidates, bounds = join(level.itemsets, level.supports, most)
        if bounds.size > most:
            return None, 0
        order = np.argsort(-bounds, kind="stable")
        supports = np.full(bounds.size, -1, np.int64)
        begin, batch = 0, FIRST_BATCH
        while begin < order.size and bounds[order[begin]] >= wanted.floor:
            chosen = np.sort(order[begin : begin + batch])
            chosen = chosen[bounds[chosen] >= wanted.floor]
            supports[chosen] = self._supports_of(candidates[chosen])
            if is_wanted:
                wanted.add(supports[chosen])
            begin, batch = begin + batch, 2 * batch
        return Level(candidates, supports).at_least(wanted.floor), min(begin, order.size)

    def _supports_of(self, itemsets: Int32Array) -> Int64Array:
        """How many transactions hold each itemset; those that were counted before are not counted again."""
        size = itemsets.shape[1]
        if size > LARGEST_KEPT:
            return self._counted(itemsets)
        keys = itemsets.astype(np.int64) @ (1 << 10 * np.arange(size, dtype=np.int64)[::-1])
        known, supports = self._kept.get(size, (np.empty(0, np.int64), np.empty(0, np.int64)))
        places = np.searchsorted(known, keys)
        is_new = np.append(known, -1)[places] != keys
        found = np.append(supports, 0)[places]
        found[is_new] = self._counted(itemsets[is_new])
        if known.size + keys.size > MOST_KEPT:
            known, supports = known[:0], supports[:0]
        merged, first = np.unique(np.concatenate([known, keys]), return_index=True)
        self._kept[size] = merged, np.concatenate([supports, found])[first]
        return found

    def _counted(self, itemsets: Int32Array) -> Int64Array:
        number, size = itemsets.shape
        if number == 0:
            return np.empty(0, np.int64)
        return self._bitmaps.supports(np.arange(0, number * size + 1, size), np.ravel(itemsets))

    def _in_codes(self, levels: list[Level]) -> ExactItemsets:
        """The itemsets by item codes, in their final order."""
        items = [np.ravel(np.sort(self._bitmaps.codes[each.itemsets], axis=1)) for each in levels]
        sizes = [np.full(each.supports.size, each.itemsets.shape[1]) for each in levels]
        supports = np.concatenate([np.empty(0, np.int64), *(each.supports for each in levels)])
        offsets = offsets_by_sizes(np.concatenate([np.empty(0, np.int64), *sizes]))
        flat = np.concatenate([np.empty(0, np.int32), *items])
        return in_final_order(offsets, flat, supports, np.arange(supports.size), supports.size)
