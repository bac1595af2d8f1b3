"""Noisy prefix trees: exact below, every possible child alike above, and FP-growth that adds up nodes."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curators import curator_over
from laws import fits
from prefix_trees import ORDER, Path, paths_in
from reference import Basket, Baskets
from strategies import basket, baskets, transactions_of
from veilset.errors import BadCall
from veilset.gate import Noise, PrivacyUnit, SecureNoise, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.raw.cuts.truncation import KeepAll
from veilset.raw.engines.local import LocalEngine

SURE = Fraction(10**6)


def path_of(row: Basket, depth: int) -> Path:
    """A basket as places in the order, the first ones only."""
    return tuple(place for place, item in enumerate(ORDER) if item in row)[:depth]


def counts_of(rows: Baskets, depth: int) -> Counter[Path]:
    """How many baskets begin with each path."""
    return Counter(
        path_of(row, depth)[:end] for row in rows for end in range(1, len(path_of(row, depth)) + 1)
    )


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
