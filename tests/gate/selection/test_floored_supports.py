"""Supports with a floor: the exact law of the selection, the sensitivity of its scores."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, cast
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import Untouchable, engine_over
from laws import fits, law_of_choice
from reference import Basket, Baskets, support
from strategies import ALPHABET_SIZE, basket, baskets, transactions_of
from veilset.gate import SeededNoise
from veilset.gate.selection import floored_supports as scored
from veilset.itemsets import Domain, Itemset

if TYPE_CHECKING:
    from veilset.raw.engines import Engine

RUNS = 20_000

THREE_ITEMS = Domain(items=(0, 1, 2), max_size=2)

ROWS = [frozenset({0, 1})] * 9 + [frozenset({0})] * 4 + [frozenset({2})] * 7 + [frozenset({1, 2})] * 2


def all_itemsets(domain: Domain) -> list[Itemset]:
    """Every itemset of a domain, enumerated."""
    sizes = range(domain.min_size, domain.max_size + 1)
    return [itemset for size in sizes for itemset in combinations(domain.items, size)]


def floored_scores(rows: Baskets, domain: Domain, k: int, rate: Fraction) -> dict[Itemset, int]:
    """max(support, floor) for every itemset of the domain, by the definition in `gate.selection.floored_supports`."""
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
            tuple(scored.draw_from_domain(scores, THREE_ITEMS, 2, rate=rate, below=noise.below))
            for _ in range(RUNS)
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


@pytest.mark.parametrize(
    ("rate", "floor"), [(Fraction(1), 11 - 6), (Fraction(1, 2), 11 - 11), (Fraction(5, 2), 11 - 3)]
)
def test_the_floor_lies_a_margin_below_the_kth_support(rate: Fraction, floor: int) -> None:
    """The second of six itemsets has a support of 11; the margin is ln(2 / 0.05) + ln 6 = 5.48 over the rate."""
    assert scored.floored_supports(engine_over(ROWS), THREE_ITEMS, 2, rate=rate).floor == floor


def test_where_no_item_is_known_no_itemset_is_frequent() -> None:
    """There is nothing to look for, so that nobody looks."""
    engine = Untouchable(transactions_of([frozenset()] * 3, alphabet_size=0))
    assert scored.kth_support_of_all(cast("Engine", engine), 1, max_size=2) == 0


@given(rows=baskets(), extra=basket(), k=st.integers(1, 20))
def test_one_more_transaction_moves_every_distance_by_at_most_1(rows: Baskets, extra: Basket, k: int) -> None:
    """The score behind lambda has sensitivity 1, up or down."""
    domain = Domain(items=range(ALPHABET_SIZE), max_size=3)
    before, after = (
        scored.rank_distances(engine_over(database), domain, k, most=ALPHABET_SIZE, draw=SeededNoise(1).keys)
        for database in (rows, [*rows, extra])
    )
    assert np.abs(after - before).max() <= 1
