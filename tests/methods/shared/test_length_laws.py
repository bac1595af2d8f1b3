"""Lengths that a noisy histogram makes likely: nearer to the truth than the histogram, and as near as they say."""

from fractions import Fraction

import numpy as np
import pytest

from veilset.arrays import FloatArray
from veilset.gate import DiscreteLaplace, NoisyHistogram
from veilset.methods.shared.length_laws import DRAWS_OF_LENGTHS, LONGER, plausible_lengths

LENGTHS = np.arange(65.0)


def _baskets() -> FloatArray:
    """20,000 log-normal lengths of about 5."""
    middles = np.exp(-((np.log(np.maximum(LENGTHS, 1)) - 1.6) ** 2) / (2 * 0.6**2)) / np.maximum(LENGTHS, 1)
    return np.asarray(np.rint(20_000 * middles / middles[1:].sum()) * (LENGTHS > 0), np.float64)


def _sessions() -> FloatArray:
    """20,000 lengths with a heavy tail."""
    falls = np.maximum(LENGTHS, 1) ** -2.0
    return np.asarray(np.rint(20_000 * falls / falls[1:].sum()) * (LENGTHS > 0), np.float64)


def _records() -> FloatArray:
    """20,000 rows of 23 items."""
    return np.asarray(20_000.0 * (LENGTHS == 23), np.float64)


KINDS = {"baskets": _baskets(), "sessions": _sessions(), "records": _records()}


def _noisy(true: FloatArray, scale: int, random: np.random.Generator) -> NoisyHistogram:
    values = np.rint(true + random.laplace(scale=scale, size=true.size)).astype(np.int64)
    return NoisyHistogram(values, DiscreteLaplace(1, Fraction(1, scale)))


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_nearer_to_the_truth_than_the_histogram(kind: str) -> None:
    """How many items there are, where noise of 100 drowns most classes: the error is less than half as large."""
    random, true = np.random.default_rng(4), KINDS[kind]
    total, ours, raw = float(true @ LENGTHS), list[float](), list[float]()
    for _ in range(10):
        noisy = _noisy(true, 100, random)
        draws = plausible_lengths(noisy)
        ours.append(float(draws.middle @ draws.lengths) - total)
        raw.append(float(noisy.values[1:] @ LENGTHS[1:]) - total)
    assert np.sqrt(np.mean(np.square(ours))) < 0.5 * np.sqrt(np.mean(np.square(raw)))


def test_without_noise_they_are_what_was_counted() -> None:
    """Each class to within 2 % and one transaction; no transaction has no item."""
    for true in KINDS.values():
        draws = plausible_lengths(_noisy(true, 1, np.random.default_rng(1)))
        assert draws.middle[1:64] == pytest.approx(true[1:64], rel=0.02, abs=5)
        assert draws.middle[0] == 0
        assert draws.numbers.shape == (DRAWS_OF_LENGTHS, 64 + LONGER.size)


def test_a_total_that_is_known_weighs_the_draws() -> None:
    """It moves the middle towards what makes the total, and leaves less in doubt."""
    true = KINDS["baskets"]
    draws = plausible_lengths(_noisy(true, 300, np.random.default_rng(2)))
    total = float(true @ np.minimum(LENGTHS, 6))
    told = draws.explaining_total(total, 0.01 * total, limit=6)
    off, was = (abs(each.middle @ np.minimum(each.lengths, 6) - total) for each in (told, draws))
    assert off < 0.5 * was
    kept, holders = np.minimum(6 / np.maximum(draws.lengths, 1), 1.0), draws.lengths
    assert told.share_within(holders, kept, least=1e-4) <= draws.share_within(holders, kept, least=1e-4)


def test_few_items_have_no_open_class() -> None:
    """With 12 items no transaction is longer than 12."""
    noisy = NoisyHistogram(np.array([0, *[500] * 12]), DiscreteLaplace(1, Fraction(1, 10)))
    assert plausible_lengths(noisy).lengths.tolist() == list(range(13))
