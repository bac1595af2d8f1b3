"""Does a sample have a law? One chi-square test with its false-alarm rate, the laws, and keys that break one."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np
from scipy import stats

from veilset.itemsets import Itemset
from veilset.raw.cuts.rows import Keys

FALSE_ALARM = 1e-6
"""How often a right law is rejected; tests are seeded, so in fact always or never."""

LEAST_EXPECTED = 8
"""Outcomes expected less often than this are counted together."""


Outcome = TypeVar("Outcome", bound=Hashable)


def fits(drawn: Counter[Outcome], law: Mapping[Outcome, float]) -> bool:
    """Whether a sample agrees with a law over its outcomes; an outcome that the law excludes never does."""
    number = sum(drawn.values())
    if set(drawn) - set(law):
        return False
    common = {outcome: p * number for outcome, p in law.items() if p * number >= LEAST_EXPECTED}
    observed = [float(drawn[outcome]) for outcome in common]
    expected = list(common.values())
    rest = number - sum(expected)
    if rest > 1e-9 * number:
        observed.append(number - sum(observed))
        expected.append(rest)
    scale = number / sum(expected)
    result = stats.chisquare(observed, [value * scale for value in expected])
    return bool(result.pvalue > FALSE_ALARM)


def discrete_laplace(scale: float, largest: int = 200) -> dict[int, float]:
    """P(noise = n) is in proportion to exp(-|n| / scale); what lies further out than `largest` is left out."""
    none = math.tanh(1 / (2 * scale))
    return {n: none * math.exp(-abs(n) / scale) for n in range(-largest, largest + 1)}


def discrete_gaussian(scale: float, largest: int) -> dict[int, float]:
    """P(noise = n) is in proportion to exp(-n^2 / (2 scale^2)); what lies further out than `largest` is left out."""
    weights = {n: math.exp(-(n**2) / (2 * scale**2)) for n in range(-largest, largest + 1)}
    total = math.fsum(weights.values())
    return {n: weight / total for n, weight in weights.items()}


def laplace_bins(scale: float) -> dict[int, float]:
    """P(floor(noise) = n) for Laplace noise; discrete noise in steps as fine as ours cannot be told from it."""

    def below(x: float) -> float:
        return math.exp(x / scale) / 2 if x < 0 else 1 - math.exp(-x / scale) / 2

    return {n: below(n + 1) - below(n) for n in range(-200, 200)}


def chance_to_reach(size: int, *, threshold: int, rate: float) -> float:
    """P(size + noise >= threshold), by summing the law of the noise."""
    a = math.exp(-rate)
    return sum((1 - a) / (1 + a) * a ** abs(x) for x in range(threshold - size, 400))


def law_of_choice(scores: dict[Itemset, int], k: int, rate: float) -> dict[tuple[Itemset, ...], float]:
    """k draws of the exponential mechanism without replacement: every sequence, by explicit enumeration."""
    if k == 0:
        return {(): 1.0}
    weights = {itemset: math.exp(rate * score) for itemset, score in scores.items()}
    law = {}
    for itemset, weight in weights.items():
        rest = {other: score for other, score in scores.items() if other != itemset}
        for sequence, probability in law_of_choice(rest, k - 1, rate).items():
            law[itemset, *sequence] = probability * weight / sum(weights.values())
    return law


def first_item_favoured(factor: float, number: int) -> Keys:
    """Random keys for rows of five items, those of each row's first item multiplied by a factor."""
    drawn = np.random.default_rng(5).integers(2**32, size=(number, 5)).astype(np.float64)
    drawn[:, 0] *= factor
    return np.minimum(drawn, 2**32 - 1).astype(np.uint32).ravel()
