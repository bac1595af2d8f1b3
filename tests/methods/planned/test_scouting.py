"""Scouting: what it costs, and whether few items may carry the answer."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from curators import curator_over
from planned_cases import DENSE, SPARSE, drawn, sharp_posterior, sparse_scouting
from veilset.api import mine
from veilset.gate import NoisyCount, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Domain
from veilset.methods.planned.scouting import (
    DenseScouting,
    Scouting,
    SparseScouting,
    ThresholdEstimate,
    ask_scouting,
    fewest_items,
    is_rank_worth_asking,
    marginals_err_less,
    with_rank,
)
from veilset.methods.planned.settings import DEFAULT
from veilset.methods.shared.preliminaries import ask_preliminaries
from veilset.raw.transactions import Transactions
from veilset.request import Request


def scouted(data: Transactions, request: Request) -> tuple[Scouting, list[str]]:
    """What scouting finds with little noise, and the questions that led to it."""
    epsilon = Fraction(10)
    curator = curator_over(data, epsilon=epsilon)
    domain = curator.domain(max_size=12)
    first = ask_preliminaries(curator, request, domain=domain, epsilon=epsilon)
    scouting = ask_scouting(curator, request, first, domain=domain, epsilon=epsilon, settings=DEFAULT)
    assert scouting.remaining == epsilon - curator.budget.spent
    return scouting, [charge.question for charge in curator.budget.charges]


def test_how_many_items_is_asked_where_few_may_carry_the_answer() -> None:
    """Of twelve items transactions contain most: a number of items that can make the answer."""
    scouting, asked = scouted(DENSE, Request.of(k=20))
    assert isinstance(scouting, DenseScouting)
    assert scouting.fewest_items <= scouting.rank <= 12
    assert any("number of items as frequent" in question for question in asked)


def test_how_many_items_is_not_asked_on_sparse_data() -> None:
    """Whatever the answer, a marginal would err more: a twentieth of epsilon is saved."""
    scouting, asked = scouted(SPARSE, Request.of(k=30))
    assert isinstance(scouting, SparseScouting)
    assert not is_rank_worth_asking(scouting)
    assert len(asked) == 2
    assert asked[0] == "number of transactions"
    assert asked[1].startswith("support of the 30")


def test_a_threshold_is_not_asked_for() -> None:
    """It is given: nothing lies below it."""
    scouting, asked = scouted(SPARSE, Request.of(min_support=300))
    assert scouting.is_given
    assert scouting.threshold == scouting.floor == 300
    assert scouting.support_in_question(sharp_posterior({(0,): 900}, 3000)) == 300
    assert scouting.remaining == scouting.preliminaries.remaining
    assert not any("number of items as frequent" in question for question in asked)


def test_the_support_in_question_is_not_below_the_floor() -> None:
    """Two have more than 100, as far as is known; where the floor is higher, it is that."""
    known = sharp_posterior({(0,): 900, (1,): 400, (2,): 100}, 1000)
    assert 100 < sparse_scouting(k=2, threshold=50).support_in_question(known) <= 400
    assert sparse_scouting(k=2, threshold=600).support_in_question(known) == 600


def test_a_threshold_is_estimated_within_what_is_possible() -> None:
    """By hand: 2.5 scales of 20 below the answer; neither below 1 nor above the number of transactions."""
    noise = DiscreteLaplace(1, Fraction(1, 20))
    answers = [
        ThresholdEstimate.of(NoisyCount(value, noise), number=1000, settings=DEFAULT)
        for value in (-7, 300, 1200)
    ]
    assert answers == [ThresholdEstimate(1, 1), ThresholdEstimate(300, 250), ThresholdEstimate(1000, 950)]
    assert ThresholdEstimate.given(0) == ThresholdEstimate(1, 1)


def test_noise_grows_with_the_cap_and_the_transactions_of_a_unit() -> None:
    """By hand: three transactions that count for two itemsets each, at half of epsilon."""
    scouting = replace(sparse_scouting(k=2, threshold=50), unit_transactions=3)
    assert scouting.noise(Fraction(1, 2)) == 6
    assert scouting.noise(Fraction(1, 2), cap=2) == 12


@pytest.mark.parametrize("max_size", [1, 2, 3, 12])
def test_the_fewest_items_are_those_that_make_k_itemsets(max_size: int) -> None:
    """One fewer does not; from a group too large to count on, numbers are all the same."""
    for k in range(1, 200):
        items = fewest_items(k, max_size=max_size, largest_group=DEFAULT.largest_group)
        assert items == DEFAULT.largest_group + 1 or Domain(range(items), max_size).size >= k
        assert items == 1 or Domain(range(items - 1), max_size).size < k


def test_as_many_single_items_are_found_as_asked_for_on_dense_data() -> None:
    """More than can be counted together: 25 of 30 items that transactions hold most of."""
    dense = drawn(2000, np.linspace(0.9, 0.3, 30))
    release = mine(dense, epsilon=1, k=25, max_size=1, method="planned", noise=SeededNoise(1))
    assert len(release) == 25 > DEFAULT.largest_group
    assert {len(found.items) for found in release.itemsets} == {1}


def test_a_marginal_errs_less_by_hand() -> None:
    """40 itemsets of a tenth: noise 1.5 * 4 of capped counts; 2^2.25 for 7 items, 2^2.75 for 8."""
    scouting = sparse_scouting(k=40, threshold=1000, number=10_000)
    assert marginals_err_less(scouting, items=7)
    assert not marginals_err_less(scouting, items=8)
    noisy, whole = (sparse_scouting(k=40, threshold=each, number=100) for each in (500, 100))
    assert marginals_err_less(noisy, items=7) == marginals_err_less(whole, items=7)


@pytest.mark.parametrize("k", [100, 20])
def test_more_items_than_a_marginal_has_make_no_difference(k: int) -> None:
    """Beyond twelve there may be several marginals."""
    scouting = sparse_scouting(k=k, threshold=500, number=1000)
    assert marginals_err_less(scouting, items=100) == marginals_err_less(scouting, items=12) == (k == 100)


def test_an_answer_of_many_items_is_not_left_to_a_group_of_them() -> None:
    """Though 500 itemsets of a tenth would be noisier one by one than the marginal of a dozen items."""
    scouting = sparse_scouting(k=500, threshold=100, number=1000)
    dense = with_rank(scouting, DEFAULT.most_carriers)
    assert isinstance(dense, DenseScouting)
    assert dense.rank == DEFAULT.most_carriers
    sparse = with_rank(scouting, DEFAULT.most_carriers + 1)
    assert isinstance(sparse, SparseScouting)
    assert dense.remaining == sparse.remaining == scouting.remaining - scouting.price(DEFAULT.share_for_rank)


def test_a_rank_is_one_that_can_make_the_answer() -> None:
    """Noise may say fewer items than make k itemsets, or more than there are."""
    scouting = sparse_scouting(k=20, threshold=900, number=1000, items=9)
    ranks = [with_rank(scouting, answered) for answered in (1, 7, 20)]
    assert [each.rank for each in ranks if isinstance(each, DenseScouting)] == [5, 7, 9]
