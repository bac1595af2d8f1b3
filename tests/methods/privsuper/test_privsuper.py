"""PrivSuper: its budget, its accuracy, how it asks for items and for supports."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from corners import Corner, corners
from curators import curator_over
from strategies import ALPHABET_SIZE
from veilset.api import mine
from veilset.datasets import groceries
from veilset.exact import mine_exact
from veilset.gate import SHARE_FOR_SEARCH_THRESHOLD, SeededNoise
from veilset.gate.mechanisms import AboveThreshold, DiscreteLaplace, Exponential
from veilset.methods import privsuper as method
from veilset.methods.privsuper.supports import (
    SupportPlan,
    ask_planned_supports,
    deviations_within,
    groups_of,
)

DENSE = [
    *[frozenset({0, 1, 2, 3})] * 300,
    *[frozenset({0, 1})] * 100,
    *[frozenset({2})] * 50,
    *[frozenset({4})] * 200,
]


@given(corner=corners(most=40, largest=3))
@settings(max_examples=60)
def test_the_trace_sums_to_at_most_epsilon(corner: Corner) -> None:
    """Whatever the data, the task and the noise."""
    release = corner.release("privsuper")
    assert release.spent <= corner.epsilon
    assert corner.k is None or release.spent == corner.epsilon
    assert all(len(found.items) <= (corner.max_size or ALPHABET_SIZE) for found in release.itemsets)


@pytest.mark.parametrize("k", [30, 100])
def test_it_finds_most_of_the_top_itemsets_and_its_intervals_hold(k: int) -> None:
    """On 50,000 baskets at epsilon 1, with intervals that hold for nearly all of them, over 6 runs."""
    data = groceries(50_000)
    truth = mine_exact(data, k=5 * k)
    exact = dict(zip(truth.itemsets, truth.supports, strict=True))
    runs = [mine(data, epsilon=1, k=k, method="privsuper", noise=SeededNoise(seed)) for seed in range(6)]
    top = set(list(exact)[:k])
    right = [found for run in runs for found in run.itemsets if found.items in top]
    assert len(right) >= 0.85 * k * len(runs)
    assert np.mean([found.low <= exact[found.items] <= found.high for found in right]) >= 0.92


def test_shares_of_epsilon_add_up_to_one() -> None:
    """lambda, lengths, items, search, supports."""
    shares = (
        method.LAMBDA_SHARE,
        method.LENGTHS_SHARE,
        method.ITEMS_SHARE,
        method.SEARCH_SHARE,
        method.SUPPORTS_SHARE,
    )
    assert sum(shares) == 1


def test_a_large_itemset_is_found_by_few_finds() -> None:
    """With little noise, 15 itemsets of four items become known by a few finds, and all are released."""
    release = mine(
        [sorted(row) for row in DENSE],
        epsilon=10**4,
        k=15,
        method="privsuper",
        noise=SeededNoise(3),
        public_items=True,
    )
    assert {found.items for found in release.itemsets if len(found.items) == 4} == {(0, 1, 2, 3)}
    search = next(
        charge.mechanism for charge in release.trace if isinstance(charge.mechanism, AboveThreshold)
    )
    assert search.account is not None
    assert search.account[0] == search.epsilon * SHARE_FOR_SEARCH_THRESHOLD
    assert len(search.account) - 1 <= 5


def test_where_there_is_nothing_to_search_for_supports_get_its_share() -> None:
    """Single items alone: no search is asked, and epsilon is spent all the same."""
    release = mine(groceries(2_000), epsilon=1, k=10, max_size=1, method="privsuper", noise=SeededNoise(3))
    assert not any(isinstance(charge.mechanism, AboveThreshold) for charge in release.trace)
    assert release.spent == 1


@pytest.mark.parametrize(("k", "kind"), [(30, DiscreteLaplace), (9, Exponential)])
def test_items_come_from_counts_where_transactions_are_shorter_than_lambda(k: int, kind: type) -> None:
    """And by draws where they are not."""
    rows = [[(start + step) % 30 for step in range(12)] for start in range(30)] * 20
    release = mine(rows, epsilon=100, k=k, method="privsuper", noise=SeededNoise(2), alphabet=range(30))
    assert isinstance(release.trace[3].mechanism, kind)


def test_marginals_are_asked_for_where_they_err_less() -> None:
    """Fifteen itemsets of four items: one marginal; all pairs of 40 items: counts."""
    few = [itemset for size in range(1, 5) for itemset in _combinations(4, size)]
    many = [*_combinations(40, 1), *_combinations(40, 2)]
    assert SupportPlan.of(few, k=15, sensitivity=1, epsilon=Fraction(1)).groups == [(0, 1, 2, 3)]
    assert SupportPlan.of(many, k=50, sensitivity=1, epsilon=Fraction(1)).groups == []


def _combinations(items: int, size: int) -> list[tuple[int, ...]]:
    from itertools import combinations  # noqa: PLC0415

    return list(combinations(range(items), size))


def test_what_no_group_can_hold_is_counted_by_itself() -> None:
    """An itemset of 13 items is larger than any group: its marginal would have 8,192 cells."""
    known = [tuple(range(13))]
    noise = DiscreteLaplace(1, Fraction(1))
    assert deviations_within(groups_of(known), known, noise).size == 0
    assert SupportPlan.of(known, k=1, sensitivity=1, epsilon=Fraction(1)).groups == []


def test_supports_from_marginals_err_as_forecast() -> None:
    """The spread of 300 answers is the deviation that was computed without looking."""
    known = [(0,), (1,), (0, 1)]
    plan = SupportPlan(known, 3, groups_of(known))
    expected = deviations_within(plan.groups, known, DiscreteLaplace(1, Fraction(1, 2)))
    errors = []
    for seed in range(300):
        curator = curator_over(DENSE, epsilon=Fraction(10), noise=SeededNoise(seed))
        estimates = ask_planned_supports(curator, plan, epsilon=Fraction(1, 2))
        errors.append(estimates.supports - np.array([400, 400, 400]))
    assert np.std(errors, axis=0) == pytest.approx(expected, rel=0.25)
