"""The exact miner finds what its slow twins find, and nothing else."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_mining as reference
from shared_data import DATA
from veilset.errors import BadCall
from veilset.raw.counts import ExactItemsets
from veilset.raw.cuts.truncation import Rows
from veilset.raw.engines import mining
from veilset.raw.kernels import projection
from veilset.raw.kernels.bitmap_search import bitmaps_of
from veilset.raw.kernels.itemset_order import sort_by
from veilset.raw.kernels.projection import END, Projection
from veilset.raw.kernels.row_search import bitmaps_pay
from veilset.raw.read import read

WIDE = 40
"""More items than the rows of the tests can make dense."""

Baskets = list[list[int]]


@st.composite
def baskets(draw: st.DrawFn) -> Baskets:
    """Rows over few or many items, some empty; one may come often enough to fill several words of bits."""
    alphabet = st.integers(0, draw(st.sampled_from([4, 7, WIDE - 1])))
    rows = draw(st.lists(st.lists(alphabet, unique=True, max_size=7).map(sorted), max_size=12))
    often = draw(st.lists(alphabet, unique=True, max_size=7).map(sorted))
    return rows + [often] * draw(st.sampled_from([0, 1, 70, 140]))


def compressed(lists: Baskets) -> Rows:
    """The same rows as the miner takes them."""
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return Rows(offsets, np.array([item for row in lists for item in row], np.int32))


def listed(itemsets: ExactItemsets) -> list[reference.Supported]:
    """What was mined, as the twins give it."""
    ends = itemsets.offsets.tolist()
    items = itemsets.items.tolist()
    found = [tuple(items[begin:end]) for begin, end in pairwise(ends)]
    return list(zip(found, itemsets.supports.tolist(), strict=True))


def projected(lists: Baskets, n_items: int) -> Projection:
    """Rows as the searches take them, with no item dropped."""
    rows = compressed(lists)
    codes = np.arange(n_items, dtype=np.uint32)
    return projection.project_rows(rows.offsets, rows.items, codes, rows.items.size + rows.offsets.size)


def split(rows: Projection) -> Baskets:
    """The rows of a projection."""
    found: Baskets = [[]]
    for item in rows.flat:
        if item == END:
            found.append([])
        else:
            found[-1].append(int(item))
    return found[:-1]


sizes = st.one_of(
    st.tuples(st.integers(1, 3), st.none()),
    st.tuples(st.integers(1, 3), st.integers(0, 2)).map(lambda pair: (pair[0], pair[0] + pair[1])),
)
some_items = st.none() | st.lists(st.integers(0, 6), max_size=6)


@given(lists=baskets(), min_count=st.integers(1, 4), size=sizes, items=some_items)
def test_frequent_finds_what_counting_every_subset_finds(
    lists: Baskets, min_count: int, size: tuple[int, int | None], items: list[int] | None
) -> None:
    """All itemsets of the wanted sizes and items, none other, in the promised order."""
    smallest, largest = size
    found = mining.frequent(
        compressed(lists),
        alphabet_size=WIDE,
        min_count=min_count,
        min_size=smallest,
        max_size=largest,
        items=None if items is None else np.array(items, np.int32),
    )
    assert listed(found) == reference.frequent(
        lists, min_count=min_count, min_size=smallest, max_size=largest, items=items
    )


@given(lists=baskets(), k=st.integers(1, 60), min_count=st.integers(1, 3), size=sizes, items=some_items)
def test_top_finds_the_largest_supports(
    lists: Baskets, k: int, min_count: int, size: tuple[int, int | None], items: list[int] | None
) -> None:
    """All itemsets above the k-th support are there, ties fill up to k, and the order is the same."""
    smallest, largest = size
    truth = reference.frequent(lists, min_count=min_count, min_size=smallest, max_size=largest, items=items)
    found = listed(
        mining.top(
            compressed(lists),
            k,
            alphabet_size=WIDE,
            min_count=min_count,
            min_size=smallest,
            max_size=largest,
            items=None if items is None else np.array(items, np.int32),
        )
    )
    assert [support for _, support in found] == [support for _, support in truth[:k]]
    assert set(found) <= set(truth)
    assert found == reference.in_order(set(found))


@given(lists=baskets(), k=st.integers(1, 60))
def test_top_chooses_no_itemset_without_its_subsets(lists: Baskets, k: int) -> None:
    """Ties are cut such that the result stays complete: `maximal` depends on it."""
    found = {itemset for itemset, _ in listed(mining.top(compressed(lists), k, alphabet_size=WIDE))}
    parts = {itemset[:drop] + itemset[drop + 1 :] for itemset in found for drop in range(len(itemset))}
    assert parts - {()} <= found


@given(lists=baskets(), min_count=st.integers(1, 4), min_size=st.integers(1, 2))
def test_maximal_keeps_what_no_other_itemset_contains(lists: Baskets, min_count: int, min_size: int) -> None:
    """Looking up what an itemset leaves without one item finds the same as comparing all with all."""
    itemsets = mining.frequent(compressed(lists), alphabet_size=WIDE, min_count=min_count, min_size=min_size)
    assert listed(mining.maximal(itemsets)) == reference.maximal(listed(itemsets))


@given(lists=baskets())
def test_a_projection_keeps_the_rows_of_two_items_and_more(lists: Baskets) -> None:
    """Shorter rows go; the numbers that come along describe what is left."""
    rows = projected(lists, WIDE)
    kept = [row for row in lists if len(row) >= 2]
    assert split(rows) == kept
    assert rows.n_rows == len(kept)
    assert rows.longest == max(map(len, kept), default=0)
    assert rows.pairs == sum(len(row) * (len(row) - 1) // 2 for row in kept)


@given(lists=baskets(), dropped=st.integers(0, 6))
def test_tails_are_what_follows_an_item(lists: Baskets, dropped: int) -> None:
    """Projecting to what follows item 2, without some item, leaves the rows with at least two such items."""
    rows = projected(lists, WIDE)
    where = projection.occurrences_of(rows, WIDE)
    codes = np.arange(WIDE, dtype=np.uint32)
    codes[dropped] = END
    places = where.places[where.starts[2] : where.starts[3]]
    tails = projection.project_tails(rows.flat, places, codes, rows.flat.size)
    expected = [[item for item in row if item > 2 and item != dropped] for row in lists if 2 in row]
    assert split(tails) == [row for row in expected if len(row) >= 2]


@given(lists=baskets())
def test_bitmaps_say_which_rows_hold_an_item(lists: Baskets) -> None:
    """Bit r of an item's bitmap is set where row r holds it."""
    bitmaps = bitmaps_of(projected(lists, WIDE), WIDE)
    kept = [row for row in lists if len(row) >= 2]
    for item in range(WIDE):
        bits = sum(int(word) << (64 * at) for at, word in enumerate(bitmaps[item]))
        assert bits == sum(1 << r for r, row in enumerate(kept) if item in row)


