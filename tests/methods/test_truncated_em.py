"""truncated-em: the exact law of its selection, its budget, its threshold form."""

import math
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import combinations
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over, engine_over
from laws import fits, law_of_choice
from reference import Basket, Baskets, support
from strategies import ALPHABET_SIZE, basket, baskets, transactions_of
from veilset import api
from veilset.gate import SeededNoise
from veilset.gate.selection import floored_supports as scored
from veilset.itemsets import Domain, Itemset
from veilset.methods.shared import preliminaries as opening
from veilset.methods.truncated_em import truncated_em
from veilset.request import Request
from veilset.results.release import Release

mine = partial(api.mine, method="truncated-em")

RUNS = 20_000
THREE_ITEMS = Domain(items=(0, 1, 2), max_size=2)
ROWS = [frozenset({0, 1})] * 9 + [frozenset({0})] * 4 + [frozenset({2})] * 7 + [frozenset({1, 2})] * 2


def all_itemsets(domain: Domain) -> list[Itemset]:
    """Every itemset of a domain, enumerated."""
    sizes = range(domain.min_size, domain.max_size + 1)
    return [itemset for size in sizes for itemset in combinations(domain.items, size)]


def floored_scores(rows: Baskets, domain: Domain, k: int, rate: Fraction) -> dict[Itemset, int]:
    """max(support, floor) for every itemset of the domain, by the definition in `gate.scored`."""
    supports = {itemset: support(rows, itemset) for itemset in all_itemsets(domain)}
    ranked = sorted(supports.values(), reverse=True)
    margin = math.ceil((math.log(k / 0.05) + math.log(domain.size)) / rate)
    limit = ranked[scored.MOST_SCORED - 1] if len(ranked) >= scored.MOST_SCORED else 0
    floor = max(0, ranked[k - 1] - margin, limit)
    return {itemset: max(count, floor) for itemset, count in supports.items()}


@pytest.mark.parametrize("most_listed", [3, scored.MOST_SCORED], ids=["short list", "long list"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)], ids=["floor 0", "floor above 0"])
@pytest.mark.parametrize(("factor", "is_right"), [(0.8, False), (1.0, True), (1.2, False)])
def test_selection_has_the_law_of_explicit_enumeration(
    epsilon: Fraction, most_listed: int, factor: float, is_right: bool
) -> None:
    """Two draws over six itemsets, with and without a block: as if each had been listed and scored."""
    rate = epsilon / 2
    with patch.object(scored, "MOST_SCORED", most_listed):
        noise, engine = SeededNoise(8), engine_over(ROWS)
        scores = scored.floored_supports(engine, THREE_ITEMS, 2, rate=rate)
        drawn = Counter(
            tuple(scored.draw_best(scores, THREE_ITEMS, 2, rate=rate, below=noise.below)) for _ in range(RUNS)
        )
        twin = floored_scores(ROWS, THREE_ITEMS, 2, rate)
    assert fits(drawn, law_of_choice(twin, 2, factor * float(rate))) == is_right


@pytest.mark.parametrize("most_listed", [1, 4, scored.MOST_SCORED])
@given(
    rows=baskets(),
    extra=basket(),
    k=st.integers(1, 15),
    rate=st.sampled_from([Fraction(1, 10), Fraction(2), Fraction(50)]),
)
@settings(max_examples=60)
def test_one_more_transaction_raises_every_score_by_0_or_1(
    most_listed: int, rows: Baskets, extra: Basket, k: int, rate: Fraction
) -> None:
    """Scores are monotone with sensitivity 1, for all itemsets, listed or not, wherever the floor lies."""
    domain = Domain(items=range(ALPHABET_SIZE), max_size=2)
    with patch.object(scored, "MOST_SCORED", most_listed):
        before, after = (
            scored.floored_supports(engine_over(database), domain, k, rate=rate)
            for database in (rows, [*rows, extra])
        )
        for itemset in all_itemsets(domain):
            moved = after.listed.get(itemset, after.floor) - before.listed.get(itemset, before.floor)
            assert moved in (0, 1)


@given(
    rows=baskets(), k=st.integers(1, 15), rate=st.sampled_from([Fraction(1, 10), Fraction(2), Fraction(50)])
)
def test_floored_scores_are_those_of_the_definition(rows: Baskets, k: int, rate: Fraction) -> None:
    """Listed itemsets and the floor against a double loop."""
    domain = Domain(items=range(ALPHABET_SIZE), max_size=2)
    found = scored.floored_supports(engine_over(rows), domain, k, rate=rate)
    twin = floored_scores(rows, domain, k, rate)
    assert {itemset: found.listed.get(itemset, found.floor) for itemset in twin} == twin


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


@given(
    supports=st.lists(st.integers(0, 100), min_size=ALPHABET_SIZE, max_size=ALPHABET_SIZE),
    min_count=st.integers(1, 100),
)
def test_how_many_are_above_a_threshold_is_found_with_the_questions_that_were_paid_for(
    supports: list[int], min_count: int
) -> None:
    """Never fewer than there are, at most twice as many."""
    rows = [frozenset({item}) for item, support in enumerate(supports) for _ in range(support)]
    curator = curator_over(rows, epsilon=Fraction(10**8))
    domain = curator.domain(max_size=1)
    number = opening.ask_how_many(curator, min_count, domain=domain, epsilon=Fraction(10**8))
    reached = sum(support >= min_count for support in supports)
    assert reached <= number <= min(2 * reached, domain.size)
