"""Whole numbers as callers hand them in, made exact: no truth values, no decimals, and arrays that stay as they are."""

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from veilset.arrays import Int32Array, Int64Array
from veilset.errors import BadCall
from veilset.wording import shown


def whole(given: object, what: str, *, least: int | None = None, most: int | None = None) -> int:
    """The integer that was given, read once; BadCall for anything else, or for one that is too small or too large.

    >>> whole(3, "k"), whole(np.int64(3), "k", least=1)
    (3, 3)
    """
    try:
        number = None if isinstance(given, bool | np.bool_) else operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None:
        raise BadCall(f"{what} is {shown(given)}; give a whole number")
    if least is not None and number < least:
        raise BadCall(f"{what} is {shown(number)}; give a whole number, at least {least}")
    if most is not None and number > most:
        raise BadCall(f"{what} is {shown(number)}; give a whole number, at most {most}")
    return int(number)


def whole_numbers(given: npt.ArrayLike, what: str) -> Int64Array:
    """A list of integers as an array of one's own that nobody can change; BadCall for anything else.

    >>> whole_numbers([2, 0], "places").tolist()
    [2, 0]
    """
    return _kept(given, what, np.dtype(np.int64))


def item_codes(given: npt.ArrayLike, what: str) -> Int32Array:
    """The same for codes of items, which have 32 bits and are never negative."""
    codes: Int32Array = _kept(given, what, np.dtype(np.int32))
    if codes.min(initial=0) < 0:
        raise BadCall(f"{what} hold a negative code; give codes of the alphabet, from 0 up")
    return codes


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A copy that nobody can make writable again: it lives in bytes, which Python never changes.

    >>> frozen(np.arange(2)).flags.writeable
    False
    """
    held = array.tobytes() or bytes(array.itemsize)  # there is no array over no bytes
    return np.frombuffer(held, array.dtype)[: array.size]


def _kept(given: npt.ArrayLike, what: str, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    try:
        array = np.asarray(given)
    except ValueError:
        raise BadCall(f"{what} are no list of whole numbers; give one") from None
    if array.ndim != 1 or (array.size > 0 and array.dtype.kind not in "iu"):
        raise BadCall(f"{what} are no list of whole numbers; give one")
    own = frozen(array if array.size > 0 else np.zeros(0, dtype))
    bounds = np.iinfo(dtype)
    if own.size > 0 and not bounds.min <= int(own.min()) <= int(own.max()) <= bounds.max:
        raise BadCall(f"{what} hold a number beyond {bounds.max}; give smaller ones")
    return own if own.dtype == dtype else frozen(own.astype(dtype))
