"""Few items, counted together: how many, at what cost, and what their patterns become."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aims import DENSE, aim_of
from curators import curator_over
from veilset.exact import mine_exact
from veilset.methods.few_items import (
    LEAST_FOR_CHOICE,
    MOST_FOR_CHOICE,
    ask_few_items,
    group_size,
    onto_simplex,
    share_of_choice,
)


def test_all_items_are_counted_together_where_noise_is_small() -> None:
    """As many as matter, but no more than a group may have, and no more than there are."""
    assert group_size(aim_of(k=50, rank=9, about=5000), unit=0.01) == 9
    assert group_size(aim_of(k=50, rank=30, about=5000), unit=0.0001) == 14
    assert group_size(aim_of(k=7, rank=30, about=5000, items=3), unit=0.01) == 3


def test_no_more_items_than_needed_are_counted_together_where_noise_is_large() -> None:
    """Six items have 63 itemsets, enough for 50; fewer would not do, however large the noise."""
    assert group_size(aim_of(k=50, rank=12, about=100), unit=1000.0) == 6
    assert group_size(aim_of(k=63, rank=12, about=100), unit=1000.0) == 6
    assert group_size(aim_of(k=64, rank=12, about=100), unit=1000.0) == 7


def test_enough_items_are_counted_together_for_itemsets_of_a_size() -> None:
    """Ten items have 55 itemsets of one or two; where only items are asked for, every one there is, is needed."""
    assert group_size(aim_of(k=50, rank=12, about=100, max_size=2), unit=1000.0) == 10
    assert group_size(aim_of(k=50, rank=12, about=100, max_size=1), unit=1000.0) == 12


def test_an_item_more_is_worth_its_noise_or_not() -> None:
    """By hand: from 9 to 10 items, 2 * (sqrt(2^8) - sqrt(2^7)) * unit / about against 0.04."""
    aim, gap = aim_of(k=50, rank=10, about=1000), 16 - 2**3.5
    at_par = 0.04 * 1000 / (2 * gap)
    assert group_size(aim, unit=0.99 * at_par) == 10
    assert group_size(aim, unit=1.01 * at_par) == 9


@pytest.mark.parametrize(
    ("about", "transactions", "share"),
    [(2000, 1, Fraction(1, 4)), (8000, 3, Fraction(3, 16)), (100, 1, MOST_FOR_CHOICE)],
)
def test_the_choice_gets_what_makes_it_good_enough(about: int, transactions: int, share: Fraction) -> None:
    """Ten draws err by 10 * transactions / epsilon each: a fiftieth of the k-th support, by hand."""
    assert share_of_choice(aim_of(k=50, rank=10, about=about), 10, transactions=transactions) == share


def test_the_choice_gets_a_tenth_at_least() -> None:
    """However frequent the k-th itemset; of what is left, not of all."""
    aim = aim_of(k=50, rank=10, about=10**9, epsilon=Fraction(1, 3))
    assert share_of_choice(aim, 10, transactions=1) == LEAST_FOR_CHOICE / 3


@pytest.mark.parametrize("max_size", [2, 12])
def test_all_that_is_left_buys_the_best_itemsets(max_size: int) -> None:
    """With hardly any noise these are exactly those there are, none larger than allowed."""
    aim = aim_of(k=30, rank=12, about=700, number=2000, items=12, max_size=max_size, epsilon=Fraction(10**5))
    curator = curator_over(DENSE, epsilon=aim.left)
    estimates, story = ask_few_items(curator, aim)
    exact = mine_exact(DENSE, k=30, max_size=max_size)
    assert set(estimates.itemsets) == set(exact.itemsets)
    assert sorted(estimates.supports) == sorted(exact.supports)
    assert curator.budget.spent == aim.left
    assert "12 items" in story[0]


@given(
    values=st.lists(st.integers(-1000, 1000), min_size=1, max_size=40),
    total=st.integers(0, 3000),
)
def test_the_closest_values_are_those_of_the_twin(values: list[int], total: int) -> None:
    """All values move by one shift and stop at 0: the shift by bisection."""
    found = onto_simplex(np.array(values, np.float64), total)
    low, high = float(min(values) - total - 1), float(max(values))
    for _ in range(100):
        middle = (low + high) / 2
        if sum(max(value - middle, 0.0) for value in values) > total:
            low = middle
        else:
            high = middle
    assert found == pytest.approx([max(value - high, 0.0) for value in values], abs=1e-6)
    assert found.sum() == pytest.approx(total, abs=1e-6)
