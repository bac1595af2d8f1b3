"""Last binary digits: textbook noise in double precision gives counts away, integer noise does not."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.audit.floats import audit_integer_noise, audit_textbook_noise, low_bits, naive_laplace
from veilset.audit.verdicts import BROKEN, HOLDS
from veilset.gate import Noise, SecureNoise, SeededNoise

SAMPLES = 4000


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_textbook_noise_gives_the_count_away(epsilon: float) -> None:
    """Digits beyond the 53rd come out with a count of 0 only, which refutes the claim."""
    verdict = audit_textbook_noise(epsilon=epsilon, samples=SAMPLES, seed=1)
    assert verdict.verdict == BROKEN
    assert verdict.printed


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(11)], ids=["secure", "seeded"])
def test_integer_noise_does_not(noise: Noise) -> None:
    """Remainders tell less than epsilon (0.89 at epsilon 1); a false alarm takes more than four sigmas."""
    verdict = audit_integer_noise(noise, epsilon=Fraction(1), samples=SAMPLES)
    assert verdict.verdict == HOLDS
    assert verdict.bound > 0.5  # the attack does see what there is to see
    assert not verdict.printed


@given(seed=st.integers(0, 2**32), scale=st.floats(0.01, 1000))
def test_no_sum_with_one_has_more_than_53_digits(seed: int, scale: float) -> None:
    """The argument of the attack, for any scale: added to 1, noise loses what lies beyond."""
    noisy = naive_laplace(np.ones(200), scale=scale, rng=np.random.default_rng(seed))
    assert low_bits(noisy).max() <= 53


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_digits_are_those_of_the_exact_fraction(value: float) -> None:
    """A double is a whole number over a power of two; the power is the number of digits."""
    assert low_bits(np.array([value])).tolist() == [value.as_integer_ratio()[1].bit_length() - 1]


def test_textbook_noise_has_the_scale_asked_for() -> None:
    """Half of the draws lie within scale * ln 2 of the value, to four sigmas: it fails in its digits only."""
    noisy = naive_laplace(np.full(40_000, 5.0), scale=10.0, rng=np.random.default_rng(4))
    inside = np.count_nonzero(np.abs(noisy - 5) < 10 * np.log(2))
    assert abs(inside - 20_000) < 400
