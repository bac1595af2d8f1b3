"""The most frequent itemsets of data in several groups of partitions: exactly, and without gathering the rows.

Let n transactions be in groups of n_1, n_2, ..., and let s(X) be the support of an itemset X, s_g(X) that in group g.

1. A floor. Every group names its own k best itemsets. Of all that were named, those with the largest sums of what
   was told are counted exactly, in all groups. Where these are k or more, k itemsets have at least the k-th of these
   supports: call it F. The k-th largest support of all is therefore at least F.
2. No itemset of a support of T = F + 1 or more is missed. Group g names all X with s_g(X) >= T n_g / n. Were X named by
   no group, then s(X) = sum of s_g(X) < sum of T n_g / n = T. So whatever reaches T is named (Savasere, Omiecinski and
   Navathe 1995). What was named is counted exactly, and those below T are dropped.
3. What has more than F is known now, all of it. Where that is fewer than k, itemsets of support F fill up, of those
   that were counted in step 1, with their subsets: which of them is of no account, since they tie for the last place.

Where the threshold is so low that a group would name nearly everything it holds, there are fewer groups; in the
end one, which is the search on one machine.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Protocol

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.counts import ExactCounts, ExactItemsets
from veilset.raw.engines.cluster_work import KeyedCounts, added_by_key
from veilset.raw.engines.itemset_filter import ItemsetFilter
from veilset.raw.engines.local import LocalEngine
from veilset.raw.engines.mining import UNLIMITED, allowed_items, check_rank, in_final_order, offsets_by_sizes

ROWS_OF_A_GROUP = 1 << 16
"""65,536 transactions at least are in a group, on average: fewer tell little about the whole."""

LEAST_LOCAL_SUPPORT = 64
"""64: the number of groups leaves an itemset about this support in one of them before it is named."""

MOST_NAMED = 1 << 22
"""At most 4,194,304 itemsets are named by a group; where there are more, all is mined as one group."""


class GroupedRows(Protocol):
    """Transactions in partitions, which can be put into groups."""

    @property
    def partitions(self) -> int:
        """How many partitions there are."""

    @property
    def alphabet_size(self) -> int:
        """How many items there are."""

    def rows(self) -> int:
        """How many transactions there are."""

    def of_groups(
        self, groups: int, name: Callable[[LocalEngine], KeyedCounts], merge: Callable[..., KeyedCounts]
    ) -> KeyedCounts:
        """What groups name, merged two by two; nothing where there is no transaction."""

    def supports_of(self, offsets: Int64Array, items: Int32Array) -> ExactCounts:
        """The supports of itemsets, exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class NameBest:
    """The k best itemsets of a group, with their supports there."""

    k: int
    which: ItemsetFilter

    def __call__(self, engine: LocalEngine) -> KeyedCounts:
        """As many as there are, if fewer."""
        found = engine.top(self.k, self.which)
        return KeyedCounts(found.offsets, found.items, found.supports[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class KeepBestSums:
    """The sums of what groups told, of twice k itemsets at most: sums are less than supports, or equal."""

    k: int

    def __call__(self, one: KeyedCounts, other: KeyedCounts) -> KeyedCounts:
        """Those of the largest sums."""
        return _largest(added_by_key(one, other), 2 * self.k)


@dataclass(frozen=True, slots=True, eq=False)
class NameFrequent:
    """All itemsets that reach their share of a threshold in a group; with how many groups named each, and all groups.

    Where these would be too many, the first list is empty and the last of its numbers tells so.
    """

    threshold: int
    rows: int
    which: ItemsetFilter

    def __call__(self, engine: LocalEngine) -> KeyedCounts:
        """Their supports, and 1 for this group."""
        here = int(engine.number().values[0])
        least = max(1, -(-self.threshold * here // self.rows))
        found = engine.top(MOST_NAMED, replace(self.which, min_count=least))
        if found.supports.size == MOST_NAMED:
            return KeyedCounts(np.zeros(2, np.int64), found.items[:0], np.array([[0, 1]]))
        named = np.column_stack([found.supports, np.zeros_like(found.supports)])
        return KeyedCounts(found.offsets, found.items, named)


def top_of_groups(data: GroupedRows, k: int, which: ItemsetFilter) -> ExactItemsets:
    """The k itemsets of largest support that the filter lets through; of those that tie for the last, some."""
    check_rank(k)
    allowed_items(which, data.alphabet_size)  # raises where the filter does not fit
    groups = min(data.partitions, data.rows() // ROWS_OF_A_GROUP)
    if groups > 1:
        known = _counted_best(data, groups, k, which) if k < UNLIMITED else None
        floor = which.min_count if known is None else max(which.min_count, int(known.supports[-1]) + 1)
        groups = min(groups, floor // LEAST_LOCAL_SUPPORT)
        found = _reaching(data, groups, floor, which) if groups > 1 else None
        if found is not None:
            return _best(found, known, k, which.min_size)
    best = data.of_groups(1, NameBest(k, which), added_by_key)
    supports = best.values[:, 0]
    return in_final_order(best.offsets, best.items, supports, k)


def _counted_best(data: GroupedRows, groups: int, k: int, which: ItemsetFilter) -> ExactItemsets | None:
    """k itemsets with their supports, by support, that groups know to be frequent; None where they know fewer."""
    named = data.of_groups(groups, NameBest(k, replace(which, min_count=1)), KeepBestSums(k))
    supports = data.supports_of(named.offsets, named.items).values
    known = in_final_order(named.offsets, named.items, supports, k)
    return known if known.supports.size == k and known.supports[-1] >= which.min_count else None


def _reaching(data: GroupedRows, groups: int, threshold: int, which: ItemsetFilter) -> ExactItemsets | None:
    """All itemsets of at least this support; None where groups would name too many."""
    named = data.of_groups(groups, NameFrequent(threshold, data.rows(), which), added_by_key)
    if named.values[:, 1].any():
        return None
    supports = data.supports_of(named.offsets, named.items).values
    return in_final_order(named.offsets, named.items, supports, supports.size, min_count=threshold)


def _best(found: ExactItemsets, known: ExactItemsets | None, k: int, min_size: int) -> ExactItemsets:
    """The first k of what was found; where that is fewer, filled up by those that are known to tie just below."""
    itemsets = list(_itemsets(found))
    supports = found.supports.tolist()
    if known is not None and len(itemsets) < k:
        floor = int(known.supports[-1])
        tied = zip(_itemsets(known), known.supports.tolist(), strict=True)
        ties = (each for each, support in tied if support == floor)
        filled = _with_subsets(ties, set(itemsets), min_size, k - len(itemsets))
        itemsets += filled
        supports += [floor] * len(filled)
    offsets = offsets_by_sizes(np.array([len(each) for each in itemsets], np.int64))
    items = np.array([code for each in itemsets for code in each], np.int32)
    return in_final_order(offsets, items, np.array(supports, np.int64), k)


def _itemsets(held: ExactItemsets) -> Iterator[tuple[int, ...]]:
    items = held.items.tolist()
    return (tuple(items[start:end]) for start, end in pairwise(held.offsets.tolist()))


def _with_subsets(
    ties: Iterator[tuple[int, ...]], taken: set[tuple[int, ...]], min_size: int, number: int
) -> list[tuple[int, ...]]:
    """That many of the ties, smaller ones first, each after its subsets: these tie, too, or were taken."""
    filled: list[tuple[int, ...]] = []
    for itemset in sorted(ties, key=lambda each: (len(each), each)):
        for size in range(min_size, len(itemset) + 1):
            for subset in combinations(itemset, size):
                if subset not in taken and len(filled) < number:
                    taken.add(subset)
                    filled.append(subset)
        if len(filled) == number:
            break
    return filled


def _largest(counts: KeyedCounts, number: int) -> KeyedCounts:
    """The lists of the largest first number."""
    if counts.values.shape[0] <= number:
        return counts
    values = counts.values[:, 0]
    kept = in_final_order(counts.offsets, counts.items, values, number)
    return KeyedCounts(kept.offsets, kept.items, kept.supports[:, None])
