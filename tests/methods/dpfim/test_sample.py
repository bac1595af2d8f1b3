"""The sample of DP-FIM: what it costs."""

import math
from fractions import Fraction

import pytest

from veilset.methods.dpfim.sample import MOST_FOR_SAMPLE, price_of_sample, sample_size


def test_the_sample_of_large_data_is_nearly_free_and_that_of_small_is_not() -> None:
    """The price follows the rate; at most the stated share of what remains."""
    size = sample_size(0.01)
    large, small = (
        price_of_sample(min(Fraction(1), Fraction(size, rows)), 1, remaining=Fraction(1))
        for rows in (990_000, 8_124)
    )
    assert large == pytest.approx(math.log1p(size / 990_000 * math.expm1(2)), abs=1e-8)
    assert large < Fraction(7, 100)
    assert small == MOST_FOR_SAMPLE
