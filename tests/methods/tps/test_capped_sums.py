"""Sums of supports under a cap."""

import math

import numpy as np
import pytest

from veilset.methods.tps.capped_sums import SUM_CAPS, capped_numbers
from veilset.methods.tps.lengths import LENGTHS


@pytest.mark.parametrize(("chance", "cap"), [(0.3, 1), (0.3, 4), (0.05, 2), (0.9, 8)])
def test_means_of_capped_binomial_numbers(chance: float, cap: int) -> None:
    """By hand, up to a length of 20."""
    found = capped_numbers(np.full(LENGTHS.size, chance), cap)
    for row, length in enumerate(range(1, 21)):
        chances = [
            math.comb(length, held) * chance**held * (1 - chance) ** (length - held)
            for held in range(length + 1)
        ]
        expected = sum(min(held, cap) * each for held, each in enumerate(chances))
        assert found[row] == pytest.approx(expected, rel=0.01)


def test_a_large_cap_takes_nothing() -> None:
    """And no cap makes more of a sum than there is."""
    chances = np.full(LENGTHS.size, 0.1)
    whole = 0.1 * LENGTHS
    sums = np.array([capped_numbers(chances, cap) for cap in SUM_CAPS])
    assert np.allclose(sums[-1][LENGTHS < 200], whole[LENGTHS < 200], rtol=0.01)
    assert np.all(np.diff(sums, axis=0) >= -1e-6)
    assert np.all(sums <= whole + 1e-6)
