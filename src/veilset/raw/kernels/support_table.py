"""A table of the supports of all sets of a few items: for many rows of hardly any different ones.

Rows that hold the same of the items are merged into one cell, which counts them. Adding up cells, item by item,
leaves in each the number of rows that hold at least its items: the supports of all sets, for less than bitmaps take to
count the pairs.
"""

import numpy as np

from veilset.arrays import Int64Array
from veilset.raw.kernels import inner
from veilset.raw.kernels.projection import END, Projection

MOST_TABLE_ITEMS = 22
"""A table of 22 items has 4 million cells."""


@inner
def table_pays(n_items: int, n_rows: int) -> bool:
    """Whether the supports of all sets of the items are had sooner than those of all pairs by bitmaps."""
    if n_items > MOST_TABLE_ITEMS:
        return False
    return n_items << n_items <= n_items * (n_items - 1) // 2 * (n_rows // 16)


@inner
def supports_of_all(rows: Projection, n_items: int) -> Int64Array:
    """How many rows hold all items of each set; bit i of a set's number tells whether it holds item i."""
    table = np.zeros(1 << n_items, np.int64)
    held = np.int64(0)
    for item in rows.flat:
        if item == END:
            table[held] += 1
            held = np.int64(0)
        else:
            held |= 1 << np.int64(item)
    for item in range(n_items):
        step = 1 << item
        for start in range(0, table.size, 2 * step):
            for cell in range(start, start + step):
                table[cell] += table[cell + step]
    return table
