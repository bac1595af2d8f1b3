"""Basis sets: cliques, merging and splitting, against their definitions."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.itemsets import Itemset
from veilset.methods.shared.bases import Basis, basis_set, maximal_cliques, mean_error, merged, split_clique

pairs_of_items = st.sets(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] < pair[1]), max_size=20
).map(sorted)


def is_clique(items: tuple[int, ...], pairs: list[Itemset]) -> bool:
    """Whether all pairs of some items are given."""
    return all(pair in pairs for pair in combinations(items, 2))


@given(pairs=pairs_of_items)
def test_cliques_are_all_maximal_ones(pairs: list[Itemset]) -> None:
    """Against every subset of the ten items."""
    items = sorted({item for pair in pairs for item in pair})
    cliques = [
        c for size in range(2, len(items) + 1) for c in combinations(items, size) if is_clique(c, pairs)
    ]
    maximal = {c for c in cliques if not any(set(c) < set(other) for other in cliques)}
    found = list(maximal_cliques(pairs))
    assert set(found) == maximal
    assert len(found) == len(maximal)


@given(pairs=pairs_of_items, largest=st.integers(4, 12))
def test_a_basis_set_holds_every_item_and_pair_in_small_bases(pairs: list[Itemset], largest: int) -> None:
    """Whatever was merged or split."""
    items = list(range(10))
    bases = basis_set(items, pairs, largest=largest)
    assert all(len(basis) <= largest for basis in bases)
    assert all(any({*pair} <= {*basis} for basis in bases) for pair in [*pairs, *((item,) for item in items)])


def error_of(bases: list[Basis], queries: list[Itemset]) -> float:
    """The mean variance by its definition."""
    precision = [sum(2.0 ** (len(x) - len(b)) for b in bases if {*x} <= {*b}) for x in queries]
    return mean_error(np.array(precision), len(bases))


@given(pairs=pairs_of_items.filter(bool))
def test_merging_never_raises_the_error_and_stops_where_no_merge_lowers_it(pairs: list[Itemset]) -> None:
    """Against the definition of the mean variance."""
    items = sorted({item for pair in pairs for item in pair})
    queries = [*((item,) for item in items), *pairs]
    before = list(maximal_cliques(pairs))
    after = merged(before, items, pairs, largest=8)
    now = error_of(after, queries)
    assert now <= error_of(before, queries) + 1e-9
    for a, b in combinations(after, 2):
        union = tuple(sorted({*a, *b}))
        if len(union) <= 8:
            rest = [basis for basis in after if basis not in (a, b)]
            assert error_of([*rest, union], queries) >= now - 1e-9


@given(size=st.integers(1, 40))
def test_a_split_clique_keeps_all_its_pairs(size: int) -> None:
    """In parts that are small enough."""
    parts = split_clique(tuple(range(size)), 12)
    assert all(len(part) <= 12 for part in parts)
    assert all(any({*pair} <= {*part} for part in parts) for pair in combinations(range(size), 2))
