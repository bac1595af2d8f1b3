"""Normalised supports, scaled up to their sum."""

from fractions import Fraction

import numpy as np

from curators import curator_over
from veilset.gate import NoisyCount
from veilset.methods.tps.dpsense import LIMITS, in_order, scaled_up

ROWS = [frozenset({0, 1, 2, 3})] * 6 + [frozenset({0, 1})] * 3 + [frozenset({5})] * 4
NUMBER = NoisyCount(len(ROWS), None)


def test_supports_are_scaled_up_to_their_sum() -> None:
    """Items 0 and 1 weigh 3 each at limit 1 and have 9 holders each; one may have lost more, or less."""
    curator = curator_over(ROWS, epsilon=Fraction(10**9))
    counts = curator.ask_normalised_supports(1, epsilon=Fraction(10**8))
    found = scaled_up(
        curator, counts, [1, 0], most=6, number=NUMBER, largest=len(ROWS), epsilon=Fraction(10**6)
    )
    assert list(found.itemsets) == [(1,), (0,)]
    assert np.all(np.abs(found.supports - 9) <= 1)
    assert np.all((found.low >= 3) & (found.low <= 8))
    assert np.all((found.high >= 10) & (found.high <= len(ROWS)))
    assert in_order(counts).tolist()[:1] == [5]


def test_supports_are_never_scaled_down() -> None:
    """A sum that is too small, because one transaction may add no more, leaves them as they were counted."""
    curator = curator_over(ROWS, epsilon=Fraction(10**9))
    counts = curator.ask_normalised_supports(6, epsilon=Fraction(10**8))
    found = scaled_up(
        curator, counts, [0, 1, 2, 3], most=1, number=NUMBER, largest=len(ROWS), epsilon=Fraction(10**6)
    )
    assert found.supports.tolist() == [9, 9, 6, 6]


def test_the_public_limits_ascend() -> None:
    """From 1, without repeats."""
    assert LIMITS[0] == 1
    assert list(LIMITS) == sorted(set(LIMITS))
