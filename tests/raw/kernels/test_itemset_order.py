"""Sorting by digits sorts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.raw.kernels.itemset_order import sort_by


@given(keys=st.lists(st.integers(0, 5) | st.integers(0, 2**40)))
def test_sort_by_is_a_stable_sort(keys: list[int]) -> None:
    """Sorting digit by digit gives what NumPy's stable sort gives, for keys of several digits as well."""
    order = sort_by(np.arange(len(keys)), np.array(keys, np.int64))
    assert order.tolist() == np.argsort(np.array(keys, np.int64), kind="stable").tolist()
