"""Few items, counted together: how many, chosen how and at what cost, and what their patterns become."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from aims import DENSE, aim_of, drawn
from curators import curator_over
from veilset.exact import mine_exact
from veilset.methods.planned.dense import ask_few_items, best_of
from veilset.methods.planned.item_selection import (
    HALF,
    NOISE_OF_A_DRAW,
    ROOM,
    choice_of,
    crowding,
    density_of_items,
    group_size,
    several_groups,
    share_of_choice,
)

MANY = drawn(4000, np.linspace(0.8, 0.35, 20))
"""More items than are counted in one group, of which transactions hold more than half."""


def test_all_items_are_counted_together_where_noise_is_small() -> None:
    """As many as matter and a few more, but no more than a group may have, and no more than there are."""
    assert group_size(aim_of(k=50, rank=9, about=5000), unit=0.01) == 9 + ROOM
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
    assert group_size(aim_of(k=50, rank=12, about=100, max_size=1), unit=1000.0) == 14


def test_an_item_more_is_worth_its_noise_or_not() -> None:
    """By hand: from 12 to 13 items, the noise of patterns grows by 2^0.4; that, twice, against 0.04."""
    aim = aim_of(k=50, rank=10, about=1000)
    gap = math.sqrt(2) * (2 ** (0.4 * 10) - 2 ** (0.4 * 9))
    at_par = 0.04 * 1000 / (2 * gap)
    assert group_size(aim, unit=0.99 * at_par) == 13
    assert group_size(aim, unit=1.01 * at_par) == 12


def test_one_draw_for_all_items_needs_room_between_them() -> None:
    """Ten items over a gap of 5,000 are far apart; over 50, a draw for each, which costs more the more there are."""
    far, close = aim_of(k=50, rank=10, about=5000), aim_of(k=50, rank=10, about=9950)
    at_once = choice_of(far, 10, noise_of_rest=NOISE_OF_A_DRAW, transactions=1)
    assert at_once.is_one
    assert at_once.epsilon == HALF
    one_by_one = choice_of(close, 10, noise_of_rest=10.0, transactions=1)
    assert not one_by_one.is_one
    assert one_by_one.epsilon == HALF


def test_crowding_is_where_sets_that_lose_more_are_as_likely() -> None:
    """By hand: twice the items within a loss, each doubling the sets, against exp(-epsilon / 2) for each loss."""
    density = density_of_items(aim_of(k=50, rank=10, about=9000))
    assert density == 10 / 1000
    assert crowding(density, 1) / 2 == pytest.approx(2 * density * math.log(2))
    assert crowding(density, 3) == pytest.approx(3 * crowding(density, 1))


def test_a_crowd_is_paid_for_as_long_as_half_of_what_is_left_will_do() -> None:
    """More than the balanced share, where the choice would fail with that."""
    aim = aim_of(k=50, rank=10, about=9920)
    choice = choice_of(aim, 10, noise_of_rest=100.0, transactions=1)
    assert choice.is_one
    assert share_of_choice(NOISE_OF_A_DRAW, 100.0) < choice.epsilon <= HALF
    assert not choice_of(aim, 10, noise_of_rest=100.0, transactions=2).is_one


@pytest.mark.parametrize(
    ("rank", "about", "max_size", "is_several"),
    [(14, 30_000, 12, False), (18, 30_000, 12, True), (18, 900, 12, False), (18, 30_000, 1, False)],
)
def test_several_groups_are_for_more_items_than_one_can_hold(
    rank: int, about: int, max_size: int, is_several: bool
) -> None:
    """Where pairs can be chosen: they are frequent enough for that, and are asked for at all."""
    aim = aim_of(k=100, rank=rank, about=about, number=100_000, max_size=max_size)
    several = several_groups(aim, transactions=1)
    assert (several is not None) is is_several
    if several is not None:
        assert several.size == rank + ROOM
        assert several.items.epsilon + several.for_pairs < aim.left


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
    assert "counted together" in story[0]


def test_several_groups_find_the_best_itemsets_of_many_items() -> None:
    """With hardly any noise, itemsets of one and two items are exactly those there are; larger ones within a group."""
    epsilon, k = Fraction(10**5), 80
    exact = mine_exact(MANY, k=k)
    least = int(min(exact.supports))
    aim = aim_of(k=k, rank=18, about=least, number=4000, items=20, epsilon=epsilon)
    curator = curator_over(MANY, epsilon=epsilon)
    estimates, story = ask_few_items(curator, aim)
    true = {
        tuple(map(int, itemset)): support
        for itemset, support in zip(exact.itemsets, exact.supports, strict=True)
    }
    found = dict(zip(estimates.itemsets, estimates.supports.tolist(), strict=True))
    assert {itemset for itemset in true if len(itemset) <= 2} <= found.keys()
    assert all(support == found[itemset] for itemset, support in true.items() if itemset in found)
    assert curator.budget.spent == epsilon
    assert "groups" in story[0]
    questions = [charge.question for charge in curator.budget.charges]
    assert "itemsets as frequent as" in questions[1]


def test_above_a_threshold_nothing_below_is_told() -> None:
    """Not even where fewer than k remain, or none."""
    aim = aim_of(k=3, about=100)
    told: dict[tuple[int, ...], tuple[float, float]] = {(0,): (150.0, 4.0), (1,): (99.0, 1.0)}
    assert len(best_of(told, aim).itemsets) == 2
    given = replace(aim, is_given=True)
    assert list(best_of(told, given).itemsets) == [(0,)]
    del told[0,]
    assert len(best_of(told, given).itemsets) == 0


def test_no_support_is_above_the_number_of_transactions_but_its_interval_may_be() -> None:
    """That number has noise, too: what patterns tell stays inside."""
    told: dict[tuple[int, ...], tuple[float, float]] = {(0,): (10_050.0, 2.0), (1,): (-3.0, 1.0)}
    estimates = best_of(told, aim_of(k=2, about=100, number=10_000))
    assert estimates.supports.tolist() == [10_000, 0]
    assert estimates.half_widths.tolist() == [55, 6]
