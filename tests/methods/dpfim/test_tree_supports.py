"""Supports from a tree: without noise, and what the tree lacks."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from curators import curator_over
from reference import Baskets
from strategies import baskets
from veilset.gate import NoisyCounts, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Itemsets
from veilset.methods.dpfim.tree_supports import TreeSupports, combined, in_tree


@given(rows=baskets())
def test_supports_in_a_whole_tree_are_those_of_the_baskets(rows: Baskets) -> None:
    """Without noise and threshold; with singles asked for, nothing is lacking and factors are 1."""
    curator = curator_over(rows, epsilon=Fraction(10**7))
    order, sure = (2, 0, 4), Fraction(10**6)
    tree = curator.ask_prefix_tree(order, depth=3, threshold=1, epsilon=sure)
    singles = curator.ask_supports(Itemsets.of((item,) for item in order), epsilon=sure)
    for given_singles in (None, singles):
        known = in_tree(tree, given_singles, k=7, max_size=3)
        for itemset, support in zip(known.itemsets, known.supports, strict=True):
            assert support == sum(set(itemset) <= row for row in rows)


@pytest.mark.parametrize(("level", "slope"), [(1.0, 0.0), (1.04, 0.0), (1.0, 0.3)])
def test_what_the_tree_lacks_is_learnt_from_the_counts(level: float, slope: float) -> None:
    """Forty itemsets, clear counts: the average is close to the truth, whatever the tree lost."""
    true = np.linspace(4000, 1000, 40)
    lateness = np.linspace(0, 0.9, 40)
    itemsets = Itemsets.of((item,) for item in range(40))
    known = TreeSupports(itemsets, true / (level + slope * lateness), np.full(40, 100.0), lateness)
    noise = SeededNoise(1)._arrays.laplace(scale=100, size=40)
    asked = NoisyCounts(itemsets, np.rint(true + noise).astype(np.int64), DiscreteLaplace(100, Fraction(1)))
    estimates = combined(known, asked, most=10_000)
    errors = np.abs(estimates.supports - true)
    assert np.median(errors) < np.median(np.abs(noise))
    assert np.mean(errors <= estimates.half_widths) > 0.9


@pytest.mark.parametrize(("uneven", "least"), [(0.0, 0.93), (0.3, 0.85)])
def test_intervals_hold_where_the_tree_lacks_unevenly(uneven: float, least: float) -> None:
    """In 20 trees that hold about half of what they should."""
    rng, inside, widths = np.random.default_rng(4), [], []
    true, lateness = np.geomspace(20_000, 2000, 60), np.linspace(0, 0.9, 60)
    itemsets = Itemsets.of((item,) for item in range(60))
    for _ in range(20):
        held = true / 1.8 * np.exp(uneven * rng.standard_normal(60))
        asked = np.rint(true + rng.laplace(scale=400, size=60)).astype(np.int64)
        noisy = NoisyCounts(itemsets, asked, DiscreteLaplace(400, Fraction(1)))
        found = combined(TreeSupports(itemsets, held, np.full(60, 100.0), lateness), noisy, most=50_000)
        inside.append(np.mean((found.low <= true) & (true <= found.high)))
        widths.append(float(found.half_widths.mean()))
    assert np.mean(inside) > least
    assert np.mean(widths) < 400 * np.log(20) * 1.05
