"""Truncation by similarity: the largest intersection is the longest common subsequence, and the truncation keeps it."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import Basket, Baskets, truncated_by_similarity
from strategies import ALPHABET_SIZE, arrays_of, baskets, baskets_of, rows_of, similar_truncations
from veilset.errors import BadCall
from veilset.gate import KeepSimilar
from veilset.raw.cuts.rows import CompressedRows

NO_KEYS = np.zeros(0, np.uint32)


@given(rows=baskets(), truncation=similar_truncations())
def test_a_cut_keeps_what_the_most_similar_target_shares_then_the_most_frequent(
    rows: Baskets, truncation: KeepSimilar
) -> None:
    """Against sets, for every basket by itself: others do not matter, so neighbours stay neighbours."""
    after = baskets_of(truncation.apply(rows_of(rows), NO_KEYS))
    assert after == [truncated_by_similarity(row, truncation) for row in rows]
    assert all(len(row) <= truncation.longest(ALPHABET_SIZE) for row in after)


def longest_common_subsequence(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    """By its definition as a recursion (Cormen et al.)."""

    @cache
    def length(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return 0
        if first[i - 1] == second[j - 1]:
            return length(i - 1, j - 1) + 1
        return max(length(i - 1, j), length(i, j - 1))

    return length(len(first), len(second))


@given(
    a=st.frozensets(st.integers(0, 9)), b=st.frozensets(st.integers(0, 9)), order=st.permutations(range(10))
)
def test_for_sets_in_one_order_the_longest_common_subsequence_is_the_intersection(
    a: Basket, b: Basket, order: list[int]
) -> None:
    """What the paper computes, and what the truncation computes."""
    first, second = (tuple(item for item in order if item in each) for each in (a, b))
    assert longest_common_subsequence(first, second) == len(a & b)


def test_orders_of_more_than_a_word_are_cut_alike() -> None:
    """130 items take three words."""
    order = np.arange(130)[::-1].copy()
    truncation = KeepSimilar(3, order, *arrays_of([[0, 70, 129], [1, 2, 64, 65]]))
    row = frozenset({1, 2, 65, 64, 129, 128, 0})
    kept = truncation.apply(CompressedRows(np.array([0, 7]), np.array(sorted(row), np.int32)), NO_KEYS)
    assert baskets_of(kept) == [truncated_by_similarity(row, truncation)] == [frozenset({65, 64, 2})]


@pytest.mark.parametrize(
    ("order", "targets", "limit", "message"),
    [
        ([], [[0]], 1, "different items in an order"),
        ([1, 1], [[0]], 1, "different items in an order"),
        ([-1], [[0]], 1, "different items in an order"),
        ([1], [[-1]], 1, "negative code"),
        ([1], [[0]], 0, "keeps nothing"),
    ],
)
def test_cuts_that_make_no_sense_are_refused(
    order: list[int], targets: list[list[int]], limit: int, message: str
) -> None:
    """One line that says what to give."""
    with pytest.raises(BadCall, match=message):
        KeepSimilar(limit, np.array(order, np.int64), *arrays_of(targets))


def test_an_order_beyond_the_alphabet_is_refused() -> None:
    """When the sensitivity is reckoned, before any look."""
    with pytest.raises(BadCall, match="outside the alphabet"):
        KeepSimilar(1, np.array([9]), *arrays_of([])).longest(5)


@pytest.mark.parametrize(("limit", "longest"), [(1, 1), (3, 3), (9, 3)])
def test_a_row_is_no_longer_than_the_limit_and_the_order(limit: int, longest: int) -> None:
    """Three of ten items are left; sensitivities are reckoned with no more than can be kept."""
    assert KeepSimilar(limit, np.array([9, 4, 2]), *arrays_of([[9]])).longest(10) == longest
