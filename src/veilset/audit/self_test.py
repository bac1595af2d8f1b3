"""A short test of the noise that ships: does it have the law it should have?"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from veilset.audit.verdicts import BROKEN, HOLDS
from veilset.gate import Noise
from veilset.raw.counts import ExactCounts

FALSE_ALARM = 1e-6
SCALES = (Fraction(1), Fraction(3), Fraction(5, 2), Fraction(50))
"""Among them those at which samplers were found to be wrong before."""


@dataclass(frozen=True, slots=True)
class NoiseTest:
    """Chi-square of many draws against the discrete Laplace law."""

    scale: Fraction
    draws: int
    p_value: float

    @property
    def is_fine(self) -> bool:
        """Whether the draws are as they should be; wrong once in a million times."""
        return self.p_value > FALSE_ALARM

    @property
    def verdict(self) -> str:
        """The same in a word."""
        return HOLDS if self.is_fine else BROKEN

    def to_dict(self) -> dict[str, Any]:
        """The row that `veilset audit noise --json` prints."""
        return {
            "scale": str(self.scale),
            "draws": self.draws,
            "p_value": self.p_value,
            "verdict": self.verdict,
        }


def check_noise(noise: Noise, *, draws: int = 20_000) -> list[NoiseTest]:
    """Draw noise on zeros at several scales and compare it with its law."""
    zeros = ExactCounts(np.zeros(draws, np.int64))
    return [
        NoiseTest(scale, draws, _p_value(noise.discrete_laplace(zeros, scale=scale), float(scale)))
        for scale in SCALES
    ]


def _p_value(drawn: np.ndarray[tuple[int], np.dtype[np.int64]], scale: float) -> float:
    """Values as far out as 10 are expected are classes of their own; the tails are one class each."""
    a = math.exp(-1 / scale)
    last = max(1, math.floor(math.log(10 * (1 + a) / drawn.size / (1 - a)) / math.log(a)))
    inner = np.arange(-last + 1, last)
    probabilities = (1 - a) / (1 + a) * a ** np.abs(inner)
    tail = a**last / (1 + a)
    expected = drawn.size * np.concatenate([[tail], probabilities, [tail]])
    observed = np.bincount(np.clip(drawn, -last, last) + last, minlength=2 * last + 1)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return _chi_square_tail(statistic, degrees=2 * last)


def _chi_square_tail(statistic: float, *, degrees: int) -> float:
    """P(chi-square >= statistic), for an even number of degrees of freedom: a finite sum.

    >>> round(_chi_square_tail(5.991, degrees=2), 3)
    0.05
    """
    half = statistic / 2
    if half == 0:
        return 1.0
    terms = (n * math.log(half) - math.lgamma(n + 1) - half for n in range(degrees // 2))
    return min(1.0, math.fsum(math.exp(term) for term in terms))
