"""Sums in which an item of a row weighs what the row's length says."""

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import kernel


@kernel
def add_by_length(offsets: Int64Array, items: Int32Array, weights: Int64Array, totals: Int64Array) -> None:
    """Add `weights[length of the row]` to `totals[item]` for every item of every row."""
    for row in range(offsets.size - 1):
        weight = weights[offsets[row + 1] - offsets[row]]
        for i in range(offsets[row], offsets[row + 1]):
            totals[items[i]] += weight
