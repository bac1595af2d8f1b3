"""The first part of SplitSample: lambda, F, l_opt, P, and the candidates CS that follow from them.

The privacy argument is that of `methods.splitsample`, whose questions 2 to 4 are asked here.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import Curator, DropLonger, KeepAll, KeepRandom, NoisyCounts, OnlyItems
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.methods.shared.truncation import (
    LONGEST_LENGTH,
    holders_by_length,
    kept_share,
    length_up_to,
    lengths_above_noise,
)
from veilset.methods.splitsample.count_estimation import Range, candidate_ranges, known_ranges
from veilset.methods.splitsample.split_loss import left_of_support

Shortening = KeepRandom | DropLonger

SHARE_FOR_SMALL = Fraction(1, 20)
"""5 % of alpha for lambda and each of the two histograms; items and pairs have the rest, in equal parts."""
SHARE_WHOLE_FOR_ITEMS = Fraction(1, 2)
"""Items are counted under truncation that leaves half of the transactions whole."""
PAIR_SUPPORT_LEFT = 0.8
"""l_opt is the shortest length of pieces that leaves 80 % of a pair's support."""
NEAR_LAMBDA, SCALES_BELOW = 0.7, 2
"""An item or a pair may be wanted if its estimate is at most 2 scales of noise below 70 % of lambda.

Not below lambda itself, because what shortening leaves is known on average alone."""
MOST_CANDIDATE_ITEMS = 256
"""Pairs are counted of at most 256 items, the most frequent of those chosen."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What each question gets of the epsilon for splitting: `small` ones, supports of items, supports of pairs."""

    small: Fraction
    items: Fraction
    pairs: Fraction

    @classmethod
    def of(cls, epsilon: Fraction, *, max_size: int) -> "Shares":
        """Where no pairs are counted, the items have their part, too."""
        small = epsilon * SHARE_FOR_SMALL
        for_counts = epsilon - 3 * small
        for_pairs = for_counts / 2 if max_size > 1 else Fraction(0)
        return cls(small, for_counts - for_pairs, for_pairs)


@dataclass(frozen=True, slots=True, eq=False)
class Upscaled:
    """Estimates of supports from shortened transactions, and the scale of their noise."""

    values: Int64Array
    scale: float

    def floor(self, lambda_: float) -> float:
        """What is below it, can hardly be wanted."""
        return NEAR_LAMBDA * lambda_ - SCALES_BELOW * self.scale


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePool:
    """Chosen items, most frequent first; how many of them transactions hold; l_opt; CS with ranges of counts."""

    items: Int64Array
    lengths: Int64Array
    limit: int
    ranges: dict[Itemset, Range]


def ask_candidates(
    curator: Curator, k: int, domain: Domain, *, only_short: bool, epsilon: Fraction
) -> CandidatePool:
    """lambda, F, l_opt, P, and what follows from them: the candidates that may be among the k best."""
    shares, max_size = Shares.of(epsilon, max_size=domain.max_size), domain.max_size
    shorten = DropLonger if only_short else KeepRandom
    lambda_ = curator.ask_kth_support(k, domain=domain, epsilon=shares.small).value
    f = ask_upscaled_items(curator, shorten, shares)
    number = how_many_items(f.values, k, max_size, min_count=f.floor(lambda_))
    items = np.argsort(-f.values, kind="stable")[:number]
    singles = known_ranges(zip(((item,) for item in items.tolist()), f.values[items].tolist(), strict=True))
    lengths = ask_lengths_over(curator, items, epsilon=shares.small)
    limit = piece_length(lengths)
    if max_size == 1 or number == 1:
        return CandidatePool(items, lengths, limit, singles)
    paired = items[: how_many_paired(k, number)]
    counts = curator.ask_supports(
        pairs_of(paired), truncation=OnlyItems(paired, shorten(limit)), epsilon=shares.pairs
    )
    p = upscaled(counts, lengths, shorten(limit), size=2)
    pairs = known_ranges(zip(counts.itemsets, p.values.tolist(), strict=True))
    least = math.ceil(p.floor(lambda_))
    ranges = candidates_for(singles, pairs, k, max_size=max_size, limit=limit, min_count=least)
    return CandidatePool(items, lengths, limit, ranges)


