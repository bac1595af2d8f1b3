"""How good a release is: every metric by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.arrays import Int64Array
from veilset.evaluate.metrics import Claims, Truth, fim_utility, query_error, random_queries, score


def exact_claims(supports: Int64Array, sizes: Int64Array | None = None) -> Claims:
    """Of a release that is exact, and says so."""
    return Claims(supports, supports, supports, np.ones_like(supports) if sizes is None else sizes)


def test_what_is_claimed_of_supports_is_measured() -> None:
    """Errors and half widths over what is right; coverage and bias over all, wrong ones as parts of the threshold."""
    truth = Truth.of(np.array([100, 50]), np.array([1, 1]), threshold=50)
    claims = Claims(
        np.array([110, 40, 60]), np.array([100, 45, 50]), np.array([120, 55, 70]), np.ones(3, np.int64)
    )
    found = score(truth, true=np.array([100, 50, 10]), claims=claims)
    assert found.mean_error == pytest.approx((0.1 + 0.2) / 2)
    assert found.half_width == pytest.approx((0.1 + 0.1) / 2)
    assert found.coverage == pytest.approx(2 / 3)
    assert found.bias == pytest.approx((0.1 - 0.2 + 50 / 50) / 3)


def test_nothing_released_claims_nothing() -> None:
    """There is no interval that could hold."""
    truth, nothing = Truth.of(np.array([9]), np.array([1]), threshold=9), np.empty(0, np.int64)
    found = score(truth, true=nothing, claims=exact_claims(nothing))
    assert (found.coverage, found.bias, found.half_width, found.mean_error) == (None, None, None, None)


def test_ties_with_the_kth_are_right() -> None:
    """Whichever of the itemsets with the k-th support a method finds."""
    truth = Truth.of(np.array([9, 5, 5]), np.array([1, 1, 1]), threshold=5)
    found = score(
        truth, true=np.array([9, 5, 5]), claims=exact_claims(np.array([9, 5, 5]), np.array([1, 2, 2]))
    )
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
        found = score(truth, true=values, claims=exact_claims(values))
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
    found = score(truth, true=true, claims=exact_claims(true))
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
