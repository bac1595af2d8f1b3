"""Few items, counted together: what their marginals become."""

from fractions import Fraction

import numpy as np
import pytest

from curators import curator_over
from planned_cases import DENSE, dense_scouting, drawn
from veilset import SeededNoise, mine
from veilset.exact import mine_exact
from veilset.gate import DiscreteLaplace
from veilset.methods.planned.dense import ask_carriers, ask_dense
from veilset.methods.planned.item_selection import ItemDraws

MANY = drawn(4000, np.linspace(0.8, 0.35, 20))
"""More items than are counted in one marginal, of which transactions contain more than half."""


@pytest.mark.parametrize("max_size", [2, 12])
def test_all_that_remains_buys_the_best_itemsets(max_size: int) -> None:
    """With hardly any noise these are exactly those there are, none larger than allowed."""
    scouting = dense_scouting(
        k=30, rank=12, threshold=700, number=2000, items=12, max_size=max_size, epsilon=Fraction(10**5)
    )
    curator = curator_over(DENSE, epsilon=scouting.remaining)
    answer = ask_dense(curator, scouting)
    estimates = answer.estimates
    exact = mine_exact(DENSE, k=30, max_size=max_size)
    assert set(estimates.itemsets) == set(exact.itemsets)
    assert sorted(estimates.supports) == sorted(exact.supports)
    assert curator.budget.spent == scouting.remaining
    assert "counted together in one marginal" in answer.notes[0]


def test_several_marginals_find_the_best_itemsets_of_many_items() -> None:
    """With hardly any noise, all items and pairs are exactly those there are; larger itemsets within a marginal."""
    epsilon, k = Fraction(10**5), 80
    exact = mine_exact(MANY, k=k)
    least = int(min(exact.supports))
    scouting = dense_scouting(k=k, rank=18, threshold=least, number=4000, items=20, epsilon=epsilon)
    curator = curator_over(MANY, epsilon=epsilon)
    answer = ask_dense(curator, scouting)
    estimates = answer.estimates
    true = {
        tuple(map(int, itemset)): support
        for itemset, support in zip(exact.itemsets, exact.supports, strict=True)
    }
    found = dict(zip(estimates.itemsets, estimates.supports.tolist(), strict=True))
    assert {itemset for itemset in true if len(itemset) <= 2} <= found.keys()
    assert all(support == found[itemset] for itemset, support in true.items() if itemset in found)
    assert curator.budget.spent == epsilon
    assert "marginals that hold" in answer.notes[0]
    questions = [charge.question for charge in curator.budget.charges]
    assert "itemsets as frequent as" in questions[1]


@pytest.mark.parametrize("is_one_draw", [True, False])
def test_carriers_are_the_most_frequent_items_however_they_are_drawn(is_one_draw: bool) -> None:
    """In one draw or in one for each; with hardly any noise, no more than may be, and exactly paid."""
    scouting = dense_scouting(k=10, rank=5, threshold=1500, number=2000, items=12, epsilon=Fraction(10**5))
    curator = curator_over(DENSE, epsilon=scouting.remaining)
    draws = ItemDraws(5, Fraction(1000), is_one_draw=is_one_draw)
    items = ask_carriers(curator, scouting, draws)
    assert items == tuple(range(len(items)))
    assert scouting.fewest_items <= len(items) <= 5
    assert curator.budget.spent == 1000


def test_a_number_that_was_asked_for_again_is_released_and_bounds_supports() -> None:
    """Where most transactions contain the answer, at a good epsilon: one question more, and nothing is overspent."""
    most = drawn(5000, np.linspace(0.99, 0.9, 12))
    release = mine(most, k=20, epsilon=2, noise=SeededNoise(3))
    first, again = (
        charge.mechanism
        for charge in release.trace
        if charge.question == "number of transactions" and isinstance(charge.mechanism, DiscreteLaplace)
    )
    assert again.scale < first.scale / 2
    assert release.spent <= 2
    told = release.transactions
    assert told.high - told.value == again.half_width()
    assert abs(told.value - 5000) < 12 * again.scale
