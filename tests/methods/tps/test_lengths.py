"""Lengths: what a noisy histogram and a sum say of them, and what they leave of a support."""

from fractions import Fraction

import numpy as np
import pytest

from curators import curator_over
from veilset.arrays import FloatArray
from veilset.gate import NoisyCount, SeededNoise
from veilset.methods.shared.discovery import LENGTH_CLASSES
from veilset.methods.tps.lengths import LENGTHS, USUAL_MIDDLE, LengthLaws, drawn_lengths

ROWS = 8000


def baskets_of(lengths: FloatArray) -> list[frozenset[int]]:
    """Transactions of these lengths."""
    return [frozenset(range(length)) for length in lengths.astype(int).tolist()]


def geometric() -> list[frozenset[int]]:
    """Half of them hold 1 item, a quarter 2, ..."""
    return baskets_of(np.clip(np.random.default_rng(1).geometric(0.5, ROWS), 1, 30))


def lengths_told(rows: list[frozenset[int]], epsilon: Fraction) -> FloatArray:
    """Draws after a histogram of these rows."""
    curator = curator_over(rows, epsilon=epsilon, noise=SeededNoise(2))
    histogram = curator.ask_containment(None, classes=LENGTH_CLASSES, epsilon=epsilon)
    return drawn_lengths(histogram, NoisyCount(len(rows), None), longest=60, middle=USUAL_MIDDLE)


@pytest.mark.parametrize("length", [2, 40])
def test_a_clear_histogram_tells_how_long_transactions_are(length: int) -> None:
    """All of one length, whatever was likely before: what a limit of 1 leaves is known within a class."""
    told = lengths_told(baskets_of(np.full(ROWS, length)), Fraction(10))
    means = (told @ LENGTHS) / told.sum(axis=1)
    assert np.all(np.abs(np.log(means / length)) < 0.4)


def test_the_less_noise_the_surer() -> None:
    """Draws of the mean length lie closer together, and around the true one."""
    clear, noisy = (lengths_told(geometric(), epsilon) for epsilon in (Fraction(5), Fraction(1, 1000)))
    logs = [np.log((told @ LENGTHS) / told.sum(axis=1)) for told in (clear, noisy)]
    assert np.std(logs[1]) > 3 * np.std(logs[0])
    assert abs(np.mean(logs[0]) - np.log(2)) < 0.1


def test_empty_transactions_hold_nothing() -> None:
    """Half of the rows are empty: the others are as many as there are, and no longer for that."""
    told = lengths_told([*geometric()[: ROWS // 2], *[frozenset()] * (ROWS // 2)], Fraction(5))
    assert told.sum(axis=1).mean() == pytest.approx(ROWS / 2, rel=0.05)


def test_no_transaction_is_longer_than_there_are_items() -> None:
    """And each possible length has a little."""
    told = lengths_told(geometric(), Fraction(1))
    assert np.all(told[:, LENGTHS > 60] == 0)
    assert np.all(told[:, LENGTHS <= 60] > 0)


def test_shares_fall_with_the_power() -> None:
    """Who leans to long transactions keeps less; at the power 1, it is what is counted over what is held."""
    laws = LengthLaws.of(lengths_told(geometric(), Fraction(1)), 3)
    assert np.all(np.diff(laws.log_shares, axis=1) <= 1e-9)
    counted = (laws.numbers @ np.minimum(LENGTHS, 3)) / (laws.numbers @ LENGTHS)
    assert np.allclose(laws.log_shares_at(np.ones(1))[:, 0], np.log(counted), atol=0.01)
    assert np.allclose(laws.log_holders_at(np.ones(1))[:, 0], np.log(laws.numbers @ LENGTHS), atol=0.01)


def test_the_sum_of_what_was_counted_weighs_lengths() -> None:
    """After a histogram of noise, a small sum makes short transactions likely, a full one long ones."""
    laws = LengthLaws.of(lengths_told(geometric(), Fraction(1, 1000)), 5)
    short, long = (laws.explaining_sum(each * ROWS, 0.2 * ROWS) for each in (1.5, 4.9))
    mean = [float(found.mean @ LENGTHS / found.mean.sum()) for found in (short, long)]
    assert mean[1] > 2 * mean[0]
    assert short.weights.sum() == pytest.approx(1)
