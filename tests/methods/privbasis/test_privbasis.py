"""PrivBasis: its averaging, its budget, its accuracy."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from corners import Corner, corners
from curators import curator_over
from strategies import ALPHABET_SIZE
from veilset.api import mine
from veilset.datasets import groceries
from veilset.exact import mine_exact
from veilset.gate import NoisyHistogram, SeededNoise
from veilset.itemsets import Itemset
from veilset.methods import privbasis as method
from veilset.methods.privbasis import counts_over
from veilset.methods.shared.bases import Basis


def test_averaging_weighs_by_inverse_variance() -> None:
    """The error of averaged supports is what the variances say, and smaller than that of either basis."""
    rows = [frozenset({0, 1})] * 300 + [frozenset({1, 2, 3})] * 300
    one, both = [], []
    for seed in range(400):
        curator = curator_over(rows, epsilon=Fraction(10), noise=SeededNoise(seed))
        answers = [(g, curator.ask_marginal(g, epsilon=Fraction(1, 2))) for g in [(0, 1), (1, 2, 3)]]
        one.append(int(dict(zip(*_listed(answers[:1]), strict=True))[1,]) - 600)
        both.append(int(dict(zip(*_listed(answers), strict=True))[1,]) - 600)
    one_count = 2 * 2.0**2  # two counts' worth of variance: scale 2, Laplace
    expected = 1 / (1 / (2 * one_count) + 1 / (4 * one_count))
    assert np.var(both) == pytest.approx(expected, rel=0.25)
    assert np.var(both) < np.var(one)


def _listed(answers: list[tuple[Basis, NoisyHistogram]]) -> tuple[list[Itemset], list[int]]:
    counts = counts_over(*zip(*answers, strict=True), max_size=3)
    return list(counts.itemsets), np.rint(counts.noisy.values).astype(np.int64).tolist()


@given(corner=corners(most=40, largest=3))
@settings(max_examples=60)
def test_the_trace_sums_to_at_most_epsilon(corner: Corner) -> None:
    """Whatever the data, the task and the noise."""
    release = corner.release("privbasis")
    assert release.spent <= corner.epsilon
    assert corner.k is None or release.spent == corner.epsilon
    assert all(len(found.items) <= (corner.max_size or ALPHABET_SIZE) for found in release.itemsets)


@pytest.mark.parametrize("k", [30, 100], ids=["one basis", "many bases"])
def test_it_finds_most_of_the_top_itemsets_and_its_intervals_hold(k: int) -> None:
    """On 50,000 baskets at epsilon 1, with an interval that holds for nearly all of them."""
    data = groceries(50_000)
    truth = mine_exact(data, k=5 * k)
    exact = dict(zip(truth.itemsets, truth.supports, strict=True))
    release = mine(data, epsilon=1, k=k, method="privbasis", noise=SeededNoise(4))
    top = set(list(exact)[:k])
    right = [found for found in release.itemsets if found.items in top]
    assert len(right) >= 0.8 * k
    inside = [found.low <= exact[found.items] <= found.high for found in right]
    assert np.mean(inside) >= 0.85


def test_shares_of_epsilon_add_up_to_one() -> None:
    """lambda, items and pairs, bases."""
    assert method.SHARE_FOR_LAMBDA + method.SHARE_FOR_ITEMS + method.SHARE_FOR_BASES == 1
