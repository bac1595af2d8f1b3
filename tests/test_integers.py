"""Whole numbers as they are handed in: read once, exact, in arrays that stay as they are."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.errors import BadCall
from veilset.integers import frozen, item_codes, whole, whole_numbers

NAN = float("nan")


@given(number=st.integers())
def test_an_integer_is_itself(number: int) -> None:
    """Also one of numpy, where it has room for it."""
    assert whole(number, "k") == number
    if -(2**63) <= number < 2**63:
        assert whole(np.int64(number), "k") == number
        assert type(whole(np.int64(number), "k")) is int


@pytest.mark.parametrize("given", [1.0, NAN, True, np.True_, "1", None, Fraction(1), [1], np.float64(1)])
def test_anything_else_is_no_whole_number(given: object) -> None:
    """What was given is told, and what is allowed."""
    with pytest.raises(BadCall, match=r"^k is .*; give a whole number$"):
        whole(given, "k")


def test_a_number_that_is_too_small_is_refused() -> None:
    """With the least that will do."""
    assert whole(2, "the depth", least=2) == 2
    with pytest.raises(BadCall, match="the depth is 1; give a whole number, at least 2"):
        whole(1, "the depth", least=2)


@given(numbers=st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_whole_numbers_are_a_copy_that_nobody_can_change(numbers: list[int]) -> None:
    """Of 64 bits, whatever they came in."""
    source = np.array(numbers, dtype=np.int64)
    kept = whole_numbers(source, "places")
    source[:] = 7
    assert kept.tolist() == numbers
    assert kept.dtype == np.int64
    assert not kept.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        kept.setflags(write=True)


@given(codes=st.lists(st.integers(0, 2**31 - 1)), dtype=st.sampled_from(["u4", "i8", ">i8", "u8"]))
def test_codes_have_32_bits_in_whatever_they_come(codes: list[int], dtype: str) -> None:
    """Nothing is cut off."""
    kept = item_codes(np.array(codes, dtype=dtype), "codes")
    assert kept.dtype == np.int32
    assert kept.tolist() == codes


@pytest.mark.parametrize(
    "given",
    [
        [0.5],
        [NAN],
        [True],
        np.array([0.0]),
        [[0]],
        3,
        "01",
        [None],
        [0, "1"],
        [[0], [1, 2]],
        [2**63],
        [2**70],
    ],
    ids=repr,
)
def test_lists_of_anything_else_are_refused(given: Any) -> None:  # noqa: ANN401
    """Decimals are not cut, truth values not counted."""
    with pytest.raises(BadCall, match="give"):
        whole_numbers(given, "places")


@pytest.mark.parametrize(("codes", "message"), [([-1], "negative code"), ([2**31], "beyond 2147483647")])
def test_codes_outside_of_32_bits_are_refused(codes: list[int], message: str) -> None:
    """A code that was cut off would be another item."""
    with pytest.raises(BadCall, match=message):
        item_codes(codes, "codes")


def test_nothing_is_frozen_as_well() -> None:
    """An array without numbers has the type of one with some."""
    assert not frozen(np.zeros(0, np.int32)).flags.writeable
    assert whole_numbers([], "places").size == 0
