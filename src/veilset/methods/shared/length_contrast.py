"""Long transactions against short ones: how `ask_unlikeness` compares what they hold.

Privacy argument. One question: the sum over some items of |a - average b|, a and b supports over transactions that are
normalised to a limit and to 1 item. A transaction of n items adds min(1, limit / n) - average / n for each of them, in
all at most the larger of average - 1 and limit - average, and what rounding adds: that is the sensitivity, for each
transaction of a privacy unit. Items, limit and average follow from public numbers and from earlier answers.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator

COMPARED_LENGTHS = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 48, 64)
"""Lengths up to which transactions are told apart, to choose from."""
PARTS = 8
"""Average lengths are in parts of 1/8, as the question has them."""
ROUNDED = Fraction(1, 100)
"""1/100 is what rounding adds to the sensitivity, about."""
MOST_COMPARED, FEWEST_COMPARED = 100, 5
"""100 items at most are compared; with fewer than 5 that stand out from noise, nothing is asked."""
EASY_TO_TELL = np.array([0.2, 0.6])
"""A limit is best that tells a spread of tilts of 0.2 from one of 0.6."""


@dataclass(frozen=True, slots=True)
class Unlikeness:
    """A noisy answer, in transactions, and the scale of its noise."""

    value: float
    noise: float


@dataclass(frozen=True, slots=True)
class LengthContrast:
    """How long transactions are told from short ones: up to a limit, around an average length."""

    limit: int
    average: Fraction

    @classmethod
    def up_to(cls, limit: int, lengths: FloatArray | Int64Array, numbers: FloatArray) -> "LengthContrast":
        """Around the average of some lengths, by how many transactions have each; those above the limit are cut to it.

        Transactions without items are left out.

        >>> LengthContrast.up_to(4, np.array([0.0, 1.0, 9.0]), np.array([70.0, 20.0, 20.0]))
        LengthContrast(limit=4, average=Fraction(5, 2))
        """
        held = numbers * (lengths >= 1)
        capped = float(np.minimum(lengths, limit) @ held) / max(float(held.sum()), 1e-9)
        return cls(limit, Fraction(round(PARTS * min(max(capped, 1.0), limit)), PARTS))

    @property
    def moved(self) -> int:
        """By how much one transaction moves what is asked, at most, where there are not very many items."""
        return math.ceil(max(self.average - 1, self.limit - self.average + ROUNDED))

    def weights(self, lengths: FloatArray | Int64Array) -> FloatArray:
        """What an item of a transaction of each length adds."""
        held = np.maximum(lengths, 1.0)
        weights: FloatArray = np.minimum(1.0, self.limit / held) - float(self.average) / held
        return weights

    def ask(self, curator: Curator, items: Int64Array, *, epsilon: Fraction) -> Unlikeness:
        """Pay for what some items add up to."""
        found = curator.ask_unlikeness(items, limit=self.limit, average=self.average, epsilon=epsilon)
        steps = found.mechanism.steps
        return Unlikeness(found.value / steps, float(found.mechanism.scale) / steps)


def best_contrast(
    contrasts: Iterable[LengthContrast], expected: Callable[[LengthContrast, FloatArray], FloatArray]
) -> LengthContrast:
    """The one that tells spreads of tilts apart best, for its sensitivity; it is `expected` to be that for each."""

    def told(contrast: LengthContrast) -> float:
        few, many = expected(contrast, EASY_TO_TELL).tolist()
        return float((many - few) / contrast.moved)

    return max(contrasts, key=told)
