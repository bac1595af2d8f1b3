"""Questions that select: the largest support of a size, the rank that matches a support."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curators import curator_over, engine_over
from reference import Basket, Baskets, item_supports, support
from strategies import ALPHABET_SIZE, basket, baskets
from veilset.errors import BadCall
from veilset.gate import SeededNoise
from veilset.gate.selection.floored_supports import margins_of_items
from veilset.itemsets import Domain


@given(rows=baskets(), extra=basket(), size=st.integers(1, 4), floor=st.integers(0, 4))
def test_one_more_transaction_raises_the_largest_support_by_0_or_1(
    rows: Baskets, extra: Basket, size: int, floor: int
) -> None:
    """Also with a floor under it, which the printed form does not have (Z6)."""
    values = []
    for database in (rows, [*rows, extra]):
        curator = curator_over(database, epsilon=Fraction(10**7))
        values.append(curator.ask_largest_support(size, floor=floor, epsilon=Fraction(10**6)).value)
        exact = max(support(database, itemset) for itemset in combinations(range(ALPHABET_SIZE), size))
        assert values[-1] == max(exact, floor)
    assert values[1] - values[0] in (0, 1)


@given(rows=baskets(), k=st.integers(1, 6))
def test_the_matching_rank_is_that_of_the_closest_support(rows: Baskets, k: int) -> None:
    """With next to no noise, no other rank is closer."""
    curator = curator_over(rows, epsilon=Fraction(10**7))
    domain = curator.domain(max_size=1)
    rank = curator.ask_matching_rank(k, domain=domain, most=ALPHABET_SIZE, epsilon=Fraction(10**6))
    ranked = sorted(item_supports(rows, ALPHABET_SIZE), reverse=True)
    assert ranked[rank - 1] == ranked[k - 1]


@given(rows=baskets(), k=st.integers(1, 6), most=st.integers(1, ALPHABET_SIZE))
def test_no_rank_is_beyond_the_most_that_was_asked_for(rows: Baskets, k: int, most: int) -> None:
    """However far the k-th itemset is."""
    curator = curator_over(rows, epsilon=Fraction(10**7))
    rank = curator.ask_matching_rank(k, domain=curator.domain(max_size=1), most=most, epsilon=Fraction(10**6))
    assert 1 <= rank <= most


@given(rows=baskets(), k=st.integers(1, 8), most=st.integers(1, 4))
def test_items_are_compared_with_the_itemset_and_with_the_last_item_that_fits(
    rows: Baskets, k: int, most: int
) -> None:
    """How far each is above the larger of the two."""
    items = (0, 1, 3, 4)
    domain = Domain(items=items, max_size=2)
    supports = [support(rows, (item,)) for item in items]
    every = [support(rows, each) for size in (1, 2) for each in combinations(items, size)]
    threshold = max(sorted(every, reverse=True)[k - 1], sorted(supports, reverse=True)[most - 1])
    found = margins_of_items(engine_over(rows), domain, k, most=most, draw=SeededNoise(1).keys)
    assert found.tolist() == [each - threshold for each in supports]


def test_all_items_may_be_wanted() -> None:
    """k may be their number."""
    curator = curator_over([frozenset({0, 1})] * 9, epsilon=Fraction(10**7))
    found = curator.ask_above_kth(np.array([0, 1]), 2, epsilon=Fraction(10**6), by_blocks=True)
    assert found.items == (0, 1)


@pytest.mark.parametrize("most", [0, -1, ALPHABET_SIZE + 1])
def test_ranks_that_no_item_has_are_refused_before_they_cost(most: int) -> None:
    """There is one rank for each item."""
    curator = curator_over([frozenset({0})] * 9)
    with pytest.raises(BadCall, match=f"ranks up to {most} of 6 items; give 1 to 6"):
        curator.ask_matching_rank(1, domain=curator.domain(max_size=1), most=most, epsilon=Fraction(1))
    assert curator.budget.spent == 0
