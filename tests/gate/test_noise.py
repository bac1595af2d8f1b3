"""The laws of noise, each with a control on both sides."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from laws import discrete_gaussian, discrete_laplace, fits
from veilset.errors import BadCall
from veilset.gate import Noise, SecureNoise, SeededNoise
from veilset.rationals import float_at_least
from veilset.raw.counts import ExactCounts

DRAWS = 50_000


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(11)], ids=["secure", "seeded"])
@pytest.mark.parametrize("scale", [Fraction(10), Fraction(1, 3), Fraction(101, 10)], ids=str)
@pytest.mark.parametrize(("factor", "is_right"), [(0.9, False), (1.0, True), (1.1, False)])
def test_noise_has_the_claimed_scale(noise: Noise, scale: Fraction, factor: float, is_right: bool) -> None:
    """50,000 draws tell a scale from one that is ten percent smaller or larger."""
    drawn = noise.discrete_laplace(ExactCounts(np.zeros(DRAWS, np.int64)), scale=scale)
    law = discrete_laplace(factor * float(scale), largest=int(60 * scale) + 60)
    assert fits(Counter(drawn.tolist()), law) == is_right


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(11)], ids=["secure", "seeded"])
@pytest.mark.parametrize("scale", [Fraction(10), Fraction(1, 2), Fraction(101, 10)], ids=str)
@pytest.mark.parametrize(("factor", "is_right"), [(0.9, False), (1.0, True), (1.1, False)])
def test_gaussian_noise_has_the_claimed_scale(
    noise: Noise, scale: Fraction, factor: float, is_right: bool
) -> None:
    """50,000 draws tell a scale from one that is ten percent smaller or larger."""
    drawn = noise.discrete_gaussian(ExactCounts(np.zeros(DRAWS, np.int64)), scale=scale)
    law = discrete_gaussian(factor * float(scale), largest=int(12 * scale) + 12)
    assert fits(Counter(drawn.tolist()), law) == is_right


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(11)], ids=["secure", "seeded"])
@pytest.mark.parametrize("scale", [Fraction(2**27), Fraction(4 * 10**14)], ids=["usual", "largest"])
@pytest.mark.parametrize(("factor", "is_right"), [(0.9, False), (1.0, True), (1.1, False)])
def test_gaussian_noise_in_fine_steps_is_normal(
    noise: Noise, scale: Fraction, factor: float, is_right: bool
) -> None:
    """At the scales at which items are named, up to those of the smallest epsilon: classes of a third of a scale."""
    drawn = noise.discrete_gaussian(ExactCounts(np.zeros(DRAWS // 2, np.int64)), scale=scale)
    bounds = np.arange(-18, 19) / 3 / factor
    chances = np.diff([stats.norm.cdf(bound) for bound in bounds])
    law = dict(zip(range(-18, 18), chances.tolist(), strict=True))
    assert fits(Counter(np.floor(3 * drawn / float(scale)).astype(int).tolist()), law) == is_right


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(11)], ids=["secure", "seeded"])
def test_gaussian_noise_is_drawn_anew_for_every_count(noise: Noise) -> None:
    """Neighbouring draws do not go together: none at all, or ten thousand of them."""
    assert noise.discrete_gaussian(ExactCounts(np.empty(0, np.int64)), scale=Fraction(9)).size == 0
    drawn = noise.discrete_gaussian(ExactCounts(np.zeros(10_001, np.int64)), scale=Fraction(1000))
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.05


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(11)], ids=["secure", "seeded"])
def test_noise_is_added_to_the_counts(noise: Noise) -> None:
    """With next to no noise the counts come out as they went in, also beyond 32 bits."""
    counts = np.array([0, 5, 2**40], np.int64)
    assert noise.discrete_laplace(ExactCounts(counts), scale=Fraction(1, 1000)).tolist() == counts.tolist()
    assert noise.discrete_gaussian(ExactCounts(counts), scale=Fraction(1, 1000)).tolist() == counts.tolist()


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(3)], ids=["secure", "seeded"])
def test_integers_and_keys_are_uniform(noise: Noise) -> None:
    """`below` and the top bits of `keys` hit every value equally often."""
    law = dict.fromkeys(range(12), 1 / 12)
    assert fits(Counter(noise.below(12) for _ in range(20_000)), law)
    top_bits = (noise.keys(20_000) >> 29).tolist()
    assert fits(Counter(top_bits), dict.fromkeys(range(8), 1 / 8))
    assert not fits(Counter(min(value, 6) for value in top_bits), dict.fromkeys(range(8), 1 / 8))


def test_a_seed_repeats_and_another_does_not() -> None:
    """Seeded noise is a function of its seed."""
    zeros = ExactCounts(np.zeros(100, np.int64))
    first, again, other = (
        SeededNoise(seed).discrete_laplace(zeros, scale=Fraction(5)).tolist() for seed in (1, 1, 2)
    )
    assert first == again != other
    first, again, other = (
        SeededNoise(seed).discrete_gaussian(zeros, scale=Fraction(5)).tolist() for seed in (1, 1, 2)
    )
    assert first == again != other


@given(value=st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_scales_are_rounded_up_never_down(value: Fraction) -> None:
    """The float handed to the sampler is the smallest that is not below the scale."""
    rounded = float_at_least(value)
    assert Fraction(math.nextafter(rounded, 0)) < value <= Fraction(rounded)


def test_there_is_no_negative_seed() -> None:
    """Only one of the two generators behind it would take one."""
    with pytest.raises(BadCall, match="no seed -1; give 0 or more"):
        SeededNoise(-1)
