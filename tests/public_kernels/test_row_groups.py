"""Rows are grouped, and taken from groups, as loops over them would."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.public_kernels.row_groups import first_of_marks, take_first

GOLDEN_INVERSE = pow(0x9E3779B97F4A7C15, -1, 2**64)
"""Times this, small numbers become marks that share their place in the table."""

marks_of_rows = st.lists(
    st.one_of(
        st.integers(0, 2**64 - 1), st.integers(0, 5).map(lambda number: number * GOLDEN_INVERSE % 2**64)
    ),
    max_size=40,
)


@given(marks_of_rows)
def test_rows_of_one_mark_are_one_group(marks: list[int]) -> None:
    """Groups are numbered by their first rows."""
    group_of = np.full(len(marks), -1, np.int64)
    firsts = first_of_marks(np.array(marks, np.uint64), group_of)
    different = list(dict.fromkeys(marks))
    assert firsts.tolist() == [marks.index(mark) for mark in different]
    assert group_of.tolist() == [different.index(mark) for mark in marks]


@given(st.data())
def test_the_first_rows_of_each_group_are_taken(data: st.DataObject) -> None:
    """As many as there shall be, or as there are, in the order in which rows are given."""
    group_of = data.draw(st.lists(st.integers(0, 3), max_size=20))
    numbers = data.draw(st.lists(st.integers(0, 4), min_size=4, max_size=4))
    rows = data.draw(st.permutations(range(len(group_of))))
    is_taken, wanted = np.zeros(len(group_of), np.bool_), list(numbers)
    taken = take_first(np.array(rows, np.int64), np.array(group_of, np.int64), np.array(wanted), is_taken)
    expected = set()
    for row in rows:
        if numbers[group_of[row]] > 0:
            numbers[group_of[row]] -= 1
            expected.add(row)
    assert set(np.flatnonzero(is_taken).tolist()) == expected
    assert taken == len(expected)
