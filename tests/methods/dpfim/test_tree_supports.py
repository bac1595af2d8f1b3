"""Supports from a tree: without noise, how many may be missing, and what noise makes of them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from curators import curator_over
from reference import Baskets
from strategies import baskets
from veilset.gate import NoisyCount, NoisyTree
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Itemsets
from veilset.methods.dpfim.tree_supports import drawn_together, in_tree, likely_total, with_ended


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


@given(rows=baskets())
def test_what_a_cut_tree_lacks_is_never_more_than_what_ended(rows: Baskets) -> None:
    """Whatever threshold cut it, and whatever depth: the true support lies between the tree's and the bound."""
    curator = curator_over(rows, epsilon=Fraction(10**7))
    order, sure = (2, 0, 4), Fraction(10**6)
    number = NoisyCount(len(rows), None)
    for threshold, depth in ((3, 3), (1, 1), (2, 2)):
        tree = curator.ask_prefix_tree(order, depth=depth, threshold=threshold, epsilon=sure)
        known = with_ended(in_tree(tree, None, k=7, max_size=3), tree, number, depth=depth)
        assert known.ended is not None
        for itemset, support, ended in zip(known.itemsets, known.supports, known.ended, strict=True):
            true = sum(set(itemset) <= row for row in rows)
            assert support <= true <= support + ended + 1e-6


def _tree(first: list[int]) -> NoisyTree:
    """A tree of nodes below the root alone."""
    parents = np.zeros(len(first) + 1, np.int64)
    parents[0] = -1
    ranks = np.arange(-1, len(first), dtype=np.int32)
    counts = np.array([0, *first], np.int64)
    return NoisyTree(tuple(range(len(first))), parents, ranks, counts, DiscreteLaplace(1, Fraction(1, 10)), 1)


def test_the_total_is_drawn_towards_nodes_that_have_more() -> None:
    """Half-way where two nodes of scale 10 stand against a number of scale sqrt(200); else it stays."""
    number = NoisyCount(100, DiscreteLaplace(1, Fraction(100, 1414)))
    assert likely_total(_tree([80, 60]), number) == 120
    assert likely_total(_tree([40, 30]), number) == 100
    assert likely_total(_tree([80, 60]), replace(number, mechanism=None)) == 100


def test_supports_that_differ_by_noise_alone_are_drawn_to_their_mean() -> None:
    """And clear ones stay: of errors, 10 times the noise is next to nothing."""
    rng = np.random.default_rng(3)
    noise = rng.laplace(scale=100, size=400)
    alike = drawn_together(500 + noise, np.full(400, 2e4))
    assert np.std(alike) < 0.4 * np.std(noise)
    assert np.mean(alike) == pytest.approx(500, abs=30)
    apart = np.geomspace(1000, 50_000, 400)
    assert drawn_together(apart, np.full(400, 2e4)) == pytest.approx(apart, rel=0.01)
    assert drawn_together(np.zeros(0), np.zeros(0)).size == 0
