"""The levels of DiffFIM: limits and candidates."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.gate import NoisyCounts, NoisyHistogram
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Itemset, Itemsets, joined
from veilset.methods.difffim.counted_level import CountedLevel, ceilings_of
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


def test_a_ceiling_is_the_rarest_part_that_is_known() -> None:
    """Of a pair, whichever item is rarer; where no part is known, all that is possible."""
    known: dict[Itemset, float] = {(0,): 50.0, (1,): 20.0}
    assert ceilings_of([(0, 1), (0, 2), (2, 3)], known, 90).tolist() == [20, 50, 90]


def test_a_level_says_what_it_says_in_the_order_that_is_asked_for() -> None:
    """Clear counts of six pairs, half of them outranked; and none is above its ceiling."""
    pairs = list(combinations(range(4), 2))
    values = np.array([600, 500, 400, 300, 200, 100])
    counts = NoisyCounts(Itemsets.of(pairs), values, DiscreteLaplace(1, Fraction(1)))
    lengths = NoisyHistogram(np.array([0, 0, 900]), DiscreteLaplace(1, Fraction(1)))
    outranked = np.array([0.9, 0.1, 0.9, 0.1, 0.9, 0.1])
    level = CountedLevel(counts, values * 1.0, values * 1.0, 2, lengths, outranked)
    places = np.array([1, 2, 5])
    assert level.itemsets_at(places) == [pairs[1], pairs[2], pairs[5]]
    found = level.posterior(places, {}, most=2000)
    assert found.means == pytest.approx([500, 400, 100], rel=0.1)
    under = level.posterior(places, {(0,): 450.0}, most=2000)
    assert under.high[0] <= 450
    assert under.means[2] == pytest.approx(found.means[2])


def test_no_transaction_is_longer_than_there_are_items() -> None:
    """What a histogram says of lengths above that is noise; what it says of others stays."""
    counts = NoisyCounts(Itemsets.of([(0,), (1,)]), np.array([60, 50]), DiscreteLaplace(1, Fraction(1)))
    lengths = NoisyHistogram(np.array([0, 70, 20, 5, -3]), DiscreteLaplace(1, Fraction(1)))
    average = np.array([60.0, 50.0])
    level = CountedLevel(counts, average, average, 1, lengths, None)
    cut = level.up_to(2).lengths
    assert cut is not None
    assert cut.values.tolist() == [0, 70, 20]
    assert level.up_to(9).lengths is lengths
