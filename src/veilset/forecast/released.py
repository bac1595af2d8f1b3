"""What a release says of supports, in expectation over its noise: how wide intervals are, and how far off supports.

The study measures both over the itemsets that are right, as parts of their supports, and so does a forecast: each
itemset counts by its chance to be released. Where few are found, those are the most frequent ones, and what is said of
them is better than what would be said of all k.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from veilset.arrays import BoolArray, FloatArray
from veilset.forecast.laws import CONFIDENCE_LEVEL

NOISE_PARTS = 12
"""12 equally likely parts of a law of noise, each with its mean, stand for all noise."""
FEWEST = 1e-12
"""Where nothing is likely to be found, all itemsets count alike."""


def _means_of_parts(quantiles: FloatArray) -> FloatArray:
    """The means of equally likely parts of a law, given many of its quantiles."""
    means: FloatArray = quantiles.reshape(NOISE_PARTS, -1).mean(axis=1)
    return means


_PLACES = (np.arange(200 * NOISE_PARTS) + 0.5) / (200 * NOISE_PARTS)
LAPLACE_NOISE = _means_of_parts(np.sign(_PLACES - 0.5) * -np.log(1 - np.abs(2 * _PLACES - 1)))
"""Laplace noise of scale 1."""
NORMAL_NOISE = _means_of_parts(np.array([NormalDist().inv_cdf(place) for place in _PLACES.tolist()]))
"""Normal noise of standard deviation 1."""
LAPLACE_HALF_WIDTH = -math.log(1 - CONFIDENCE_LEVEL)
"""95 % of Laplace noise are within ln 20 = 3.0 scales, and its mean size is 1 scale."""
NORMAL_HALF_WIDTH = NormalDist().inv_cdf((1 + CONFIDENCE_LEVEL) / 2)
"""95 % of normal noise are within 1.96 standard deviations, and its mean size is 0.8 of them."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The median half width in transactions; half width and error as parts of the support, over what is found."""

    half_width: float
    relative_half_width: float
    relative_error: float


def with_noise(supports: FloatArray, scales: FloatArray, is_normal: BoolArray) -> FloatArray:
    """Noisy values of supports (rows), for each part of the noise (columns)."""
    noise = np.where(is_normal[:, None], NORMAL_NOISE, LAPLACE_NOISE)
    values: FloatArray = supports[:, None] + scales[:, None] * noise
    return values


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What is told of supports (rows), for each part of the noise (columns), and how likely it is."""

    supports: FloatArray
    means: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def plainly(cls, supports: FloatArray, scales: FloatArray, is_normal: BoolArray) -> "Told":
        """Noisy values as they are, with 95 % of the noise to both sides."""
        values = with_noise(supports, scales, is_normal)
        reach = (np.where(is_normal, NORMAL_HALF_WIDTH, LAPLACE_HALF_WIDTH) * scales)[:, None]
        return cls(supports, values, values - reach, values + reach)

    @classmethod
    def counted(cls, supports: FloatArray, scale: float) -> "Told":
        """Counts with Laplace noise of one scale, as they are."""
        return cls.plainly(supports, np.full(supports.size, scale), np.zeros(supports.size, np.bool_))

    @classmethod
    def joined(cls, parts: Sequence["Told"]) -> "Told":
        """Of all supports of some parts."""
        return cls(
            np.concatenate([part.supports for part in parts]),
            np.concatenate([part.means for part in parts]),
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
        )

    def accuracy(self, chances: FloatArray, *, largest: float) -> Accuracy:
        """Over what is found; `chances` are those of each support, or of each with each noise.

        No support is below 0 or above the largest that is possible, nor is any end of an interval.
        """
        means, low, high = (np.clip(each, 0.0, largest) for each in (self.means, self.low, self.high))
        at_least_1 = np.maximum(self.supports, 1.0)[:, None]
        weights = np.broadcast_to(chances if chances.ndim > 1 else chances[:, None], means.shape) + FEWEST
        widths, errors = (high - low) / 2 / at_least_1, np.abs(means - self.supports[:, None]) / at_least_1
        return Accuracy(
            float(np.median((self.high - self.low).mean(axis=1) / 2)),
            float(np.average(widths, weights=weights)),
            float(np.average(errors, weights=weights)),
        )
