"""The referee: OpenDP's maps agree with what is claimed here, and anything less than that is told apart."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian, make_laplace
from opendp.metrics import l1_distance, l2_distance
from opendp.mod import enable_features

from veilset.errors import NoiseTooSmall
from veilset.gate import DiscreteGaussian, DiscreteLaplace, naming_mechanism
from veilset.gate.referee import ROUNDING, OpenDPMeasurement, _root_at_least, check_gaussian, check_laplace
from veilset.gate.zcdp import largest_rho
from veilset.rationals import float_at_least

prices = st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**9)
sensitivities = st.integers(1, 2**40)
LESS = 1 - Fraction(1, 2**47)
"""A scale that is smaller by a factor that no rounding explains."""


@lru_cache(maxsize=64)
def laplace(scale: float) -> OpenDPMeasurement:
    """Discrete Laplace noise as OpenDP knows it."""
    enable_features("contrib")
    made: OpenDPMeasurement = make_laplace(
        vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=scale
    )
    return made


@lru_cache(maxsize=64)
def gaussian(scale: float) -> OpenDPMeasurement:
    """Discrete Gaussian noise as OpenDP knows it."""
    enable_features("contrib")
    made: OpenDPMeasurement = make_gaussian(
        vector_domain(atom_domain(T="i64")), l2_distance(T=float), scale=scale
    )
    return made


@given(sensitivity=sensitivities, epsilon=prices)
@settings(max_examples=200, deadline=None)
def test_laplace_noise_of_the_scale_that_is_claimed_costs_what_was_paid(
    sensitivity: int, epsilon: Fraction
) -> None:
    """Rounded up to a float, as it is drawn; one part in 2^47 less is noticed."""
    scale = sensitivity / epsilon
    check_laplace(laplace(float_at_least(scale)), sensitivity=sensitivity, epsilon=epsilon)
    with pytest.raises(NoiseTooSmall, match=r"was paid for with epsilon .* would cost"):
        check_laplace(laplace(float(scale * LESS)), sensitivity=sensitivity, epsilon=epsilon)


@given(squared=st.integers(1, 2**60), rho=prices)
@settings(max_examples=200, deadline=None)
def test_gaussian_noise_of_the_scale_that_is_claimed_costs_what_was_paid(squared: int, rho: Fraction) -> None:
    """The root of D^2 / (2 rho) and a hair, rounded up to a float; whether D is whole or not."""
    fine = 2**200
    scale = Fraction(math.isqrt(math.ceil(squared * fine**2 / (2 * rho))) + 1, fine)
    check_gaussian(gaussian(float_at_least(scale * ROUNDING)), squared_sensitivity=squared, rho=rho)
    with pytest.raises(NoiseTooSmall, match=r"was paid for with rho .* would cost"):
        check_gaussian(gaussian(float(scale * LESS)), squared_sensitivity=squared, rho=rho)


def test_the_rounding_of_a_map_is_allowed_and_needed() -> None:
    """At epsilon 1/3 the map says a little more than 1/3: without the allowance the right noise would be refused."""
    cost = Fraction(laplace(3.0).map(1))
    assert Fraction(1, 3) < cost <= Fraction(1, 3) * ROUNDING
    check_laplace(laplace(3.0), sensitivity=1, epsilon=Fraction(1, 3))
    with pytest.raises(NoiseTooSmall):
        check_laplace(laplace(3.0), sensitivity=1, epsilon=cost / ROUNDING * (1 - Fraction(1, 2**100)))


@pytest.mark.parametrize("claimed", [1, 2, 9])
def test_a_sensitivity_that_is_larger_than_was_claimed_is_noticed(claimed: int) -> None:
    """The mistake that the referee is there for: noise for less than one unit moves."""
    for epsilon in (Fraction(1, 10), Fraction(3)):
        pure = DiscreteLaplace(claimed, epsilon)
        check_laplace(laplace(float_at_least(pure.scale)), sensitivity=claimed, epsilon=epsilon)
        with pytest.raises(NoiseTooSmall):
            check_laplace(laplace(float_at_least(pure.scale)), sensitivity=claimed + 1, epsilon=epsilon)
        concentrated = DiscreteGaussian(claimed, epsilon, Fraction(1), Fraction(0), 2**20)
        drawn, squared_step = gaussian(float_at_least(concentrated.scale)), concentrated.steps**2
        check_gaussian(drawn, squared_sensitivity=claimed * squared_step, rho=epsilon)
        with pytest.raises(NoiseTooSmall):
            check_gaussian(drawn, squared_sensitivity=(claimed + 1) * squared_step, rho=epsilon)


@given(sensitivity=st.integers(1, 1000), epsilon=prices, steps=st.sampled_from([1, 2**20]))
@settings(max_examples=50, deadline=None)
def test_the_mechanisms_of_the_gate_pass(sensitivity: int, epsilon: Fraction, steps: int) -> None:
    """Laplace and Gaussian noise as questions draw it, in steps."""
    pure = DiscreteLaplace(sensitivity, epsilon, steps)
    check_laplace(laplace(float_at_least(pure.scale)), sensitivity=sensitivity * steps, epsilon=epsilon)
    concentrated = DiscreteGaussian(sensitivity, epsilon, Fraction(1), Fraction(0), steps)
    check_gaussian(
        gaussian(float_at_least(concentrated.scale)), squared_sensitivity=sensitivity * steps**2, rho=epsilon
    )


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
            check_laplace(laplace(scale), sensitivity=reach, epsilon=epsilon)
        else:
            rho = largest_rho(epsilon=epsilon, delta=delta / 2)
            check_gaussian(gaussian(scale), squared_sensitivity=reach**2, rho=rho)


@pytest.mark.parametrize("scale", [0.0, 1e-320])
def test_noise_that_hides_nothing_is_refused_at_any_price(scale: float) -> None:
    """Its cost is no finite number."""
    with pytest.raises(NoiseTooSmall, match="would cost inf"):
        check_laplace(laplace(scale), sensitivity=1, epsilon=Fraction(10**300))
    with pytest.raises(NoiseTooSmall, match="would cost inf"):
        check_gaussian(gaussian(scale), squared_sensitivity=1, rho=Fraction(10**300))


@dataclass(frozen=True)
class Costs:
    """Noise of a known cost, whatever the distance."""

    cost: float

    def map(self, _: float) -> float:
        """The cost."""
        return self.cost


def test_the_allowance_ends_at_four_units_in_the_last_place() -> None:
    """A cost at its end is paid for; the next float above it is not."""
    most = float(ROUNDING)
    assert Fraction(most) == ROUNDING
    check_laplace(Costs(most), sensitivity=1, epsilon=Fraction(1))
    check_gaussian(Costs(most), squared_sensitivity=1, rho=Fraction(1))
    with pytest.raises(NoiseTooSmall):
        check_laplace(Costs(math.nextafter(most, 2)), sensitivity=1, epsilon=Fraction(1))
    with pytest.raises(NoiseTooSmall):
        check_gaussian(Costs(math.nextafter(most, 2)), squared_sensitivity=1, rho=Fraction(1))


@given(square=st.integers(1, 2**60))
@example(square=3)
def test_a_distance_is_rounded_up_never_down(square: int) -> None:
    """The float that a map is handed is the smallest that is not below the root; `sqrt` rounds that of 3 down."""
    root = _root_at_least(square)
    assert Fraction(math.nextafter(root, 0)) ** 2 < square <= Fraction(root) ** 2
