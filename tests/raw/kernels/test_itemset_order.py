"""Packed itemsets come back as they were, and sorting by digits sorts."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.raw.engines.mining import in_final_order, offsets_by_sizes
from veilset.raw.kernels.itemset_order import FEW, MANY, Keyed, sort_by_keys, sort_by_words
from veilset.raw.kernels.packed_itemsets import codes_in

Counted = dict[tuple[int, ...], int]


def keyed(keys: list[int], words: list[int]) -> Keyed:
    """As arrays, numbered from 0."""
    return Keyed(np.array(keys, np.int64), np.array(words, np.int64), np.arange(len(keys)))


def listed(keyed: Keyed) -> list[list[int]]:
    """As a list of keys, words and numbers."""
    return [list(each) for each in zip(*(column.tolist() for column in keyed), strict=True)]


@given(keys=st.lists(st.integers(0, 5) | st.integers(0, 2**40)))
def test_sort_by_keys_is_a_stable_sort(keys: list[int]) -> None:
    """Sorting digit by digit gives what Python's stable sort gives, for keys of several digits as well."""
    one, other = keyed(keys, [3 * key for key in keys]), keyed(keys, keys)
    wanted = sorted(listed(one), key=lambda each: each[0])
    assert listed(other if sort_by_keys(one, other) else one) == wanted


@given(
    distinct=st.lists(st.integers(0, 2**40 - 1) | st.integers(0, 3), min_size=1, max_size=40),
    times=st.sampled_from([1, 3, FEW, MANY]),
)
def test_sort_by_words_is_a_stable_sort(distinct: list[int], times: int) -> None:
    """Of a few words, of some and of many; what stands around them stays."""
    words = distinct * times
    whole = keyed([0] * (len(words) + 2), [7, *words, 1])
    before = listed(whole)
    space = keyed([0] * (len(words) + 2), [0] * (len(words) + 2))
    sort_by_words(whole, space, 1, len(words) + 1, 40, np.empty((1 << 11) + 1, np.int64))
    assert listed(whole) == [before[0], *sorted(before[1:-1], key=lambda each: each[1]), before[-1]]


@st.composite
def counted_itemsets(draw: st.DrawFn) -> Counted:
    """Itemsets with supports: of a handful of codes, of many, and longer than a word holds."""
    most = draw(st.sampled_from([4, 100, 5000]))
    itemset = st.sets(st.integers(0, most), min_size=1, max_size=draw(st.sampled_from([3, 30])))
    shared = tuple(sorted(draw(st.sets(st.integers(0, most), max_size=25))))  # in front: first words tie
    grown = st.one_of(itemset, itemset.map(lambda more: {*shared, *more}))
    itemsets = draw(st.lists(grown.map(lambda items: tuple(sorted(items))), unique=True, max_size=60))
    return {each: draw(st.integers(0, 3) | st.integers(0, 10**6)) for each in itemsets}


@given(counted=counted_itemsets(), k=st.integers(1, 80), min_count=st.integers(0, 4))
def test_itemsets_come_by_support_size_and_codes(counted: Counted, k: int, min_count: int) -> None:
    """What Python's sort of tuples gives, whatever the number of words of an itemset."""
    offsets = offsets_by_sizes(np.array([len(each) for each in counted], np.int64))
    items = np.array([item for each in counted for item in each], np.int32)
    found = in_final_order(offsets, items, np.array(list(counted.values()), np.int64), k, min_count=min_count)
    wanted = sorted(counted.items(), key=lambda each: (-each[1], len(each[0]), each[0]))
    wanted = [each for each in wanted if each[1] >= min_count][:k]
    ends = found.offsets.tolist()
    assert found.supports.tolist() == [support for _, support in wanted]
    assert [tuple(found.items[begin:end].tolist()) for begin, end in pairwise(ends)] == [
        itemset for itemset, _ in wanted
    ]


@given(items=st.lists(st.integers(0, 300)))
def test_codes_are_listed_once(items: list[int]) -> None:
    """In ascending order."""
    assert codes_in(np.array(items, np.int32)).tolist() == sorted(set(items))
