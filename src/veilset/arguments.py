"""Arguments as callers hand them in, checked at the door: whatever cannot be meant ends in BadCall, before any look."""

import math
import os
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from veilset.errors import BadCall
from veilset.rationals import rational_of
from veilset.wording import shown

Given = TypeVar("Given")


def exact_number(given: object, what: str, *, such_as: str) -> Fraction:
    """The number that was meant, exactly; BadCall where there is none.

    >>> exact_number("1/3", "epsilon", such_as="0.5")
    Fraction(1, 3)
    """
    try:
        return rational_of(given)  # type: ignore[arg-type]  # that is what is checked
    except ValueError:
        raise BadCall(f"{what} {shown(given)} is not a number; give one, for example {such_as}") from None


def finite_or_infinite(given: object, what: str) -> float:
    """A number to compare with, in floating point; no text, no truth value, no nan.

    >>> finite_or_infinite(np.float64(0.5), "a threshold"), finite_or_infinite(2, "a threshold")
    (0.5, 2.0)
    """
    is_number = isinstance(given, (Real, Decimal)) and not isinstance(given, bool)
    try:
        number = float(given) if is_number else math.nan  # type: ignore[arg-type]
    except (ArithmeticError, ValueError):  # too large for a float, or a nan that complains
        number = math.nan
    if math.isnan(number):
        raise BadCall(f"{what} is {shown(given)}; give a number")
    return number


def truth(given: object, what: str) -> bool:
    """True or False, and nothing that Python would take for one.

    >>> truth(np.bool_(True), "public_items")
    True
    """
    if not isinstance(given, bool | np.bool_):
        raise BadCall(f"{what} is {shown(given)}; give True or False")
    return bool(given)


def instance(given: Any, kind: type[Given], what: str, *, give: str) -> Given:  # noqa: ANN401 - whatever was given
    """What was given, where it is of the kind; else BadCall, which says what to give."""
    if not isinstance(given, kind):
        raise BadCall(f"{what} is {shown(given)}; give {give}")
    return given


def a_path(given: object, what: str) -> str | os.PathLike[str]:
    """A path that a system can be asked for."""
    if not isinstance(given, (str, os.PathLike)) or "\0" in os.fspath(given):
        raise BadCall(f"{what} is {shown(given)}; give the path of a file")
    return given


def path_or_items(given: object, what: str) -> object:
    """The path of a list, or something that lists items."""
    if isinstance(given, (str, os.PathLike)):
        return a_path(given, what)
    is_empty_array = isinstance(given, np.ndarray) and given.ndim == 0
    if isinstance(given, bytes) or is_empty_array or not isinstance(given, Iterable):
        raise BadCall(
            f"{what} is {shown(given)}; give a list of items, or the path of a file with one on each line"
        )
    return given


def either(**named: Given | None) -> Given | None:
    """The value of an argument that has two names; BadCall where both were given.

    >>> either(max_size=None, max_len=3)
    3
    """
    given = {name: value for name, value in named.items() if value is not None}
    if len(given) > 1:
        raise BadCall(f"{' and '.join(given)} are two names of one argument; give one of them")
    return next(iter(given.values()), None)
