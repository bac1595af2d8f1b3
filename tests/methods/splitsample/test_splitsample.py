"""SplitSample: the reservoir's law, inversion, budget and accuracy."""

import heapq
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings

from corners import Corner, corners
from curators import curator_over
from laws import fits, law_of_choice
from reference import support
from strategies import transactions_of
from veilset import SeededNoise, mine, mine_exact
from veilset.datasets import groceries
from veilset.errors import BadCall
from veilset.gate import NoisyCounts
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.gate.selection import floored_supports as scored
from veilset.itemsets import Itemset, Itemsets
from veilset.methods import METHODS, splitsample
from veilset.methods.shared.truncation import holders_by_length
from veilset.methods.splitsample.candidates import CandidatePool
from veilset.request import Request

NAMES = ["splitsample", *(f"splitsample:{variant}" for variant in METHODS["splitsample"].variants)]

RUNS = 8000


def test_inversion_undoes_a_random_split() -> None:
    """Supports over pieces in no order at all, divided by R_m of the transactions that hold them: to within 5 %."""
    rng = np.random.default_rng(3)
    rows = [frozenset(rng.choice(8, rng.integers(2, 9), replace=False).tolist()) for _ in range(24_000)]
    pieces = [
        frozenset(order[start : start + 3])
        for row in rows
        for order in [rng.permutation(sorted(row)).tolist()]
        for start in range(0, len(row), 3)
    ]
    itemsets = Itemsets.of([(0,), (0, 1), (0, 1, 2)])
    after = np.array([support(pieces, each) for each in itemsets])
    lengths = np.bincount([len(row) for row in rows], minlength=9)
    for each, left in zip(itemsets, after.tolist(), strict=True):
        pool = CandidatePool(np.arange(8), holders_by_length(lengths, len(each)).astype(int), 3, {})
        noisy = NoisyCounts(Itemsets.of([each]), np.array([left]), DiscreteLaplace(1, Fraction(1)))
        found = splitsample.inverted(noisy, pool)
        assert found.supports[0] == pytest.approx(support(rows, each), rel=0.05)
        assert found.half_widths[0] >= noisy.mechanism.half_width()
    assert after[1] < 0.8 * support(rows, (0, 1))


SCORES: dict[Itemset, int] = {(0,): 9, (1,): 7, (0, 1): 6}

BLOCK = [(2,), (3,), (0, 2), (0, 3), (1, 2)]

"""Itemsets at score 0, which a reservoir must not have to list."""


def reservoir(
    scores: dict[Itemset, int], block: list[Itemset], k: int, rate: float, rng: np.random.Generator
) -> tuple[Itemset, ...]:
    """Weighted reservoir sampling in log space (S5), one pass, k slots: keys rate * score + Gumbel noise.

    The block at score 0 runs as an exponential race: each member arrives at rate 1, the first of M after
    E / M, the next E / (M - 1) later; which member arrives is a fresh uniform choice. A key is -ln(arrival).
    """
    slots: list[tuple[float, Itemset]] = []

    def offer(key: float, itemset: Itemset) -> bool:
        heapq.heappush(slots, (key, itemset))
        return len(slots) <= k or heapq.heappop(slots)[1] != itemset

    for itemset, score in scores.items():
        offer(rate * score + rng.gumbel(), itemset)
    arrival = 0.0
    for itemset, left in zip(_fresh(block, rng), count(len(block), -1), strict=False):
        arrival += rng.exponential() / left
        if not offer(-math.log(arrival), itemset):
            break
    return tuple(itemset for _, itemset in sorted(slots, reverse=True))


def _fresh(block: list[Itemset], rng: np.random.Generator) -> Iterator[Itemset]:
    return (block[place] for place in rng.permutation(len(block)))


@pytest.mark.parametrize(("factor", "is_right"), [(0.8, False), (1.0, True), (1.2, False)])
@pytest.mark.parametrize("way", ["reservoir", "draws"])
def test_the_reservoir_has_the_law_of_k_draws_of_the_exponential_mechanism(
    way: str, factor: float, is_right: bool
) -> None:
    """The paper's one pass and the exact draws that ship: both have it; a fifth more or less is told apart."""
    rate, k = Fraction(1, 3), 3
    everything = {**SCORES, **dict.fromkeys(BLOCK, 0)}
    rng, below = np.random.default_rng(5), SeededNoise(5).below
    exact = scored.ExactScores(everything, floor=-1)
    drawn = Counter(
        reservoir(SCORES, BLOCK, k, float(rate), rng)
        if way == "reservoir"
        else tuple(scored.draw_listed(exact, k, rate=rate, below=below))
        for _ in range(RUNS)
    )
    assert fits(drawn, law_of_choice(everything, k, factor * float(rate))) == is_right


