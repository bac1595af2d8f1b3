"""How long and short transactions are compared: what is asked is what is reckoned with."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curators import curator_over
from veilset.arrays import FloatArray
from veilset.gate import SeededNoise
from veilset.methods.shared.length_contrast import COMPARED_LENGTHS, PARTS, LengthContrast, best_contrast
from veilset.raw.transactions import Alphabet, Transactions

LENGTHS = np.arange(1.0, 65.0)
ITEMS = 60


def baskets(*lengths: int) -> Transactions:
    """Rows of these lengths, each of the first items."""
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    items = np.concatenate([np.arange(length, dtype=np.int32) for length in lengths])
    return Transactions(offsets, items, Alphabet([f"item {each}" for each in range(ITEMS)], is_given=True))


@pytest.mark.parametrize("limit", COMPARED_LENGTHS)
@given(st.lists(st.integers(0, 1000), min_size=LENGTHS.size, max_size=LENGTHS.size))
def test_a_transaction_moves_the_number_by_no_more_than_is_said(limit: int, numbers: list[int]) -> None:
    """By the weights of its items, whatever its length and that of others; and a gate charges for just that."""
    contrast = LengthContrast.up_to(limit, LENGTHS, np.array(numbers, np.float64))
    assert np.max(np.abs(LENGTHS * contrast.weights(LENGTHS))) <= contrast.moved
    assert 1 <= contrast.average <= limit
    paid = curator_over(baskets(3)).ask_unlikeness(
        np.arange(5), limit=limit, average=contrast.average, epsilon=Fraction(1, 100)
    )
    assert paid.mechanism.sensitivity == contrast.moved


def test_an_answer_is_in_transactions() -> None:
    """By hand: of 3 items, the first two are in rows of 2 and 4 items, the third in the longer row alone."""
    curator = curator_over(baskets(2, 4), epsilon=Fraction(10**6), noise=SeededNoise(1))
    contrast = LengthContrast(2, Fraction(3, 2))
    answer = contrast.ask(curator, np.arange(3), epsilon=Fraction(10**6))
    # Up to 2 items: 1 + 1/2 for the first two, 1/2 for the third. Up to 1 item: 1/2 + 1/4, and 1/4.
    by_hand = 2 * abs(1.5 - 1.5 * 0.75) + abs(0.5 - 1.5 * 0.25)
    assert answer.value == pytest.approx(by_hand, abs=1e-3)
    assert 0 < answer.noise < 1e-5


def test_the_contrast_that_tells_most_for_its_sensitivity_is_the_best() -> None:
    """A larger difference is worth less where one transaction moves it by more."""
    contrasts = [LengthContrast(limit, Fraction(2)) for limit in (3, 11)]

    assert best_contrast(contrasts, _told_by_longer(400)).limit == 3
    assert best_contrast(contrasts, _told_by_longer(600)).limit == 11


def _told_by_longer(many: float) -> Callable[[LengthContrast, FloatArray], FloatArray]:
    """100 a spread up to 3 items, and so many up to 11."""
    return lambda contrast, spreads: spreads * (100 if contrast.limit == 3 else many)


def test_averages_are_in_parts() -> None:
    """Of an eighth, and no more than the limit."""
    assert LengthContrast.up_to(8, np.array([1.0, 3.0]), np.array([2.0, 1.0])).average == Fraction(13, PARTS)
    assert LengthContrast.up_to(2, np.array([9.0]), np.array([5.0])).average == 2
