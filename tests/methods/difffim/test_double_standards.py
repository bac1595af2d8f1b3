"""Double standards: against all truncations, direct sums over the posterior, and binomial tails."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from veilset.arrays import FloatArray, Int64Array
from veilset.errors import BadCall
from veilset.methods.difffim.double_standards import average_original, largest_original

RHO = 0.01
SCALES = [0.01, 0.3, 1.0, 20.0, 1000.0]
SUPPORTS = np.array([-5000, -1, 0, 1, 2, 3, 10, 100, 999, 30_000])

scales = st.floats(0.01, 300)
supports = st.lists(st.integers(-500, 5000), min_size=1, max_size=5).map(np.array)
risks = st.floats(1e-9, 0.9)
shares = st.floats(0.01, 1)


def posterior(noisy: int, scale: float) -> tuple[FloatArray, FloatArray]:
    """The truncated supports that a noisy one leaves possible, up to a tail of 1e-15, and their chances."""
    possible = np.arange(max(noisy, 0) + math.ceil(36 * scale) + 2, dtype=np.float64)
    weights = np.exp(-(np.abs(noisy - possible) - max(-noisy, 0)) / scale)
    return possible, weights / weights.sum()


def average_by_summation(noisy: Int64Array, *, scale: float, share: float) -> list[float]:
    """(11), term by term."""
    return [float(np.dot(*posterior(each, scale))) / share for each in noisy.tolist()]


def largest_by_summation(noisy: Int64Array, *, scale: float, share: float, rho: float) -> list[float]:
    """(12), term by term."""
    ln_rho = math.log(rho)
    sums = []
    for each in noisy.tolist():
        possible, chances = posterior(each, scale)
        largest = possible - ln_rho + np.sqrt(ln_rho**2 - 2 * possible * ln_rho)
        sums.append(float(np.dot(largest, chances)) / share)
    return sums


@given(noisy=supports, scale=scales, share=shares)
def test_the_average_is_the_posterior_mean_over_the_share(
    noisy: Int64Array, scale: float, share: float
) -> None:
    """The closed form against the sum over all supports that are possible."""
    expected = average_by_summation(noisy, scale=scale, share=share)
    assert average_original(noisy, scale=scale, share=share) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(noisy=supports, scale=scales, share=shares, rho=risks)
def test_the_largest_is_the_posterior_mean_of_the_bound(
    noisy: Int64Array, scale: float, share: float, rho: float
) -> None:
    """Within the stated error of the sum over all supports that are possible."""
    expected = largest_by_summation(noisy, scale=scale, share=share, rho=rho)
    assert largest_original(noisy, scale=scale, share=share, rho=rho) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("scale", SCALES)
def test_both_are_right_from_the_least_noise_to_the_most(scale: float) -> None:
    """Negative, small and large supports, with noise from almost none to a scale of 1000."""
    average = average_original(SUPPORTS, scale=scale, share=0.5)
    largest = largest_original(SUPPORTS, scale=scale, share=0.5, rho=RHO)
    expected = average_by_summation(SUPPORTS, scale=scale, share=0.5)
    assert average == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert largest == pytest.approx(largest_by_summation(SUPPORTS, scale=scale, share=0.5, rho=RHO), rel=1e-8)


@pytest.mark.parametrize("scale", SCALES)
def test_both_grow_with_the_noisy_support(scale: float) -> None:
    """From 0 up each is above the one before; below 0 nothing more is learnt."""
    noisy = np.arange(-50, 3000)
    for original in (
        average_original(noisy, scale=scale, share=0.5),
        largest_original(noisy, scale=scale, share=0.5, rho=RHO),
    ):
        assert np.all(np.diff(original[50:]) > 0)
        assert np.all(original[:50] == original[50])


@given(noisy=supports, scale=scales, share=shares, rho=risks)
def test_the_largest_is_above_the_average(noisy: Int64Array, scale: float, share: float, rho: float) -> None:
    """So whatever is released also makes candidates."""
    average = average_original(noisy, scale=scale, share=share)
    assert np.all(largest_original(noisy, scale=scale, share=share, rho=rho) > average)


def test_without_noise_the_average_is_the_support_over_the_share() -> None:
    """(8): as the scale goes to 0 the noisy support is the truncated one."""
    noisy = np.array([0, 1, 7, 400])
    assert average_original(noisy, scale=1e-3, share=0.25).tolist() == [0, 4, 28, 1600]


def test_the_scale_may_be_an_exact_fraction() -> None:
    """As the mechanisms state it."""
    noisy = np.array([-1, 5, 30])
    as_float = largest_original(noisy, scale=2.5, share=0.5, rho=RHO)
    assert np.array_equal(largest_original(noisy, scale=Fraction(5, 2), share=0.5, rho=RHO), as_float)


@pytest.mark.parametrize("share", [0.2, 0.7])
@pytest.mark.parametrize("rho", [0.01, 0.3])
def test_a_larger_original_would_seldom_leave_so_little(share: float, rho: float) -> None:
    """Where random truncation keeps a share, Pr(truncated support <= the observed one) is at most rho."""
    observed = np.array([0, 1, 5, 40, 1000])
    originals = np.ceil(largest_original(observed, scale=1e-3, share=share, rho=rho))
    chances = stats.binom.cdf(observed, originals, share)
    assert np.all(chances <= rho)
    average = average_original(observed, scale=1e-3, share=share)
    assert np.all(stats.binom.cdf(observed, np.ceil(average), share) > rho)


def test_no_supports_have_no_originals() -> None:
    """Arrays in, arrays out, also empty ones."""
    none = np.empty(0, np.int64)
    assert average_original(none, scale=1, share=1).size == 0
    assert largest_original(none, scale=1, share=1, rho=RHO).size == 0


@pytest.mark.parametrize("share", [0.0, -0.1, 1.5, math.nan])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    """A share of 0 is that of itemsets larger than the limit, of which a count says nothing."""
    with pytest.raises(BadCall, match="no larger than the length limit"):
        average_original(SUPPORTS, scale=1, share=share)
    with pytest.raises(BadCall, match="no larger than the length limit"):
        largest_original(SUPPORTS, scale=1, share=share, rho=RHO)


@pytest.mark.parametrize("rho", [0.0, 1.0, -1.0, math.nan])
def test_a_risk_that_is_none_is_refused(rho: float) -> None:
    """At 0 the bound is infinite, from 1 up it bounds nothing."""
    with pytest.raises(BadCall, match="between 0 and 1"):
        largest_original(SUPPORTS, scale=1, share=1, rho=rho)
