"""Rows that are alike, found without sorting the rows: there are far fewer groups than rows."""

import numpy as np

from veilset.arrays import BoolArray, Int64Array, Uint64Array
from veilset.public_kernels import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""Multiplied by this, marks that differ anywhere differ in their upper bits, most likely."""


@kernel
def first_of_marks(marks: Uint64Array, group_of: Int64Array) -> Int64Array:
    """Write the group of each row: rows of the same mark, groups by their first row. Returns the first rows."""
    bits = 1
    while 1 << bits < 2 * marks.size:
        bits += 1
    shift, last = np.uint64(64 - bits), (1 << bits) - 1
    table = np.full(1 << bits, -1, np.int64)
    firsts = np.empty(marks.size, np.int64)
    number = 0
    for row in range(marks.size):
        place = np.int64(marks[row] * _GOLDEN >> shift)
        while table[place] >= 0 and marks[firsts[table[place]]] != marks[row]:
            place = (place + 1) & last
        if table[place] < 0:
            table[place] = number
            firsts[number] = row
            number += 1
        group_of[row] = table[place]
    return firsts[:number].copy()


@kernel
def take_first(rows: Int64Array, group_of: Int64Array, numbers: Int64Array, is_taken: BoolArray) -> int:
    """Take the first rows of each group, as many as there shall be. Returns how many were taken."""
    remaining = numbers.copy()
    taken = 0
    for row in rows:
        group = group_of[row]
        if remaining[group] > 0:
            remaining[group] -= 1
            is_taken[row] = True
            taken += 1
    return taken
