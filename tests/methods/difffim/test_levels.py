"""The levels of DiffFIM: limits and candidates."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.itemsets import Itemset, Itemsets, joined
from veilset.methods.difffim.levels import best_limit


def test_the_limit_of_a_level_weighs_noise_against_loss() -> None:
    """Little epsilon asks for a short limit, much epsilon for a long one; never below the itemsets' size."""
    lengths = np.array([0.0, 50, 40, 30, 20, 10, 5, 5, 5])
    candidates = Itemsets.of(combinations(range(40), 2))
    limits = [
        best_limit(lengths, candidates, size=2, min_count=500, epsilon=Fraction(epsilon))
        for epsilon in ("0.001", "0.1", "1", "1000")
    ]
    assert limits == sorted(limits)
    assert limits[0] == 2
    assert limits[-1] == 8
    assert best_limit(np.zeros(9), candidates, size=2, min_count=5, epsilon=Fraction(1)) == 2


@given(
    pairs=st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: pair[0] < pair[1])).map(
        sorted
    )
)
def test_candidates_are_those_all_of_whose_parts_are_given(pairs: list[Itemset]) -> None:
    """Against every triple."""
    triples = [t for t in combinations(range(7), 3) if all(pair in pairs for pair in combinations(t, 2))]
    assert joined(pairs) == triples
