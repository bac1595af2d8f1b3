"""How far chosen items differ in who holds them: one number, asked for, tells.

Privacy argument. One question, `ask_unlikeness`, of a sensitivity that follows from public numbers: the sum over some
items of |a - average b|, a and b supports over transactions normalised to a limit and to 1 item. Items, limit and
average follow from earlier answers. All else is post-processing.

Datasets differ by a factor of four in how far the tilts of items are apart, so no constant fits. But transactions that
hold the same things whatever their length make the number small, and the further tilts are apart the larger it is.
Tilts are no exact powers: between short lengths alone they are further apart than between all.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator
from veilset.methods.tps.drawn_supports import DrawnSupports
from veilset.methods.tps.leanings import student
from veilset.methods.tps.lengths import LENGTHS

CONTRAST_LENGTHS = (4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 48, 64)
"""Lengths up to which transactions are told apart, to choose from."""
PARTS_OF_AVERAGE = 8
"""Average lengths are in parts of 1/8, as the question has them."""
ROUNDED_DOWN = 0.01
"""1/100 is what rounding adds to the sensitivity, about."""
MOST_CONTRASTED = 100
"""100 items at most are compared."""
POSSIBLE_SPREADS = np.geomspace(0.05, 1.2, 16)
"""How far tilts may be apart, as a standard deviation."""
USUAL_TILT_SPREAD, SPREAD_WITHIN = 0.3, 0.45
"""0.3 is the usual one; a dataset is 0.45 from it, in logarithms, with the tails of Student's t of 3 degrees."""
BETWEEN_LENGTHS = 0.6
"""0.6 / ln(limit) is the part by which tilts are further apart up to a limit: 1.4 times up to 4, 1.2 times up to 32.
So it is in seven datasets, and less in retail."""
ERROR_OF_CONTRAST = 0.15
"""0.15 of the expected number is how far it is off because tilts are a model."""
TOLD_APART = (0.2, 0.6)
"""A limit is best that tells a spread of 0.2 from one of 0.6."""
STUDENT_PLACES = np.linspace(-3.5, 3.5, 29)
WEIGHTS_OF_PLACES = student(STUDENT_PLACES) / float(student(STUDENT_PLACES).sum())
TILTS_AROUND = STUDENT_PLACES / math.sqrt(float(WEIGHTS_OF_PLACES @ STUDENT_PLACES**2))
"""29 tilts around their line that stand for all others, in standard deviations."""


@dataclass(frozen=True, slots=True)
class LengthContrast:
    """How long transactions are told from short ones: up to a limit, around an average length."""

    limit: int
    average: Fraction

    @classmethod
    def up_to(cls, limit: int, numbers: FloatArray) -> "LengthContrast":
        """Around the average of lengths, taken for the limit where they are above it."""
        capped = float(np.average(np.minimum(LENGTHS, limit), weights=numbers))
        return cls(limit, Fraction(round(PARTS_OF_AVERAGE * min(max(capped, 1.0), limit)), PARTS_OF_AVERAGE))

    @property
    def moved(self) -> int:
        """By how much one transaction moves what is asked, at most, where there are not very many items."""
        return math.ceil(max(float(self.average) - 1, self.limit - float(self.average) + ROUNDED_DOWN))

    def expected(self, drawn: DrawnSupports, spreads: FloatArray) -> FloatArray:
        """The number to expect of the chosen items, for each of some spreads of their tilts around their line.

        An item of a tilt adds its support times the average weight where it is held; and as it is held by some
        transactions and not by others, as much as a sum of that many draws is off.
        """
        weights = np.minimum(1.0, self.limit / LENGTHS) - float(self.average) / LENGTHS
        further = spreads * (1 + BETWEEN_LENGTHS / math.log(self.limit))
        numbers, powers = drawn.laws.mean, drawn.mean_powers
        lines = np.sqrt(drawn.weights.sum(axis=0) @ (drawn.powers - powers) ** 2)
        items = np.diff(np.minimum(np.cumsum(drawn.classes.sizes), MOST_CONTRASTED), prepend=0.0)
        found = np.zeros(spreads.size)
        for size, power, line, support in zip(items, powers, lines, drawn.mean_supports, strict=True):
            tilts = power + np.hypot(further, line)[:, None] * TILTS_AROUND
            held = numbers * (LENGTHS / LENGTHS[-1]) ** tilts[:, :, None]
            held /= held.sum(axis=2, keepdims=True)
            means, squares = held @ weights, held @ weights**2
            by_chance = 2 / math.pi * support * np.maximum(squares - means**2, 0.0)
            found += size * (np.sqrt((support * means) ** 2 + by_chance) @ WEIGHTS_OF_PLACES)
        return found


def ask_spread(curator: Curator, drawn: DrawnSupports, items: Int64Array, *, epsilon: Fraction) -> float:
    """How far the tilts of items are apart, the most frequent of which come first."""
    contrast = best_contrast(drawn)
    compared = np.sort(items[:MOST_CONTRASTED])
    found = curator.ask_unlikeness(compared, limit=contrast.limit, average=contrast.average, epsilon=epsilon)
    steps, noise = found.mechanism.steps, float(found.mechanism.scale)
    return spread_of(found.value / steps, contrast.expected(drawn, POSSIBLE_SPREADS), noise=noise / steps)


def best_contrast(drawn: DrawnSupports) -> LengthContrast:
    """The one that tells spreads apart best, for its sensitivity."""

    def told(contrast: LengthContrast) -> float:
        few, many = contrast.expected(drawn, np.array(TOLD_APART)).tolist()
        return float((many - few) / contrast.moved)

    return max((LengthContrast.up_to(limit, drawn.laws.mean) for limit in CONTRAST_LENGTHS), key=told)


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
