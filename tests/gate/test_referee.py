"""The referee: OpenDP's maps agree with what is claimed here, and anything less than that is told apart."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veilset.errors import NoiseTooSmall
from veilset.gate import DiscreteGaussian, DiscreteLaplace, naming_mechanism
from veilset.gate.noise import float_at_least
from veilset.gate.referee import ROUNDING, check_gaussian, check_laplace, laplace_measurement
from veilset.gate.zcdp import largest_rho

prices = st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**9)
sensitivities = st.integers(1, 2**40)
LESS = 1 - Fraction(1, 2**47)
"""A scale that is smaller by a factor that no rounding explains."""


@given(sensitivity=sensitivities, epsilon=prices)
@settings(max_examples=200, deadline=None)
def test_laplace_noise_of_the_scale_that_is_claimed_costs_what_was_paid(
    sensitivity: int, epsilon: Fraction
) -> None:
    """Rounded up to a float, as it is drawn; one part in 2^47 less is noticed."""
    scale = sensitivity / epsilon
    check_laplace(float_at_least(scale), sensitivity=sensitivity, epsilon=epsilon)
    with pytest.raises(NoiseTooSmall, match=r"was paid for with epsilon .* would cost"):
        check_laplace(float(scale * LESS), sensitivity=sensitivity, epsilon=epsilon)


@given(squared=st.integers(1, 2**60), rho=prices)
@settings(max_examples=200, deadline=None)
def test_gaussian_noise_of_the_scale_that_is_claimed_costs_what_was_paid(squared: int, rho: Fraction) -> None:
    """The root of D^2 / (2 rho), rounded up to a float; whether D is whole or not."""
    fine = 2**200
    scale = Fraction(math.isqrt(math.ceil(squared * fine**2 / (2 * rho))) + 1, fine)
    check_gaussian(float_at_least(scale * ROUNDING), squared_sensitivity=squared, rho=rho)
    with pytest.raises(NoiseTooSmall, match=r"was paid for with rho .* would cost"):
        check_gaussian(float(scale * LESS), squared_sensitivity=squared, rho=rho)


def test_the_rounding_of_a_map_is_allowed_and_needed() -> None:
    """At epsilon 1/3 the map says a little more than 1/3: without the allowance the right noise would be refused."""
    cost = Fraction(laplace_measurement(3.0).map(1))
    assert Fraction(1, 3) < cost <= Fraction(1, 3) * ROUNDING
    check_laplace(3.0, sensitivity=1, epsilon=Fraction(1, 3))
    with pytest.raises(NoiseTooSmall):
        check_laplace(3.0, sensitivity=1, epsilon=cost / ROUNDING * (1 - Fraction(1, 2**100)))


@pytest.mark.parametrize("claimed", [1, 2, 9])
def test_a_sensitivity_that_is_larger_than_was_claimed_is_noticed(claimed: int) -> None:
    """The mistake that the referee is there for: noise for less than one unit moves."""
    for epsilon in (Fraction(1, 10), Fraction(3)):
        laplace = DiscreteLaplace(claimed, epsilon)
        check_laplace(float_at_least(laplace.scale), sensitivity=claimed, epsilon=epsilon)
        with pytest.raises(NoiseTooSmall):
            check_laplace(float_at_least(laplace.scale), sensitivity=claimed + 1, epsilon=epsilon)
        gaussian = DiscreteGaussian(claimed, epsilon, Fraction(1), Fraction(0), 2**20)
        for moved, is_fine in ((claimed, True), (claimed + 1, False)):
            squared = moved * gaussian.steps**2
            if is_fine:
                check_gaussian(float_at_least(gaussian.scale), squared_sensitivity=squared, rho=epsilon)
            else:
                with pytest.raises(NoiseTooSmall):
                    check_gaussian(float_at_least(gaussian.scale), squared_sensitivity=squared, rho=epsilon)


@given(sensitivity=st.integers(1, 1000), epsilon=prices, steps=st.sampled_from([1, 2**20]))
@settings(max_examples=50, deadline=None)
def test_the_mechanisms_of_the_gate_pass(sensitivity: int, epsilon: Fraction, steps: int) -> None:
    """Laplace and Gaussian noise as questions draw it, in steps."""
    laplace = DiscreteLaplace(sensitivity, epsilon, steps)
    check_laplace(float_at_least(laplace.scale), sensitivity=sensitivity * steps, epsilon=epsilon)
    gaussian = DiscreteGaussian(sensitivity, epsilon, Fraction(1), Fraction(0), steps)
    check_gaussian(float_at_least(gaussian.scale), squared_sensitivity=sensitivity * steps**2, rho=epsilon)


@pytest.mark.parametrize("transactions", [1, 3])
def test_noise_that_names_items_passes(transactions: int) -> None:
    """Both laws; the Gaussian one has half of delta."""
    epsilon, delta = Fraction(1, 3), Fraction(1, 10**9)
    for law in ("laplace", "gaussian"):
        mechanism = naming_mechanism(
            "laplace" if law == "laplace" else "gaussian",
            transactions=transactions,
            longest=9,
            epsilon=epsilon,
            delta=delta,
        )
        scale, reach = float_at_least(mechanism.scale), transactions * mechanism.steps
        if law == "laplace":
            check_laplace(scale, sensitivity=reach, epsilon=epsilon)
        else:
            rho = largest_rho(epsilon=epsilon, delta=delta / 2)
            check_gaussian(scale, squared_sensitivity=reach**2, rho=rho)


@pytest.mark.parametrize("scale", [0.0, 1e-320])
def test_noise_that_hides_nothing_is_refused_at_any_price(scale: float) -> None:
    """Its cost is no finite number."""
    with pytest.raises(NoiseTooSmall, match="would cost inf"):
        check_laplace(scale, sensitivity=1, epsilon=Fraction(10**300))
    with pytest.raises(NoiseTooSmall, match="would cost inf"):
        check_gaussian(scale, squared_sensitivity=1, rho=Fraction(10**300))
