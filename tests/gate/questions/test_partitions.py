"""Partitions at the gate: exact parts, what a transaction moves, the law of what passes, the account of chains."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curators import ONE_TRANSACTION, curator_over, engine_over
from laws import chance_to_reach, fits
from reference import Basket, Baskets
from strategies import ALPHABET_SIZE, basket, baskets, transactions_of
from veilset.arrays import Int64Array
from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import (
    Charge,
    Partitions,
    PrivacyUnit,
    Refinement,
    SeededNoise,
    SizeTest,
    SubPartitions,
)
from veilset.gate.mechanisms import ChainedLaplace
from veilset.raw.engines.partitions import ExactPartitions
from veilset.raw.kernels.cells import InnerNodes
from veilset.taxonomy import Taxonomy

TAXONOMY = Taxonomy.of([0, [1, 2], [3, [4, 5]]])
SURE = Fraction(10**6)


def int64(*values: int) -> Int64Array:
    """An array of places, nodes or masks."""
    return np.array(values, dtype=np.int64)


def exact_over(rows: Baskets, taxonomy: Taxonomy = TAXONOMY) -> ExactPartitions:
    """Records over a taxonomy that holds all items."""
    places = np.argsort(taxonomy.items).astype(np.int32)
    tree = InnerNodes(taxonomy.ends, taxonomy.first_child, taxonomy.child_starts)
    return ExactPartitions(engine_over(rows).records(places), tree)


def mask_of(row: Basket, node: int) -> int:
    """Which children of a node a basket meets, child by child."""
    tree, mask = TAXONOMY, 0
    bounds = [*tree.child_starts[tree.first_child[node] : tree.first_child[node + 1]], tree.ends[node]]
    for bit in range(len(bounds) - 1):
        mask |= bool(row.intersection(tree.items[bounds[bit] : bounds[bit + 1]].tolist())) << bit
    return mask


def parts_of(rows: Baskets, nodes: list[int]) -> list[Counter[tuple[int, ...]]]:
    """After each of some splits of everything by these nodes: how many baskets met which children, by masks."""
    met = [tuple(mask_of(row, node) for node in nodes) for row in rows]
    return [Counter(m[:level] for m in met if all(m[:level])) for level in range(1, len(nodes) + 1)]


def split_all(exact: ExactPartitions, nodes: list[int]) -> list[Counter[tuple[int, ...]]]:
    """The same from the kernels: all parts become partitions, and are split by the next node."""
    paths: list[tuple[int, ...]] = [()]
    levels = []
    for node in nodes:
        cells = exact.split(np.full(len(paths), node))
        paths = [(*paths[p], m) for p, m in zip(cells.partitions.tolist(), cells.masks.tolist(), strict=True)]
        levels.append(Counter(dict(zip(paths, cells.sizes.tolist(), strict=True))))
        exact.become(np.arange(len(paths)), len(paths))
    return levels


nodes_to_split = st.lists(st.integers(0, TAXONOMY.nodes - 1), min_size=1, max_size=4)


@given(rows=baskets(max_rows=20), kept=st.sets(st.integers(0, ALPHABET_SIZE - 1), min_size=1))
def test_records_are_the_different_baskets_with_their_copies(rows: Baskets, kept: set[int]) -> None:
    """Over some of the items, in reverse order; empty ones are left out."""
    places = np.full(ALPHABET_SIZE, -1, np.int32)
    places[sorted(kept, reverse=True)] = np.arange(len(kept))
    found = engine_over(rows).records(places)
    held = [
        found.items[start:end].tolist() for start, end in zip(found.offsets, found.offsets[1:], strict=False)
    ]
    assert all(record == sorted(record) for record in held)
    expected = Counter(tuple(sorted(places[item] for item in row & kept)) for row in rows if row & kept)
    assert dict(zip(map(tuple, held), found.copies.tolist(), strict=True)) == expected


@given(rows=baskets(max_rows=20), nodes=nodes_to_split)
def test_parts_hold_the_baskets_that_meet_their_children(rows: Baskets, nodes: list[int]) -> None:
    """Level after level, whatever the nodes; a basket that meets no child is dropped."""
    assert split_all(exact_over(rows), nodes) == parts_of(rows, nodes)


@given(rows=baskets(), extra=basket(), nodes=nodes_to_split)
def test_one_more_transaction_moves_one_part_by_1_at_each_level(
    rows: Baskets, extra: Basket, nodes: list[int]
) -> None:
    """The sensitivity of a split, and why chains add up: parts of a level hold different records."""
    before, after = split_all(exact_over(rows), nodes), split_all(exact_over([*rows, extra]), nodes)
    for less, more in zip(before, after, strict=True):
        assert sum((more - less).values()) <= 1
        assert not less - more


@given(rows=baskets(max_rows=20))
def test_a_split_without_noise_gives_the_parts(rows: Baskets) -> None:
    """In the order of partition and mask; partitions that are not named are gone."""
    curator = curator_over(rows, epsilon=2 * SURE)
    partitions = curator.ask_partitions(TAXONOMY, epsilon=2 * SURE)
    first, second = parts_of(rows, [0, 1])
    found = ask(partitions, [0], 0, SURE)
    assert list(zip(found.masks.tolist(), found.sizes.tolist(), strict=True)) == sorted(
        (mask, size) for (mask,), size in first.items()
    )
    named = [place for place, mask in enumerate(found.masks.tolist()) if mask & 2]
    parts = ask(partitions, named[::-1], 1, SURE)
    masks = found.masks[named[::-1]][parts.parents]
    paths = zip(masks.tolist(), parts.masks.tolist(), strict=True)
    sizes = dict(zip(paths, parts.sizes.tolist(), strict=True))
    assert sizes == {path: size for path, size in second.items() if path[0] & 2}
    assert np.all(np.diff(parts.parents * 64 + parts.masks) > 0)


def ask(
    asked: Partitions, partitions: list[int], node: int, epsilon: Fraction, threshold: int = 1
) -> SubPartitions:
    """Split partitions by one node, with one test for all parts."""
    same = np.zeros(len(partitions), np.int64)
    return asked.ask_split(
        Refinement(int64(*partitions), same + node, (SizeTest(epsilon, threshold),), same, same)
    )


@pytest.mark.parametrize("per_unit", [1, 2])
def test_parts_pass_by_the_law_of_testing_each(per_unit: int) -> None:
    """Seen and empty parts of one split together; another epsilon or a size off by one is told apart."""
    rows = [frozenset({0})] * 3 + [frozenset({1, 2})]
    epsilon, threshold = Fraction(1), 2
    unit = PrivacyUnit("owner", per_unit) if per_unit > 1 else ONE_TRANSACTION
    taxonomy = Taxonomy.of([0, 1, 2])
    noise = SeededNoise(8)
    drawn: Counter[frozenset[int]] = Counter()
    for _ in range(1500):
        curator = curator_over(transactions_of(rows, 3), epsilon=epsilon, noise=noise, unit=unit)
        found = ask(curator.ask_partitions(taxonomy, epsilon=epsilon), [0], 0, epsilon, threshold)
        assert np.all(found.sizes >= threshold)
        drawn[frozenset(found.masks.tolist())] += 1

    def law(size_of_first: int, rate: float) -> dict[frozenset[int], float]:
        sizes = dict.fromkeys(range(1, 8), 0) | {1: size_of_first, 6: 1}
        passes = {mask: chance_to_reach(size, threshold=threshold, rate=rate) for mask, size in sizes.items()}
        return {
            frozenset(mask for mask, passed in zip(sizes, which, strict=True) if passed): math.prod(
                passes[mask] if passed else 1 - passes[mask]
                for mask, passed in zip(sizes, which, strict=True)
            )
            for which in product([False, True], repeat=7)
        }

    rate = 1 / per_unit
    assert fits(drawn, law(3, rate))
    assert not fits(drawn, law(2, rate))
    assert not fits(drawn, law(3, rate * 0.7))
    assert not fits(drawn, law(3, rate * 1.4))


def test_items_only_and_others_have_their_own_tests() -> None:
    """A part passes by the test of its kind: masks of items come first."""
    rows = [frozenset({0})] * 5 + [frozenset({1})] * 5
    partitions = curator_over(rows, epsilon=SURE).ask_partitions(TAXONOMY, epsilon=SURE)
    tests = (SizeTest(SURE, 6), SizeTest(SURE, 5))
    found = partitions.ask_split(Refinement(int64(0), int64(0), tests, int64(0), int64(1)))
    assert found.masks.tolist() == [2]


def test_a_chain_that_would_spend_more_than_was_paid_is_refused_before_the_look() -> None:
    """Each chain has its own account; the exact sum may be spent, not the least bit more."""
    curator = curator_over([frozenset({0, 1, 3})] * 10**4, epsilon=Fraction(1))
    partitions = curator.ask_partitions(TAXONOMY, epsilon=Fraction(1))
    found = ask(partitions, [0], 0, Fraction(1, 3))
    place = found.masks.tolist().index(7)
    with pytest.raises(BudgetExceeded, match=r"would spend epsilon 1000000001/1000000000, more than the 1 "):
        ask(partitions, [place], 1, Fraction(2, 3) + Fraction(1, 10**9))
    again = ask(partitions, [place], 1, Fraction(2, 3))
    assert again.sizes.max() > 9000  # what was refused left everything as it was
    with pytest.raises(BudgetExceeded):
        ask(partitions, [0], 2, Fraction(1, 10**9))


def test_partitions_are_paid_for_at_once() -> None:
    """One row of the trace, before the first split."""
    curator = curator_over([frozenset({0})], epsilon=Fraction(1))
    curator.ask_partitions(TAXONOMY, epsilon=Fraction(1, 2))
    assert [charge.mechanism for charge in curator.budget.charges] == [ChainedLaplace(1, Fraction(1, 2))]


def test_the_trace_tells_how_the_largest_chain_came_about() -> None:
    """In exact numbers, also after a journey through JSON; what was paid stays."""
    curator = curator_over([frozenset({0, 1})] * 1000, epsilon=Fraction(1))
    partitions = curator.ask_partitions(TAXONOMY, epsilon=Fraction(1, 2))
    assert "nothing yet" in curator.budget.charges[0].sentence()
    found = ask(partitions, [0], 0, Fraction(1, 6))
    ask(partitions, list(range(found.sizes.size)), 1, Fraction(1, 4))
    (charge,) = curator.budget.charges
    assert curator.budget.spent == Fraction(1, 2)
    assert charge.to_dict()["largest_chain"] == ["1/6", "1/4"]
    assert "0.1667 + 0.25 in 2 tests" in charge.sentence()
    assert Charge.from_dict(charge.to_dict()) == charge
    with pytest.raises(BadCall, match="what was paid stays"):
        curator.budget.explain(charge.mechanism, ChainedLaplace(1, Fraction(1, 3)))


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (
            Refinement(int64(0, 0), int64(0, 0), (SizeTest(SURE, 1),), int64(0, 0), int64(0, 0)),
            "stands twice",
        ),
        (Refinement(int64(1), int64(0), (SizeTest(SURE, 1),), int64(0), int64(0)), "all of which exist"),
        (Refinement(int64(-1), int64(0), (SizeTest(SURE, 1),), int64(0), int64(0)), "all of which exist"),
        (Refinement(int64(0), int64(9), (SizeTest(SURE, 1),), int64(0), int64(0)), "all of which exist"),
        (Refinement(int64(0), int64(0), (SizeTest(SURE, 1),), int64(1), int64(0)), "all of which exist"),
        (Refinement(int64(0), int64(0), (SizeTest(SURE, 1),), int64(0), int64()), "all of which exist"),
    ],
)
def test_a_split_of_what_is_not_there_is_refused(split: Refinement, message: str) -> None:
    """Partitions, nodes and tests are named by their places."""
    partitions = curator_over([], epsilon=SURE).ask_partitions(TAXONOMY, epsilon=SURE)
    with pytest.raises(BadCall, match=message):
        partitions.ask_split(split)


@pytest.mark.parametrize(("epsilon", "threshold"), [(Fraction(0), 1), (Fraction(-1), 1), (Fraction(1), 0)])
def test_a_test_needs_an_epsilon_and_a_threshold(epsilon: Fraction, threshold: int) -> None:
    """Below a threshold of 1 empty parts would pass more often than not."""
    with pytest.raises(
        BadCall, match="give an epsilon above 0, as a Fraction, and a threshold of at least 1"
    ):
        SizeTest(epsilon, threshold)


def test_a_look_that_fails_ends_the_questions_about_these_partitions() -> None:
    """It was paid for, and nobody knows how far it came: going on from before would test records for nothing."""
    curator = curator_over([frozenset({0})] * 9)
    partitions = curator.ask_partitions(TAXONOMY, epsilon=Fraction(1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ExactPartitions, "become", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ask(partitions, [0], 0, Fraction(1, 4))
    with pytest.raises(BadCall, match="split what the last answer holds"):
        ask(partitions, [0], 0, Fraction(1, 4))
    assert curator.budget.charges[0].to_dict()["largest_chain"] == ["1/4"]


def test_nothing_private_shows_in_what_is_printed() -> None:
    """Neither records nor partitions tell what they hold."""
    exact = exact_over([frozenset({0, 1})] * 7919)
    shown = [repr(exact), repr(exact.split(int64(0))), repr(engine_over([]).records(np.zeros(6, np.int32)))]
    assert shown == ["ExactPartitions(private)", "ExactCells(private)", "ExactRecords(private)"]
