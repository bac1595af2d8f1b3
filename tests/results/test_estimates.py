"""Choices on noisy values: consistent supports, the order of a release, thresholds as counts."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.itemsets import Itemsets
from veilset.results.estimates import by_support, consistent, count_of

itemsets_with_supports = st.dictionaries(
    st.frozensets(st.integers(0, 4), min_size=1, max_size=4), st.integers(-50, 200), max_size=12
)


@given(noisy=itemsets_with_supports)
def test_consistent_supports_never_rise_with_an_item(noisy: dict[frozenset[int], int]) -> None:
    """A subset is at least as frequent as its superset, nothing is negative, and consistent input stays."""
    itemsets, supports = Itemsets.of(noisy), np.array(list(noisy.values()), np.int64)
    result = consistent(itemsets, supports)
    by_set = dict(zip(map(frozenset, itemsets), result.tolist(), strict=True))
    assert all(support >= 0 for support in by_set.values())
    assert all(by_set[x] >= by_set[y] for x in by_set for y in by_set if x <= y)
    assert consistent(itemsets, result).tolist() == result.tolist()


@given(noisy=itemsets_with_supports)
def test_consistency_changes_no_support_by_more_than_half_the_worst_conflict(
    noisy: dict[frozenset[int], int],
) -> None:
    """Half-way between conflicting supports is the smallest largest change there is."""
    positive = {itemset: max(support, 0) for itemset, support in noisy.items()}
    itemsets, supports = Itemsets.of(positive), np.array(list(positive.values()), np.int64)
    worst = max((positive[y] - positive[x] for x in positive for y in positive if x <= y), default=0)
    changes = np.abs(consistent(itemsets, supports) - supports)
    assert changes.max(initial=0) <= -(-worst // 2)


def test_the_order_of_a_release_breaks_ties_by_size_then_items() -> None:
    """One rule for all methods."""
    itemsets = Itemsets.of([(1, 2), (2,), (0,), (3,)])
    assert by_support(itemsets, np.array([5, 5, 5, 9])) == [3, 2, 1, 0]


@given(
    share=st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000)),
    number=st.integers(0, 10**6),
)
def test_a_share_becomes_the_smallest_count_that_reaches_it(share: Fraction, number: int) -> None:
    """No float decides whether a support is at the threshold."""
    count = count_of(share, transactions=number)
    assert count - 1 < share * number <= count
