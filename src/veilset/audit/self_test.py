"""A short test of everything that ships and is drawn at random: does it have the law that it should have?

The exact audit takes decisions at their word: it computes the law that a decision should have. Here each is really
drawn, many times, and compared with that law by a chi-square test.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from veilset.audit.transcripts import small_laws
from veilset.audit.verdicts import BROKEN, HOLDS
from veilset.gate import Noise
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.row_keys import NumberedRows
from veilset.raw.cuts.rows import CompressedRows

FALSE_ALARM = 1e-6
LEAST_EXPECTED = 8
"""Outcomes that are expected less often than 8 times are counted together."""
LAPLACE_SCALES = (Fraction(1), Fraction(3), Fraction(5, 2), Fraction(50))
GAUSSIAN_SCALES = (Fraction(1), Fraction(7, 2), Fraction(40))
"""Among them those at which samplers were found to be wrong before."""
BOUNDS = (3, 10, 2**64 + 2**63)
"""Of uniform integers; the last is no power of two, and wider than a machine word."""
SLOWER = 5
"""Decisions are drawn one by one: a fifth as many of them."""

ChanceOf = Mapping[Hashable, float]


@dataclass(frozen=True, slots=True)
class NoiseTest:
    """Chi-square of many draws against a law."""

    law: str
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
        return {"law": self.law, "draws": self.draws, "p_value": self.p_value, "verdict": self.verdict}


def check_noise(noise: Noise, *, draws: int = 20_000) -> list[NoiseTest]:
    """Draw from every law and compare."""
    return [
        *(_laplace(noise, scale, draws) for scale in LAPLACE_SCALES),
        *(_gaussian(noise, scale, draws) for scale in GAUSSIAN_SCALES),
        *(_uniform(lambda bound=bound: noise.below(bound), bound, draws) for bound in BOUNDS),  # type: ignore[misc]
        _keys(noise, draws),
        *(_decision(noise, name, law, draws // SLOWER) for name, law in small_laws.every_decision().items()),
    ]


def _laplace(noise: Noise, scale: Fraction, draws: int) -> NoiseTest:
    a = math.exp(-1 / float(scale))
    drawn = Counter(noise.discrete_laplace(ExactCounts(np.zeros(draws, np.int64)), scale=scale).tolist())
    reach = math.ceil(40 * scale)
    law = {x: (1 - a) / (1 + a) * a ** abs(x) for x in range(-reach, reach + 1)}
    return NoiseTest(f"discrete Laplace noise, scale {scale}", draws, p_value(drawn, law))


def _gaussian(noise: Noise, scale: Fraction, draws: int) -> NoiseTest:
    drawn = Counter(noise.discrete_gaussian(ExactCounts(np.zeros(draws, np.int64)), scale=scale).tolist())
    reach = math.ceil(12 * scale)
    weights = {x: math.exp(-(x**2) / (2 * float(scale) ** 2)) for x in range(-reach, reach + 1)}
    total = sum(weights.values())
    law = {x: weight / total for x, weight in weights.items()}
    return NoiseTest(f"discrete Gaussian noise, scale {scale}", draws, p_value(drawn, law))


def _uniform(draw: Callable[[], int], bound: int, draws: int) -> NoiseTest:
    classes = min(bound, 32)
    drawn = Counter(draw() * classes // bound for _ in range(draws))
    return NoiseTest(f"uniform integers below {bound}", draws, p_value(drawn, _even(classes)))


def _keys(noise: Noise, draws: int) -> NoiseTest:
    rows = CompressedRows(np.arange(draws + 1), np.arange(draws, dtype=np.int32))
    keys = noise.keys().of_rows(NumberedRows(rows, np.zeros(draws, np.uint32)))
    drawn = Counter((keys >> np.uint32(26)).tolist())
    return NoiseTest("uniform keys of 32 bits", draws, p_value(drawn, _even(64)))


def _even(classes: int) -> ChanceOf:
    return dict.fromkeys(range(classes), 1 / classes)


def _decision(noise: Noise, name: str, law: small_laws.SmallLaw, draws: int) -> NoiseTest:
    drawn = Counter(law.draw(noise) for _ in range(draws))
    return NoiseTest(name, draws, p_value(drawn, law.chances))


def p_value(drawn: Counter[Any], law: Mapping[Any, float]) -> float:
    """How likely a sample is at least this far from a law; 0 where it holds what the law excludes.

    >>> p_value(Counter(a=50, b=50), {"a": 0.5, "b": 0.5})
    1.0
    """
    number = drawn.total()
    if any(law.get(outcome, 0.0) == 0 for outcome in drawn):
        return 0.0
    common = {outcome: number * p for outcome, p in law.items() if number * p >= LEAST_EXPECTED}
    statistic = sum((drawn[outcome] - expected) ** 2 / expected for outcome, expected in common.items())
    rare = number - sum(common.values())
    if rare > 1e-9 * number:
        observed = number - sum(drawn[outcome] for outcome in common)
        statistic += (observed - rare) ** 2 / max(rare, LEAST_EXPECTED)
    return _chi_square_tail(statistic, degrees=len(common) - (rare <= 1e-9 * number))


def _chi_square_tail(statistic: float, *, degrees: int) -> float:
    """P(chi-square >= statistic): a finite sum, with a normal tail where the number of degrees is odd.

    >>> round(_chi_square_tail(5.991, degrees=2), 3), round(_chi_square_tail(7.815, degrees=3), 3)
    (0.05, 0.05)
    """
    half = statistic / 2
    if half == 0:
        return 1.0
    first = 0.5 * (degrees % 2)
    terms = ((n + first) * math.log(half) - math.lgamma(n + first + 1) - half for n in range(degrees // 2))
    tail = math.erfc(math.sqrt(half)) if degrees % 2 else 0.0
    return min(1.0, tail + math.fsum(math.exp(term) for term in terms))
