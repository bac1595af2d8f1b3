"""Who wins a noisy choice, in expectation, where the scores are known.

The draws of the exponential mechanism without replacement are the candidates with the k largest values of
rate * score + Gumbel noise. One simplification makes that a formula: the k winners are taken to be those that
pass one level, the level that k of all candidates are expected to pass.
"""

import math
from collections.abc import Callable

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import Exponential

CONFIDENCE_LEVEL = 0.95
SCALES_OF_BAD_LUCK = math.log(10)
"""Laplace noise is below minus this many times its scale in 5 of 100 cases."""
_ROUNDS = 60


def chances_to_be_drawn(
    supports: FloatArray, ln_numbers: FloatArray, *, draws: int, rate: float
) -> FloatArray:
    """For a member of each class of candidates, the chance to be among the draws.

    >>> chances_to_be_drawn(np.array([9.0, 0.0]), np.log([1, 99]), draws=1, rate=1.0).round(3).tolist()
    [0.961, 0.0]
    """
    lifts = rate * supports

    def expected(level: float) -> float:
        return float(np.exp(np.minimum(ln_numbers + _ln_chance_to_pass(lifts - level), 700.0)).sum())

    highest = float((lifts + ln_numbers).max()) + math.log(lifts.size / draws)
    level = _where_it_falls_to(draws, expected, low=float(lifts.min()) - 5, high=highest)
    chances: FloatArray = np.exp(_ln_chance_to_pass(lifts - level))
    return chances


def chances_to_be_among_first(
    supports: FloatArray, deviations: FloatArray, *, k: int, present: FloatArray | float = 1.0
) -> FloatArray:
    """For each candidate, the chance that its support plus normal noise is among the k largest.

    `present` is the chance of each to take part at all; the result is for when it does.

    >>> chances_to_be_among_first(np.array([9.0, 5.0, 5.0]), np.ones(3), k=2).round(2).tolist()
    [1.0, 0.5, 0.5]
    """
    level = level_of_first(supports, deviations, k=k, present=present)
    return normal_distribution((supports - level) / deviations)


def level_of_first(
    supports: FloatArray, deviations: FloatArray, *, k: int, present: FloatArray | float = 1.0
) -> float:
    """What k of the supports plus normal noise are expected to pass; far below all where there are no more than k."""
    reach = 40 * float(deviations.max())
    low, high = float(supports.min()) - reach, float(supports.max()) + reach
    if float((present * np.ones(supports.size)).sum()) <= k:
        return low

    def passing(level: float) -> float:
        return float((present * normal_distribution((supports - level) / deviations)).sum())

    return _where_it_falls_to(k, passing, low=low, high=high)


def support_to_be_drawn(choice: Exponential, *, candidates: int) -> int:
    """The support with which one is drawn with 95 % probability where nobody holds any of the others."""
    if choice.draws >= candidates:
        return 0
    ln_rivals = math.log(candidates) - math.log(
        choice.draws
    )  # in logs: there may be more than a float can hold
    if ln_rivals < 20:
        ln_rivals = -math.log(-math.log1p(-choice.draws / candidates))
    return max(0, math.ceil((ln_rivals + math.log(-math.log(1 - CONFIDENCE_LEVEL))) / choice.rate))


def support_to_be_in_a_set(choice: Exponential, *, most: int, candidates: int) -> int:
    """The support with which one is in a set that is drawn at once, with 95 % probability, where nobody holds others.

    Of all sets of `most` candidates, the part most / candidates holds it.
    """
    if most >= candidates:
        return 0
    ln_odds = math.log(candidates) - math.log(most) + math.log(CONFIDENCE_LEVEL / (1 - CONFIDENCE_LEVEL))
    return max(0, math.ceil(ln_odds / choice.rate))


def support_to_be_first(scale: float, *, k: int, candidates: int) -> int:
    """The support with which one is among the k largest with 95 % probability where nobody holds any of the others.

    All have Laplace noise of that scale.
    """
    if k >= candidates:
        return 0
    places = k / candidates
    level = -math.log(2 * places) if 2 * places < 1 else math.log(2 * (1 - places))
    in_scales = level - math.log(2 * (1 - CONFIDENCE_LEVEL))
    return max(0, math.ceil(in_scales * scale))


def support_above_zero(half_width: int) -> int:
    """The support with which an interval of that half width excludes 0 with 95 % probability.

    Laplace noise stays above minus its 95 % half width times ln 10 / ln 20 with that probability.

    >>> support_above_zero(30)
    55
    """
    return half_width + math.ceil(half_width * math.log(10) / math.log(20)) + 1


def _ln_chance_to_pass(lifts: FloatArray) -> FloatArray:
    """ln(1 - exp(-exp(x))), for Gumbel noise; that is x itself far below the level."""
    ln_chances: FloatArray = np.where(lifts < -30, lifts, np.log(-np.expm1(-np.exp(np.clip(lifts, -30, 30)))))
    return ln_chances


def laplace_distribution(z: FloatArray) -> FloatArray:
    """The chance that Laplace noise of scale 1 is below z."""
    tail = np.exp(-np.abs(z)) / 2
    chances: FloatArray = np.where(z > 0, 1 - tail, tail)
    return chances


def normal_distribution(z: FloatArray) -> FloatArray:
    """The chance that a standard normal variable is below z, to within 0.0004 (Page 1977)."""
    chances: FloatArray = (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z * z * z))) / 2
    return chances


def _where_it_falls_to(value: float, falling: Callable[[float], float], *, low: float, high: float) -> float:
    """The place between low and high where a falling function passes a value."""
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > value else (low, middle)
    return high
