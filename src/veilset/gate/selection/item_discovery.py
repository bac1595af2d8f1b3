"""Which items are held by enough units to be named: weights, noise and a threshold.

Nobody may know which items there are before this question is answered. Every transaction of n items, cut to at most
`longest` at random, gives each of its items a weight that depends on n alone; weights are added up, an item that some
transaction holds gets noise, and it is named where its noisy weight reaches a threshold. Two laws are offered:

* Gaussian: weights 1 / sqrt(n), so that one transaction moves all sums by at most 1 in the L2 norm;
* Laplace: weights 1 / n, so that it moves them by at most 1 in the L1 norm.

Weights are integers, WHOLE_WEIGHT for a transaction of one item, and rounded down. A larger weight for long
transactions would have to be paid by as much more noise for all: per unit of noise, 1 / sqrt(n) or 1 / n is the most
that an item of n can get.

Privacy argument. Let D' be D and one more unit of at most c transactions, C the items that somebody in D holds, and U
the others of the unit. On C the two databases give sums that differ by at most c in the norm of the law, over the same
items, so the answer on C alone is (epsilon, delta_1)-private: Laplace noise of scale c / epsilon has delta_1 = 0;
Gaussian noise of scale c / sqrt(2 rho) is rho-zCDP, which `gate.zcdp` turns into (epsilon, delta_1). On D no item
of U can be named. On D' one is, with a probability of at most

    delta_2 = c * max over n <= longest of n * P(noise >= threshold - c * weight(n)),

because an item of U that is held by several of the c transactions weighs at most c times what it weighs in the
shortest of them, n items long, and each transaction is the shortest one for at most n of its items. Noise is
independent from item to item. So for every set S of answers, with p and p' its probability on D and D' and q that of
the answers on C of D',

    p' <= q + delta_2 <= e^epsilon p + delta_1 + delta_2,
    p <= e^epsilon q + delta_1  and  q (1 - delta_2) <= p',  hence  p <= e^epsilon p' + delta_1 + delta_2:

where e^epsilon q is at most 1, it exceeds e^epsilon p' by at most delta_2 e^epsilon q, so by at most delta_2; where it
is more than 1, e^epsilon p' + delta_2 is more than 1, and no probability is. All this holds for every way in which
transactions may have been truncated, each on its own and before the sums, and so on average over these ways.

The tails: discrete Laplace noise of scale b has P(X >= m) = a^m / (1 + a) with a = exp(-1 / b). For discrete Gaussian
noise of scale s, P(X >= m) is at most the probability that a normal variable of that scale reaches m - 1: the sum of
exp(-x^2 / 2s^2) over all integers is at least the integral (Poisson summation), and over x >= m at most the integral
from m - 1 (m at least 1). The threshold is the smallest multiple of a small step for which delta_2, rounded up, is
within its share; floating point only tells where the search for it begins.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate.approximate_mechanisms import ItemNaming, NamingLaw, check_naming
from veilset.gate.selection.noisy_test import AddNoise
from veilset.gate.zcdp import exp_at_least, gaussian_scale, normal_tail
from veilset.rationals import float_at_least
from veilset.raw.counts import ExactCounts

WHOLE_WEIGHT = 1 << 20
"""A whole weight in integer steps; a weight is off by less than one part in a thousand up to 1,000,000 items."""
FINENESS = 1 << 10
"""Thresholds are multiples of this many steps: a thousandth of a transaction."""


@dataclass(frozen=True, slots=True)
class NamingNoise:
    """The scale of the noise in steps, as the float that is really drawn, and what is left of delta for a threshold."""

    scale: Fraction
    for_threshold: Fraction


@dataclass(frozen=True, slots=True)
class NoiseAndThreshold:
    """The scale of the noise and the threshold that noisy weights must reach, both in steps."""

    scale: Fraction
    threshold: int


@dataclass(frozen=True, slots=True, eq=False)
class NamedItems:
    """The codes of the items that were named, ascending, and their noisy weights in steps."""

    items: Int64Array
    weights: Int64Array


def weights_by_length(law: NamingLaw, longest: int) -> Int64Array:
    """What an item weighs in a transaction of 0, 1, ..., longest items, in steps.

    >>> (weights_by_length("gaussian", 4) / WHOLE_WEIGHT).round(3).tolist()
    [0.0, 1.0, 0.707, 0.577, 0.5]
    >>> (weights_by_length("laplace", 4) / WHOLE_WEIGHT).round(3).tolist()
    [0.0, 1.0, 0.5, 0.333, 0.25]
    """
    weigh = _root_weight if law == "gaussian" else _share_weight
    return np.array([0, *map(weigh, range(1, longest + 1))], dtype=np.int64)


def _root_weight(length: int) -> int:
    return math.isqrt(WHOLE_WEIGHT * WHOLE_WEIGHT // length)


def _share_weight(length: int) -> int:
    return WHOLE_WEIGHT // length


def naming_mechanism(
    law: NamingLaw, *, transactions: int, longest: int, epsilon: Fraction, delta: Fraction
) -> ItemNaming:
    """Noise and threshold as a mechanism of the trace."""
    found = noise_and_threshold(law, transactions=transactions, longest=longest, epsilon=epsilon, delta=delta)
    return ItemNaming(
        law, longest, transactions, epsilon, delta, found.scale, found.threshold, steps=WHOLE_WEIGHT
    )


def named_items(weights: ExactCounts, mechanism: ItemNaming, *, add_noise: AddNoise) -> NamedItems:
    """The items whose noisy weight reaches the threshold, among those that some transaction holds."""
    held = np.flatnonzero(weights.values > 0)
    noisy = add_noise(ExactCounts(weights.values[held]))
    passing = noisy >= mechanism.threshold
    return NamedItems(held[passing], noisy[passing])


@lru_cache(maxsize=1024)
def noise_and_threshold(
    law: NamingLaw, *, transactions: int, longest: int, epsilon: Fraction, delta: Fraction
) -> NoiseAndThreshold:
    """The noise and the threshold that keep (epsilon, delta) for units of at most that number of transactions."""
    noise = naming_noise(law, transactions=transactions, epsilon=epsilon, delta=delta)
    weights = [transactions * weight for weight in weights_by_length(law, longest)[1:].tolist()]

    def is_seldom_reached(place: int) -> bool:
        chance = max(
            length * noise_tail(law, place * FINENESS - weight, noise.scale)
            for length, weight in enumerate(weights, start=1)
        )
        return transactions * chance <= noise.for_threshold

    expected = expected_threshold(law, float(noise.scale), weights, float(noise.for_threshold / transactions))
    place = _first_place(is_seldom_reached, start=math.floor(expected / FINENESS))
    return NoiseAndThreshold(noise.scale, place * FINENESS)


def _first_place(holds: Callable[[int], bool], *, start: int) -> int:
    """The first integer from `start` up where a condition holds that then stays; it was tried at what is returned."""
    below, step = start - 1, 1
    while not holds(below + step):
        below, step = below + step, 2 * step
    found = below + step
    while found - below > 1:
        middle = (below + found) // 2
        below, found = (below, middle) if holds(middle) else (middle, found)
    return found


def expected_threshold(law: NamingLaw, scale: float, weights: Sequence[float], chance: float) -> float:
    """The threshold in floating point, for predictions and as the place where an exact search begins.

    The largest, over lengths n, of what an item weighs there and the noise that is reached with `chance` / n.
    """
    return max(
        weight + scale * quantile(law, chance / length) for length, weight in enumerate(weights, start=1)
    )


def quantile(law: NamingLaw, chance: float) -> float:
    """How many scales noise reaches or exceeds with that chance.

    >>> round(quantile("gaussian", 0.025), 2), round(quantile("laplace", 0.025), 2)
    (1.96, 3.0)
    """
    return -NormalDist().inv_cdf(chance) if law == "gaussian" else -math.log(2 * chance)


def naming_noise(law: NamingLaw, *, transactions: int, epsilon: Fraction, delta: Fraction) -> NamingNoise:
    """The noise that (epsilon, delta) needs. Gaussian noise takes half of delta, Laplace noise nothing of it."""
    check_naming(epsilon, delta)
    reach = transactions * WHOLE_WEIGHT
    if law == "laplace":
        return NamingNoise(Fraction(float_at_least(reach / epsilon)), delta)
    scale = gaussian_scale(reach * reach, epsilon=epsilon, delta=delta / 2)
    return NamingNoise(Fraction(float_at_least(scale)), delta / 2)


def noise_tail(law: NamingLaw, least: int, scale: Fraction) -> Fraction:
    """At least the probability that noise of a scale is `least` or more.

    >>> least, scale = 2000, Fraction(100)
    >>> 1 <= float(noise_tail("laplace", least, scale)) / (math.exp(-20) / (1 + math.exp(-1 / 100))) < 1 + 1e-12
    True
    """
    if law == "gaussian":
        return normal_tail((least - 1) / scale)
    if least < 0:
        return Fraction(1)
    return exp_at_least(-least / scale) / (1 + 1 / exp_at_least(1 / scale))
