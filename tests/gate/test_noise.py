"""The laws of noise, each with a control on both sides."""

import math
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from laws import discrete_gaussian, discrete_laplace, fits
from veilset.errors import BadCall, EntropyFailed, NoiseTooSmall
from veilset.gate import (
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    NamingLaw,
    Noise,
    SecureNoise,
    SeededNoise,
    entropy,
    naming_mechanism,
)
from veilset.gate.noise import COUNTS_FOR_A_THREAD
from veilset.gate.selection.noisy_test import NoisyTest, SparseCounts
from veilset.rationals import float_at_least
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.row_keys import NumberedRows
from veilset.raw.cuts.rows import CompressedRows

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
    rows = CompressedRows(np.arange(20_001), np.arange(20_000, dtype=np.int32))
    keys = noise.keys().of_rows(NumberedRows(rows, np.zeros(20_000, np.uint32)))
    top_bits = (keys >> 29).tolist()
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


@pytest.fixture
def three_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many threads, on any machine."""
    monkeypatch.setattr(os, "cpu_count", lambda: 3)


@pytest.mark.usefixtures("three_cores")
def test_threads_add_noise_to_every_count_once() -> None:
    """Where there are many, in the same places: large counts stay apart from their neighbours under little noise."""
    exact = 1000 * np.arange(3 * COUNTS_FOR_A_THREAD + 1)
    noisy = SecureNoise().discrete_laplace(ExactCounts(exact), scale=Fraction(5))
    assert np.abs(noisy - exact).max() < 400
    assert np.count_nonzero(noisy != exact) > exact.size / 2


@pytest.mark.usefixtures("three_cores")
@pytest.mark.parametrize("law", ["discrete_laplace", "discrete_gaussian"])
def test_threads_draw_noise_of_their_own(law: str) -> None:
    """No wide draw comes twice, in one thread or in two."""
    draw = getattr(SecureNoise(), law)
    zeros = ExactCounts(np.zeros(3 * COUNTS_FOR_A_THREAD, np.int64))
    drawn = draw(zeros, scale=Fraction(2**45))
    assert np.unique(drawn).size == drawn.size


def test_there_is_no_negative_seed() -> None:
    """Only one of the two generators behind it would take one."""
    with pytest.raises(BadCall, match="the seed is -1; give a whole number, at least 0"):
        SeededNoise(-1)


HALF = Fraction(1, 2)


def less(mechanism: type) -> property:
    """Half of the scale that a mechanism should have."""
    right = mechanism.scale  # type: ignore[attr-defined]
    return property(lambda self: right.fget(self) * HALF)


@pytest.mark.parametrize(
    "draw",
    [
        lambda noise: noise.counts(ExactCounts(np.array([3])), DiscreteLaplace(2, Fraction(1, 3))),
        lambda noise: noise.counts(
            ExactCounts(np.array([3])), DiscreteGaussian(2, Fraction(1, 3), Fraction(1), Fraction(1, 9), 16)
        ),
        lambda noise: noise.passing(
            SparseCounts(np.array([1]), ExactCounts(np.array([3])), 5), NoisyTest(2, 3, Fraction(1, 3))
        ),
    ],
    ids=["Laplace", "Gaussian", "test"],
)
def test_noise_that_costs_more_than_was_paid_is_not_drawn(
    draw: Callable[[Noise], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenDP is asked before every draw; seeded noise, which protects nobody, asks nobody."""
    draw(SecureNoise())
    for mechanism in (DiscreteLaplace, DiscreteGaussian, NoisyTest):
        monkeypatch.setattr(mechanism, "scale", less(mechanism))
    with pytest.raises(NoiseTooSmall):
        draw(SecureNoise())
    draw(SeededNoise(1))


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_items_are_not_named_by_noise_that_costs_more_than_was_paid(law: NamingLaw) -> None:
    """The same for names."""
    right = naming_mechanism(law, transactions=2, longest=4, epsilon=Fraction(1, 3), delta=Fraction(1, 1000))
    weights = ExactCounts(np.array([10**9, 0]))
    assert SecureNoise().named(weights, right).items.tolist() == [0]
    with pytest.raises(NoiseTooSmall):
        SecureNoise().named(weights, replace(right, scale=right.scale * HALF))


def test_a_score_is_a_whole_one_unless_steps_are_told() -> None:
    """Two places that are one apart, at a rate of 2."""
    noise, law = SeededNoise(3), Exponential(1, 1, Fraction(2))
    drawn = Counter(noise.place(np.array([1, 0]), law) for _ in range(4000))
    first = 1 / (1 + math.exp(-2))
    assert fits(drawn, {0: first, 1: 1 - first})


@pytest.mark.parametrize("law", ["discrete_laplace", "discrete_gaussian"])
@pytest.mark.parametrize("number", [0, 1])
def test_a_fork_that_would_repeat_the_noise_of_an_ancestor_draws_none(
    law: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source was made before the fork, so that every draw has to look; whether there are counts or not."""
    draw, counts = getattr(SecureNoise(), law), ExactCounts(np.zeros(number, np.int64))
    assert draw(counts, scale=Fraction(2)).size == number
    monkeypatch.setattr(entropy._Numbers, "repeats_an_ancestor", True)
    with pytest.raises(EntropyFailed, match="its noise would be the same"):
        draw(counts, scale=Fraction(2))
