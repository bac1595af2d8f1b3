"""Whether what was released can be told from noise; from the released intervals alone, at no further cost."""

from statistics import median
from typing import Protocol

NOISE_TOLD = 0.2
"""At most 20 % of itemsets are told from 0 where all is noise: one interval in 40 lies above the truth, and itemsets
were chosen for their noise. Methods that mine generated data told 26 % or more where their F-score was above 0.5."""

_HALF = 0.5
"""Where not even the number of transactions is told from 0, supports must be known within a half of themselves."""

_CUT_OFF = 1
"""Intervals that start at 0 or 1 were cut off there, or might have been."""


class _Interval(Protocol):
    """A noisy count with its 95 % interval."""

    @property
    def low(self) -> int: ...
    @property
    def high(self) -> int: ...


class _Support(_Interval, Protocol):
    @property
    def support(self) -> int: ...


def is_told_from_noise(found: _Interval, number: _Interval) -> bool:
    """Whether an interval starts above 0, and below the largest number of transactions that there may be.

    One that starts there was cut off there: the noise is larger than the data. A public number has no such end.
    """
    return found.low > _CUT_OFF and (number.low == number.high or found.low < number.high)


def is_mostly_noise(itemsets: "tuple[_Support, ...]", number: _Interval) -> bool:
    """Whether hardly any of the itemsets can be told from noise; no itemsets claim nothing.

    Hardly any interval starts above 0; or the number of transactions, the largest count there is, has one that does
    not, and half of the supports are not even known within a half.
    """
    if not itemsets:
        return False
    told = sum(is_told_from_noise(found, number) for found in itemsets)
    if told <= NOISE_TOLD * len(itemsets):
        return True
    return number.low <= _CUT_OFF and median(found.low / max(found.support, 1) for found in itemsets) < _HALF
