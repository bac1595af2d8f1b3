"""Supports of all pairs of chosen items; `places` as in `vertical`.

Totals stand in the order of the pairs of places (0, 1), (0, 2), ..., (1, 2), ...

There are two ways, and which one is faster depends on the rows (measured, benchmarks/counting.py): to visit
each pair within each row takes 1 ns a pair, to AND the bitmaps of each pair of items 0.1 ns for 64 rows. How
many pairs the rows hold is estimated from the first of them.
"""

import numpy as np
import numpy.typing as npt

from veilset.raw.kernels import kernel
from veilset.raw.kernels.popcount import popcount
from veilset.raw.kernels.vertical import turn_to_bitmaps

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Bitmaps = npt.NDArray[np.uint64]

WORDS_FOR_A_VISIT = 10
"""While one pair of a row is visited, so many words of bitmaps can be combined."""

ROWS_FOR_A_SAMPLE = 16
"""One in so many rows is looked at to choose the way."""


def add_pairs(
    offsets: Int64Array, items: Int32Array, places: Int32Array, chosen: int, totals: Int64Array
) -> None:
    """Add to each total how many rows hold both items of a pair, in the faster of the two ways."""
    if bitmaps_pay(offsets, items, places, chosen):
        add_pairs_of_bitmaps(turn_to_bitmaps(offsets, items, places, chosen).bitmaps, chosen, totals)
    else:
        add_pairs_within_rows(offsets, items, places, chosen, totals)


def bitmaps_pay(offsets: Int64Array, items: Int32Array, places: Int32Array, chosen: int) -> bool:
    """Whether to combine the bitmaps of all pairs takes less time than to visit the pairs within the rows."""
    rows = offsets.size - 1
    sampled = -(-rows // ROWS_FOR_A_SAMPLE)
    visits = ROWS_FOR_A_SAMPLE * count_pairs_within_rows(offsets[: sampled + 1], items, places, chosen)
    words = chosen * (chosen - 1) // 2 * (rows // 64 + 1)
    return words < WORDS_FOR_A_VISIT * int(visits)


@kernel
def count_pairs_within_rows(
    offsets: Int64Array, items: Int32Array, places: Int32Array, chosen: int
) -> np.int64:
    """How many pairs of chosen items the rows hold, all together."""
    pairs = np.int64(0)
    for row in range(offsets.size - 1):
        held = np.int64(0)
        for i in range(offsets[row], offsets[row + 1]):
            held += places[items[i]] < chosen
        pairs += held * (held - 1) // 2
    return pairs


@kernel
def add_pairs_within_rows(
    offsets: Int64Array, items: Int32Array, places: Int32Array, chosen: int, totals: Int64Array
) -> None:
    """Add 1 to the totals of all pairs of chosen items within each row."""
    held = np.empty(chosen + 1, np.int64)
    for row in range(offsets.size - 1):
        length = np.int64(0)
        for i in range(offsets[row], offsets[row + 1]):
            held[length] = places[items[i]]
            length += held[length] < chosen
        for i in range(length):
            for j in range(i + 1, length):
                first, second = min(held[i], held[j]), max(held[i], held[j])
                totals[first * (2 * chosen - first - 1) // 2 + second - first - 1] += 1


@kernel
def add_pairs_of_bitmaps(bitmaps: Bitmaps, chosen: int, totals: Int64Array) -> None:
    """Add to each total the number of bits that the bitmaps of both items have set."""
    pair = 0
    for first in range(chosen):
        left = bitmaps[first]
        for second in range(first + 1, chosen):
            right = bitmaps[second]
            support = np.int64(0)
            for word in range(left.size):
                support += popcount(left[word] & right[word])
            totals[pair] += support
            pair += 1
