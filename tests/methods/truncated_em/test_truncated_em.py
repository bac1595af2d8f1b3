"""truncated-em: its budget, its threshold form, what it finds."""

from fractions import Fraction
from functools import partial
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over
from reference import Baskets
from strategies import baskets, transactions_of
from veilset import api
from veilset.gate import SeededNoise
from veilset.methods.truncated_em import truncated_em
from veilset.request import Request
from veilset.results.release import Release

mine = partial(api.mine, method="truncated-em")

ROWS = [frozenset({0, 1})] * 9 + [frozenset({0})] * 4 + [frozenset({2})] * 7 + [frozenset({1, 2})] * 2


@given(
    rows=baskets(),
    epsilon=st.fractions(min_value=Fraction(1, 1000), max_value=10),
    k=st.none() | st.integers(1, 25),
    min_support=st.none() | st.fractions(min_value=Fraction(1, 100), max_value=3),
    number=st.none() | st.integers(0, 10),
    seed=st.integers(0, 1000),
)
@settings(max_examples=100)
def test_the_trace_sums_to_at_most_epsilon(
    rows: Baskets,
    epsilon: Fraction,
    k: int | None,
    min_support: Fraction | None,
    number: int | None,
    seed: int,
) -> None:
    """Whatever the data, the task and the noise; and everything is spent unless a threshold stops early."""
    if k is None and min_support is None:
        k = 5
    release = mine(
        transactions_of(rows),
        epsilon=epsilon,
        k=k,
        min_support=min_support,
        transactions=number,
        noise=SeededNoise(seed),
    )
    assert release.spent == sum(charge.mechanism.epsilon for charge in release.trace) <= epsilon
    if k is not None:
        assert release.spent == epsilon


def test_what_was_spent_stays_spent_when_a_method_fails_midway() -> None:
    """A crash after a charge costs budget, not privacy."""
    curator = curator_over(ROWS)
    with patch.object(Release, "of", side_effect=RuntimeError), pytest.raises(RuntimeError):
        truncated_em(curator, Request.of(k=2), epsilon=Fraction(1))
    assert curator.budget.left == 0


def test_it_finds_what_is_plainly_frequent() -> None:
    """Three itemsets far above all others are found, with supports inside their intervals."""
    rows = [frozenset({0, 1})] * 2000 + [frozenset({2})] * 50 + [frozenset({3, 4})] * 50
    release = mine(transactions_of(rows), epsilon=1, k=3, noise=SeededNoise(2))
    assert {found.items for found in release.itemsets} == {(0,), (1,), (0, 1)}
    assert all(found.low <= 2000 <= found.high for found in release.itemsets)


def test_a_threshold_keeps_what_is_above_it() -> None:
    """As a count and as a share; the number of itemsets is found by paid questions."""
    rows = [frozenset({0, 1})] * 5000 + [frozenset({2})] * 3000 + [frozenset({3})] * 2000
    for threshold in (2500, "0.25"):
        release = mine(transactions_of(rows), epsilon=1, min_support=threshold, noise=SeededNoise(3))
        assert {found.items for found in release.itemsets} == {(0,), (1,), (2,), (0, 1)}


def test_k_itemsets_are_released_also_where_noise_swallows_them() -> None:
    """Supports that come out as 0 are an answer; whoever wants a threshold gives one."""
    assert len(mine(transactions_of(ROWS), epsilon="0.001", k=12, noise=SeededNoise(1))) == 12


def test_a_threshold_above_everything_gives_an_empty_release() -> None:
    """Which is complete all the same: trace, promise and number of transactions."""
    release = mine(transactions_of(ROWS * 50), epsilon=1, min_support=10**6, noise=SeededNoise(3))
    assert len(release) == 0
    assert 0 < release.spent < 1
    assert release.to_frame().height == 0
