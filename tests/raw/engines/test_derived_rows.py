"""Rows made of other rows: the same in memory and on the disk."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.engines import derived_rows

Lists = list[list[int]]
lists = st.lists(st.lists(st.integers(0, 5), max_size=4, unique=True).map(sorted), max_size=7)


def rows_of(chunk: Lists, *, before: int = 0) -> CompressedRows:
    """Rows as a part of a larger table: behind some items that belong to none of them."""
    offsets = np.cumsum([before, *map(len, chunk)])
    items = np.array([9] * before + [item for row in chunk for item in row], np.int32)
    return CompressedRows(offsets, items)


def lists_of(rows: CompressedRows) -> Lists:
    """The rows as lists."""
    return [rows.items[start:end].tolist() for start, end in pairwise(rows.offsets.tolist())]


@pytest.mark.parametrize("largest", [0, 1 << 30], ids=["disk", "memory"])
@given(chunks=st.lists(lists, max_size=4), before=st.integers(0, 3))
def test_rows_of_chunks_come_one_after_another(largest: int, chunks: list[Lists], before: int) -> None:
    """Wherever they lie, and whatever stands before the rows of a chunk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derived_rows, "LARGEST_IN_MEMORY", largest)
        parts = (rows_of(chunk, before=before) for chunk in chunks)
        found = derived_rows.joined_chunks(parts, made_of=rows_of([]))
    assert lists_of(found) == [row for chunk in chunks for row in chunk]
    assert found.offsets[0] == 0
    assert found.items.size == found.offsets[-1]


@given(chunk=lists, before=st.integers(0, 3), order=st.permutations(range(6)), kept=st.integers(0, 6))
def test_new_codes_ascend_and_the_rest_is_left_out(
    chunk: Lists, before: int, order: list[int], kept: int
) -> None:
    """The rows that they are made of stay as they are."""
    rows = rows_of(chunk, before=before)
    code_of = np.array([order[item] if order[item] < kept else -1 for item in range(6)], np.int32)
    found = derived_rows.with_codes(rows, code_of)
    assert lists_of(found) == [sorted(order[item] for item in row if order[item] < kept) for row in chunk]
    assert lists_of(rows) == chunk
