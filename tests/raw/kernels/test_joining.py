"""Candidates are the itemsets whose subsets are all there."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.raw.kernels.joining import join

Sets = dict[tuple[int, ...], int]


@st.composite
def itemsets_of_one_size(draw: st.DrawFn) -> Sets:
    """Some itemsets of up to three of six items, with supports."""
    size = draw(st.integers(1, 3))
    chosen = draw(st.lists(st.sampled_from(list(combinations(range(6), size))), min_size=1, unique=True))
    return {itemset: draw(st.integers(0, 9)) for itemset in sorted(chosen)}


def slow_join(supports: Sets) -> Sets:
    """Try every itemset of one more item."""
    size = len(next(iter(supports)))
    parts = {each: list(combinations(each, size)) for each in combinations(range(6), size + 1)}
    return {
        each: min(supports[part] for part in of_each)
        for each, of_each in parts.items()
        if all(part in supports for part in of_each)
    }


@given(supports=itemsets_of_one_size())
def test_joining_finds_what_trying_every_itemset_finds(supports: Sets) -> None:
    """In lexicographic order, with the least support of a subset."""
    itemsets, values = np.array(list(supports), np.int32), np.array(list(supports.values()), np.int64)
    candidates, bounds = join(itemsets, values, 1000)
    found = dict(zip(map(tuple, candidates.tolist()), bounds.tolist(), strict=True))
    assert list(found.items()) == sorted(slow_join(supports).items())


@given(supports=itemsets_of_one_size(), most=st.integers(0, 20))
def test_joining_stops_once_there_are_too_many(supports: Sets, most: int) -> None:
    """One more than the most says that there are more."""
    itemsets, values = np.array(list(supports), np.int32), np.array(list(supports.values()), np.int64)
    _, bounds = join(itemsets, values, most)
    assert bounds.size == min(len(slow_join(supports)), most + 1)
