"""Numbers as callers hand them in, made exact; and back to floating point, rounded outward."""

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Real

Rational = Fraction | int | float | str

_MOST_BITS = 10_000
"""10,000 bits: about 3,000 digits, fewer than Python refuses to write out."""

_LONG_EXPONENT = re.compile(r"[eE][+-]?[0-9_]{4,}")


def rational_of(given: Rational) -> Fraction:
    """The number that was meant: 0.1 is one tenth, not the nearest binary float.

    Raises ValueError where it is no number, or one of more than 3,000 digits, or written with an exponent of four or
    more digits: writing it out would take longer than anyone waits. A truth value is no number.

    >>> rational_of(0.1), rational_of("1/3"), rational_of(2)
    (Fraction(1, 10), Fraction(1, 3), Fraction(2, 1))
    """
    if isinstance(given, bool) or not isinstance(given, (Real, Decimal, str)):
        raise ValueError(type(given).__name__)  # noqa: TRY004 - one error for all that is no number
    if isinstance(given, (Fraction, int)):
        exact = Fraction(given)
        if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > _MOST_BITS:
            raise ValueError("more than 3,000 digits")
        return exact
    text = str(given)
    if _LONG_EXPONENT.search(text):
        raise ValueError(text)
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError(text) from None


def float_at_least(value: Fraction) -> float:
    """The smallest float that is not below `value`: noise may only ever be rounded up.

    >>> float_at_least(Fraction(1, 2)), Fraction(float_at_least(Fraction(1, 10))) >= Fraction(1, 10)
    (0.5, True)
    """
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
