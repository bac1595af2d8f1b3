"""The laws that the exact audit writes down: they add up, agree with slow twins, and tell most where they say."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from label_twin import of_blocks, of_sparse_vector
from veilset.audit.transcripts.label_laws import LabelsLaw
from veilset.audit.transcripts.laws import BestLaw, CountsLaw, DecisionLaw, PlaceLaw, SubsetLaw
from veilset.audit.transcripts.tails import log_laplace, log_laplace_at_least, log_laplace_below
from veilset.audit.transcripts.threshold_laws import PassingLaw
from veilset.gate import AboveThreshold, DiscreteLaplace, Exponential
from veilset.gate.selection.floored_supports import ExactScores
from veilset.gate.selection.noisy_test import NoisyTest, PassedCounts, SparseCounts
from veilset.itemsets import Domain, Itemset
from veilset.raw.counts import ExactCounts

EPSILON = Fraction(3, 2)
margins = st.lists(st.integers(-5, 5), min_size=1, max_size=5)


def chance(law: DecisionLaw, outcome: object) -> float:
    """Of one outcome."""
    return math.exp(law.log_chance(outcome))


@given(margins, st.data())
def test_the_chances_of_all_sets_add_up_and_are_those_of_a_list(
    values: list[int], data: st.DataObject
) -> None:
    """The law counts sets; the twin lists them."""
    least = data.draw(st.integers(0, len(values)))
    most = data.draw(st.integers(least, len(values)))
    law = SubsetLaw(np.array(values), Exponential(1, 1, EPSILON, is_monotone=False), least, most)
    sets = [list(s) for size in range(least, most + 1) for s in combinations(range(len(values)), size)]
    weights = [math.exp(-float(EPSILON) / 2 * loss_of(values, chosen)) for chosen in sets]
    for chosen, weight in zip(sets, weights, strict=True):
        assert chance(law, chosen) == pytest.approx(weight / sum(weights))


def loss_of(values: Sequence[int], chosen: Sequence[int]) -> int:
    """How far the worst misplaced candidate is from the threshold."""
    return max(0, *(-v if place in chosen else v for place, v in enumerate(values)))


@given(
    st.dictionaries(st.sampled_from([(0,), (1,), (2,), (0, 1)]), st.integers(2, 6), max_size=4),
    st.integers(1, 2),
)
def test_the_chances_of_all_sequences_add_up_to_one(listed: dict[Itemset, int], draws: int) -> None:
    """Of a domain: listed itemsets with their scores, all others with the floor."""
    domain = Domain(items=range(3), max_size=2)
    law = BestLaw(ExactScores(listed, 1), Exponential(draws, 1, EPSILON), domain)
    every = [itemset for size in (1, 2) for itemset in combinations(range(3), size)]
    sequences = list(permutations(every, draws))
    assert sum(chance(law, sequence) for sequence in sequences) == pytest.approx(1)
    assert law.log_chance(((0,),) * 2) == -math.inf
    assert law.log_chance(((0, 1, 2),)) == -math.inf


def test_of_a_list_nothing_else_can_be_chosen() -> None:
    """What is not listed is impossible, whatever the floor."""
    law = BestLaw(ExactScores({(0,): 3, (1,): 1}, -1), Exponential(1, 1, EPSILON), None)
    assert law.log_chance(((2,),)) == -math.inf
    assert chance(law, ((0,),)) + chance(law, ((1,),)) == pytest.approx(1)


def test_chances_of_places_follow_scores_in_steps() -> None:
    """Two scores that are 4 steps apart, 2 steps for a whole one, at a rate of 3/4."""
    law = PlaceLaw(np.array([4, 0]), Exponential(1, 1, EPSILON, is_monotone=False), 2)
    assert law.log_chance(0) - law.log_chance(1) == pytest.approx(0.75 * 2)


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=5),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from([Fraction(1, 2), Fraction(3)]),
)
def test_labels_have_the_law_of_a_slow_twin(
    supports: list[int], k: int, by_blocks: bool, epsilon: Fraction
) -> None:
    """The twin follows the printed algorithms with shares of its own; the audit asks the gate's code for them."""
    k = min(k, len(supports))
    threshold = sorted(supports)[-k]
    twin: dict[tuple[int, ...], float] = {}
    for labels, p in (of_blocks if by_blocks else of_sparse_vector)(supports, k, threshold, epsilon):
        above = tuple(place for place, label in enumerate(labels) if label)
        twin[above] = twin.get(above, 0.0) + p
    law = LabelsLaw(
        np.array(supports), AboveThreshold(k, 1, epsilon), threshold=threshold, by_blocks=by_blocks
    )
    found: dict[tuple[int, ...], float] = {}
    for outcome in law.telling(law):
        found[outcome.above] = found.get(outcome.above, 0.0) + chance(law, outcome)
    assert found == pytest.approx(twin)
    assert sum(found.values()) == pytest.approx(1, abs=1e-9)


