"""What to expect of `splitsample`: items and pairs from shortened transactions, then k draws from what they allow.

The method's own functions make the patterns, from the supports of the model without noise. Noise on items and pairs
decides with which chance a pattern is there at all, noise of the draws with which chance it is drawn. What noise brings
in is taken to be no better than what it keeps out. Splitting is taken to lose nothing that decides a draw, because it
keeps frequent patterns together. Items are numbered from the most popular one.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.forecast import Forecast, Stage, World, laws, opening
from veilset.forecast.curve import TOLERANCE
from veilset.gate.mechanisms import DiscreteLaplace, Exponential
from veilset.itemsets import Itemset
from veilset.methods import splitsample as method
from veilset.methods.difffim import length_up_to
from veilset.methods.difffim.double_standards import kept_share
from veilset.methods.difffim.forecast import model_lengths
from veilset.methods.splitsample.count_estimation import counted, patterns


def largest(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return max_size or method.MAX_SIZE


@dataclass(frozen=True, slots=True, eq=False)
class Estimated:
    """What will be known of items or pairs from shortened transactions: estimates, and the scale of their noise."""

    values: FloatArray
    scale: float

    @classmethod
    def of(
        cls, supports: FloatArray, lengths: Int64Array, noise: DiscreteLaplace, *, size: int, limit: int
    ) -> "Estimated":
        """The method divides by the share that it takes to be kept; in the model it is right."""
        share = kept_share(method.holders(lengths, size), size=size, limit=limit)
        return cls(supports, float(noise.scale) / share)

    def floor(self, kth_support: float) -> float:
        """What is below it, the method leaves out."""
        return method.NEAR * kth_support - method.SLACK * self.scale

    def chances(self, kth_support: float, *, most: int) -> FloatArray:
        """With noise, to be above the floor and among so many of the best."""
        deviations = np.full(self.values.size, math.sqrt(2) * self.scale)
        among_first = laws.chances_to_be_among_first(self.values, deviations, k=most)
        return np.minimum(
            among_first, laws.laplace_distribution((self.values - self.floor(kth_support)) / self.scale)
        )


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    number, left = opening(epsilon)
    for_splitting = left * method.ALPHA
    for_choice = (left - for_splitting) * method.SHARE_FOR_CHOICE
    choice = Exponential(draws=k, sensitivity=1, epsilon=for_choice)
    supports = DiscreteLaplace(k, left - for_splitting - for_choice)
    stages, found = _patterns(world, k, epsilon=for_splitting)
    whole = np.array([_support(world, itemset) for itemset in found])
    drawn = laws.chances_to_be_drawn(whole, np.zeros(whole.size), draws=k, rate=float(choice.rate))
    best = np.argsort(-whole, kind="stable")[:k]
    chances = np.array(list(found.values()))[best] * drawn[best]
    kth_support = world.curve.at_rank(k)
    half_width = supports.half_width(laws.CONFIDENCE)
    return Forecast(
        method=method.NAME,
        max_size=world.domain.max_size,
        stages=(number, *stages, Stage("choice of itemsets", choice), Stage("supports", supports)),
        half_width=half_width,
        chosen_from=laws.support_to_be_drawn(choice, candidates=len(found)),
        above_zero_from=laws.support_above_zero(half_width),
        kth_support=round(kth_support),
        found=float(chances[whole[best] >= (1 - TOLERANCE) * kth_support].sum()) / k,
    )


def _patterns(world: World, k: int, *, epsilon: Fraction) -> tuple[tuple[Stage, ...], dict[Itemset, float]]:
    """The questions before the draws, and the patterns with the chances to be among them."""
    small = DiscreteLaplace(1, epsilon * method.SMALL_SHARE)
    for_counts = epsilon - 3 * small.epsilon
    max_size, kth_support = world.domain.max_size, world.curve.at_rank(k)
    for_pairs = for_counts / 2 if max_size > 1 else Fraction(0)

    histogram = model_lengths(world, world.shares.size, epsilon=small.epsilon)
    limit = length_up_to(histogram, method.SHARE_OF_TRANSACTIONS)
    items_noise = DiscreteLaplace(min(limit, world.shares.size), for_counts - for_pairs)
    items = Estimated.of(world.rows * world.shares, method.clear(histogram), items_noise, size=1, limit=limit)
    number = _how_many_items(items, k, max_size, kth_support)
    chances = items.chances(kth_support, most=number)[:number]
    singles = counted(((item,), round(float(items.values[item]))) for item in range(number))
    lengths = method.clear(model_lengths(world, number, epsilon=small.epsilon))
    limit = method.piece_length(lengths)
    stages = (
        Stage("support of the k-th itemset", small),
        Stage("lengths", small),
        Stage("supports of items", items_noise),
        Stage("lengths on chosen items", small),
    )
    if max_size == 1 or number == 1:
        return stages, dict(zip(singles, chances.tolist(), strict=True))

    every_pair: list[Itemset] = list(combinations(range(method.how_many_paired(k, number)), 2))
    pairs_noise = DiscreteLaplace(min(math.comb(limit, 2), len(every_pair)), for_pairs)
    pairs = Estimated.of(
        np.array([_support(world, pair) for pair in every_pair]), lengths, pairs_noise, size=2, limit=limit
    )
    chance_of = dict(zip(every_pair, pairs.chances(kth_support, most=k).tolist(), strict=True))
    chance_of |= dict(zip(singles, chances.tolist(), strict=True))
    doubles = counted(zip(every_pair, np.rint(pairs.values).astype(int).tolist(), strict=True))
    least = math.ceil(pairs.floor(kth_support))
    found = patterns(singles, doubles, max_size=min(max_size, limit), min_count=least, most=k)
    if len(found) < k:
        found = patterns(singles, doubles, max_size=max_size, min_count=0, most=k)
    reached = {itemset: _chance_to_be_reached(itemset, chance_of) for itemset in found}
    return (*stages, Stage("supports of pairs", pairs_noise)), reached


def _how_many_items(items: Estimated, k: int, max_size: int, kth_support: float) -> int:
    """As the method would have it, with as many above the floor as noise is expected to leave there."""
    floor = items.floor(kth_support)
    above = round(float(laws.laplace_distribution((items.values - floor) / items.scale).sum()))
    counts = np.where(np.arange(items.values.size) < above, math.ceil(floor), math.ceil(floor) - 1)
    return method.how_many_items(counts.astype(np.int64), k, max_size, min_count=floor)


def _support(world: World, itemset: Itemset) -> float:
    return world.rows * float(world.shares[list(itemset)].prod())


def _chance_to_be_reached(itemset: Itemset, chances: dict[Itemset, float]) -> float:
    """That all items are chosen, and the least likely pair: those of one itemset come or go together."""
    items = math.prod(chances[item,] for item in itemset)
    return items * min((chances[pair] for pair in combinations(itemset, 2)), default=1.0)