def ask_upscaled_items(
    curator: Curator, shorten: type[KeepRandom] | type[DropLonger], shares: Shares
) -> Upscaled:
    """F: about how many transactions hold each item, from shortened ones."""
    histogram = curator.ask_lengths(limit=LONGEST_LENGTH, epsilon=shares.small)
    truncation = shorten(length_up_to(histogram, SHARE_WHOLE_FOR_ITEMS))
    counts = curator.ask_item_supports(truncation=truncation, epsilon=shares.items)
    return upscaled(counts, lengths_above_noise(histogram), truncation, size=1)


def ask_lengths_over(curator: Curator, items: Int64Array, *, epsilon: Fraction) -> Int64Array:
    """How many transactions hold how many of the chosen items, as far as that stands out from noise."""
    chosen = OnlyItems(items, KeepAll())
    limit = min(LONGEST_LENGTH, items.size)
    return lengths_above_noise(curator.ask_lengths(limit=limit, truncation=chosen, epsilon=epsilon))


def upscaled(counts: NoisyCounts, lengths: Int64Array, truncation: Shortening, *, size: int) -> Upscaled:
    """Counts in shortened transactions, divided by the share that shortening leaves on average."""
    holders = holders_by_length(lengths, size)
    if isinstance(truncation, KeepRandom):
        share = kept_share(holders, size=size, limit=truncation.limit)
    else:
        short = holders[: truncation.limit + 1].sum()
        share = float(short / holders.sum()) if short else 1.0
    return Upscaled(np.rint(counts.values / share).astype(np.int64), float(counts.mechanism.scale) / share)


def how_many_items(counts: Int64Array, k: int, max_size: int, *, min_count: float) -> int:
    """How many items may stand in the k best itemsets: those that are frequent enough, but at the most k.

    An itemset is no more frequent than its items, so the k best have no more than k items. At the least as
    many as k itemsets can be made of.
    """
    most = min(k, counts.size)
    enough = (n for n in range(1, most) if Domain(items=range(n), max_size=max_size).size >= k)
    return min(most, max(next(enough, most), int(np.count_nonzero(counts >= min_count))))


def how_many_paired(k: int, number: int) -> int:
    """Of how many items pairs are counted: few enough to be quick, enough to make k itemsets.

    >>> how_many_paired(100, 100), how_many_paired(2000, 1000)
    (100, 256)
    """
    enough = range(min(number, MOST_CANDIDATE_ITEMS), number)
    return next((n for n in enough if number + math.comb(n, 2) >= k), number)


def pairs_of(items: Int64Array) -> Itemsets:
    """All pairs, in lexicographic order."""
    return Itemsets.of(combinations(sorted(items.tolist()), 2))


def piece_length(lengths: Int64Array) -> int:
    """l_opt: the shortest pieces that leave enough of a pair's support."""
    limits = range(2, lengths.size)
    enough = (limit for limit in limits if left_of_support(lengths, size=2, limit=limit) >= PAIR_SUPPORT_LEFT)
    return next(enough, max(2, lengths.size - 1))


def candidates_for(
    singles: dict[Itemset, Range],
    pairs: dict[Itemset, Range],
    k: int,
    *,
    max_size: int,
    limit: int,
    min_count: int,
) -> dict[Itemset, Range]:
    """CS: k candidates at the least, where few items and much noise leave fewer that may be frequent enough."""
    found = candidate_ranges(singles, pairs, max_size=min(max_size, limit), min_count=min_count, most=k)
    if len(found) < k:
        return candidate_ranges(singles, pairs, max_size=max_size, min_count=0, most=k)
    return found
