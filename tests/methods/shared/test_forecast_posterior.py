"""What posteriors will tell: against posteriors of drawn values, with the prior that a method would fit."""

import numpy as np
import pytest

from veilset.methods.shared.forecast_posterior import model_prior, read_by_posterior
from veilset.methods.shared.noisy_values import KeptShares, NoisyValues
from veilset.methods.shared.shrinkage import SupportPrior, shrunk

ROWS = 10_000


def read(supports: np.ndarray, every: np.ndarray, scale: float, kept: float = 1.0) -> tuple[float, float]:
    """Mean half width and mean error that are expected of supports among all that are measured."""
    told, _ = read_by_posterior(
        supports,
        np.full(supports.size, scale),
        is_normal=np.zeros(supports.size, np.bool_),
        prior=model_prior(every, np.ones(every.size), largest=ROWS),
        kept=KeptShares.certain(kept),
    )
    accuracy = told.accuracy(np.ones(supports.size), largest=ROWS)
    return accuracy.relative_half_width, accuracy.relative_error


@pytest.mark.parametrize("scale", [5.0, 60.0, 300.0])
def test_widths_and_errors_are_those_of_the_method_on_drawn_noise(scale: float) -> None:
    """Zipf's law, noise from far below to far above the spread: to within a quarter, over 40 fits."""
    every = 3000.0 / np.arange(1, 301)
    best = np.arange(12)
    widths, errors = [], []
    for seed in range(40):
        values = every + np.random.default_rng(seed).laplace(scale=scale, size=every.size)
        found = shrunk(NoisyValues.laplace(values, scale), best, largest=ROWS)
        widths.append(((found.high - found.low) / 2 / every[best]).mean())
        errors.append((np.abs(found.means - every[best]) / every[best]).mean())
    width, error = read(every[best], every, scale)
    assert width == pytest.approx(np.mean(widths), rel=0.25)
    assert error == pytest.approx(np.mean(errors), rel=0.25)


def test_intervals_are_narrower_than_the_noise_where_it_drowns_the_spread() -> None:
    """And as wide as the noise where it does not."""
    every = np.linspace(95, 105, 200)
    drowned, _ = read(every[:12], every, 200.0)
    clear, _ = read(every[:12], every, 0.5)
    assert drowned < 0.5 * 200 * np.log(20) / 100
    assert clear == pytest.approx(0.5 * np.log(20) / 100, rel=0.3)


def test_what_a_truncation_keeps_half_of_errs_twice_as_much() -> None:
    """Noise on a half counts twice for the whole."""
    every = 3000.0 / np.arange(1, 301)
    whole, half = read(every[:12], every, 5.0)[1], read(every[:12], every, 5.0, kept=0.5)[1]
    assert half == pytest.approx(2 * whole, rel=0.1)


def test_what_is_expected_is_told_where_noise_drowns_all() -> None:
    """A law of multiples: about what supports differ from what is expected, whatever the noise; else far wider."""
    supports = np.array([300.0, 400.0, 900.0])
    scales, is_normal = np.full(3, 50_000.0), np.zeros(3, np.bool_)
    prior = SupportPrior.around_expected(ROWS, within=0.4)
    told, _ = read_by_posterior(supports, scales, is_normal=is_normal, prior=prior, within=0.4)
    accuracy = told.accuracy(np.ones(3), largest=ROWS)
    assert 0.2 < accuracy.relative_error < 0.7
    assert accuracy.relative_half_width < 2
    assert read(supports, np.linspace(0, ROWS, 100), 50_000.0)[0] > 5
