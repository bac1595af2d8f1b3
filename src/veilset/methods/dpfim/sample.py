"""The preprocessing phase of DP-FIM, on a sample: which items, how long, and towards which itemsets to truncate.

The privacy argument is that of `methods.dpfim`, whose questions 2 are asked here.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from veilset.gate import Curator, KeepAll, KeepRandom, KeepSimilar, OnlyItems, chance_of_a_unit, price_of
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.methods.shared.preliminaries import Preliminaries
from veilset.methods.shared.truncation import LONGEST_LENGTH, length_up_to

ETA = Fraction(85, 100)
WITHIN, SAMPLE_CONFIDENCE = 0.005, 0.95
"""A share in the sample is right to within 0.005, 95 times in 100; the paper takes 0.01, half of what the 50th itemset
of sparse data has."""
WANTED_ON_SAMPLE = Fraction(2)
"""More than epsilon 2 on the sample is not asked for: its noise is then far below the luck of the draw."""
MOST_FOR_SAMPLE = Fraction(2, 5)
FOR_NUMBER, FOR_LENGTHS, FOR_ITEMS, FOR_DEPTH = (Fraction(i, 20) for i in (2, 1, 12, 2))
"""Shares of what is spent on the sample; the targets get the rest."""
SHARE_WHOLE_FOR_RANKING = Fraction(1, 2)
"""Half of the transactions are whole when items are ranked: harder truncation keeps the order and needs less noise."""
MOST_TARGETS = 30


@dataclass(frozen=True, slots=True)
class Shape:
    """What the sample says about truncation: items, most frequent first, the length limit, and the targets."""

    order: tuple[int, ...]
    depth: int
    targets: tuple[Itemset, ...]

    def truncation(self, order: tuple[int, ...]) -> KeepSimilar:
        """By similarity to the targets, with these items in order (Alg. 3)."""
        targets = Itemsets.of(self.targets)
        return KeepSimilar(self.depth, np.array(order, np.int64), targets.offsets, targets.items)


def sample_size(tolerance: float, confidence: float = SAMPLE_CONFIDENCE) -> int:
    """How many transactions show any share to within the tolerance, with that confidence (Eq. 7).

    The paper's numbers, for 1 %, come from Z_alpha rounded to two digits, as here.

    >>> sample_size(0.01, 0.95), sample_size(0.01, 0.99)
    (9604, 16641)
    """
    deviations = Fraction(round(100 * NormalDist().inv_cdf((1 + confidence) / 2)), 100)
    return math.ceil(deviations**2 / (4 * Fraction(str(tolerance)) ** 2))


def open_sample(curator: Curator, preliminaries: Preliminaries, *, tolerance: float) -> Curator:
    """A sample of the size that the tolerance needs, of the data's noisy number, and what may be spent on it."""
    rate = min(Fraction(1), Fraction(sample_size(tolerance), max(preliminaries.number.value, 1)))
    price = price_of_sample(rate, curator.unit.transactions, remaining=preliminaries.remaining)
    return curator.on_sample(rate, epsilon=price)


def price_of_sample(rate: Fraction, transactions: int, *, remaining: Fraction) -> Fraction:
    """What the sample may cost: next to nothing of large data, a stated share of what remains of small."""
    chance = chance_of_a_unit(rate, transactions=transactions)
    return min(price_of(WANTED_ON_SAMPLE, chance=chance), remaining * MOST_FOR_SAMPLE)


def ask_shape(sample: Curator, k: int, *, domain: Domain, eta: Fraction) -> Shape:
    """Frequent items, the length limit over them, and maximal frequent itemsets (Alg. 2; repairs X1, X5)."""
    total = sample.budget.total
    number = sample.ask_matching_rank(
        k, domain=domain, most=min(k, sample.alphabet_size), epsilon=total * FOR_NUMBER
    )
    order = ask_frequent_items(sample, number, epsilon=total)
    only = OnlyItems(np.array(order, np.int64), KeepAll())
    longest = min(LONGEST_LENGTH, number)
    lengths = sample.ask_lengths(limit=longest, truncation=only, epsilon=total * FOR_DEPTH)
    depth = length_up_to(lengths, eta)
    if not 1 < depth < number or domain.max_size == 1:  # nothing is truncated, or not to more than one item
        return Shape(order, depth, ())
    likely = Domain(items=tuple(sorted(order)), min_size=2, max_size=min(depth, domain.max_size))
    draws = min(k, MOST_TARGETS, likely.size)
    chosen = sample.ask_best(draws, domain=likely, epsilon=sample.budget.left).itemsets
    return Shape(order, depth, maximal_itemsets(chosen))


def ask_frequent_items(sample: Curator, number: int, *, epsilon: Fraction) -> tuple[int, ...]:
    """That number of frequent items, most frequent first, by the question that needs less noise.

    Each draw of an item takes a part of the budget, so noise grows with their number. Supports of all items at once
    have noise that grows with the length of what truncation leaves of a transaction.
    """
    lengths = sample.ask_lengths(limit=LONGEST_LENGTH, epsilon=epsilon * FOR_LENGTHS)
    limit = length_up_to(lengths, SHARE_WHOLE_FOR_RANKING)
    if number <= limit:
        every_item = sample.domain(max_size=1)
        chosen = sample.ask_best(number, domain=every_item, epsilon=epsilon * FOR_ITEMS)
        return tuple(item for (item,) in chosen.itemsets)
    counts = sample.ask_item_supports(truncation=KeepRandom(limit), epsilon=epsilon * FOR_ITEMS)
    return tuple(np.argsort(-counts.values, kind="stable")[:number].tolist())


def maximal_itemsets(itemsets: tuple[Itemset, ...]) -> tuple[Itemset, ...]:
    """Those that no other one contains (X5).

    >>> maximal_itemsets(((1, 2), (1, 2, 3), (2, 4)))
    ((1, 2, 3), (2, 4))
    """
    sets = [frozenset(itemset) for itemset in itemsets]
    return tuple(
        itemset
        for itemset, items in zip(itemsets, sets, strict=True)
        if not any(items < other for other in sets)
    )
