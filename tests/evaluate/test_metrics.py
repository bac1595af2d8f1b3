"""How good a release is: every metric by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.evaluate.metrics import Truth, fim_utility, query_error, random_queries, score


def test_ties_with_the_kth_are_right() -> None:
    """Whichever of the itemsets with the k-th support a method finds."""
    truth = Truth.of(np.array([9, 5, 5]), np.array([1, 1, 1]), threshold=5)
    found = score(truth, true=np.array([9, 5, 5]), noisy=np.array([9, 5, 5]), sizes=np.array([1, 2, 2]))
    assert found.f_score == 1
    assert [(part.size, part.released, part.right, part.wanted) for part in found.by_size] == [
        (1, 1, 1, 3),
        (2, 2, 2, 0),
    ]


def test_complete_and_sound_are_those_of_the_definition() -> None:
    """delta = 0.2 around a threshold of 100: above 120 must be in, below 80 must not."""
    truth = Truth.of(np.array([300, 121, 119, 100]), np.array([1, 1, 1, 1]), threshold=100)

    def verdict(true: list[int]) -> tuple[bool, bool]:
        values = np.array(true)
        found = score(truth, true=values, noisy=values, sizes=np.ones_like(values))
        return found.is_complete, found.is_sound

    assert verdict([300, 121]) == (True, True)
    assert verdict([300, 119, 80]) == (False, True)
    assert verdict([300, 121, 79]) == (True, False)


@given(
    supports=st.lists(st.integers(1, 20), min_size=1, max_size=10),
    released=st.lists(st.integers(0, 20), max_size=10),
)
def test_scores_stay_within_0_and_1(supports: list[int], released: list[int]) -> None:
    """And the F-score is the harmonic mean of precision and recall."""
    exact, true = np.array(sorted(supports, reverse=True)), np.array(released, dtype=np.int64)
    truth = Truth.of(exact, np.ones_like(exact), threshold=int(exact[-1]))
    found = score(truth, true=true, noisy=true, sizes=np.ones_like(true))
    assert 0 <= found.precision <= 1
    assert 0 <= found.recall <= 1
    both = found.precision + found.recall
    assert found.f_score == pytest.approx(2 * found.precision * found.recall / both if both else 0)
    assert found.false_negative_rate == pytest.approx(1 - found.recall)


def test_random_queries_have_the_lengths_of_their_class() -> None:
    """Five classes, the i-th of lengths up to i/5 of the longest transaction."""
    queries = random_queries(np.random.default_rng(1), items=1000, longest=50, number=5000)
    assert [len(group) for group in queries] == [1000] * 5
    assert [max(map(len, group)) for group in queries] == [10, 20, 30, 40, 50]
    assert all(len(set(query)) == len(query) >= 1 for group in queries for query in group)


def test_the_measures_of_published_data_are_those_of_the_paper() -> None:
    """The sanity bound limits what rare queries count; identical top itemsets have utility 1."""
    exact = np.array([1000, 1])
    assert query_error(exact, np.array([1000, 11]), transactions=10_000) == pytest.approx((0 + 10 / 10) / 2)
    top: dict[tuple[int, ...], int] = {(1,): 10, (2,): 5}
    assert fim_utility(top, top) == 1
    assert fim_utility(top, {}) == 0
