"""Bitmaps that are kept count what sets count, in blocks, on threads, and for the items that they hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from reference import Baskets
from strategies import ALPHABET_SIZE, arrays_of, baskets, itemsets, rows_of
from veilset.raw.engines import item_bitmaps
from veilset.raw.engines.item_bitmaps import ItemBitmaps

times = st.sampled_from([1, 20, 70])


def bitmaps_over(rows: Baskets, *, words: int = 1, threads: int = 2) -> ItemBitmaps:
    """Bitmaps in blocks of that many words."""
    supports = np.array(reference.item_supports(rows, ALPHABET_SIZE), np.int64)
    return ItemBitmaps(rows_of(rows), supports, words=words, threads=threads)


@given(
    some=baskets(),
    times=times,
    candidates=itemsets(),
    words=st.integers(1, 3),
    threads=st.integers(1, 3),
    most=st.integers(1, 4),
)
def test_kept_bitmaps_count_what_sets_count(
    some: Baskets, times: int, candidates: list[list[int]], words: int, threads: int, most: int
) -> None:
    """Supports, containment and weights of the itemsets whose items have a bitmap."""
    rows = some * times
    kept = bitmaps_over(rows, words=words, threads=threads)
    held = [each for each in candidates if kept.hold(np.array(each, np.int32))]
    offsets, items = arrays_of(held)
    numbers = kept.places[items]
    assert kept.supports(offsets, numbers).tolist() == reference.supports(rows, held)
    full = [each for each in held if each]
    offsets, items = arrays_of(full)
    found = kept.containment(offsets, kept.places[items], limit=most).tolist()
    contained = np.minimum(reference.containment(rows, full), most).astype(np.int64)
    assert found == np.bincount(contained, minlength=most + 1).tolist()
    weights = np.array([64 * most // max(most, n) for n in range(len(full) + 1)], np.int64)
    counted = kept.weighted_counts(offsets, kept.places[items], weights).tolist()
    assert counted == reference.capped_counts(rows, full, most, 64)


@given(some=baskets(), times=times, order=st.permutations(range(ALPHABET_SIZE)), number=st.integers(0, 6))
def test_cells_are_made_of_the_supports_of_subsets(
    some: Baskets, times: int, order: list[int], number: int
) -> None:
    """In any order of the items."""
    kept = bitmaps_over(some * times)
    chosen = [code for code in order if kept.hold(np.array([code]))][:number]
    cells = kept.marginal(kept.places[np.array(chosen, np.int32)])
    assert cells.tolist() == reference.marginal(some * times, chosen)


def test_the_most_frequent_items_get_the_bitmaps_that_there_is_memory_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """640 rows of 1, 2 or 3 items take 10 kB and more, a bitmap 80 bytes."""
    rows = [frozenset(range(r % 3 + 1)) for r in range(640)]
    assert bitmaps_over(rows).codes.tolist() == [0, 1, 2]
    monkeypatch.setattr(item_bitmaps, "SHARE_OF_MEMORY", 40)
    kept = bitmaps_over(rows)
    assert kept.codes.tolist() == [0, 1, 2]
    monkeypatch.setattr(item_bitmaps, "SHARE_OF_MEMORY", 60)
    kept = bitmaps_over(rows)
    assert kept.codes.tolist() == [0, 1]
    assert not kept.hold(np.array([0, 2]))


def test_rare_items_get_no_bitmap() -> None:
    """A bitmap pays for an item that one in 1,000 rows holds."""
    rows = [frozenset({0})] * 2001 + [frozenset({1})] * 3 + [frozenset({2})] * 2
    assert bitmaps_over(rows).codes.tolist() == [0, 1]


def test_kept_bitmaps_show_nothing() -> None:
    """They are private."""
    assert repr(bitmaps_over([frozenset({0})])) == "ItemBitmaps(private)"
