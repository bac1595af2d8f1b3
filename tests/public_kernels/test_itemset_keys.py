"""Itemsets as keys, against sorted tuples."""

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.arrays import Int64Array, Uint64Array
from veilset.public_kernels import itemset_keys
from veilset.public_kernels.itemset_keys import KeyedRows

Rows = list[frozenset[int]]
rows_of_few = st.lists(st.frozensets(st.integers(0, 4)), max_size=200)
rows_of_many = st.lists(st.frozensets(st.integers(0, 119), max_size=6), max_size=70)
rows_to_the_end = st.lists(
    st.frozensets(st.integers(60, 119).filter(lambda item: item < 68 or item > 115)), max_size=70
)


def bitmaps_of(rows: Rows) -> Uint64Array:
    """A bitmap for each of 120 items."""
    bitmaps = np.zeros((120, -(-len(rows) // 64)), np.uint64)
    for row, held in enumerate(rows):
        for item in held:
            bitmaps[item, row // 64] |= np.uint64(1) << np.uint64(row % 64)
    return bitmaps


def read_back(rows: KeyedRows) -> list[tuple[tuple[int, ...], int]]:
    """The itemsets of keys, in their order, with their copies; item a has the code 2 a."""
    offsets: Int64Array = np.append(0, np.cumsum(itemset_keys.key_sizes(rows.lower)))
    items = np.empty(offsets[-1], np.int32)
    itemset_keys.write_items(rows.upper, rows.lower, np.arange(120, dtype=np.int32) * 2, offsets, items)
    found = [tuple(items[a:b].tolist()) for a, b in pairwise(offsets.tolist())]
    return list(zip(found, rows.copies.tolist(), strict=True))


def counted(rows: Rows) -> list[tuple[tuple[int, ...], int]]:
    """The slow way: tuples are ordered as itemsets are."""
    return sorted(Counter(tuple(2 * item for item in sorted(row)) for row in rows if row).items())


@given(st.one_of(rows_of_few, rows_of_many, rows_to_the_end))
def test_rows_come_in_the_order_of_their_items_with_their_copies(rows: Rows) -> None:
    """Itemsets that begin others before them; empty ones left out."""
    bitmaps = bitmaps_of(rows)
    assert read_back(itemset_keys.keyed_rows(bitmaps, 0, bitmaps.shape[1])) == counted(rows)


@given(st.one_of(st.tuples(rows_of_few, rows_of_few), st.tuples(rows_of_many, rows_to_the_end)))
def test_parts_are_merged(parts: tuple[Rows, Rows]) -> None:
    """As if they had been one."""
    keyed = [itemset_keys.keyed_rows(bitmaps, 0, bitmaps.shape[1]) for bitmaps in map(bitmaps_of, parts)]
    assert read_back(itemset_keys.merged_rows(*keyed)) == counted(parts[0] + parts[1])
