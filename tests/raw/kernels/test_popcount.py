"""Bits are counted as in the binary form."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.raw.kernels import vertical
from veilset.raw.kernels.popcount import popcount


@given(words=st.lists(st.integers(0, 2**64 - 1), max_size=9))
def test_bits_are_counted_alike_in_python_and_in_kernels(words: list[int]) -> None:
    """`popcount` counts the ones of the binary form, called from Python or compiled."""
    expected = [f"{word:b}".count("1") for word in words]
    assert [popcount(np.uint64(word)) for word in words] == expected
    assert vertical.count_bits(np.array(words, np.uint64).reshape(1, -1)).tolist() == [sum(expected)]