@pytest.mark.parametrize("name", NAMES)
@given(corner=corners(largest=4))
@settings(max_examples=25)
def test_the_trace_sums_to_at_most_epsilon(name: str, corner: Corner) -> None:
    """Whatever the data, the task and the noise; and k itemsets come out where k were asked for."""
    release, k = corner.release(name), corner.k
    assert release.spent <= corner.epsilon
    assert k is None or len(release) == k
    assert k is None or k == 1 or release.spent == corner.epsilon
    assert all(len(found.items) <= (corner.max_size or splitsample.DELTA) for found in release.itemsets)


@pytest.mark.parametrize("k", [1, 21, 56])
@pytest.mark.parametrize("epsilon", ["0.01", "50"])
def test_every_k_that_the_domain_holds_is_answered(k: int, epsilon: str) -> None:
    """Up to all 56 itemsets of up to five of six items, but one; noise may leave no candidate frequent."""
    rows = [frozenset({0, 1, 2})] * 40 + [frozenset({3, 4, 5})] * 3
    release = mine(transactions_of(rows), epsilon=epsilon, k=k, method="splitsample", noise=SeededNoise(2))
    assert len(release) == k


def test_much_epsilon_finds_the_best_itemsets_with_their_supports() -> None:
    """With next to no noise, the exact answer, although long transactions are split."""
    rows = [frozenset({0, 1, 2})] * 900 + [frozenset(range(6))] * 90 + [frozenset({3, 4})] * 400
    data = transactions_of(rows)
    release = mine(data, epsilon=10**6, k=10, method="splitsample", noise=SeededNoise(1))
    exact = mine_exact(data, k=10)
    supports = dict(zip(exact.itemsets, exact.supports, strict=True))
    assert {found.items: found.support for found in release.itemsets} == supports


def test_a_seeded_run_repeats() -> None:
    """The same seed gives the same release, another one another."""
    data = groceries(2000)
    first, again, other = (
        mine(data, epsilon=1, k=20, method="splitsample", noise=SeededNoise(seed)) for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


def test_splitting_finds_more_than_cutting_at_random_to_the_same_limit() -> None:
    """On long grocery baskets at epsilon 2: what the paper is about; leaving them whole is no worse."""
    data = groceries(30_000, length=16, seed=3)
    best = set(mine_exact(data, k=60).itemsets)

    def found(name: str) -> float:
        runs = [mine(data, epsilon=2, k=60, method=name, noise=SeededNoise(seed)) for seed in range(4)]
        return float(np.mean([sum(each.items in best for each in run.itemsets) / 60 for run in runs]))

    split = found("splitsample")
    assert split > found("splitsample:random-cut") + 0.03
    assert found("splitsample:whole") > split - 0.03


def test_a_threshold_above_everything_gives_an_empty_release() -> None:
    """Nothing is asked of candidates where no itemset is wanted."""
    data = transactions_of([frozenset({0, 1})] * 500)
    release = mine(data, epsilon=1, min_support=10**6, method="splitsample", noise=SeededNoise(1))
    assert len(release) == 0
    assert release.spent < 1


def test_a_domain_that_cannot_hold_k_is_refused_before_anything_is_spent() -> None:
    """Six items have six itemsets of one item."""
    curator = curator_over([frozenset({0})])
    with pytest.raises(BadCall, match="the number of items over an alphabet of 6 is 6"):
        splitsample.splitsample(curator, Request.of(k=7, max_size=1), epsilon=Fraction(1))
    assert curator.budget.spent == 0


def test_an_itemset_that_no_piece_can_hold_may_be_held_by_all_that_are_long_enough() -> None:
    """Nothing is left to divide by: the interval says so, and nothing is divided by zero."""
    rows = [frozenset({0, 1, 2, 3, 4}), frozenset({0, 1, 2, 3, 4, 5})]
    corner = Corner(rows=rows, epsilon=Fraction(1, 100), at_most=None, max_size=None, seed=663)
    release = corner.release("splitsample:inverted")
    largest = max(release.itemsets, key=lambda found: len(found.items))
    assert largest.high - largest.low >= 11_884
