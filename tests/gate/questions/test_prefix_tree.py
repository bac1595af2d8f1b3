"""Noisy prefix trees: exact below, every possible child alike above, and FP-growth that adds up nodes."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over, engine_over
from laws import fits
from reference import Basket, Baskets
from strategies import basket, baskets, transactions_of
from veilset.errors import BadCall
from veilset.gate import NoisyTree, PrivacyUnit, SecureNoise, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.gate.noise import Noise
from veilset.gate.selection.zero_counts import draw_number_passing
from veilset.raw.cuts.truncation import KeepAll
from veilset.raw.engines.local import LocalEngine

ORDER = (3, 0, 5, 1)
SURE = Fraction(10**6)
Path = tuple[int, ...]


def path_of(row: Basket, depth: int) -> Path:
    """A basket as places in the order, the first ones only."""
    return tuple(place for place, item in enumerate(ORDER) if item in row)[:depth]


def counts_of(rows: Baskets, depth: int) -> Counter[Path]:
    """How many baskets begin with each path."""
    return Counter(
        path_of(row, depth)[:end] for row in rows for end in range(1, len(path_of(row, depth)) + 1)
    )


def paths_in(parents: np.ndarray, ranks: np.ndarray) -> list[Path]:
    """The path to every node, the root first."""
    paths: list[Path] = [()]
    for parent, rank in zip(parents[1:].tolist(), ranks[1:].tolist(), strict=True):
        assert parent < len(paths)
        paths.append((*paths[parent], rank))
    return paths


@given(rows=baskets(), depth=st.integers(1, 5), chunk=st.sampled_from([1, 3, 100]), threads=st.integers(1, 2))
def test_an_exact_tree_counts_what_sets_count(rows: Baskets, depth: int, chunk: int, threads: int) -> None:
    """Every path that a basket takes, once, in any chunks and threads."""
    engine = LocalEngine(transactions_of(rows), threads=threads, rows_in_a_chunk=chunk)
    tree = engine.prefix_tree(np.array(ORDER, np.int32), KeepAll(), SeededNoise(1).keys, depth=depth)
    paths = paths_in(tree.parents, tree.ranks)
    assert len(set(paths)) == len(paths)
    assert dict(zip(paths[1:], tree.counts[1:].tolist(), strict=True)) == counts_of(rows, depth)


@given(rows=baskets(), extra=basket(), depth=st.integers(1, 4))
def test_one_more_basket_moves_the_counts_of_one_path(rows: Baskets, extra: Basket, depth: int) -> None:
    """By 1 each, so by at most the depth all together: the sensitivity in the trace."""
    before, after = counts_of(rows, depth), counts_of([*rows, extra], depth)
    curator = curator_over(rows)
    curator.ask_prefix_tree(ORDER, depth=depth, threshold=100, epsilon=Fraction(1))
    mechanism = curator.budget.charges[0].mechanism
    assert isinstance(mechanism, DiscreteLaplace)
    assert sum((after - before).values()) + sum((before - after).values()) <= mechanism.sensitivity == depth


def test_a_unit_of_several_transactions_has_as_many_paths() -> None:
    """Noise grows with it."""
    curator = curator_over([frozenset({0})], unit=PrivacyUnit("owner", 3))
    tree = curator.ask_prefix_tree(ORDER, depth=2, threshold=100, epsilon=Fraction(1))
    assert tree.mechanism == DiscreteLaplace(6, Fraction(1))


@given(rows=baskets(), depth=st.integers(1, 4), threshold=st.integers(1, 3))
def test_without_noise_a_tree_has_the_nodes_that_reach_the_threshold(
    rows: Baskets, depth: int, threshold: int
) -> None:
    """In the order of their paths, level by level."""
    curator = curator_over(rows, epsilon=SURE)
    tree = curator.ask_prefix_tree(ORDER, depth=depth, threshold=threshold, epsilon=SURE)
    paths = paths_in(tree.parents, tree.ranks)[1:]
    expected = {path: count for path, count in counts_of(rows, depth).items() if count >= threshold}
    assert dict(zip(paths, tree.counts[1:].tolist(), strict=True)) == expected
    assert paths == sorted(paths, key=lambda path: (len(path), path))


def law_of_tree(counts: dict[Path, int], scale: float, threshold: int) -> dict[frozenset[Path], float]:
    """Which nodes of two levels over two items come out, by noise on every node of the complete tree."""
    a = math.exp(-1 / scale)

    def passes(count: int) -> float:
        gap = threshold - count
        return a**gap / (1 + a) if gap > 0 else 1 - a ** (1 - gap) / (1 + a)

    first, second, below = (passes(counts.get(path, 0)) for path in ((0,), (1,), (0, 1)))
    law: dict[frozenset[Path], float] = {}
    for has_second in (False, True):
        chance = second if has_second else 1 - second
        seconds: set[Path] = {(1,)} if has_second else set()
        law[frozenset(seconds)] = chance * (1 - first)
        law[frozenset({(0,)}) | seconds] = chance * first * (1 - below)
        law[frozenset({(0,), (0, 1)}) | seconds] = chance * first * below
    return law


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(2)], ids=["secure", "seeded"])
def test_seen_and_unseen_children_come_out_as_the_complete_noisy_tree_says(
    noise: Noise,
) -> None:
    """Two baskets of the first item, none of the second: 2,500 trees, controls on both sides."""
    drawn: Counter[frozenset[Path]] = Counter()
    for _ in range(2_500):
        curator = curator_over([frozenset({0})] * 2, noise=noise)
        tree = curator.ask_prefix_tree((0, 1), depth=2, threshold=3, epsilon=Fraction(1))
        drawn[frozenset(paths_in(tree.parents, tree.ranks)[1:])] += 1
    laws = [law_of_tree({(0,): 2}, 2 * factor, 3) for factor in (0.7, 1, 1.4)]
    assert [fits(drawn, law) for law in laws] == [False, True, False]


def test_zeros_hardly_pass_a_threshold_far_out_and_nothing_takes_long() -> None:
    """A chance of exp(-10^6) has a million zeros, none of which has to be drawn."""
    noise = SeededNoise(1)
    assert draw_number_passing(10**6, threshold=10, rate=Fraction(10**5), below=noise.below) == 0
    assert draw_number_passing(0, threshold=1, rate=Fraction(1), below=noise.below) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"order": (), "depth": 1, "threshold": 9}, "different items"),
        ({"order": (1, 1), "depth": 1, "threshold": 9}, "different items"),
        ({"order": (1, 2), "depth": 0, "threshold": 9}, "depth of at least 1"),
        ({"order": (1, 2), "depth": 1, "threshold": 0}, "mostly noise"),
        ({"order": (1, 2, 3), "depth": 3, "threshold": 2}, "mostly noise"),
    ],
)
def test_trees_that_make_no_sense_are_refused_before_a_charge(call: dict[str, object], message: str) -> None:
    """One line, from public values alone."""
    curator = curator_over([frozenset({0})])
    with pytest.raises(BadCall, match=message):
        curator.ask_prefix_tree(epsilon=Fraction(1), **call)  # type: ignore[arg-type]
    assert curator.budget.spent == 0


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
