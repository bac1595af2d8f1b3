"""Projected rows are the rows without the dropped items, and what is counted on them is what loops count."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mining_rows import WIDE, Lists, lists_of_items, projected
from veilset.raw.kernels import projection
from veilset.raw.kernels.projection import END, Projection


def split(rows: Projection) -> Lists:
    """The rows of a projection."""
    found: Lists = [[]]
    for item in rows.flat:
        if item == END:
            found.append([])
        else:
            found[-1].append(int(item))
    return found[:-1]


@given(lists=lists_of_items())
def test_a_projection_keeps_the_rows_of_two_items_and_more(lists: Lists) -> None:
    """Shorter rows go; the numbers that come along describe what is left."""
    rows = projected(lists, WIDE)
    kept = [row for row in lists if len(row) >= 2]
    assert split(rows) == kept
    assert rows.n_rows == len(kept)
    assert rows.longest == max(map(len, kept), default=0)
    assert rows.pairs == sum(len(row) * (len(row) - 1) // 2 for row in kept)


@given(lists=lists_of_items(), dropped=st.integers(0, 6))
def test_tails_are_what_follows_an_item(lists: Lists, dropped: int) -> None:
    """Projecting to what follows item 2, without some item, leaves the rows with at least two such items."""
    rows = projected(lists, WIDE)
    where = projection.occurrences_of(rows, WIDE)
    codes = np.arange(WIDE, dtype=np.uint32)
    codes[dropped] = END
    places = where.places[where.starts[2] : where.starts[3]]
    tails = projection.project_tails(rows.flat, places, codes, rows.flat.size)
    expected = [[item for item in row if item > 2 and item != dropped] for row in lists if 2 in row]
    assert split(tails) == [row for row in expected if len(row) >= 2]


@given(
    lists=st.lists(st.permutations(range(6)).flatmap(lambda row: st.integers(0, 6).map(lambda n: row[:n])))
)
def test_rows_are_sorted_item_by_item(lists: Lists) -> None:
    """Writing all rows anew, smallest items first, sorts each."""
    rows = projected(lists, 6)
    projection.sort_rows(rows, 6)
    assert split(rows) == [sorted(row) for row in lists if len(row) >= 2]


@given(lists=lists_of_items())
def test_pairs_are_counted_once_for_each_row_that_holds_both(lists: Lists) -> None:
    """Under the smaller of both, whichever stands first in the row; and the most of each item."""
    expected = np.zeros((WIDE, WIDE), np.int64)
    for first, second in (pair for row in lists for pair in combinations(row, 2)):
        expected[min(first, second), max(first, second)] += 1
    backwards = [row[::-1] for row in lists]
    for rows in (lists, backwards):
        pairs = projection.count_pairs(projected(rows, WIDE), WIDE)
        assert pairs.tolist() == expected.tolist()
        assert projection.most_paired(pairs).tolist() == (expected + expected.T).max(axis=1).tolist()


@given(lists=lists_of_items())
def test_items_and_row_ends_are_found_where_they_stand(lists: Lists) -> None:
    """Every place of the flat array is listed once: under its item, or as the end of a row."""
    rows = projected(lists, WIDE)
    where = projection.occurrences_of(rows, WIDE)
    for item in range(WIDE):
        places = where.places[where.starts[item] : where.starts[item + 1]]
        assert places.tolist() == np.flatnonzero(rows.flat == item).tolist()
    assert projection.row_ends(rows).tolist() == [-1, *np.flatnonzero(rows.flat == END).tolist()]
