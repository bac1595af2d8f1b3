"""The law of two-sided geometric noise, which is discrete Laplace noise and the G(epsilon) of DiffFIM.

P(x) = (1 - a) / (1 + a) * a^|x| with a = e^-epsilon. In the printed forms it stands in for Laplace noise of
scale 1 / epsilon, so that what breaks is the printed step and not the floating-point numbers under it.
"""

import math

import numpy as np
import numpy.typing as npt

from veilset.arrays import FloatArray, Int64Array


def draw(rng: np.random.Generator, epsilon: float, size: int = 1) -> Int64Array:
    """Independent noise: the difference of two geometric variables."""
    up, down = rng.geometric(-math.expm1(-epsilon), size=(2, size))
    noise: Int64Array = up - down
    return noise


def chance(values: npt.ArrayLike, epsilon: float) -> FloatArray:
    """The probabilities that the noise is exactly each value."""
    law: FloatArray = math.tanh(epsilon / 2) * np.exp(-epsilon * np.abs(values))
    return law


def chance_at_least(values: npt.ArrayLike, epsilon: float) -> FloatArray:
    """The probabilities that the noise is at least each value.

    >>> chance_at_least([-1, 0, 1, 2], math.log(3)).round(6).tolist()  # 11/12, 3/4, 1/4, 1/12
    [0.916667, 0.75, 0.25, 0.083333]
    """
    bounds = np.asarray(values)
    away = np.exp(-epsilon * np.where(bounds > 0, bounds, 1 - bounds)) / (1 + math.exp(-epsilon))
    tails: FloatArray = np.where(bounds > 0, away, 1 - away)
    return tails
