"""Who wins a noisy choice: formulas against simulations."""

import math
from fractions import Fraction

import numpy as np
import pytest

from veilset.forecast.laws import (
    chances_to_be_among_first,
    chances_to_be_drawn,
    support_above_zero,
    support_to_be_drawn,
)
from veilset.gate.mechanisms import Exponential


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.2])
def test_draws_go_to_whom_the_formula_says(rate: float) -> None:
    """20 draws without replacement from 500, repeated 2,000 times: chances agree to within 0.05."""
    supports = 400 / np.arange(1, 501)
    keys = rate * supports + np.random.default_rng(3).gumbel(size=(2000, 500))
    drawn = np.argsort(-keys, axis=1)[:, :20]
    simulated = np.bincount(drawn.ravel(), minlength=500) / 2000
    assert chances_to_be_drawn(supports, np.zeros(500), draws=20, rate=rate) == pytest.approx(
        simulated, abs=0.05
    )


@pytest.mark.parametrize("noise", [1.0, 30.0, 300.0])
def test_noisy_supports_put_first_whom_the_formula_says(noise: float) -> None:
    """The 20 largest of 500 with unequal normal noise, repeated 2,000 times: within 0.05."""
    supports = 4000 / np.arange(1, 501)
    deviations = noise * np.linspace(1, 2, 500)
    noisy = supports + deviations * np.random.default_rng(4).normal(size=(2000, 500))
    first = np.argsort(-noisy, axis=1)[:, :20]
    simulated = np.bincount(first.ravel(), minlength=500) / 2000
    assert chances_to_be_among_first(supports, deviations, k=20) == pytest.approx(simulated, abs=0.05)


def test_who_is_seldom_present_takes_few_places() -> None:
    """20 places, 500 candidates of which each takes part with its own chance, 2,000 times: within 0.05."""
    supports, deviations, present = 4000 / np.arange(1, 501), np.full(500, 30.0), np.linspace(0.9, 0.1, 500)
    random = np.random.default_rng(4)
    noisy = supports + deviations * random.normal(size=(2000, 500))
    noisy[random.random((2000, 500)) >= present] = -np.inf
    first = np.argsort(-noisy, axis=1)[:, :20]
    simulated = np.bincount(first.ravel(), minlength=500) / 2000
    chances = chances_to_be_among_first(supports, deviations, k=20, present=present)
    assert present * chances == pytest.approx(simulated, abs=0.05)


def test_a_support_that_is_said_to_be_chosen_is_chosen() -> None:
    """One held itemset among a million that nobody holds: 95 % at the support given, less below it."""
    choice = Exponential(draws=30, sensitivity=1, epsilon=Fraction(1, 2))
    support = support_to_be_drawn(choice, candidates=10**6)
    ln_numbers = np.array([0.0, math.log(10**6 - 1)])
    at, below = (
        chances_to_be_drawn(np.array([each, 0.0]), ln_numbers, draws=30, rate=float(choice.rate))[0]
        for each in (support, 0.9 * support)
    )
    assert below < 0.9
    assert at == pytest.approx(0.95, abs=0.01)


def test_a_support_that_is_said_to_be_above_zero_has_such_an_interval() -> None:
    """Laplace noise of scale 100, 200,000 times: 95 % of the intervals exclude 0."""
    half_width = round(100 * math.log(20))
    noise = np.random.default_rng(6).laplace(scale=100, size=200_000)
    assert np.mean(support_above_zero(half_width) + noise > half_width) == pytest.approx(0.95, abs=0.003)
