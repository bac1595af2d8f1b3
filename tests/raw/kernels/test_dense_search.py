"""Bitmaps say what rows say, and the searches choose them where rows are dense."""

from hypothesis import given

from mining_rows import WIDE, Lists, lists_of_items, projected
from veilset.raw.kernels.dense_search import bitmaps_of


@given(lists=lists_of_items())
def test_bitmaps_say_which_rows_hold_an_item(lists: Lists) -> None:
    """Bit r of an item's bitmap is set where row r holds it."""
    bitmaps = bitmaps_of(projected(lists, WIDE), WIDE)
    kept = [row for row in lists if len(row) >= 2]
    for item in range(WIDE):
        bits = sum(int(word) << (64 * at) for at, word in enumerate(bitmaps[item]))
        assert bits == sum(1 << r for r, row in enumerate(kept) if item in row)
