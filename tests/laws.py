"""Does a sample have a law? One chi-square test for all statistical tests, with its false-alarm rate."""

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TypeVar

from scipy import stats

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
