"""What one transaction may add to a sum of supports, and what that leaves of the sum.

Post-processing and public numbers. A transaction of l items of which each is a chosen one with a chance q holds a
binomial number of chosen ones; real ones hold about as many, in some datasets more unevenly.
"""

import math
from functools import cache

import numpy as np

from veilset.arrays import FloatArray
from veilset.methods.tps.lengths import LENGTHS

SUM_CAPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 30, 40, 50, 65, 80, 100)
"""How many items a transaction may add, to choose from."""
UNEVENLY = 0.25
"""0.25 of what a cap takes is how far the binomial law is off: 0.1 in eight datasets, 0.6 in BMS-WebView-2."""
MOST_CHANCE = 0.998
"""0.998 is the highest chance that is reckoned with."""
GRID = np.concatenate([[0.0], np.geomspace(1e-3, 0.5, 41), [0.6, 0.7, 0.8, 0.9, 0.95, 0.999]])
"""Chances at which binomial numbers are reckoned; between them they are interpolated."""


def capped_numbers(chances: FloatArray, cap: int) -> FloatArray:
    """How many chosen items transactions of LENGTHS (the last axis) hold on average, each counting up to the cap.

    >>> capped_numbers(np.where(LENGTHS == 2, 0.5, 0.0), 1).sum().round(3)  # a quarter holds none
    np.float64(0.75)
    """
    table = _table(cap)
    possible = np.clip(chances, 0.0, MOST_CHANCE)
    lower = np.clip(np.searchsorted(GRID, possible, side="right") - 1, 0, GRID.size - 2)
    part = (possible - GRID[lower]) / (GRID[lower + 1] - GRID[lower])
    rows = np.arange(LENGTHS.size)
    found: FloatArray = table[rows, lower] * (1 - part) + table[rows, lower + 1] * part
    return found


@cache
def _table(cap: int) -> FloatArray:
    """The mean of a binomial number up to the cap, a row for each of LENGTHS and a column for each of GRID."""
    logs = np.array([math.lgamma(number + 1) for number in range(int(LENGTHS[-1]) + 1)])
    table = np.zeros((LENGTHS.size, GRID.size))
    log_in, log_out = np.log(np.maximum(GRID, 1e-300))[:, None], np.log1p(-GRID)[:, None]
    for row, length in enumerate(LENGTHS.astype(np.int64).tolist()):
        numbers = np.arange(min(cap, length + 1))
        ways = logs[length] - logs[numbers] - logs[length - numbers]
        below = np.exp(ways + numbers * log_in + (length - numbers) * log_out)
        table[row] = below @ numbers + cap * np.maximum(1 - below.sum(axis=1), 0.0)
    return table
