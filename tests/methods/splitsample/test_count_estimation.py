"""Count estimation: against exact counts."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from reference import Baskets, support
from strategies import ALPHABET_SIZE, baskets
from veilset.itemsets import Itemset
from veilset.methods.splitsample.count_estimation import (
    Range,
    candidate_ranges,
    estimated_range,
    known_ranges,
)


def counts_of(rows: Baskets, size: int) -> dict[Itemset, Range]:
    """The exact supports of all itemsets of a size."""
    return known_ranges((each, support(rows, each)) for each in combinations(range(ALPHABET_SIZE), size))


@given(rows=baskets(), size=st.integers(3, 5))
def test_a_count_lies_between_what_is_estimated_from_exact_parts(rows: Baskets, size: int) -> None:
    """C_min <= C <= C_max (1), (2), where the counts of the parts are right."""
    smaller, smallest = counts_of(rows, size - 1), counts_of(rows, size - 2)
    for itemset in combinations(range(ALPHABET_SIZE), size):
        between = estimated_range(itemset, smaller, smallest)
        assert between.least <= support(rows, itemset) <= between.most


@given(rows=baskets(), min_count=st.integers(1, 4))
def test_all_frequent_itemsets_are_among_the_candidates_of_exact_counts(
    rows: Baskets, min_count: int
) -> None:
    """Estimates of estimates included, up to the largest size; a cap keeps the first of each size."""
    items, pairs = counts_of(rows, 1), counts_of(rows, 2)
    found = candidate_ranges(items, pairs, max_size=4, min_count=min_count, most=1000)
    for size in range(1, 5):
        for itemset in combinations(range(ALPHABET_SIZE), size):
            if support(rows, itemset) >= min_count:
                assert found[itemset].least <= support(rows, itemset) <= found[itemset].most
    capped = candidate_ranges(items, pairs, max_size=4, min_count=min_count, most=2)
    sizes = Counter(map(len, capped))
    assert sizes[1] == ALPHABET_SIZE
    assert all(sizes[size] <= 2 for size in (2, 3, 4))


def test_weights_mix_the_most_and_the_least_by_gamma() -> None:
    """(3), times the denominator of gamma; a negative noisy count counts as 0."""
    assert Range(least=2, most=6).weight(Fraction(1, 4)) == 6 + 3 * 2
    assert Range(least=2, most=6).weight(Fraction(1, 2)) == 8
    assert known_ranges([((0,), -3)])[0,] == Range(0, 0)
