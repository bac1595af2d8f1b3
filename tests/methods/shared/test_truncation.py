"""Length limits from noisy lengths, and what truncation to them keeps."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.gate import NoisyHistogram
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.methods.shared.truncation import (
    length_up_to,
    lengths_above_noise,
)


def histogram(values: list[int], scale: Fraction = Fraction(1, 100)) -> NoisyHistogram:
    """Noisy lengths."""
    return NoisyHistogram(np.array(values, np.int64), DiscreteLaplace(1, 1 / scale))


def test_the_length_limit_leaves_85_percent_whole() -> None:
    """Empty transactions do not count; noise may make a class negative."""
    assert length_up_to(histogram([500, 50, 34, 2, 14]), Fraction(85, 100)) == 3
    assert length_up_to(histogram([0, 60, -5, 40, 5]), Fraction(85, 100)) == 3
    assert length_up_to(histogram([9, -3, -2]), Fraction(85, 100)) in (1, 2)


@given(values=st.lists(st.integers(-20, 100), min_size=2, max_size=30), share=st.fractions(0, 1))
def test_a_length_limit_is_always_possible(values: list[int], share: Fraction) -> None:
    """Whatever the noise does."""
    assert 1 <= length_up_to(histogram(values), share) < len(values)


def test_classes_of_lengths_within_the_noise_count_as_none() -> None:
    """Twice the scale is the line."""
    noisy = NoisyHistogram(np.array([21, 20, -50, 400]), DiscreteLaplace(1, Fraction(1, 10)))
    assert lengths_above_noise(noisy).tolist() == [21, 0, 0, 400]
