"""What to expect of `strawman`: noise on the supports of all itemsets; the k largest win."""

import math
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.forecast import Forecast, Stage, World, laws
from veilset.forecast.released import Accuracy, Told
from veilset.gate import DiscreteLaplace
from veilset.methods.dpfim import MOST_COUNTED_BY_STRAWMAN, STRAWMAN_SIZE
from veilset.methods.shared.forecast import forecast_number, most_transactions
from veilset.methods.shared.forecast_posterior import MOST_READ, model_prior, read_by_posterior

MOST_ITEMSETS = MOST_COUNTED_BY_STRAWMAN
"""There is no forecast for more itemsets: the method refuses to list them."""


def largest_size(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return max_size or STRAWMAN_SIZE


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Noise on all itemsets of each size; the k largest win."""
    number, remaining = forecast_number(epsilon)
    sizes = world.domain.number_by_size()
    noises = {size: DiscreteLaplace(members, remaining / len(sizes)) for size, members in sizes.items()}
    stages = tuple(Stage(f"supports, size {size}", noise) for size, noise in noises.items())
    supports, of_size = _every_support(world)
    scales = np.array([0.0, *(float(noise.scale) for noise in noises.values())])[of_size]
    taken = laws.chances_to_be_among_first(supports, math.sqrt(2) * scales, k=k)
    best = np.argsort(-supports, kind="stable")[:k]
    rivals = max(0.0, math.log(supports.size / (2 * k)))
    return Forecast.of(
        world,
        k,
        method="strawman",
        stages=(number, *stages),
        accuracy=_accuracy(k, supports, scales, best, largest=most_transactions(world, number)),
        chosen_from=math.ceil(float(scales.max()) * (rivals + laws.SCALES_OF_BAD_LUCK)),
        found=float(taken[best].sum()) / k,
    )


def _accuracy(
    k: int, supports: FloatArray, scales: FloatArray, best: Int64Array, *, largest: float
) -> Accuracy:
    """Of the best itemsets, by posteriors; all of a size have noise of one scale."""
    level = laws.level_of_first(supports, math.sqrt(2) * scales, k=k)
    some = best[np.linspace(0, best.size - 1, min(best.size, MOST_READ)).astype(np.int64)]
    parts, chances = [], []
    for scale in np.unique(scales[some]):
        those, alike = some[scales[some] == scale], supports[scales == scale]
        told, values = read_by_posterior(
            supports[those],
            scales[those],
            is_normal=np.zeros(those.size, np.bool_),
            prior=model_prior(alike, np.ones(alike.size), largest=largest),
        )
        parts.append(told)
        chances.append((values >= level).astype(np.float64))
    return Told.joined(parts).accuracy(np.concatenate(chances), largest=largest)


@lru_cache(maxsize=8)  # a search over epsilon comes by the same itemsets again and again
def _every_support(world: World) -> tuple[FloatArray, Int64Array]:
    """The supports of all itemsets, and their sizes."""
    supports = [
        world.rows * world.shares[np.array(list(combinations(range(world.shares.size), size)))].prod(axis=1)
        for size in range(1, world.domain.max_size + 1)
    ]
    return np.concatenate(supports), np.repeat(
        np.arange(1, world.domain.max_size + 1), [each.size for each in supports]
    )