def test_what_passes_has_the_law_of_testing_every_count() -> None:
    """Two of four counts are listed; every set of places, with values summed up."""
    exact = [0, 3, 0, 1]
    law = PassingLaw(
        SparseCounts(np.array([1, 3]), ExactCounts(np.array([3, 1])), 4), NoisyTest(2, 1, Fraction(1))
    )
    outcome = PassedCounts(np.array([0, 1]), np.array([2, 5]))
    expected = sum((log_laplace(np.array([2]), 1.0)[0], log_laplace(np.array([5 - 3]), 1.0)[0])) + sum(
        log_laplace_below(2 - exact[place], 1.0) for place in (2, 3)
    )
    assert law.log_chance(outcome) == pytest.approx(expected)
    assert law.log_chance(PassedCounts(np.array([4]), np.array([9]))) == -math.inf
    assert law.log_chance(PassedCounts(np.array([1]), np.array([1]))) == -math.inf


@given(st.integers(-30, 30), st.floats(0.3, 20))
def test_tails_are_sums(least: int, scale: float) -> None:
    """Against adding up, on both sides."""
    x = np.arange(-2000, 2001)
    p = np.exp(log_laplace(x, scale))
    assert math.exp(log_laplace_at_least(least, scale)) == pytest.approx(p[x >= least].sum())
    assert math.exp(log_laplace_below(least, scale)) == pytest.approx(p[x < least].sum())


@given(
    st.lists(st.integers(0, 4), min_size=3, max_size=3), st.lists(st.integers(0, 4), min_size=3, max_size=3)
)
def test_the_telling_outcome_of_counts_tells_their_whole_distance(one: list[int], other: list[int]) -> None:
    """No outcome tells more than the distance over the scale, and the exact counts tell that."""
    mechanism = DiscreteLaplace(2, Fraction(1))
    laws = [CountsLaw(ExactCounts(np.array(counts)), mechanism) for counts in (one, other)]
    (outcome,) = laws[0].telling(laws[1])
    distance = sum(abs(a - b) for a, b in zip(one, other, strict=True))
    assert laws[0].cost(laws[1], outcome).epsilon == pytest.approx(distance / 2)


@given(
    st.dictionaries(st.integers(0, 3), st.integers(1, 6), max_size=3),
    st.dictionaries(st.integers(0, 3), st.integers(1, 6), max_size=3),
    st.integers(1, 5),
)
def test_no_outcome_of_a_test_tells_more_than_the_telling_ones(
    one: Mapping[int, int], other: Mapping[int, int], threshold: int
) -> None:
    """Against all sets of places with all values near the counts."""
    laws = [sparse_law(counts, threshold) for counts in (one, other)]
    claimed = max(laws[0].cost(laws[1], outcome).epsilon for outcome in laws[0].telling(laws[1]))
    for place in range(4):
        for value in range(threshold, threshold + 8):
            outcome = PassedCounts(np.array([place]), np.array([value]))
            assert laws[0].cost(laws[1], outcome).epsilon <= claimed + 1e-9
    nothing = PassedCounts(np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert laws[0].cost(laws[1], nothing).epsilon <= claimed + 1e-9


def sparse_law(counts: Mapping[int, int], threshold: int) -> PassingLaw:
    """A test of four counts."""
    exact = ExactCounts(np.array(list(counts.values()), dtype=np.int64))
    return PassingLaw(
        SparseCounts(np.array(list(counts), np.int64), exact, 4), NoisyTest(threshold, 1, Fraction(1))
    )