@given(
    lists=st.lists(st.permutations(range(6)).flatmap(lambda row: st.integers(0, 6).map(lambda n: row[:n])))
)
def test_rows_are_sorted_item_by_item(lists: Baskets) -> None:
    """Writing all rows anew, smallest items first, sorts each."""
    rows = projected(lists, 6)
    projection.sort_rows(rows, 6)
    assert split(rows) == [sorted(row) for row in lists if len(row) >= 2]


@given(keys=st.lists(st.integers(0, 5) | st.integers(0, 2**40)))
def test_sort_by_is_a_stable_sort(keys: list[int]) -> None:
    """Sorting digit by digit gives what NumPy's stable sort gives, for keys of several digits as well."""
    order = sort_by(np.arange(len(keys)), np.array(keys, np.int64))
    assert order.tolist() == np.argsort(np.array(keys, np.int64), kind="stable").tolist()


def test_dense_rows_become_bitmaps_and_sparse_rows_do_not() -> None:
    """Both searches are in use, also in the tests of this file."""
    assert bitmaps_pay(projected([[0, 1, 2, 3]] * 10, 4), 4)
    assert not bitmaps_pay(projected([[0, 1], [2, 3]] * 10, WIDE), WIDE)


def test_top_stops_at_ties_where_all_itemsets_would_never_end() -> None:
    """Two rows of 800 items hold 2^800 itemsets; ten of them are found at once."""
    found = mining.top(compressed([list(range(800))] * 2), 10, alphabet_size=800)
    assert found.supports.tolist() == [2] * 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k is 0; give at least 1"),
        ({"min_count": 0}, "min_count is 0; give at least 1"),
        ({"min_size": 0}, "min_size is 0; give at least 1"),
        ({"min_size": 3, "max_size": 2}, "max_size is 2, below min_size 3; give at least 3"),
    ],
)
def test_numbers_out_of_range_are_refused(arguments: dict[str, Any], message: str) -> None:
    """The message says what was given and what is allowed."""
    with pytest.raises(BadCall, match=message):
        mining.top(compressed([[0, 1]]), **{"k": 1, "alphabet_size": 2, **arguments})


