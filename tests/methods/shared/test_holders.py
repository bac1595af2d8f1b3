"""Who holds an item: against transactions that were drawn item by item, and against one power for all."""

from fractions import Fraction

import numpy as np
import pytest

from veilset.arrays import FloatArray
from veilset.gate import NoisyHistogram
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.methods.shared.holders import NO_CHANCE, Holding, ItemClasses
from veilset.methods.shared.length_laws import plausible_lengths
from veilset.methods.shared.tilts import USUAL_TILTS
from veilset.methods.shared.truncation import AWAY_OF_ITEMS, HeldBy, kept_at_random

POPULARITY = np.array([0.4, 0.3, 0.2, 0.15, 0.1, 0.08, 0.05, 0.04, 0.03, 0.02, 0.01, 0.005])


def _rows(rng: np.random.Generator) -> FloatArray:
    """60,000 transactions of 12 items: each takes items independently, some many, some few; none is empty."""
    activity = rng.gamma(1.0, 1.0, 60_000)[:, None]
    rows = rng.random((60_000, 12)) < 1 - np.exp(-POPULARITY * activity)
    return rows[rows.any(axis=1)].astype(np.float64)


def _histogram(lengths: FloatArray) -> NoisyHistogram:
    return NoisyHistogram(np.bincount(lengths.astype(int), minlength=13), DiscreteLaplace(1, Fraction(1000)))


def test_items_taken_independently_are_held_as_predicted_and_one_power_for_all_is_wrong() -> None:
    """The share that truncation to 2 items keeps of every item, to within 4 %; with one power, off by up to 10 %."""
    rows = _rows(np.random.default_rng(1))
    lengths, supports = rows.sum(axis=1), rows.sum(axis=0)
    draws = plausible_lengths(_histogram(lengths))
    at, numbers = draws.lengths, draws.middle
    holding = Holding.of(ItemClasses.of(supports, clear=50, total=float(lengths.sum())), at, numbers)
    classes = holding.classes_of(supports)
    true = (rows * np.minimum(1, 2 / lengths)[:, None]).sum(axis=0) / supports
    predicted, alike = [], kept_at_random(draws, size=1, limit=2).middle
    for place in range(12):
        logs = holding.logs_together(classes[place : place + 1, None])
        law = kept_at_random(draws, size=1, limit=2, held=HeldBy(logs, USUAL_TILTS))
        predicted.append(float(np.exp(np.interp(0.0, AWAY_OF_ITEMS, np.log(law.shares)))))
    assert np.array(predicted) == pytest.approx(true, rel=0.04)
    assert np.max(np.abs(np.log(alike / true))) > 0.08


def test_supports_and_lengths_come_out_right() -> None:
    """As many items in a transaction as it is long, and as many transactions with an item as hold it."""
    lengths, numbers = np.arange(0.0, 9.0), np.array([0, 500, 400, 300, 200, 100, 80, 60, 40], np.float64)
    supports = np.array([150.0, 300.0, 700.0, 1300.0])
    many = np.array([10.0, 4.0, 2.0, 1.0])
    scaled = supports * float(lengths @ numbers) / float(supports @ many)
    holding = Holding.of(ItemClasses(scaled, many), lengths, numbers)
    chances = np.exp(holding.logs)[:, 1:]
    assert many @ chances == pytest.approx(lengths[1:], rel=0.01)
    assert chances @ numbers[1:] == pytest.approx(scaled, rel=0.03)
    assert np.all(np.diff(holding.powers) < 0)


def test_no_transaction_is_longer_than_there_are_items() -> None:
    """Noise in the class of 40 items says nothing where there are three."""
    numbers = np.zeros(65)
    numbers[[1, 2, 3, 40]] = [500, 300, 100, 200]
    holding = Holding.of(
        ItemClasses(np.array([100.0, 400.0]), np.array([1.0, 2.0])), np.arange(65.0), numbers
    )
    assert np.all(holding.logs[:, 4:] == NO_CHANCE)
    assert np.all(holding.logs[:, 1:4] > NO_CHANCE)


def test_where_all_lengths_are_alike_nothing_is_likelier() -> None:
    """Rows of 8 items: the power is 1, as good as any."""
    numbers = np.zeros(10)
    numbers[8] = 5000
    holding = Holding.of(ItemClasses(np.array([2000.0]), np.array([20.0])), np.arange(10.0), numbers)
    assert holding.powers[0] == pytest.approx(1, abs=1)
    assert np.all(np.isfinite(holding.logs))


def test_what_is_not_clear_shares_what_is_left_and_is_never_nothing() -> None:
    """Even where lucky noise among the clear ones left nothing."""
    noisy = np.array([500.0, 400.0, 30.0, -60.0, 20.0])
    left = ItemClasses.of(noisy, clear=100, total=1050)
    assert left.supports[0] == pytest.approx(50)
    assert left.numbers.tolist() == [3, 1, 1]
    assert ItemClasses.of(noisy, clear=100, total=800).supports[0] == pytest.approx(10)
