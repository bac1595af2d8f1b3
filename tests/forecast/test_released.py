"""What a release will say of supports: against the laws of noise, and against drawn noise."""

import math

import numpy as np
import pytest

from veilset.forecast.released import LAPLACE_NOISE, NORMAL_NOISE, Told, with_noise


@pytest.mark.parametrize(("is_normal", "size", "ratio"), [(False, 1.0, 3.0), (True, 0.798, 2.46)])
def test_far_from_0_width_and_error_are_those_of_the_noise(
    is_normal: bool, size: float, ratio: float
) -> None:
    """Laplace noise: 3.0 scales and 1; normal noise: 1.96 standard deviations and 0.798."""
    supports, scales = np.array([1e6, 2e6]), np.full(2, 100.0)
    told = Told.plainly(supports, scales, np.full(2, is_normal))
    accuracy = told.accuracy(np.ones(2), largest=1e9)
    assert accuracy.relative_error == pytest.approx(size * 100 * np.mean(1 / supports), rel=0.01)
    assert accuracy.relative_half_width / accuracy.relative_error == pytest.approx(ratio, rel=0.01)
    assert accuracy.half_width == pytest.approx(ratio * size * 100, rel=0.01)


def test_next_to_0_and_to_all_rows_intervals_are_cut_as_those_of_drawn_noise() -> None:
    """The slow way: a hundred thousand draws, each cut to what is possible."""
    rng, supports, largest = np.random.default_rng(1), np.array([50.0, 900.0]), 1000.0
    values = supports[:, None] + rng.laplace(scale=80.0, size=(2, 100_000))
    reach = 80 * math.log(20)
    low, high = np.clip(values - reach, 0, largest), np.clip(values + reach, 0, largest)
    widths = ((high - low) / 2 / supports[:, None]).mean()
    errors = (np.abs(np.clip(values, 0, largest) - supports[:, None]) / supports[:, None]).mean()
    accuracy = Told.counted(supports, 80.0).accuracy(np.ones(2), largest=largest)
    assert accuracy.relative_half_width == pytest.approx(widths, rel=0.02)
    assert accuracy.relative_error == pytest.approx(errors, rel=0.03)


def test_what_is_seldom_found_hardly_counts() -> None:
    """Of a frequent and a rare itemset, the figures are those of the one that is released."""
    both = Told.counted(np.array([10_000.0, 100.0]), 5.0)
    frequent = Told.counted(np.array([10_000.0]), 5.0).accuracy(np.ones(1), largest=1e6)
    found = both.accuracy(np.array([1.0, 0.0]), largest=1e6)
    assert found.relative_error == pytest.approx(frequent.relative_error)
    assert both.accuracy(np.ones(2), largest=1e6).relative_error > 40 * found.relative_error


def test_where_nothing_is_found_all_count_alike() -> None:
    """A mean over nothing is not asked for."""
    both = Told.counted(np.array([10_000.0, 100.0]), 5.0)
    none, all_alike = (both.accuracy(chances, largest=1e6) for chances in (np.zeros(2), np.ones(2)))
    assert none.relative_error == pytest.approx(all_alike.relative_error)


@pytest.mark.parametrize(("noise", "variance"), [(LAPLACE_NOISE, 2.0), (NORMAL_NOISE, 1.0)])
def test_parts_of_noise_stand_for_all_of_it(noise: np.ndarray, variance: float) -> None:
    """Symmetric, with the right mean size and most of the variance."""
    assert noise.sum() == pytest.approx(0, abs=1e-9)
    assert np.all(np.diff(noise) > 0)
    assert 0.85 * variance < np.mean(noise**2) < variance
    values = with_noise(np.array([5.0]), np.array([2.0]), np.array([variance == 1.0]))
    assert values[0] == pytest.approx(5 + 2 * noise)
