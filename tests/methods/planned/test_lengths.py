"""How long transactions are, where nearly all are of one class: asked for, and told as they are."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curators import curator_over
from veilset.gate import NoisyHistogram, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.methods.planned import planned
from veilset.methods.planned.histogram_laws import CLASSES, MOST, NUMBERS
from veilset.methods.planned.items import planned_items
from veilset.methods.planned.lengths import ask_item_overlap, class_of_most, placed_within
from veilset.methods.planned.overlap import Overlap
from veilset.methods.planned.settings import DEFAULT
from veilset.raw.transactions import Alphabet, Transactions
from veilset.request import Request
from veilset.results.release import Release

ROWS = 6000


def overlap_of(lengths: dict[int, float]) -> Overlap:
    """That many transactions of each length."""
    transactions = np.zeros(MOST)
    transactions[np.array(list(lengths)) - 1] = list(lengths.values())
    return Overlap.known(transactions, DEFAULT)


def told(lengths: list[int], *, epsilon: Fraction, seed: int) -> tuple[Overlap, list[Fraction], Fraction]:
    """What is told of transactions of these lengths, what each question cost, and what all cost by their word."""
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    items = np.concatenate([np.arange(length, dtype=np.int32) for length in lengths])
    alphabet = Alphabet([f"item {place}" for place in range(40)], is_given=True)
    data = Transactions(offsets, items, alphabet)
    curator = curator_over(data, epsilon=epsilon, noise=SeededNoise(seed))
    found, cost = ask_item_overlap(curator, number=len(lengths), epsilon=epsilon, settings=DEFAULT)
    return found, [charge.mechanism.epsilon for charge in curator.budget.charges], cost


@pytest.mark.parametrize("length", [9, 10, 13, 16])
def test_rows_of_one_length_are_told_to_have_it(length: int) -> None:
    """All four are of one class, of which 3/100 of epsilon tells no more; 1/100 more tells what a cap keeps."""
    found, charges, cost = told([length] * ROWS, epsilon=Fraction(1, 2), seed=length)
    assert charges == [Fraction(3, 200), Fraction(1, 200)]
    assert sum(charges) == cost
    for most in (3, 6, 12):
        assert found.kept(most) == pytest.approx(min(1.0, most / length), abs=0.05)


def test_where_lengths_are_of_several_classes_nothing_more_is_asked() -> None:
    """One question, at its price."""
    found, charges, cost = told([3] * 2000 + [12] * 4000, epsilon=Fraction(1, 2), seed=1)
    assert charges == [Fraction(3, 200)] == [cost]
    assert found.kept(3) < 0.5


def test_a_class_of_one_length_is_known_already_and_the_last_one_has_no_end() -> None:
    """Neither is asked for; nearly all in a class of several is."""
    assert class_of_most(overlap_of({2: 990.0, 7: 10.0})) is None
    assert class_of_most(overlap_of({CLASSES[-1] + 5: 1000.0})) is None
    assert class_of_most(overlap_of({6: 950.0, 30: 50.0})) == range(5, 9)
    assert class_of_most(overlap_of({6: 850.0, 30: 150.0})) is None


@pytest.mark.parametrize("task", [planned, planned_items])
def test_methods_pay_for_it_from_what_they_were_given(task: Callable[..., Release]) -> None:
    """Rows of ten of 300 items: two questions about lengths, and all charges add up to epsilon."""
    random = np.random.default_rng(5)
    chances = 1 / np.arange(2, 302)
    rows = [random.choice(300, 10, p=chances / chances.sum(), replace=False) for _ in range(4000)]
    alphabet = Alphabet([f"item {place}" for place in range(300)], is_given=True)
    items = np.concatenate([np.sort(row) for row in rows]).astype(np.int32)
    data = Transactions(np.arange(0, 40_001, 10, dtype=np.int64), items, alphabet)
    curator = curator_over(data, epsilon=Fraction(1), noise=SeededNoise(2))
    task(curator, Request(k=60, min_support=None, max_size=None), epsilon=Fraction(1))
    charges = curator.budget.charges
    assert sum((charge.mechanism.epsilon for charge in charges), Fraction(0)) == 1
    of_lengths = [charge.mechanism.epsilon for charge in charges if "number of items held" in charge.question]
    assert of_lengths == [Fraction(3, 100), Fraction(1, 100)]


@given(counts=st.lists(st.integers(-300, 3000), min_size=4, max_size=4))
def test_transactions_of_a_class_stay_in_it(counts: list[int]) -> None:
    """However noisy the counts are: those that stand out share them; where none does, all is as before."""
    lengths = overlap_of({1: 20.0, 6: 800.0, 7: 150.0, 40: 5.0})
    noise = DiscreteLaplace(1, Fraction(1, 100))
    moved = placed_within(lengths, range(5, 9), NoisyHistogram(np.array([20, *counts, 5]), noise))
    starts = np.array(CLASSES[1:]) - 1
    before, after = (np.add.reduceat(each.transactions, starts) for each in (lengths, moved))
    assert after == pytest.approx(before)
    assert moved.plausible[0] == pytest.approx(moved.transactions)
    stand_out = [max(count, 0) for count in counts if count >= 300]
    if stand_out:
        assert np.count_nonzero(moved.transactions[4:8]) == len(stand_out)
    else:
        assert moved.transactions @ NUMBERS == pytest.approx(lengths.transactions @ NUMBERS)
