"""Noisy values, and what they count: a support, or a share of it that is known as a law.

Post-processing: everything here follows from noisy answers. A count under a truncation or a contribution cap is a share
of a support; `KeptShares` is what is known of that share.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from veilset.arrays import BoolArray, FloatArray, Int64Array

BIN, MOST_BINS = 0.05, 600
"""Values within 1/20 of a scale, or of themselves, of each other may be one to the fit: 1/600 of all values."""
EXPECTED_BIN = 0.7
"""So may values of supports that should be within a factor of e^0.7 = 2 of each other."""
SURE = 1.96
"""95 % of a normal law are within 1.96 standard deviations."""
FAR_BELOW = 6.0
"""6 standard deviations below 0: no normal noise is lower."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptShares:
    """A law of what share of a support is counted: about one of `shares`, with the probabilities `chances`.

    It varies around each by Laplace noise of `gaps` times what is counted: this fills the room between them. That is
    how itemsets differ. In 95 %, all shares together are no more than `doubt` too low or too high, in logarithms.
    Where `is_drawn`, each transaction keeps the itemset or not, by chance: what is counted is binomial.
    """

    shares: FloatArray
    chances: FloatArray
    gaps: FloatArray
    doubt: tuple[float, float] = (0.0, 0.0)
    is_drawn: bool = False

    def __iter__(self) -> Iterator[tuple[float, float, float]]:
        return zip(self.shares.tolist(), self.chances.tolist(), self.gaps.tolist(), strict=True)

    @property
    def middle(self) -> float:
        """The share on average."""
        return float(self.shares @ self.chances)

    def widths(self, scales: FloatArray, supports: FloatArray, share: float, gap: float) -> FloatArray:
        """Of noise of some scales, of the room between shares, and of luck, together: for supports (the last axis).

        A Laplace law has twice the variance that the square of its scale says, a binomial one that of its draws.
        """
        luck = supports * share * (1 - share) / 2 if self.is_drawn else 0.0
        found: FloatArray = np.sqrt(scales[:, None] ** 2 + (gap * share * supports) ** 2 + luck)
        return found

    def lowered(self, factor: float) -> "KeptShares":
        """All shares less by a factor."""
        return replace(self, shares=self.shares * factor)

    def partly_together(self) -> "KeptShares":
        """The same where itemsets of one dataset are alike: half the variance of the shares is of all together."""
        part, logs = math.sqrt(0.5), np.log(self.shares)
        middle = float(logs @ self.chances)
        spread = SURE * part * math.sqrt(float((logs - middle) ** 2 @ self.chances))
        doubt = (math.hypot(self.doubt[0], spread), math.hypot(self.doubt[1], spread))
        return replace(
            self, shares=np.exp(middle + part * (logs - middle)), gaps=part * self.gaps, doubt=doubt
        )

    @classmethod
    def certain(cls, share: float, doubt: tuple[float, float] = (0.0, 0.0)) -> "KeptShares":
        """The same for all itemsets."""
        return cls(np.array([share]), np.ones(1), np.zeros(1), doubt)

    @classmethod
    def at_deviations(
        cls,
        shares: FloatArray,
        doubt: tuple[float, float] = (0.0, 0.0),
        *,
        chances: FloatArray | None = None,
        is_drawn: bool = False,
    ) -> "KeptShares":
        """The shares at DEVIATIONS from the middle of a law, in standard deviations; it is normal without `chances`."""
        gaps: FloatArray = np.abs(np.gradient(np.log(shares))) / 2
        return cls(shares, NORMAL_CHANCES if chances is None else chances, gaps, doubt, is_drawn)

    @classmethod
    def log_normal(cls, share: float, within: float) -> "KeptShares":
        """Around a share, with a standard deviation of its logarithm."""
        return cls.at_deviations(share * np.exp(within * DEVIATIONS))


DEVIATIONS = np.linspace(-2.4, 2.4, 9)
"""9 places of a normal law that stand for all others, with Laplace noise of half their distance around each."""
NORMAL_CHANCES = np.exp(-(DEVIATIONS**2) / 2) / np.exp(-(DEVIATIONS**2) / 2).sum()
WHOLE = KeptShares.certain(1.0)
"""Supports are counted as they are."""


