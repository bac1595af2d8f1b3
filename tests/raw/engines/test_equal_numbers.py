"""Numbers among equal transactions, on several threads and in buckets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import row_keys_twin as twin
from reference import Baskets
from strategies import baskets, rows_of
from veilset.raw.engines import equal_numbers
from veilset.raw.engines.equal_numbers import numbers_among_equal


@given(rows=baskets(max_rows=40), longer_than=st.integers(-1, 3), threads=st.integers(1, 3))
def test_buckets_are_numbered_as_a_list_is(rows: Baskets, longer_than: int, threads: int) -> None:
    """Rows of any length, or long ones alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equal_numbers, "MANY_ROWS", -1)
        patch.setattr(equal_numbers, "BITS_OF_BUCKETS", 2)
        found = numbers_among_equal(rows_of(rows), longer_than=longer_than, threads=threads)
    slow = twin.numbers_of(rows)
    assert found.tolist() == [n * (len(row) > longer_than) for n, row in zip(slow, rows, strict=True)]


def test_many_rows_are_numbered_alike_in_buckets_and_in_one_table() -> None:
    """Rows of one item among many others that share their upper bits."""
    rows = [frozenset({value}) for value in np.random.default_rng(3).integers(0, 900, 3_000).tolist()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equal_numbers, "MANY_ROWS", 0)
        found = numbers_among_equal(rows_of(rows), longer_than=0, threads=2)
    assert found.tolist() == numbers_among_equal(rows_of(rows), longer_than=0, threads=1).tolist()
