"""How far chosen items differ in who holds them: one number, asked for, tells.

Privacy argument. One question, `ask_unlikeness`, of the sensitivity that `methods.shared.length_contrast` tells: items,
limit and average follow from earlier answers. All else is post-processing.

Datasets differ by a factor of four in how far the tilts of items are apart, so no constant fits. But transactions that
hold the same things whatever their length make the number small, and the further tilts are apart the larger it is.
Tilts are no exact powers: between short lengths alone they are further apart than between all.
"""

import math
from fractions import Fraction
from functools import partial

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator
from veilset.methods.shared.length_contrast import (
    COMPARED_LENGTHS,
    MOST_COMPARED,
    LengthContrast,
    best_contrast,
)
from veilset.methods.tps.drawn_supports import DrawnSupports
from veilset.methods.tps.leanings import student
from veilset.methods.tps.lengths import LENGTHS

LEAST_LIMIT = 4
"""Lengths up to 4 or more are told apart."""
POSSIBLE_SPREADS = np.geomspace(0.05, 1.2, 16)
"""How far tilts may be apart, as a standard deviation."""
USUAL_TILT_SPREAD, SPREAD_WITHIN = 0.3, 0.45
"""0.3 is the usual one; a dataset is 0.45 from it, in logarithms, with the tails of Student's t of 3 degrees."""
BETWEEN_LENGTHS = 0.6
"""0.6 / ln(limit) is the part by which tilts are further apart up to a limit: 1.4 times up to 4, 1.2 times up to 32.
So it is in seven datasets, and less in retail."""
ERROR_OF_CONTRAST = 0.15
"""0.15 of the expected number is how far it is off because tilts are a model."""
STUDENT_PLACES = np.linspace(-3.5, 3.5, 29)
WEIGHTS_OF_PLACES = student(STUDENT_PLACES) / float(student(STUDENT_PLACES).sum())
TILTS_AROUND = STUDENT_PLACES / math.sqrt(float(WEIGHTS_OF_PLACES @ STUDENT_PLACES**2))
"""29 tilts around their line that stand for all others, in standard deviations."""


def ask_spread(curator: Curator, drawn: DrawnSupports, items: Int64Array, *, epsilon: Fraction) -> float:
    """How far the tilts of items are apart, the most frequent of which come first."""
    contrast = contrast_for(drawn)
    found = contrast.ask(curator, np.sort(items[:MOST_COMPARED]), epsilon=epsilon)
    return spread_of(found.value, expected_spread(contrast, POSSIBLE_SPREADS, drawn), noise=found.noise)


def contrast_for(drawn: DrawnSupports) -> LengthContrast:
    """The one that tells spreads apart best, for its sensitivity."""
    limits = (limit for limit in COMPARED_LENGTHS if limit >= LEAST_LIMIT)
    return best_contrast(
        (LengthContrast.up_to(limit, LENGTHS, drawn.laws.mean) for limit in limits),
        partial(expected_spread, drawn=drawn),
    )


def expected_spread(contrast: LengthContrast, spreads: FloatArray, drawn: DrawnSupports) -> FloatArray:
    """The answer to expect of the chosen items, for each of some spreads of their tilts around their line.

    An item of a tilt adds its support times the average weight where it is held; and as it is held by some transactions
    and not by others, as much as a sum of that many draws is off.
    """
    weights = contrast.weights(LENGTHS)
    further = spreads * (1 + BETWEEN_LENGTHS / math.log(contrast.limit))
    numbers, powers = drawn.laws.mean, drawn.mean_powers
    lines = np.sqrt(drawn.weights.sum(axis=0) @ (drawn.powers - powers) ** 2)
    items = np.diff(np.minimum(np.cumsum(drawn.classes.sizes), MOST_COMPARED), prepend=0.0)
    found = np.zeros(spreads.size)
    for size, power, line, support in zip(items, powers, lines, drawn.mean_supports, strict=True):
        tilts = power + np.hypot(further, line)[:, None] * TILTS_AROUND
        held = numbers * (LENGTHS / LENGTHS[-1]) ** tilts[:, :, None]
        held /= held.sum(axis=2, keepdims=True)
        means, squares = held @ weights, held @ weights**2
        by_chance = 2 / math.pi * support * np.maximum(squares - means**2, 0.0)
        found += size * (np.sqrt((support * means) ** 2 + by_chance) @ WEIGHTS_OF_PLACES)
    return found


def spread_of(answer: float, expected: FloatArray, *, noise: float) -> float:
    """What an answer says, where it is expected to be `expected` for each of POSSIBLE_SPREADS, with noise of a scale.

    >>> expected = 1000 * POSSIBLE_SPREADS
    >>> [round(spread_of(answer, expected, noise=50.0), 2) for answer in (100.0, 400.0, 1100.0)]
    [0.18, 0.39, 1.0]
    """
    widths = np.hypot(noise, ERROR_OF_CONTRAST * expected)
    off = np.log(POSSIBLE_SPREADS / USUAL_TILT_SPREAD) / SPREAD_WITHIN
    logs = -np.abs(answer - expected) / widths - np.log(widths) - 2 * np.log1p(off * off / 3)
    weights = np.exp(logs - logs.max())
    return math.sqrt(float(weights @ POSSIBLE_SPREADS**2 / weights.sum()))
