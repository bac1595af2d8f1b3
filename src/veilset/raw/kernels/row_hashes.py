"""A sum over rows that tells whether two tables hold the same rows, in whatever order."""

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint64Array
from veilset.raw.kernels import inlined, kernel


@inlined
def _mixed(word: np.uint64) -> np.uint64:
    """Every bit of the result depends on every bit of the word (the finaliser of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def sum_of_rows(offsets: Int64Array, items: Int32Array, words: Uint64Array) -> np.uint64:
    """The sum, modulo 2^64, of a word for each row that depends on the set of its items; each item has its own word."""
    total = np.uint64(0)
    for row in range(offsets.size - 1):
        of_row = np.uint64(0x9E3779B97F4A7C15)
        for place in range(offsets[row], offsets[row + 1]):
            of_row += words[items[place]]
        total += _mixed(of_row)
    return total
