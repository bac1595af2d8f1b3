"""Hypothesis strategies for baskets, neighbours, truncations and itemsets, and baskets as arrays."""

from collections.abc import Iterable
from itertools import combinations, pairwise

import numpy as np
from hypothesis import strategies as st

from reference import Basket, Baskets
from veilset.arrays import Int32Array, Int64Array
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.cuts.similar_cut import KeepSimilar
from veilset.raw.cuts.smart_cut import KeepSmart
from veilset.raw.cuts.truncation import DropLonger, KeepAll, KeepBest, KeepRandom, OnlyItems, Truncation
from veilset.raw.transactions import Alphabet, Transactions

ALPHABET_SIZE = 6


items = st.integers(0, ALPHABET_SIZE - 1)


def basket() -> st.SearchStrategy[Basket]:
    """A set of items, possibly empty."""
    return st.frozensets(items)


def baskets(max_rows: int = 10) -> st.SearchStrategy[Baskets]:
    """Baskets over a small alphabet; none, empty ones and repeats among them."""
    return st.lists(basket(), max_size=max_rows)


def neighbours() -> st.SearchStrategy[tuple[Baskets, Baskets]]:
    """Two lists of baskets, of which the second has one more."""
    return st.tuples(baskets(), basket()).map(lambda drawn: (drawn[0], [*drawn[0], drawn[1]]))


def itemsets() -> st.SearchStrategy[list[list[int]]]:
    """Candidate itemsets of all sizes: in any order with repeats, or all there are in lexicographic order."""
    some = st.lists(st.frozensets(items).map(sorted), max_size=8)
    sizes = range(ALPHABET_SIZE + 1)
    every = sorted(list(chosen) for size in sizes for chosen in combinations(range(ALPHABET_SIZE), size))
    return st.one_of(some, st.just(every))


def truncations() -> st.SearchStrategy[Truncation]:
    """Every truncation there is, also after a choice of items."""
    limit = st.integers(1, ALPHABET_SIZE + 1)
    ranks = st.lists(items, min_size=ALPHABET_SIZE, max_size=ALPHABET_SIZE)  # equal ranks, too
    simple: st.SearchStrategy[Truncation] = st.one_of(
        st.just(KeepAll()),
        limit.map(DropLonger),
        limit.map(KeepRandom),
        st.builds(KeepBest, limit, ranks.map(_int64)),
        smart_truncations(),
        similar_truncations(),
    )
    return st.one_of(simple, st.builds(OnlyItems, st.lists(items).map(_int64), simple))


@st.composite
def smart_truncations(draw: st.DrawFn) -> KeepSmart:
    """Smart truncations by candidates of some size, in any order, with scores of which some are equal or below 0."""
    size = draw(st.integers(2, 4))
    every = list(combinations(range(ALPHABET_SIZE), size))
    candidates = draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    scores = draw(st.lists(st.integers(-2, 9), min_size=len(candidates), max_size=len(candidates)))
    return KeepSmart(draw(st.integers(1, ALPHABET_SIZE)), *arrays_of(map(list, candidates)), _int64(scores))


@st.composite
def similar_truncations(draw: st.DrawFn) -> KeepSimilar:
    """Truncations by similarity to any targets, none among them, in any order of some items."""
    order = draw(st.lists(items, min_size=1, unique=True))
    targets = draw(st.lists(basket(), max_size=4))
    limit = draw(st.integers(1, ALPHABET_SIZE))
    return KeepSimilar(limit, _int64(order), *arrays_of(map(sorted, targets)))


def keys() -> st.SearchStrategy[list[int]]:
    """Enough random keys for any baskets drawn here, from a small range so that some are equal."""
    return st.lists(st.integers(0, 7), min_size=100, max_size=100)


def rows_of(given: Baskets) -> CompressedRows:
    """Baskets as the arrays that truncations and kernels work on."""
    return CompressedRows(*arrays_of(map(sorted, given)))


def transactions_of(given: Baskets, alphabet_size: int = ALPHABET_SIZE) -> Transactions:
    """Baskets as transactions over a numbered alphabet."""
    offsets, codes = arrays_of(map(sorted, given))
    return Transactions(offsets, codes, Alphabet(range(alphabet_size), is_given=True))


def arrays_of(lists: Iterable[list[int]]) -> tuple[Int64Array, Int32Array]:
    """Offsets and items of some lists of codes."""
    held = list(lists)
    offsets = np.cumsum([0, *map(len, held)], dtype=np.int64)
    return offsets, np.array([code for codes in held for code in codes], dtype=np.int32)


def baskets_of(rows: CompressedRows) -> Baskets:
    """The baskets that arrays stand for."""
    return [frozenset(rows.items[start:end].tolist()) for start, end in pairwise(rows.offsets)]


def _int64(values: list[int]) -> Int64Array:
    return np.array(values, dtype=np.int64)
