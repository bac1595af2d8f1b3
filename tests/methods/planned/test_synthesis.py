"""Rows that reproduce supports: items, larger itemsets, lengths; and nothing frequent that nobody asked for."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import Baskets
from strategies import ALPHABET_SIZE, baskets
from veilset.arrays import Int64Array
from veilset.itemsets import Itemset
from veilset.methods.planned.synthesis import RestOfItemset, RowGroups, WantedSupports, synthesised


def rows_of(holders: dict[int, Int64Array], rows: int) -> list[frozenset[int]]:
    """One set of items for each row: slow and obvious."""
    held: list[set[int]] = [set() for _ in range(rows)]
    for item, places in holders.items():
        for place in places.tolist():
            assert item not in held[place]
            held[place].add(item)
    return [frozenset(row) for row in held]


def supports_in_rows(rows: list[frozenset[int]]) -> Counter[Itemset]:
    """The support of every itemset that a row holds: slow and obvious."""
    return Counter(
        itemset
        for row in rows
        for size in range(1, len(row) + 1)
        for itemset in combinations(sorted(row), size)
    )


def told_by(rows: Baskets, *, largest: int) -> WantedSupports:
    """What some baskets would have rows reproduce: the supports of all itemsets up to a size."""
    supports = supports_in_rows([frozenset(row) for row in rows])
    items = np.array([supports[(item,)] for item in range(ALPHABET_SIZE)])
    larger = {itemset: number for itemset, number in supports.items() if 2 <= len(itemset) <= largest}
    return WantedSupports(np.array([len(row) for row in rows], np.int64), items, larger, 1)


@given(rows=baskets(max_rows=30))
@settings(max_examples=60)
def test_every_item_is_in_as_many_rows_as_wanted(rows: Baskets) -> None:
    """Within one row, whatever the data; no row holds an item twice, and no row is added."""
    wanted = told_by(rows, largest=2)
    made = supports_in_rows(rows_of(synthesised(wanted), len(rows)))
    for item, number in enumerate(wanted.items.tolist()):
        assert abs(made[(item,)] - number) <= 1


def correlated(rows: int) -> Baskets:
    """Two items that go together, two that avoid each other, one that follows from a pair, and one beside all."""
    random = np.random.default_rng(2)
    is_held = random.random((rows, 6)) < [0.5, 0.1, 0.4, 0.0, 0.1, 0.3]
    is_held[:, 1] |= is_held[:, 0] & (random.random(rows) < 0.8)
    is_held[:, 3] = ~is_held[:, 2] & (random.random(rows) < 0.5)
    is_held[:, 4] |= is_held[:, 0] & is_held[:, 2]
    return [frozenset(np.flatnonzero(row).tolist()) for row in is_held]


def test_the_supports_of_pairs_and_triples_are_reproduced() -> None:
    """None is off by more than 2 % of the 4,000 rows; told of items alone, pairs are off by far more."""
    wanted = told_by(correlated(4000), largest=3)
    made = supports_in_rows(rows_of(synthesised(wanted), 4000))
    assert max(abs(made[itemset] - number) for itemset, number in wanted.larger.items()) <= 80
    alone = WantedSupports(wanted.lengths, wanted.items, {}, 4000)
    independent = supports_in_rows(rows_of(synthesised(alone), 4000))
    assert max(abs(independent[itemset] - number) for itemset, number in wanted.larger.items()) > 400


def test_rows_have_the_lengths_that_are_wanted() -> None:
    """About: by less than an item on average, where rows of equal expected length would be off by more."""
    wanted = told_by(correlated(4000), largest=2)
    made = rows_of(synthesised(wanted), 4000)
    off = np.abs(np.array([len(row) for row in made]) - wanted.lengths)
    assert off.mean() < 0.9 < np.abs(wanted.lengths - wanted.lengths.mean()).mean()


@pytest.mark.parametrize("ceiling", [150, 4000])
def test_what_is_not_listed_stays_below_the_ceiling(ceiling: int) -> None:
    """Four items of 2,000 rows each would make pairs of 1,000 if nothing kept them apart."""
    lengths, items = np.full(4000, 2), np.array([2000, 2000, 2000, 2000])
    listed: dict[Itemset, int] = {(0, 1): 1900, (2, 3): 1900}
    made = supports_in_rows(rows_of(synthesised(WantedSupports(lengths, items, listed, ceiling)), 4000))
    unlisted = [made[pair] for pair in combinations(range(4), 2) if pair not in listed]
    assert max(unlisted) <= 1.2 * ceiling
    lone = WantedSupports(np.full(4000, 4), items, {}, ceiling)
    assert (supports_in_rows(rows_of(synthesised(lone), 4000))[(0, 1)] > 500) == (ceiling > 2000)


def test_impossible_supports_end_and_are_met_as_far_as_they_go() -> None:
    """A pair more frequent than its items, more rows than there are: the items count."""
    wanted = WantedSupports(np.full(10, 3), np.array([4, 8, 30]), {(0, 1): 9, (0, 1, 2): 10}, 1)
    made = supports_in_rows(rows_of(synthesised(wanted), 10))
    assert (made[(0,)], made[(1,)]) == (4, 8)
    assert made[(2,)] >= 9


def test_no_rows_and_no_items_are_no_error() -> None:
    """Nothing in, nothing out."""
    nothing = np.zeros(0, np.int64)
    assert synthesised(WantedSupports(nothing, np.array([3, 0]), {}, 1)) == {}
    assert synthesised(WantedSupports(np.full(5, 2), nothing, {}, 1)) == {}


def test_the_same_supports_make_the_same_rows() -> None:
    """The randomness is public: it has a seed."""
    wanted = told_by(correlated(300), largest=2)
    first, second = synthesised(wanted), synthesised(wanted)
    assert {item: held.tolist() for item, held in first.items()} == {
        item: held.tolist() for item, held in second.items()
    }


@given(
    room=st.lists(st.integers(-2, 5), min_size=1, max_size=30),
    data=st.data(),
)
@settings(max_examples=60)
def test_rows_of_a_group_are_alike(room: list[int], data: st.DataObject) -> None:
    """Two rows are in one group just where they have the same room and are in the same parts."""
    places = st.lists(st.integers(0, len(room) - 1), unique=True, max_size=len(room))
    parts = [
        RestOfItemset(np.array(sorted(rows), np.int64), 1.0)
        for rows in data.draw(st.lists(places, max_size=3))
    ]
    groups = RowGroups.of(np.array(room), parts, np.random.default_rng(1))
    alike = [
        (max(number, 0), tuple(row in part.rows.tolist() for part in parts))
        for row, number in enumerate(room)
    ]
    for first, second in combinations(range(len(room)), 2):
        assert (groups.group_of[first] == groups.group_of[second]) == (alike[first] == alike[second])
    assert groups.sizes.sum() == len(room)
