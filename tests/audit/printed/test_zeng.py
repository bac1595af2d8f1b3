"""The printed steps of DiffFIM: what is computed about them, against running them."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import fits
from veilset.audit.printed import zeng
from veilset.audit.printed.forms import Database

small_rows = st.lists(st.frozensets(st.integers(0, 4)), max_size=6)


def test_only_a_power_of_two_makes_the_search_ask_too_often() -> None:
    """The row of the table holds for n = 2^j alone: elsewhere ceil(log2 n) is the number of comparisons."""
    too_few = [n for n in range(2, 200) if math.ceil(math.log2(n)) < most_comparisons(1, n)]
    assert too_few == [2, 4, 8, 16, 32, 64, 128]


def most_comparisons(low: int, high: int) -> int:
    """How often Alg. 9 compares at most, by walking all its branches."""
    if low > high:
        return 0
    pivot = (low + high) // 2
    return 1 + max(most_comparisons(pivot + 1, high), most_comparisons(low, pivot - 1))


@given(rows=small_rows)
def test_largest_supports_match_the_obvious_loop(rows: Database) -> None:
    """What rows have in common finds the largest support of every size."""
    obvious = [
        max(sum(set(itemset) <= row for row in rows) for itemset in combinations(range(5), size))
        for size in range(1, 6)
    ]
    assert zeng.largest_supports(rows, 5) == obvious


def test_the_length_chosen_has_the_law_of_the_algorithm() -> None:
    """Against running lines 1 and 2 of Alg. 1."""
    rows = [frozenset({0}), frozenset({0}), frozenset({0, 1})]
    rng = np.random.default_rng(6)
    reached = [np.cumsum(zeng.noisy_lengths(rows, 0.5, rng)) >= 0.85 * len(rows) for _ in range(20_000)]
    chance = zeng.law_of_length(rows, 0.5)["length = 2"]
    assert fits(Counter(bool(two and not one) for one, two, _ in reached), {True: chance, False: 1 - chance})


@given(epsilon=st.floats(0.05, 3), number=st.integers(0, 6))
def test_the_sizes_found_have_a_law(epsilon: float, number: int) -> None:
    """The paths of the binary search are all there are: their probabilities add up to 1."""
    law = zeng.law_of_size((frozenset(range(zeng.SIZES_SEARCHED)),) * number, epsilon)
    assert sum(law.values()) == pytest.approx(1)
