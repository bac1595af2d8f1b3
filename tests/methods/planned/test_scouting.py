"""The aim: what it costs, and whether few items may carry the answer."""

from fractions import Fraction

import numpy as np
import pytest

from aims import DENSE, SPARSE, aim_of, drawn, sure_of
from curators import curator_over
from veilset.api import mine
from veilset.gate import SeededNoise
from veilset.itemsets import Domain
from veilset.methods.planned.scouting import (
    LARGEST_GROUP,
    MOST_CARRIERS,
    Aim,
    ask_aim,
    fewest_items,
    marginals_err_less,
)
from veilset.methods.shared.preliminaries import ask_preliminaries
from veilset.raw.transactions import Transactions
from veilset.request import Request


def aim_over(data: Transactions, request: Request) -> tuple[Aim, list[str]]:
    """The aim with little noise, and the questions that led to it."""
    epsilon = Fraction(10)
    curator = curator_over(data, epsilon=epsilon)
    domain = curator.domain(max_size=12)
    first = ask_preliminaries(curator, request, domain=domain, epsilon=epsilon)
    aim = ask_aim(curator, first, request, domain=domain, epsilon=epsilon)
    assert aim.left == epsilon - curator.budget.spent
    return aim, [charge.question for charge in curator.budget.charges]


def test_how_many_items_is_asked_where_few_may_carry_the_answer() -> None:
    """Of twelve items transactions hold most: a number of items that can make the answer."""
    aim, asked = aim_over(DENSE, Request.of(k=20))
    assert aim.rank is not None
    assert fewest_items(20, max_size=12) <= aim.rank <= 12
    assert aim.is_dense
    assert any("number of items as frequent" in question for question in asked)


def test_how_many_items_is_not_asked_on_sparse_data() -> None:
    """Whatever the answer, joint patterns would err more: a tenth of epsilon is saved."""
    aim, asked = aim_over(SPARSE, Request.of(k=30))
    assert aim.rank is None
    assert not aim.is_dense
    assert asked == ["number of transactions", "support of the 30th itemset"]


def test_a_threshold_is_not_asked_for() -> None:
    """It is given: nothing lies below it."""
    aim, asked = aim_over(SPARSE, Request.of(min_support=300))
    assert aim.is_given
    assert aim.about == aim.floor == 300
    assert aim.support(sure_of({(0,): 900}, 3000)) == 300
    assert aim.left == aim.first.remaining
    assert not any("number of items as frequent" in question for question in asked)


def test_the_support_in_question_is_not_below_the_floor() -> None:
    """Two are believed to have more than 100; where the floor is higher, it is that."""
    posterior = sure_of({(0,): 900, (1,): 400, (2,): 100}, 1000)
    assert 100 < aim_of(k=2, about=50).support(posterior) <= 400
    assert aim_of(k=2, about=600).support(posterior) == 600


@pytest.mark.parametrize("max_size", [1, 2, 3, 12])
def test_the_fewest_items_are_those_that_make_k_itemsets(max_size: int) -> None:
    """One fewer does not; from a group too large to count on, numbers are all the same."""
    for k in range(1, 200):
        items = fewest_items(k, max_size=max_size)
        assert items == LARGEST_GROUP + 1 or Domain(range(items), max_size).size >= k
        assert items == 1 or Domain(range(items - 1), max_size).size < k


def test_as_many_single_items_are_found_as_asked_for_on_dense_data() -> None:
    """More than can be counted together: 25 of 30 items that transactions hold most of."""
    dense = drawn(2000, np.linspace(0.9, 0.3, 30))
    release = mine(dense, epsilon=1, k=25, max_size=1, method="planned", noise=SeededNoise(1))
    assert len(release) == 25 > LARGEST_GROUP
    assert {len(found.items) for found in release.itemsets} == {1}


def test_patterns_err_less_by_hand() -> None:
    """40 itemsets of a tenth: noise 1.5 * 4 if shared; 2^2.25 for 7 items, 2^2.75 for 8."""
    assert marginals_err_less(40, 0.1, items=7)
    assert not marginals_err_less(40, 0.1, items=8)
    assert marginals_err_less(40, 5.0, items=7) == marginals_err_less(40, 1.0, items=7)


@pytest.mark.parametrize("k", [100, 20])
def test_more_items_than_a_basis_holds_make_no_difference(k: int) -> None:
    """Beyond twelve there may be several bases."""
    assert marginals_err_less(k, 0.5, items=100) == marginals_err_less(k, 0.5, items=12) == (k == 100)


def test_an_answer_of_many_items_is_not_left_to_a_group_of_them() -> None:
    """Though 500 itemsets of a tenth would be noisier one by one than the patterns of a dozen items."""
    assert aim_of(k=500, about=100, number=1000, rank=MOST_CARRIERS).is_dense
    assert not aim_of(k=500, about=100, number=1000, rank=MOST_CARRIERS + 1).is_dense
    assert not aim_of(k=500, about=100, number=1000, rank=None).is_dense
