"""The exact miner finds what its slow twins find, and nothing else."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_mining as reference
from mining_rows import WIDE, Lists, as_filter, compressed, filters, listed, lists_of_items
from shared_data import DATA
from veilset.errors import BadCall
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.engines import mining
from veilset.raw.read import read


@given(lists=lists_of_items(), which=filters(most=4))
def test_frequent_finds_what_counting_every_subset_finds(lists: Lists, which: dict[str, Any]) -> None:
    """All itemsets of the wanted sizes and items, none other, in the promised order."""
    found = mining.frequent(compressed(lists), as_filter(**which), alphabet_size=WIDE)
    assert listed(found) == reference.frequent(lists, **which)


@given(lists=lists_of_items(), k=st.integers(1, 60), which=filters(most=3))
def test_top_finds_the_largest_supports(lists: Lists, k: int, which: dict[str, Any]) -> None:
    """All itemsets above the k-th support are there, ties fill up to k, and the order is the same."""
    truth = reference.frequent(lists, **which)
    found = listed(mining.top(compressed(lists), k, as_filter(**which), alphabet_size=WIDE))
    assert [support for _, support in found] == [support for _, support in truth[:k]]
    assert set(found) <= set(truth)
    assert found == reference.in_order(set(found))


@given(lists=lists_of_items(), k=st.integers(1, 60))
def test_top_chooses_no_itemset_without_its_subsets(lists: Lists, k: int) -> None:
    """Ties are cut such that the result stays complete: `only_maximal` depends on it."""
    found = {
        itemset for itemset, _ in listed(mining.top(compressed(lists), k, as_filter(), alphabet_size=WIDE))
    }
    parts = {itemset[:drop] + itemset[drop + 1 :] for itemset in found for drop in range(len(itemset))}
    assert parts - {()} <= found


@given(lists=lists_of_items(), min_count=st.integers(1, 4), min_size=st.integers(1, 2))
def test_maximal_keeps_what_no_other_itemset_contains(lists: Lists, min_count: int, min_size: int) -> None:
    """Looking up what an itemset leaves without one item finds the same as comparing all with all."""
    itemsets = mining.frequent(
        compressed(lists), as_filter(min_count=min_count, min_size=min_size), alphabet_size=WIDE
    )
    assert listed(mining.only_maximal(itemsets)) == reference.maximal(listed(itemsets))


def test_top_stops_at_ties_where_all_itemsets_would_never_end() -> None:
    """Two rows of 800 items hold 2^800 itemsets; ten of them are found at once."""
    found = mining.top(compressed([list(range(800))] * 2), 10, as_filter(), alphabet_size=800)
    assert found.supports.tolist() == [2] * 10


def test_a_k_of_nothing_is_refused() -> None:
    """The message says what was given and what is allowed."""
    with pytest.raises(BadCall, match="k is 0; give at least 1"):
        mining.top(compressed([[0, 1]]), 0, as_filter(), alphabet_size=2)


def test_numbers_beyond_64_bits_limit_nothing() -> None:
    """k and sizes above all there is give all; a threshold above all gives nothing."""
    rows, far = compressed([[0, 1], [1]]), 10**30
    found = mining.top(rows, far, as_filter(max_size=far), alphabet_size=2)
    assert found.supports.tolist() == [2, 1, 1]
    assert mining.frequent(rows, as_filter(min_count=far), alphabet_size=2).supports.size == 0
    assert mining.frequent(rows, as_filter(min_count=2), alphabet_size=2).supports.tolist() == [2]


@pytest.mark.parametrize("code", [-1, 2])
def test_items_outside_the_alphabet_are_refused(code: int) -> None:
    """A code that is no item of the alphabet is a mistake of the caller."""
    with pytest.raises(BadCall, match="items holds a code outside 0 to 1"):
        mining.frequent(compressed([[0, 1]]), as_filter(items=[0, code]), alphabet_size=2)


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
    rows = CompressedRows(transactions.offsets, transactions.items)
    alphabet_size = len(transactions.alphabet)
    lists = [codes.tolist() for codes in np.split(rows.items, rows.offsets[1:-1])]
    truth = reference.by_pyfim(lists, min_count=min_count)
    itemsets = mining.frequent(rows, as_filter(min_count=min_count), alphabet_size=alphabet_size)
    assert listed(itemsets) == truth
    assert listed(mining.only_maximal(itemsets)) == reference.by_pyfim(lists, min_count=min_count, target="m")
    strictly_above = [one for one in truth if one[1] > truth[200][1]]
    top = listed(mining.top(rows, 200, as_filter(), alphabet_size=alphabet_size))
    assert len(top) == 200
    assert top[: len(strictly_above)] == strictly_above
