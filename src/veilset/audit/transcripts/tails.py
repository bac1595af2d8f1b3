"""Logarithms of the discrete Laplace and discrete Gaussian laws, far out in their tails, too."""

import math

import numpy as np

from veilset.arrays import FloatArray, Int64Array

NEARLY_NORMAL = 100.0
"""From a scale of 100 on, the discrete and the normal law are the same to more digits than there are."""


def log_laplace(x: Int64Array, scale: float) -> FloatArray:
    """The log of the probability of each value.

    >>> math.isclose(np.exp(log_laplace(np.arange(-200, 201), 3.0)).sum(), 1)
    True
    """
    logs: FloatArray = math.log(math.tanh(1 / (2 * scale))) - np.abs(x) / scale
    return logs


def log_laplace_at_least(least: int, scale: float) -> float:
    """The log of the probability that noise is `least` or more.

    >>> [round(math.exp(log_laplace_at_least(n, 1 / math.log(3))), 6) for n in (-1, 0, 1, 2)]
    [0.916667, 0.75, 0.25, 0.083333]
    """
    log_of_sum = math.log1p(math.exp(-1 / scale))
    if least > 0:
        return -least / scale - log_of_sum
    return math.log1p(-math.exp((least - 1) / scale - log_of_sum))


def log_laplace_below(bound: int, scale: float) -> float:
    """The log of the probability that noise is less than `bound`; noise is symmetric."""
    return log_laplace_at_least(1 - bound, scale)


def gaussian_at_least(least: int, scale: float) -> float:
    """The probability that discrete Gaussian noise is `least` or more: added up, or the normal law where that is wide.

    >>> round(gaussian_at_least(1, 0.5), 4), round(gaussian_at_least(1_645_000, 1e6), 4)
    (0.1067, 0.05)
    """
    if scale > NEARLY_NORMAL:
        return math.erfc((least - 0.5) / (scale * math.sqrt(2))) / 2
    reach = math.ceil(40 * scale)
    x = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(x**2) / (2 * scale**2))
    return float(weights[x >= least].sum() / weights.sum())
