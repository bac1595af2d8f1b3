"""The checks of rows that come from elsewhere, against loops that anybody can check."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.raw.kernels.row_checks import ascends_to, rows_ascend


@given(values=st.lists(st.integers(-2, 6), max_size=5), last=st.integers(-1, 6))
def test_values_ascend_to_the_last_or_not(values: list[int], last: int) -> None:
    """Ties are fine; what is below 0 or beyond the last is not."""
    expected = sorted(values) == values and all(0 <= value <= last for value in values)
    assert ascends_to(np.array(values, dtype=np.int64), last) == expected


@given(lengths=st.lists(st.integers(0, 3), max_size=5), data=st.data())
def test_rows_ascend_or_not(lengths: list[int], data: st.DataObject) -> None:
    """Each row by itself: without repeats, within the alphabet."""
    items = data.draw(st.lists(st.integers(-1, 4), min_size=sum(lengths), max_size=sum(lengths)))
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    rows = [items[a:b] for a, b in pairwise(offsets.tolist())]
    expected = all(sorted(set(row)) == row and all(0 <= item < 4 for item in row) for row in rows)
    assert rows_ascend(offsets, np.array(items, dtype=np.int32), 4) == expected
