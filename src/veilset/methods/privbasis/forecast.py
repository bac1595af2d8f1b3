"""What to expect of `privbasis`: items and pairs by draws, then noisy marginals of bases."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray
from veilset.forecast import Forecast, Stage, World, laws
from veilset.forecast.curve import TOLERANCE
from veilset.forecast.model import chance_to_be_reached, expected_rank
from veilset.forecast.released import Accuracy, Told
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
from veilset.methods.shared.forecast import forecast_number, most_transactions
from veilset.methods.shared.forecast_posterior import MOST_READ, model_prior, read_by_posterior

SCATTERED_IN_BASIS = 3
"""3 items that have nothing to do with each other are best in a basis: (1 / g)^2 2^g, the variance, is least at 3."""


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
    number_of_bases = _number_of_bases(draws, bases)
    noise = DiscreteLaplace(1, remaining * SHARE_FOR_BASES / number_of_bases)
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
            Stage("marginals", noise, times=number_of_bases),
        ),
        accuracy=_accuracy(k, draws, counts, supports, largest=most_transactions(world, number)),
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


def _number_of_bases(draws: list[Draws], bases: list[Basis]) -> int:
    """That of the bases of the best items and pairs, and more for what noise draws in their place.

    The pairs of a few popular items fit into few bases. Those that noise draws share no items, so each needs its room.
    """
    if len(bases) == 1:
        return 1
    number = sum(each.choice.draws for each in draws)
    best = sum(float(each.chances[: each.choice.draws].sum()) for each in draws) / number
    scattered = max(len(bases), number // SCATTERED_IN_BASIS)
    return round(best * len(bases) + (1 - best) * scattered)


def _without_data(bases: list[Basis], noise: DiscreteLaplace, *, max_size: int) -> BasisCounts:
    """The itemsets that the bases will tell about, with their noise, as the method reckons it."""
    blank = [NoisyHistogram(np.zeros(2 ** len(basis), np.int64), noise) for basis in bases]
    return counts_over(bases, blank, max_size=max_size)


def _accuracy(
    k: int, draws: list[Draws], counts: BasisCounts, supports: FloatArray, *, largest: float
) -> Accuracy:
    """Of those that are best in the model, by the method's posteriors: a prior for each size."""
    level = laws.level_of_first(supports, counts.noisy.deviations, k=k)
    reached = _reached(draws, counts)
    sizes = np.diff(counts.itemsets.offsets)
    best = np.argsort(-supports)[:k]
    best = best[np.linspace(0, best.size - 1, min(best.size, MOST_READ)).astype(np.int64)]
    parts, chances = [], []
    for size in np.unique(sizes[best]):
        of_size, those = sizes == size, best[sizes[best] == size]
        independent = math.sqrt(counts.items * np.count_nonzero(of_size))
        prior = model_prior(supports[of_size], reached[of_size], largest=largest, independent=independent)
        noisy = counts.noisy.take(those)
        told, values = read_by_posterior(
            supports[those], noisy.scales, is_normal=noisy.is_normal, prior=prior
        )
        parts.append(told)
        chances.append(reached[those][:, None] * (values >= level))
    return Told.joined(parts).accuracy(np.concatenate(chances), largest=largest)


def _reached(draws: list[Draws], counts: BasisCounts) -> FloatArray:
    """The chance of each itemset that its items and pairs are drawn."""
    chances = {
        itemset: chance
        for each in draws
        for itemset, chance in zip(each.candidates, each.chances.tolist(), strict=True)
    }
    return np.array([chance_to_be_reached(itemset, chances) for itemset in counts.itemsets])


def _supports(world: World, counts: BasisCounts) -> FloatArray:
    """What the model says that the counts are of."""
    itemsets = counts.itemsets
    ln_shares = np.add.reduceat(np.log(world.shares)[itemsets.items], itemsets.offsets[:-1])
    supports: FloatArray = world.rows * np.exp(ln_shares)
    return supports


def _found(world: World, k: int, draws: list[Draws], counts: BasisCounts, supports: FloatArray) -> float:
    """Of the k best, the share whose items and pairs are drawn and whose noisy supports are large enough."""
    taken = laws.chances_to_be_among_first(supports, counts.noisy.deviations, k=k)
    reached = _reached(draws, counts)
    best = np.argsort(-supports)[:k]
    is_wanted = supports[best] >= (1 - TOLERANCE) * world.kth_support(k)
    return float((taken * reached)[best][is_wanted].sum()) / k
