"""Rows on their way through a cut, and the lists that a cut is made of: nobody changes them, none stands askew."""

import numpy as np
import pytest

from veilset.errors import BadCall
from veilset.raw.cuts.rows import CompressedRows, chosen_rows
from veilset.raw.cuts.similar_cut import KeepSimilar


def test_rows_are_read_only() -> None:
    """Kernels meet one type of array, and the data stays as it is."""
    rows = CompressedRows(np.array([0, 2]), np.array([0, 1], np.int32))
    for array in (rows.offsets, rows.items):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("offsets", [[], [-1, 1], [0, 2, 1], [0, 3]], ids=str)
def test_lists_lie_within_their_items(offsets: list[int]) -> None:
    """None before the first, none beyond the last, none backwards."""
    with pytest.raises(BadCall):
        KeepSimilar(1, np.array([0, 1]), np.array(offsets, np.int64), np.array([0, 1], np.int32))


def test_rows_are_chosen_from_a_slice_of_a_table() -> None:
    """Its offsets begin behind the items of the rows before it, and end before those of the rows after it."""
    table = CompressedRows(np.array([0, 1, 3, 3, 4, 6]), np.array([9, 1, 2, 5, 7, 8], np.int32))
    part = CompressedRows(table.offsets[1:5], table.items)
    found = chosen_rows(part, np.array([True, False, True]))
    assert (found.offsets.tolist(), found.items.tolist()) == ([0, 2, 3], [1, 2, 5])