def test_numbers_beyond_64_bits_limit_nothing() -> None:
    """k and sizes above all there is give all; a threshold above all gives nothing."""
    rows, far = compressed([[0, 1], [1]]), 10**30
    found = mining.top(rows, far, alphabet_size=2, max_size=far)
    assert found.supports.tolist() == [2, 1, 1]
    assert mining.frequent(rows, alphabet_size=2, min_count=far).supports.size == 0
    assert mining.frequent(rows, alphabet_size=2, min_count=2).supports.tolist() == [2]


@pytest.mark.parametrize("code", [-1, 2])
def test_items_outside_the_alphabet_are_refused(code: int) -> None:
    """A code that is no item of the alphabet is a mistake of the caller."""
    with pytest.raises(BadCall, match="items holds a code outside 0 to 1"):
        mining.frequent(
            compressed([[0, 1]]), alphabet_size=2, min_count=1, items=np.array([0, code], np.int32)
        )


@pytest.mark.parametrize(
    ("name", "min_count"),
    [
        ("accidents-15k", 8000),
        ("BMS-WebView-1", 60),
        ("BMS-WebView-2", 100),
        ("chess", 2600),
        ("Groceries", 20),
        ("kosarak-70k", 250),
        ("MSNBC", 1000),
        ("mushroom", 2000),
        ("pumsb_star-de", 7500),
        ("retail", 60),
        ("T10I4D100K", 300),
        ("TaFeng", 400),
    ],
)
def test_real_data_give_what_pyfim_finds(name: str, min_count: int) -> None:
    """The frequent itemsets, the maximal ones and the top of them, on data of every kind."""
    if not DATA.is_dir():
        pytest.skip("the real datasets are not here")
    transactions = read(DATA / f"{name}.dat.zst")
    rows = Rows(transactions.offsets, transactions.items)
    alphabet_size = len(transactions.alphabet)
    lists = [codes.tolist() for codes in np.split(rows.items, rows.offsets[1:-1])]
    truth = reference.by_pyfim(lists, min_count=min_count)
    itemsets = mining.frequent(rows, alphabet_size=alphabet_size, min_count=min_count)
    assert listed(itemsets) == truth
    assert listed(mining.maximal(itemsets)) == reference.by_pyfim(lists, min_count=min_count, request="m")
    strictly_above = [one for one in truth if one[1] > truth[200][1]]
    top = listed(mining.top(rows, 200, alphabet_size=alphabet_size))
    assert len(top) == 200
    assert top[: len(strictly_above)] == strictly_above
