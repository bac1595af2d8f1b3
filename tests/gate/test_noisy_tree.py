"""What is done with a noisy prefix tree: FP-growth that adds up nodes, counts that some transactions can have."""

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over, engine_over
from prefix_trees import ORDER, paths_in
from reference import Baskets
from strategies import baskets
from veilset.gate import DiscreteLaplace, KeepAll, NoisyTree, SeededNoise

SURE = Fraction(10**6)


@given(rows=baskets(), k=st.integers(1, 12), max_size=st.integers(1, 4))
def test_fp_growth_on_a_tree_finds_what_listing_finds(rows: Baskets, k: int, max_size: int) -> None:
    """The k largest supports over the order, all ties with the last among them, none wrong."""
    curator = curator_over(rows, epsilon=SURE)
    tree = curator.ask_prefix_tree(ORDER, depth=4, threshold=1, epsilon=SURE)
    itemsets, supports = tree.top(k, max_size=max_size)
    every = {
        tuple(sorted(chosen)): sum(set(chosen) <= row for row in rows)
        for size in range(1, max_size + 1)
        for chosen in combinations(ORDER, size)
    }
    held = sorted((support for support in every.values() if support > 0), reverse=True)
    found = dict(zip(itemsets, supports.tolist(), strict=True))
    assert all(every[itemset] == support for itemset, support in found.items())
    assert sorted(found.values(), reverse=True)[:k] == held[:k]
    assert all(support >= held[:k][-1] for support in found.values())


def test_itemsets_that_were_met_on_the_way_are_left_out_once_better_ones_are_known() -> None:
    """Of B (5), AB (3) and CB (4), found in this order, the best two; no count stands at any other node."""
    parents, ranks = np.array([-1, 0, 0, 0, 1, 1, 2, 4]), np.array([-1, 0, 1, 2, 1, 2, 2, 2], np.int32)
    counts = np.array([0, 0, 0, 0, 0, 1, 2, 2])
    tree = NoisyTree((7, 8, 9), parents, ranks, counts, DiscreteLaplace(3, Fraction(1)), 1)
    best = {(9,): 5, (8, 9): 4}
    for k, expected in ((2, best), (3, best | {(7, 9): 3})):
        itemsets, supports = tree.top(k, max_size=2)
        assert dict(zip(itemsets, supports.tolist(), strict=True)) == expected


@st.composite
def noisy_trees(draw: st.DrawFn) -> NoisyTree:
    """Trees with any counts, also negative ones and children that outnumber their parent."""
    rows = draw(baskets())
    exact = engine_over(rows).prefix_tree(np.array(ORDER, np.int32), KeepAll(), SeededNoise(1).keys, depth=4)
    paths = paths_in(exact.parents, exact.ranks)
    order = sorted(range(len(paths)), key=lambda node: (len(paths[node]), paths[node]))
    numbers = {paths[node]: number for number, node in enumerate(order)}
    parents = [-1, *(numbers[paths[node][:-1]] for node in order[1:])]
    noise = draw(st.lists(st.integers(-5, 9), min_size=len(paths), max_size=len(paths)))
    return NoisyTree(
        ORDER,
        np.array(parents, np.int64),
        exact.ranks[order],
        np.array([0, *noise[1:]], np.int64),
        DiscreteLaplace(4, Fraction(1)),
        1,
    )


@given(tree=noisy_trees(), total=st.integers(-3, 30))
@settings(max_examples=200)
def test_consistent_counts_are_those_of_some_transactions(tree: NoisyTree, total: int) -> None:
    """Nothing negative, and children never outnumber their parent by more than rounding."""
    counts = tree.consistent(total).counts
    assert counts.min() >= 0
    assert counts[0] == max(total, 0)
    sums = np.bincount(tree.parents[1:], weights=counts[1:], minlength=counts.size)
    children = np.bincount(tree.parents[1:], minlength=counts.size)
    assert np.all(sums <= counts + (children + 1) / 2)


@given(rows=baskets())
def test_consistent_counts_stay_as_they_are(rows: Baskets) -> None:
    """There is nothing to mend in an exact tree."""
    tree = curator_over(rows, epsilon=SURE).ask_prefix_tree(ORDER, depth=4, threshold=1, epsilon=SURE)
    assert tree.consistent(len(rows)).counts[1:].tolist() == tree.counts[1:].tolist()


def consistent_twin(tree: NoisyTree, total: int) -> list[int]:
    """The same node by node: up from the leaves, then down from the root."""
    values = [float(max(total, 0)), *map(float, tree.counts[1:])]
    parents = tree.parents.tolist()
    children = [[n for n, parent in enumerate(parents) if parent == node] for node in range(len(parents))]
    depth = [0] * len(parents)
    for node in range(1, len(parents)):
        depth[node] = depth[parents[node]] + 1
    for node in sorted(range(1, len(parents)), key=lambda node: -depth[node]):
        total_below = sum(values[child] for child in children[node])
        if depth[node] < max(depth) and total_below > values[node]:
            number = len(children[node])
            values[node] = (values[node] * number + total_below) / (number + 1)
    for node in sorted(range(len(parents)), key=lambda node: depth[node]):
        for _ in range(2):
            excess = max(sum(values[child] for child in children[node]) - values[node], 0)
            for child in children[node]:
                values[child] = max(values[child] - excess / len(children[node]), 0)
        below = sum(values[child] for child in children[node])
        for child in children[node]:
            values[child] *= min(1, values[node] / max(below, 1e-9))
    return [round(value) for value in values]


@given(tree=noisy_trees(), total=st.integers(-3, 30))
@settings(max_examples=100)
def test_consistent_counts_are_those_of_a_slow_twin(tree: NoisyTree, total: int) -> None:
    """Rounding of sums in another order may move a count by 1."""
    found = tree.consistent(total).counts
    assert np.abs(found - np.array(consistent_twin(tree, total))).max() <= 1
    assert np.count_nonzero(found != np.array(consistent_twin(tree, total))) <= 2