@dataclass(frozen=True, slots=True, eq=False)
class NoisyValues:
    """Noisy counts of some supports, with the scale of the noise of each.

    The noise is Laplace noise; normal where `is_normal` says so, and there `scales` are standard deviations. Where it
    is known what each support should be about, that is `expected`: supports are alike as multiples of it.
    """

    values: FloatArray
    scales: FloatArray
    is_normal: BoolArray
    expected: FloatArray | None = None

    @classmethod
    def laplace(
        cls, values: Int64Array | FloatArray, scale: float, expected: FloatArray | None = None
    ) -> "NoisyValues":
        """All with Laplace noise of one scale."""
        return cls(
            np.asarray(values, np.float64),
            np.full(values.size, scale),
            np.zeros(values.size, np.bool_),
            expected,
        )

    @property
    def units(self) -> FloatArray:
        """What supports are multiples of, a row each: what is expected, or 1."""
        units = np.ones(self.values.size) if self.expected is None else self.expected
        return units[:, None]

    @property
    def deviations(self) -> FloatArray:
        """The standard deviation of the noise of each."""
        return np.where(self.is_normal, self.scales, math.sqrt(2) * self.scales)

    def possible(self) -> "NoisyValues":
        """The same with negative values raised to what says the same of supports, none of which is below 0.

        For Laplace noise that is 0: below, all supports are less likely by the same factor. Normal noise of more than
        FAR_BELOW deviations does not happen.
        """
        least = np.where(self.is_normal, -FAR_BELOW * self.scales, 0.0)
        return replace(self, values=np.maximum(self.values, least))

    def take(self, places: Int64Array) -> "NoisyValues":
        """Some of them."""
        expected = None if self.expected is None else self.expected[places]
        return NoisyValues(self.values[places], self.scales[places], self.is_normal[places], expected)

    def binned(self) -> tuple["NoisyValues", FloatArray]:
        """Fewer values that stand for nearly equal ones, and how many each stands for."""
        rank = np.argsort(np.argsort(self.values / self.scales, kind="stable"), kind="stable")
        fine = rank * MOST_BINS // max(rank.size, MOST_BINS)
        steps = np.stack(
            [
                np.rint(np.arcsinh(self.values / self.scales) / BIN),
                fine if self.expected is None else np.rint(np.log(self.expected) / EXPECTED_BIN),
                np.rint(np.log(self.scales) / BIN),
                self.is_normal,
            ]
        )
        low = steps.min(axis=1, keepdims=True)
        keys = np.ravel_multi_index(
            tuple((steps - low).astype(np.int64)), tuple(np.ptp(steps, axis=1).astype(int) + 1)
        )
        _, first, group, number = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        means, expected = np.bincount(group.ravel(), weights=self.values) / number, None
        if self.expected is not None:
            expected = np.exp(np.bincount(group.ravel(), weights=np.log(self.expected)) / number)
        few = NoisyValues(means, self.scales[first], self.is_normal[first], expected)
        return few, number.astype(np.float64)

    def below(self, counts: FloatArray, widths: FloatArray) -> FloatArray:
        """The probability of a noisy count of at most each value, for each count (the last axis)."""
        z = (self.values[:, None] - counts) / widths
        beyond = 0.5 * np.exp(-np.abs(z))
        laplace = np.where(z < 0, beyond, 1 - beyond)
        if not self.is_normal.any():
            return laplace
        return np.where(self.is_normal[:, None], _normal_below(z), laplace)

    def densities(self, counts: FloatArray, widths: FloatArray) -> FloatArray:
        """How likely each value is for each count (the last axis)."""
        z = np.abs(self.values[:, None] - counts) / widths
        laplace = np.exp(-z) / (2 * widths)
        if not self.is_normal.any():
            return laplace
        normal = np.exp(-z * z / 2) / (math.sqrt(2 * math.pi) * widths)
        return np.where(self.is_normal[:, None], normal, laplace)


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredGroup:
    """Noisy values of which the same is known about what they count."""

    noisy: NoisyValues
    kept: KeptShares = WHOLE


def _normal_below(z: FloatArray) -> FloatArray:
    """The normal distribution function, to within 1e-7 (Abramowitz and Stegun 26.2.17)."""
    t = 1 / (1 + 0.2316419 * np.abs(z))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    upper = series * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return np.where(z > 0, 1 - upper, upper)
