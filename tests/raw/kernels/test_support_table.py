"""Tables of all sets of a few items: their supports, and a search that finds what bitmaps find."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mining_rows import Lists, lists_of_items, projected
from veilset.raw.kernels.dense_search import bitmaps_of, search_dense
from veilset.raw.kernels.search_state import NUMBER, FoundItemsets, Search, record_items
from veilset.raw.kernels.support_table import supports_of_all, table_pays

FEW = 10
few_items = lists_of_items().map(lambda lists: [sorted({item % FEW for item in row}) for row in lists])


@given(lists=few_items)
def test_a_table_holds_the_support_of_every_set(lists: Lists) -> None:
    """Of the empty one, too: the rows of two items or more."""
    table = supports_of_all(projected(lists, FEW), FEW)
    kept = [set(row) for row in lists if len(row) >= 2]
    for size in range(4):
        for items in combinations(range(FEW), size):
            number = sum(1 << item for item in items)
            assert table[number] == sum(set(items) <= row for row in kept)


def searched(
    lists: Lists, search_with: str, *, k: int, floor: int, sizes: tuple[int, int]
) -> list[list[int]]:
    """All that a search records of these rows, in its order, and how far it came."""
    rows = projected(lists, FEW)
    supports = np.array([sum(item in row for row in lists) for item in range(FEW)], np.int64)
    tally, progress = np.zeros(len(lists) + floor + 2, np.int64), np.array([0, floor, 0], np.int64)
    found = FoundItemsets(np.empty(FEW, np.int64), np.empty(FEW, np.int32), np.empty(FEW, np.int64))
    items = np.arange(FEW, dtype=np.int32)
    record_items(found, Search(1 << 40, *sizes, tally, progress), items, np.maximum(supports, floor))
    search, nodes = Search(k, *sizes, tally, progress), np.arange(FEW)[::-1].copy()
    if search_with == "table":
        bitmaps, table = np.empty((FEW, 0), np.uint64), supports_of_all(rows, FEW)
    else:
        bitmaps, table = bitmaps_of(rows, FEW), np.empty(0, np.int64)
    found = search_dense(found, search, 1, nodes, items, bitmaps, table, rows.longest)
    number = search.progress[NUMBER]
    return [array[:number].tolist() for array in found] + [search.progress.tolist()]


@given(
    lists=few_items,
    k=st.integers(1, 300),
    floor=st.integers(1, 3),
    sizes=st.tuples(st.integers(1, 3), st.integers(2, 5)),
)
def test_a_table_finds_what_bitmaps_find_in_the_same_order(
    lists: Lists, k: int, floor: int, sizes: tuple[int, int]
) -> None:
    """The order decides which of the itemsets that tie for the last places are known."""
    by_table, by_bitmaps = (
        searched(lists, way, k=k, floor=floor, sizes=sizes) for way in ("table", "bitmaps")
    )
    assert by_table == by_bitmaps


def test_tables_are_for_many_rows_of_few_items() -> None:
    """All sets of 17 items are fewer than a million rows; those of 23 items would fill the memory."""
    assert table_pays(17, 1_000_000)
    assert not table_pays(17, 10_000)
    assert not table_pays(23, 10**12)
