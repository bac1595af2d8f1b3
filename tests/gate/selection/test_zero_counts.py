"""Zero counts that pass a threshold: how many, and with which noise, as if each had been tested."""

import math
from collections import Counter
from fractions import Fraction

import pytest
from scipy import stats

from laws import chance_to_reach, fits
from veilset.gate import SecureNoise, SeededNoise
from veilset.gate.selection.zero_counts import chance_to_pass, draw_number_passing, draw_passing_noise


@pytest.mark.parametrize(("number", "threshold", "rate"), [(50, 3, 0.5), (4000, 12, 0.5), (3, 1, 2.0)])
def test_how_many_empty_parts_pass_is_binomial(number: int, threshold: int, rate: float) -> None:
    """The law of testing each passes; a threshold of one less or one more is told apart."""
    draws = 4000
    below = SeededNoise(5).below
    drawn = Counter(
        draw_number_passing(number, threshold=threshold, rate=Fraction(rate), below=below)
        for _ in range(draws)
    )
    for other in (threshold - 1, threshold, threshold + 1):
        p = chance_to_reach(0, threshold=other, rate=rate)
        law = {k: float(stats.binom.pmf(k, number, p)) for k in range(min(number, 200) + 1)}
        assert fits(drawn, law) == (other == threshold)


def test_of_no_empty_parts_none_passes() -> None:
    """Whatever is drawn."""
    assert {
        draw_number_passing(0, threshold=1, rate=Fraction(1), below=SeededNoise(s).below) for s in range(9)
    } == {0}


def test_a_quantile_that_no_64_digits_tell_is_told_by_more() -> None:
    """Digits at the edge of a step: zero to one of two coins, p = 1/2 (rate 0 is no noise law, but is exact)."""
    digits = iter([2**62, 2**63])  # U = 1/4 exactly so far: P(none) = 1/4
    drawn = draw_number_passing(2, threshold=1, rate=Fraction(0), below=lambda _: next(digits))
    assert drawn == 1
    assert next(digits, None) is None


@pytest.mark.parametrize("noise", [SeededNoise(3), SecureNoise()], ids=["seeded", "secure"])
def test_noise_of_passing_parts_is_the_tail_of_the_law(noise: SeededNoise | SecureNoise) -> None:
    """Above the threshold; the right scale passes, a fifth less or more is told apart."""
    threshold, scale = 7, Fraction(5, 2)
    draw = draw_passing_noise(
        4000, threshold=threshold, noise=lambda zeros: noise.discrete_laplace(zeros, scale=scale)
    )
    for factor in (0.8, 1, 1.25):
        a = math.exp(-1 / (float(scale) * factor))
        law = {threshold + g: (1 - a) * a**g for g in range(400)}
        assert fits(Counter(draw.tolist()), law) == (factor == 1)


def test_zeros_hardly_pass_a_threshold_far_out_and_nothing_takes_long() -> None:
    """A chance of exp(-10^6) has a million zeros, none of which has to be drawn."""
    noise = SeededNoise(1)
    assert draw_number_passing(10**6, threshold=10, rate=Fraction(10**5), below=noise.below) == 0
    assert draw_number_passing(0, threshold=1, rate=Fraction(1), below=noise.below) == 0


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(20)], ids=str)
@pytest.mark.parametrize("threshold", [0, 1, 7])
def test_the_chance_to_pass_is_that_of_the_law(threshold: int, scale: Fraction) -> None:
    """By its sum; prefix trees that would be mostly noise are refused by it."""
    expected = chance_to_reach(0, threshold=threshold, rate=1 / float(scale))
    assert chance_to_pass(threshold, scale=scale) == pytest.approx(expected, rel=1e-6)
