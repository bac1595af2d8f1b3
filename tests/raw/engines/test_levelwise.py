"""The search by levels finds what the depth-first search finds, or says that it cannot tell."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mining_rows import WIDE, Lists, as_filter, compressed, filters, listed, lists_of_items
from strategies import arrays_of
from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.engines import levelwise, mining
from veilset.raw.engines.item_bitmaps import ItemBitmaps
from veilset.raw.engines.levelwise import LevelwiseSearch
from veilset.raw.engines.local import LocalEngine
from veilset.raw.transactions import Alphabet, Transactions


def supports_of(rows: CompressedRows) -> Int64Array:
    """How many rows hold each item."""
    return np.bincount(rows.items, minlength=WIDE).astype(np.int64)


def search_over(rows: CompressedRows) -> LevelwiseSearch:
    """A search over blocks of 64 rows."""
    supports = supports_of(rows)
    return LevelwiseSearch(ItemBitmaps(rows, supports, words=1, threads=2), supports)


def uneven_rows() -> CompressedRows:
    """Rows of which no two of the eleven most frequent itemsets have the same support, whatever their size."""
    rng = np.random.default_rng(1)
    shares = 0.9 ** np.arange(1, 13)
    return compressed([np.flatnonzero(rng.random(12) < shares).tolist() for _ in range(3000)])


@given(lists=lists_of_items(), k=st.integers(1, 60), which=filters(most=3))
def test_what_is_found_by_levels_is_found_depth_first(lists: Lists, k: int, which: dict[str, Any]) -> None:
    """The same itemsets in the same order; where itemsets tie for the last place, none are returned."""
    rows = compressed(lists)
    found = search_over(rows).top(k, as_filter(**which))
    if found is not None:
        assert listed(found) == listed(mining.top(rows, k, as_filter(**which), alphabet_size=WIDE))


@pytest.mark.parametrize("sizes", [(1, None), (1, 1), (2, 2), (3, 3), (4, 5)])
def test_where_nothing_ties_the_levels_answer(sizes: tuple[int, int | None]) -> None:
    """A search that always gave up would pass every comparison."""
    rows, which = uneven_rows(), as_filter(min_size=sizes[0], max_size=sizes[1])
    search = search_over(rows)
    for k in (1, 7, 10):
        found = search.top(k, which)
        assert found is not None
        assert listed(found) == listed(mining.top(rows, k, which, alphabet_size=WIDE))


def rows_with_rare_items() -> CompressedRows:
    """The uneven rows, and 3 rows of two items that are too rare for bitmaps: one holds both of them."""
    lists = [row.tolist() for row in np.split(uneven_rows().items, uneven_rows().offsets[1:-1])]
    return compressed([*lists, [12], [13], [12, 13]])


def test_items_without_a_bitmap_are_left_out_where_pairs_show_that_they_are_too_rare() -> None:
    """More itemsets are wanted than there are items, so that at first every item could be among them."""
    rows, which = rows_with_rare_items(), as_filter()
    search = search_over(rows)
    assert (search._counted.places[[11, 12, 13]] < search._counted.codes.size).tolist() == [
        True,
        False,
        False,
    ]
    for k in (15, 60, 20):
        found = search.top(k, which)
        assert found is not None
        assert listed(found) == listed(mining.top(rows, k, which, alphabet_size=WIDE))


@pytest.mark.parametrize(("k", "sizes"), [(mining.UNLIMITED, (1, None)), (67, (2, 2)), (60, (1, 1))])
def test_the_levels_give_up_where_items_without_a_bitmap_may_be_wanted(
    k: int, sizes: tuple[int, int]
) -> None:
    """All pairs of items that have one are 66; and single items are wanted whatever pairs there are."""
    which = as_filter(min_size=sizes[0], max_size=sizes[1])
    assert search_over(rows_with_rare_items()).top(k, which) is None


def test_what_one_search_counted_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second search finds all supports that it needs."""
    search, which = search_over(uneven_rows()), as_filter()
    first = search.top(10, which)
    monkeypatch.delattr(ItemBitmaps, "supports")
    again = search.top(10, which)
    assert first is not None
    assert again is not None
    assert listed(again) == listed(first)


@pytest.mark.parametrize("name", ["MOST_KEPT", "LARGEST_KEPT"])
def test_what_is_not_kept_is_counted_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgetting supports changes no answer."""
    monkeypatch.setattr(levelwise, name, 1)
    search, which = search_over(uneven_rows()), as_filter()
    found = [search.top(k, which) for k in (10, 7, 10)]
    expected = listed(mining.top(uneven_rows(), 10, which, alphabet_size=WIDE))
    assert [None if each is None else listed(each) for each in found] == [expected, expected[:7], expected]


def test_the_levels_give_up_where_itemsets_tie_for_the_last_place() -> None:
    """Which of them are chosen is for the depth-first search to say."""
    search = search_over(compressed([[0, 1, 2]] * 200))
    assert search.top(2, as_filter()) is None
    assert search.top(7, as_filter()) is not None


def test_the_levels_give_up_where_there_are_too_many_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the pairs nor what follows may be more than the most."""
    search, which = search_over(uneven_rows()), as_filter(min_count=50)
    assert search.top(mining.UNLIMITED, which) is not None
    monkeypatch.setattr(levelwise, "MOST_COUNTED", 80)
    assert search.top(mining.UNLIMITED, which) is None
    assert levelwise.may_be_few(supports_of(uneven_rows()), mining.UNLIMITED, which)
    monkeypatch.setattr(levelwise, "MOST_COUNTED", 50)
    assert not levelwise.may_be_few(supports_of(uneven_rows()), mining.UNLIMITED, which)


@given(
    lists=lists_of_items(),
    asked=st.lists(st.tuples(st.integers(1, 60), filters(most=3)), max_size=4),
    chunk=st.sampled_from([1, 10, 64, 1000]),
)
def test_an_engine_answers_the_same_whatever_it_was_asked_before(
    lists: Lists, asked: list[tuple[int, dict[str, Any]]], chunk: int
) -> None:
    """What is kept from earlier questions, and by which search an answer is found, does not show."""
    data = Transactions(*arrays_of(lists), Alphabet(range(WIDE), is_given=True))
    engine = LocalEngine(data, rows_in_a_chunk=chunk)
    for k, which in asked:
        expected = mining.top(compressed(lists), k, as_filter(**which), alphabet_size=WIDE)
        assert listed(engine.top(k, as_filter(**which))) == listed(expected)


def test_an_engine_of_many_rows_refuses_what_one_of_few_rows_refuses() -> None:
    """A rank of 0, and items that the alphabet does not hold."""
    engine = LocalEngine(
        Transactions(*arrays_of([[0, 1]] * 9), Alphabet(range(2), is_given=True)), rows_in_a_chunk=1
    )
    with pytest.raises(BadCall, match="k is 0"):
        engine.top(0, as_filter())
    with pytest.raises(BadCall, match="outside 0 to 1"):
        engine.top(1, as_filter(items=[0, 2]))
