"""What Gaussian noise costs is stated outward: never too little, and not much too much."""

import math
from fractions import Fraction
from typing import Any

import pytest
from scipy import stats

from veilset.errors import BadCall
from veilset.gate.zcdp import delta_of, exp_at_least, largest_rho, normal_tail

SETTINGS = [
    (Fraction(epsilon), Fraction(delta))
    for epsilon in ("1/100", "1/5", "1", "10")
    for delta in ("1/1000", "1/1000000000", "1/10000000000000000000000000000")
]


def gaussian_delta(epsilon: float, sigma: float) -> float:
    """The exact delta of normal noise on a sum that moves by 1 (Balle and Wang 2018)."""
    upper = stats.norm.cdf(1 / (2 * sigma) - epsilon * sigma)
    log_lower = epsilon + stats.norm.logcdf(-1 / (2 * sigma) - epsilon * sigma)
    return float(upper - math.exp(log_lower))


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_the_largest_rho_is_paid_for_and_hardly_more_would_be(epsilon: Fraction, delta: Fraction) -> None:
    """What is stated stays within delta; half a percent more rho would not."""
    rho = largest_rho(epsilon=epsilon, delta=delta)
    assert delta_of(rho, epsilon=epsilon) <= delta < delta_of(rho * Fraction(201, 200), epsilon=epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_the_largest_rho_is_too_small_by_one_part_in_a_billion_at_most(
    epsilon: Fraction, delta: Fraction
) -> None:
    """Rounding of the search in floating point is made up for in steps of 10^-9; none of them is needless."""
    rho = largest_rho(epsilon=epsilon, delta=delta)
    a_step_more = rho / (1 - Fraction(1, 10**9)) * (1 + Fraction(1, 10**11))
    assert delta_of(a_step_more, epsilon=epsilon) > delta


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS[:8])
@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.75, False)])
def test_gaussian_noise_of_that_rho_has_at_most_that_delta(
    epsilon: Fraction, delta: Fraction, factor: float, *, holds: bool
) -> None:
    """By the exact delta of normal noise; three quarters of the noise would exceed it."""
    sigma = factor / math.sqrt(2 * largest_rho(epsilon=epsilon, delta=delta))
    assert (gaussian_delta(float(epsilon), sigma) <= delta) == holds


@pytest.mark.parametrize("rho", [Fraction(1, 2), Fraction(1, 1000)])
def test_the_conversion_is_the_one_that_others_have(rho: Fraction) -> None:
    """OpenDP's curve of zCDP, which is the same formula, at the same epsilon."""
    import opendp.prelude as dp  # noqa: PLC0415 - slow to import

    dp.enable_features("contrib")
    scale = float(1 / math.sqrt(2 * rho))
    vector, distance = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    gaussian: Any = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(vector, distance, scale=scale))
    curve = gaussian.map(1)
    for delta in (1e-6, 1e-9):
        epsilon = Fraction(curve.epsilon(delta=delta))
        assert float(delta_of(rho, epsilon=epsilon)) == pytest.approx(delta, rel=2e-3)


@pytest.mark.parametrize("x", [3, 4.5, 6.1, 7, 12, 30])
def test_the_normal_tail_is_an_upper_bound_and_close(x: float) -> None:
    """Above the tail by what the next term of the series allows, never below it."""
    ratio = float(normal_tail(Fraction(x))) / stats.norm.sf(x)
    assert 1 <= ratio <= 1 + 16 / x**6 + 1e-9


def test_an_exponential_is_rounded_up() -> None:
    """e^x e^-x is 1, and at least 1 where both are rounded up; by less than 10^-38."""
    for x in (Fraction(1, 3), Fraction(20), Fraction(700)):
        product = exp_at_least(x) * exp_at_least(-x)
        assert 1 < product < 1 + Fraction(1, 10**38)


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 10**8), Fraction(1, 20), Fraction(50), Fraction(10**9)], ids=str
)
@pytest.mark.parametrize(
    "delta", [Fraction(1, 10**110), Fraction(1, 2 * 10**9), Fraction(1, 2000)], ids=float
)
def test_a_rho_is_found_at_the_ends_of_what_may_be_asked(epsilon: Fraction, delta: Fraction) -> None:
    """At once, above 0, paid for; and at most epsilon, beyond which none is looked for."""
    rho = largest_rho(epsilon=epsilon, delta=delta)
    assert 0 < rho <= Fraction(float(epsilon))
    assert delta_of(rho, epsilon=epsilon) <= delta
    assert rho > epsilon * Fraction(999, 1000) or delta_of(rho * Fraction(201, 200), epsilon=epsilon) > delta


@pytest.mark.parametrize(
    ("x", "least"), [(Fraction(-3), 1), (Fraction(0), 1), (Fraction(1, 2), 1), (Fraction(1), 0.1586)]
)
def test_the_normal_tail_says_nothing_false_near_the_middle(x: Fraction, least: float) -> None:
    """Where the series is of no use it states 1."""
    assert least <= normal_tail(x) <= 1


def test_endless_exponents_are_rounded_up_to_one_that_can_be_written() -> None:
    """A number of a billion digits would take for ever, and no delta is that small."""
    assert exp_at_least(Fraction(-(10**12))) == exp_at_least(Fraction(-5000)) < Fraction(1, 10**2000)
    assert 0 < normal_tail(Fraction(10**9)) < Fraction(1, 10**2000)


def test_an_epsilon_of_next_to_nothing_is_refused() -> None:
    """A search that finds no rho ends, in words."""
    with pytest.raises(BadCall, match="too small for Gaussian noise"):
        largest_rho(epsilon=Fraction(1, 10**25), delta=Fraction(1, 10**100))


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), -Fraction(1, 2)], ids=str)
def test_gaussian_noise_without_delta_is_refused(delta: Fraction) -> None:
    """In words."""
    with pytest.raises(BadCall, match="give both above 0, delta below 1"):
        largest_rho(epsilon=Fraction(1), delta=delta)


def test_a_tail_says_something_from_one_deviation_on() -> None:
    """Below, the series says nothing."""
    assert normal_tail(Fraction(99, 100)) == 1
    assert 0.158 < normal_tail(Fraction(1)) < 1
    assert 0.066 < normal_tail(Fraction(3, 2)) < 0.2
