"""Count estimation: how frequent larger itemsets can be, from the counts of their parts (SplitSample, Def. 1).

Works on noisy counts that were paid for; no data. Symbols of the paper: e = an itemset of n items; C = a count;
C_max, C_min = the most and the least that e can have, given its parts; CS = the candidates; gamma = the weight of
C_max.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from veilset.itemsets import Itemset, joined


@dataclass(frozen=True, slots=True)
class Range:
    """Between what and what a count lies; for a count that was asked for, both are the same."""

    least: int
    most: int

    def weight(self, gamma: Fraction) -> int:
        """gamma C_max + (1 - gamma) C_min, times the denominator of gamma: weights are only compared (3)."""
        return gamma.numerator * self.most + (gamma.denominator - gamma.numerator) * self.least


def known_ranges(counts: Iterable[tuple[Itemset, int]]) -> dict[Itemset, Range]:
    """Itemsets whose counts were asked for; noise may have made one negative, which no count is."""
    return {itemset: Range(max(count, 0), max(count, 0)) for itemset, count in counts}


def estimated_range(
    itemset: Itemset, smaller: Mapping[Itemset, Range], smallest: Mapping[Itemset, Range]
) -> Range:
    """C_max and C_min of an itemset of three items or more, (1) and (2).

    `smaller` has its parts of one item less, `smallest` those of two items less. All transactions with e1 or e2
    hold what these have in common, so C(e1) + C(e2) - C(e1 and e2) of them hold both at least. Of a part that
    is itself estimated, the most counts towards the most and the least towards the least. There are several e1
    and e2: the best bound counts.

    >>> pairs = known_ranges([((0, 1), 8), ((0, 2), 7), ((1, 2), 6)])
    >>> estimated_range((0, 1, 2), pairs, known_ranges([((0,), 10), ((1,), 9), ((2,), 9)]))
    Range(least=5, most=6)
    """
    parts = list(combinations(itemset, len(itemset) - 1))
    most = min(smaller[part].most for part in parts)
    least = max(
        smaller[one].least + smaller[other].least - smallest[_common(one, other)].most
        for one, other in combinations(parts, 2)
    )
    return Range(max(0, min(least, most)), most)


def _common(one: Itemset, other: Itemset) -> Itemset:
    return tuple(item for item in one if item in other)


def candidate_ranges(
    items: Mapping[Itemset, Range],
    pairs: Mapping[Itemset, Range],
    *,
    max_size: int,
    min_count: int,
    most: int,
) -> dict[Itemset, Range]:
    """CS: all items, and the larger itemsets that may reach `min_count`, up to `most` of each size.

    Of more, those that can have the largest counts stay, by equal counts the first in lexicographic order.
    """
    found, smallest, smaller = dict(items), dict(items), _best(pairs, min_count, most)
    for _ in range(2, max_size + 1):
        found.update(smaller)
        larger = {itemset: estimated_range(itemset, smaller, smallest) for itemset in joined(smaller)}
        smallest, smaller = smaller, _best(larger, min_count, most)
    return found


def _best(itemsets: Mapping[Itemset, Range], min_count: int, most: int) -> dict[Itemset, Range]:
    frequent = [itemset for itemset, count in itemsets.items() if count.most >= min_count]
    return {
        itemset: itemsets[itemset]
        for itemset in sorted(frequent, key=lambda e: (-itemsets[e].most, e))[:most]
    }
