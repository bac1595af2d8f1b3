"""What to expect of `splitsample`: items and pairs from shortened transactions, then k draws from what they allow.

The method's own functions make the candidates, from the supports of the model without noise. Noise on items and pairs
decides with which chance a candidate is there at all, noise of the draws with which chance it is drawn. What noise
brings in is taken to be no better than what it keeps out. Splitting is taken to lose nothing that decides a draw,
because it keeps frequent candidates together. Items are numbered from the most popular one.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.forecast import Forecast, Stage, World, laws
from veilset.forecast.curve import TOLERANCE
from veilset.forecast.model import chance_to_be_reached, model_lengths
from veilset.forecast.released import Told
from veilset.gate import DiscreteLaplace, Exponential
from veilset.itemsets import Itemset
from veilset.methods.shared.forecast import forecast_number, most_transactions
from veilset.methods.shared.truncation import (
    holders_by_length,
    kept_share,
    length_up_to,
    lengths_above_noise,
)
from veilset.methods.splitsample import ALPHA, DELTA, NAME, SHARE_FOR_DRAWS
from veilset.methods.splitsample import candidates as rules
from veilset.methods.splitsample.count_estimation import Range, known_ranges


def largest_size(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return max_size or DELTA


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    number, remaining = forecast_number(epsilon)
    for_splitting = remaining * ALPHA
    for_draws = (remaining - for_splitting) * SHARE_FOR_DRAWS
    draws = Exponential(draws=k, sensitivity=1, epsilon=for_draws)
    supports = DiscreteLaplace(k, remaining - for_splitting - for_draws)
    stages, candidates = _candidates(world, k, epsilon=for_splitting)
    whole = np.array([world.rows * float(world.shares[list(each)].prod()) for each in candidates])
    drawn = laws.chances_to_be_drawn(whole, np.zeros(whole.size), draws=k, rate=float(draws.rate))
    best = np.argsort(-whole, kind="stable")[:k]
    is_wanted = whole[best] >= (1 - TOLERANCE) * world.kth_support(k)
    chances = np.array(list(candidates.values()))[best] * drawn[best] * is_wanted
    told = Told.counted(whole[best], float(supports.scale))
    return Forecast.of(
        world,
        k,
        method=NAME,
        stages=(number, *stages, Stage("choice of itemsets", draws), Stage("supports", supports)),
        accuracy=told.accuracy(chances, largest=most_transactions(world, number)),
        chosen_from=laws.support_to_be_drawn(draws, candidates=len(candidates)),
        found=float(chances.sum()) / k,
    )


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedSupports:
    """What will be known of items or pairs from shortened transactions, and the noise in it."""

    itemsets: list[Itemset]
    values: FloatArray
    scale: float
    noise: DiscreteLaplace

    @classmethod
    def of(
        cls, world: World, itemsets: list[Itemset], lengths: Int64Array, *, limit: int, epsilon: Fraction
    ) -> "ExpectedSupports":
        """The method divides by the share that it takes to be kept; in the model it is right."""
        size = len(itemsets[0])
        noise = DiscreteLaplace(min(math.comb(limit, size), len(itemsets)), epsilon)
        share = kept_share(holders_by_length(lengths, size), size=size, limit=limit)
        supports = world.rows * world.shares[np.array(itemsets)].prod(axis=1)
        return cls(itemsets, supports, float(noise.scale) / share, noise)

    def first(self, number: int) -> "ExpectedSupports":
        """The first of them, which are the most frequent."""
        return replace(self, itemsets=self.itemsets[:number], values=self.values[:number])

    def ranges(self) -> dict[Itemset, Range]:
        """As the method will have them, without noise."""
        return known_ranges(zip(self.itemsets, np.rint(self.values).astype(int).tolist(), strict=True))

    def floor(self, kth_support: float) -> float:
        """What is below it, the method leaves out."""
        return rules.NEAR_LAMBDA * kth_support - rules.SCALES_BELOW * self.scale

    def chances(self, kth_support: float, *, most: int) -> FloatArray:
        """With noise, to be above the floor and among the `most` best."""
        deviations = np.full(self.values.size, math.sqrt(2) * self.scale)
        among_first = laws.chances_to_be_among_first(self.values, deviations, k=most)
        return np.minimum(
            among_first, laws.laplace_distribution((self.values - self.floor(kth_support)) / self.scale)
        )


def _candidates(world: World, k: int, *, epsilon: Fraction) -> tuple[tuple[Stage, ...], dict[Itemset, float]]:
    """The questions before the draws, and the candidates with the chances to be among them."""
    max_size, kth_support = world.domain.max_size, world.curve.at_rank(k)
    shares = rules.Shares.of(epsilon, max_size=max_size)
    small = DiscreteLaplace(1, shares.small)
    items = _items(world, shares)
    number = _how_many_items(items, k, max_size, kth_support)
    chosen = items.first(number)
    chances = items.chances(kth_support, most=number)[:number]
    chance_of = dict(zip(chosen.itemsets, chances.tolist(), strict=True))
    stages = (
        Stage("support of the k-th itemset", small),
        Stage("lengths", small),
        Stage("supports of items", items.noise),
        Stage("lengths on chosen items", small),
    )
    if max_size == 1 or number == 1:
        return stages, chance_of
    pairs, limit = _pairs(world, k, number, shares)
    chance_of |= dict(zip(pairs.itemsets, pairs.chances(kth_support, most=k).tolist(), strict=True))
    least = math.ceil(pairs.floor(kth_support))
    found = rules.candidates_for(
        chosen.ranges(), pairs.ranges(), k, max_size=max_size, limit=limit, min_count=least
    )
    reached = {itemset: chance_to_be_reached(itemset, chance_of) for itemset in found}
    return (*stages, Stage("supports of pairs", pairs.noise)), reached


def _pairs(world: World, k: int, number: int, shares: rules.Shares) -> tuple[ExpectedSupports, int]:
    """What will be known of the pairs of chosen items, and l_opt."""
    lengths = lengths_above_noise(model_lengths(world, number, epsilon=shares.small))
    limit = rules.piece_length(lengths)
    every_pair: list[Itemset] = list(combinations(range(rules.how_many_paired(k, number)), 2))
    return ExpectedSupports.of(world, every_pair, lengths, limit=limit, epsilon=shares.pairs), limit


def _items(world: World, shares: rules.Shares) -> ExpectedSupports:
    """What will be known of all items."""
    every_item: list[Itemset] = [(item,) for item in range(world.shares.size)]
    histogram = model_lengths(world, world.shares.size, epsilon=shares.small)
    limit = length_up_to(histogram, rules.SHARE_WHOLE_FOR_ITEMS)
    lengths = lengths_above_noise(histogram)
    return ExpectedSupports.of(world, every_item, lengths, limit=limit, epsilon=shares.items)


def _how_many_items(items: ExpectedSupports, k: int, max_size: int, kth_support: float) -> int:
    """As the method would have it, with as many above the floor as noise is expected to leave there."""
    floor = items.floor(kth_support)
    above = round(float(laws.laplace_distribution((items.values - floor) / items.scale).sum()))
    counts = np.where(np.arange(items.values.size) < above, math.ceil(floor), math.ceil(floor) - 1)
    return rules.how_many_items(counts.astype(np.int64), k, max_size, min_count=floor)
