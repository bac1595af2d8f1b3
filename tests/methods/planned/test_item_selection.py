"""The selection of few items that carry an answer: how many, in how many draws, at what cost."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from planned_cases import dense_scouting
from veilset.gate import DiscreteLaplace, NoisyCount
from veilset.methods.planned.item_selection import (
    OneMarginal,
    SeveralMarginals,
    choose_draws,
    choose_group_size,
    choose_selection,
    crowding,
    density_of_items,
    part_for_number,
    share_of_draw,
)
from veilset.methods.planned.scouting import DenseScouting
from veilset.methods.planned.settings import DEFAULT


def test_all_items_are_counted_together_where_noise_is_small() -> None:
    """As many as matter and a few more, but no more than a group may have, and no more than there are."""
    assert (
        choose_group_size(dense_scouting(k=50, rank=9, threshold=5000), noise=0.01) == 9 + DEFAULT.spare_items
    )
    assert choose_group_size(dense_scouting(k=50, rank=30, threshold=5000), noise=0.0001) == 14
    assert choose_group_size(dense_scouting(k=7, rank=30, threshold=5000, items=3), noise=0.01) == 3


def test_no_more_items_than_needed_are_counted_together_where_noise_is_large() -> None:
    """Six items have 63 itemsets, enough for 50; fewer would not do, however large the noise."""
    assert choose_group_size(dense_scouting(k=50, rank=12, threshold=100), noise=1000.0) == 6
    assert choose_group_size(dense_scouting(k=63, rank=12, threshold=100), noise=1000.0) == 6
    assert choose_group_size(dense_scouting(k=64, rank=12, threshold=100), noise=1000.0) == 7


def test_enough_items_are_counted_together_for_itemsets_of_a_size() -> None:
    """Ten items have 55 itemsets of one or two; where only items are asked for, every one there is, is needed."""
    assert choose_group_size(dense_scouting(k=50, rank=12, threshold=100, max_size=2), noise=1000.0) == 10
    assert choose_group_size(dense_scouting(k=50, rank=12, threshold=100, max_size=1), noise=1000.0) == 14


def test_an_item_more_is_worth_its_noise_or_not() -> None:
    """By hand: from 12 to 13 items, the noise of patterns grows by 2^0.4; that, twice, against 0.04."""
    scouting = dense_scouting(k=50, rank=10, threshold=1000)
    gap = math.sqrt(2) * (2 ** (0.4 * 10) - 2 ** (0.4 * 9))
    at_par = 0.04 * 1000 / (2 * gap)
    assert choose_group_size(scouting, noise=0.99 * at_par) == 13
    assert choose_group_size(scouting, noise=1.01 * at_par) == 12


def test_one_draw_for_all_items_needs_room_between_them() -> None:
    """Ten items over a gap of 5,000 are far apart; over 50, a draw for each, which costs more the more there are."""
    far, close = dense_scouting(k=50, rank=10, threshold=5000), dense_scouting(k=50, rank=10, threshold=9950)
    at_once = choose_draws(far, 10, noise_after=DEFAULT.noise_of_a_draw)
    assert at_once.is_one_draw
    assert at_once.epsilon == DEFAULT.most_for_selection
    one_by_one = choose_draws(close, 10, noise_after=10.0)
    assert not one_by_one.is_one_draw
    assert one_by_one.epsilon == DEFAULT.most_for_selection


def test_crowding_is_where_sets_that_lose_more_are_as_likely() -> None:
    """By hand: twice the items within a loss, each doubling the sets, against exp(-epsilon / 2) for each loss."""
    density = density_of_items(dense_scouting(k=50, rank=10, threshold=9000))
    assert density == 10 / 1000
    assert crowding(density, 1) / 2 == pytest.approx(2 * density * math.log(2))
    assert crowding(density, 3) == pytest.approx(3 * crowding(density, 1))


def test_a_crowd_is_paid_for_as_long_as_half_of_what_is_left_will_do() -> None:
    """More than the balanced share, where the draw would fail with that."""
    scouting = dense_scouting(k=50, rank=10, threshold=9920)
    draws = choose_draws(scouting, 10, noise_after=100.0)
    assert draws.is_one_draw
    assert share_of_draw(DEFAULT.noise_of_a_draw, 100.0) < draws.epsilon <= DEFAULT.most_for_selection
    couples = replace(scouting, unit_transactions=2)
    assert not choose_draws(couples, 10, noise_after=100.0).is_one_draw


@pytest.mark.parametrize(
    ("rank", "threshold", "max_size", "is_several"),
    [(14, 30_000, 12, False), (18, 30_000, 12, True), (18, 900, 12, False), (18, 30_000, 1, False)],
)
def test_several_marginals_are_for_more_items_than_one_can_have(
    rank: int, threshold: int, max_size: int, is_several: bool
) -> None:
    """Where pairs can be selected: they are frequent enough for that, and are asked for at all."""
    scouting = dense_scouting(k=100, rank=rank, threshold=threshold, number=100_000, max_size=max_size)
    selection = choose_selection(scouting)
    assert isinstance(selection, SeveralMarginals) is is_several
    if isinstance(selection, SeveralMarginals):
        assert selection.items.most == rank + DEFAULT.spare_items
        assert selection.items.epsilon + selection.for_pairs + selection.for_marginals == scouting.remaining
        assert selection.for_marginals > 0


def test_one_marginal_gets_what_the_draws_leave() -> None:
    """All of epsilon is shared between the two."""
    scouting = dense_scouting(k=50, rank=9, threshold=5000)
    selection = choose_selection(scouting)
    assert isinstance(selection, OneMarginal)
    assert selection.items.epsilon + selection.for_marginal == scouting.remaining


def with_noisy_number(scouting: DenseScouting) -> DenseScouting:
    """The same where the number of transactions was paid for."""
    number = NoisyCount(scouting.number, DiscreteLaplace(1, Fraction(1, 50)))
    return replace(scouting, preliminaries=replace(scouting.preliminaries, number=number))


def test_the_number_of_transactions_gets_what_makes_both_errors_least_together() -> None:
    """By trying all parts of a hundredth: its error counts as much as the k-th itemset is frequent."""
    scouting = with_noisy_number(dense_scouting(k=50, rank=10, threshold=9000))
    for noise in (3.0, 12.0):
        errors = {
            part: (0.9 / part) ** 2 + (noise / (1 - part)) ** 2
            for part in (Fraction(each, 100) for each in range(1, 100))
        }
        assert part_for_number(scouting, noise_after=noise) == min(errors, key=errors.__getitem__)


def test_the_number_of_transactions_is_asked_for_again_only_where_it_decides() -> None:
    """Not where it is public, itemsets are in less than half of the transactions, or marginals have to find them."""
    scouting = with_noisy_number(dense_scouting(k=50, rank=10, threshold=9000))
    assert part_for_number(scouting, noise_after=12.0) > 0
    assert part_for_number(dense_scouting(k=50, rank=10, threshold=9000), noise_after=12.0) == 0
    rare = with_noisy_number(dense_scouting(k=50, rank=10, threshold=4000))
    assert part_for_number(rare, noise_after=12.0) == 0
    poor = replace(scouting, remaining=Fraction(1, 20))
    assert part_for_number(poor, noise_after=12.0) == 0


def test_a_better_number_is_paid_for_from_what_marginals_get() -> None:
    """All that remains is spent, for one marginal and for several."""
    for rank in (10, 20):
        scouting = with_noisy_number(dense_scouting(k=50, rank=rank, threshold=9000, number=10_000, items=40))
        selection = choose_selection(replace(scouting, remaining=Fraction(20)))
        assert selection.for_number > 0
        rest = (
            selection.for_marginal
            if isinstance(selection, OneMarginal)
            else selection.for_pairs + selection.for_marginals
        )
        assert selection.items.epsilon + selection.for_number + rest == 20
