"""Supports in which a long row counts less: each of its items weighs limit / length, as an integer."""

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import kernel


@kernel
def add_normalised(
    offsets: Int64Array, items: Int32Array, limits: Int64Array, steps: int, totals: Int64Array
) -> None:
    """Add what each item weighs in each row to `totals[item * limits.size + place]`, for every limit at once.

    An item of a row of length n weighs `steps` where n is at most the limit, else `steps * limit / n` rounded
    down: all items of a row together weigh at most `steps * limit`.
    """
    number = limits.size
    weights = np.empty(number, np.int64)
    for row in range(offsets.size - 1):
        length = offsets[row + 1] - offsets[row]
        for place in range(number):
            weights[place] = steps if length <= limits[place] else steps * limits[place] // length
        for i in range(offsets[row], offsets[row + 1]):
            first = np.int64(items[i]) * number
            for place in range(number):
                totals[first + place] += weights[place]


@kernel
def add_lost(
    offsets: Int64Array, items: Int32Array, limits: Int64Array, steps: int, totals: Int64Array
) -> None:
    """Add what each item weighs less than `steps` in each row: 0 in short rows, which are passed over."""
    number = limits.size
    shortest = limits[0]
    for limit in limits:
        shortest = min(shortest, limit)
    lost = np.empty(number, np.int64)
    for row in range(offsets.size - 1):
        length = offsets[row + 1] - offsets[row]
        if length <= shortest:
            continue
        for place in range(number):
            lost[place] = 0 if length <= limits[place] else steps - steps * limits[place] // length
        for i in range(offsets[row], offsets[row + 1]):
            first = np.int64(items[i]) * number
            for place in range(number):
                totals[first + place] += lost[place]
