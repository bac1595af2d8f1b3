"""What to expect of `privbasis`: items and pairs by draws, then noisy marginals of bases."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.forecast import Forecast, Stage, World, laws
from veilset.forecast.curve import TOLERANCE
from veilset.forecast.model import chance_to_be_reached, expected_rank
from veilset.gate import DiscreteLaplace, Exponential, NoisyHistogram
from veilset.itemsets import Itemset
from veilset.methods.privbasis import (
    LARGEST_BASIS,
    MARGIN_ON_K,
    NAME,
    SHARE_FOR_BASES,
    SHARE_FOR_ITEMS,
    SHARE_FOR_LAMBDA,
    BasisCounts,
    counts_over,
    how_many_pairs,
)
from veilset.methods.shared.bases import Basis, basis_set
from veilset.methods.shared.forecast import forecast_number
from veilset.methods.shared.shrinkage import expected_half_widths


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """A choice of items or pairs: who can be chosen, most frequent first, and with which chance."""

    choice: Exponential
    candidates: list[Itemset]
    chances: FloatArray

    @classmethod
    def of(cls, world: World, candidates: Sequence[Itemset], *, draws: int, epsilon: Fraction) -> "Draws":
        """By the law of the exponential mechanism, on the supports of the model."""
        choice = Exponential(draws, 1, epsilon)
        supports = world.rows * world.shares[np.array(candidates)].prod(axis=1)
        order = np.argsort(-supports, kind="stable")
        chances = laws.chances_to_be_drawn(
            supports[order], np.zeros(supports.size), draws=draws, rate=float(choice.rate)
        )
        return cls(choice, [candidates[place] for place in order], chances)

    @property
    def expected(self) -> list[Itemset]:
        """Those that would be chosen without noise."""
        return self.candidates[: self.choice.draws]

    def support(self) -> int:
        """The support with which one is chosen over candidates that nobody holds."""
        return laws.support_to_be_drawn(self.choice, candidates=len(self.candidates))


def largest_size(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return min(max_size or LARGEST_BASIS, LARGEST_BASIS)


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    number, remaining = forecast_number(epsilon)
    rank = Exponential(1, 1, remaining * SHARE_FOR_LAMBDA, is_monotone=False)
    draws = _draws(world, k, rank=rank, epsilon=remaining * SHARE_FOR_ITEMS)
    bases = _bases(*(tuple(each.expected) for each in draws))
    noise = DiscreteLaplace(1, remaining * SHARE_FOR_BASES / len(bases))
    counts = _without_data(bases, noise, max_size=world.domain.max_size)
    supports = _supports(world, counts)
    choices = [
        Stage(f"choice of {name}", each.choice) for name, each in zip(("items", "pairs"), draws, strict=False)
    ]
    return Forecast.of(
        world,
        k,
        method=NAME,
        stages=(
            number,
            Stage("how many items", rank),
            *choices,
            Stage("marginals", noise, times=len(bases)),
        ),
        half_width=_half_width(world, counts, supports, np.argsort(-supports)[:k]),
        chosen_from=max(each.support() for each in draws),
        found=_found(world, k, draws, counts, supports),
    )


def _draws(world: World, k: int, *, rank: Exponential, epsilon: Fraction) -> list[Draws]:
    """The draws of items and, where they are too many for one basis, of pairs of them."""
    wide_k = min(math.ceil(MARGIN_ON_K * k), world.domain.size)
    number = expected_rank(world, wide_k, rate=float(rank.rate))
    wants_pairs = number > LARGEST_BASIS and world.domain.max_size > 1
    number_of_pairs = how_many_pairs(wide_k, number) if wants_pairs else 0
    share = Fraction(number, number + number_of_pairs)
    every_item = [(item,) for item in world.domain.items]
    items = Draws.of(world, every_item, draws=number, epsilon=epsilon * share)
    if number_of_pairs == 0:
        return [items]
    every_pair = list(combinations(sorted(item for (item,) in items.expected), 2))
    return [items, Draws.of(world, every_pair, draws=number_of_pairs, epsilon=epsilon * (1 - share))]


@lru_cache(maxsize=64)  # a search over epsilon comes by the same items and pairs again and again
def _bases(items: tuple[Itemset, ...], pairs: tuple[Itemset, ...] = ()) -> list[Basis]:
    """The basis set that the method will make of them."""
    return basis_set([item for (item,) in items], pairs, largest=LARGEST_BASIS)


def _without_data(bases: list[Basis], noise: DiscreteLaplace, *, max_size: int) -> BasisCounts:
    """The itemsets that the bases will tell about, with their noise, as the method reckons it."""
    blank = [NoisyHistogram(np.zeros(2 ** len(basis), np.int64), noise) for basis in bases]
    return counts_over(bases, blank, max_size=max_size)


def _half_width(world: World, counts: BasisCounts, supports: FloatArray, best: Int64Array) -> int:
    """The median over the itemsets that are best in the model."""
    noisy = counts.noisy.take(best)
    widths = expected_half_widths(supports[best], noisy.scales, is_normal=noisy.is_normal, largest=world.rows)
    return math.ceil(np.median(widths))


def _supports(world: World, counts: BasisCounts) -> FloatArray:
    """What the model says that the counts are of."""
    itemsets = counts.itemsets
    ln_shares = np.add.reduceat(np.log(world.shares)[itemsets.items], itemsets.offsets[:-1])
    supports: FloatArray = world.rows * np.exp(ln_shares)
    return supports


def _found(world: World, k: int, draws: list[Draws], counts: BasisCounts, supports: FloatArray) -> float:
    """Of the k best, the share whose items and pairs are drawn and whose noisy supports are large enough."""
    taken = laws.chances_to_be_among_first(supports, counts.noisy.deviations, k=k)
    chances = {
        itemset: chance
        for each in draws
        for itemset, chance in zip(each.candidates, each.chances.tolist(), strict=True)
    }
    at_least = (1 - TOLERANCE) * world.curve.at_rank(k)
    itemsets = list(counts.itemsets)
    best = [place for place in np.argsort(-supports)[:k] if supports[place] >= at_least]
    return float(sum(taken[place] * chance_to_be_reached(itemsets[place], chances) for place in best)) / k
