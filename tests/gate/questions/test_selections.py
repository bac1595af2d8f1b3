"""Questions that select: the largest support of a size, the rank that matches a support."""

from fractions import Fraction
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from curators import curator_over
from reference import Basket, Baskets, item_supports, support
from strategies import ALPHABET_SIZE, basket, baskets


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
