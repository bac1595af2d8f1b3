"""Counts that one look at each item of each row gives: lengths, items, marginals."""

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import kernel


@kernel
def add_lengths(offsets: Int64Array, totals: Int64Array) -> None:
    """Add 1 to `totals[length]` for each row; the last total takes the longer rows as well."""
    for row in range(offsets.size - 1):
        totals[min(offsets[row + 1] - offsets[row], totals.size - 1)] += 1


@kernel
def add_items(offsets: Int64Array, items: Int32Array, totals: Int64Array) -> None:
    """Add 1 to `totals[item]` for each item of each row."""
    for i in range(offsets[0], offsets[-1]):
        totals[items[i]] += 1


@kernel
def add_marginal(offsets: Int64Array, items: Int32Array, places: Int32Array, totals: Int64Array) -> None:
    """Add 1 to `totals[cell]` for each row: bit p of a cell tells whether the item of place p is held.

    `places` as in `vertical`. Items that were not chosen set a bit beyond the cell, which is then dropped.
    """
    for row in range(offsets.size - 1):
        cell = np.int64(0)
        for i in range(offsets[row], offsets[row + 1]):
            cell |= np.int64(1) << places[items[i]]
        totals[cell & (totals.size - 1)] += 1
