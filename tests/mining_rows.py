"""Rows over few or many items, in the forms that the miner and its kernels take."""

import numpy as np
from hypothesis import strategies as st

from strategies import arrays_of
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.kernels import projection
from veilset.raw.kernels.projection import Projection

WIDE = 40
"""More items than the rows of the tests can make dense."""

Lists = list[list[int]]


@st.composite
def lists_of_items(draw: st.DrawFn) -> Lists:
    """Rows over few or many items, some empty; one may come often enough to fill several words of bits."""
    alphabet = st.integers(0, draw(st.sampled_from([4, 7, WIDE - 1])))
    rows = draw(st.lists(st.lists(alphabet, unique=True, max_size=7).map(sorted), max_size=12))
    often = draw(st.lists(alphabet, unique=True, max_size=7).map(sorted))
    return rows + [often] * draw(st.sampled_from([0, 1, 70, 140]))


def compressed(lists: Lists) -> CompressedRows:
    """The same rows as the miner takes them."""
    return CompressedRows(*arrays_of(lists))


def projected(lists: Lists, n_items: int) -> Projection:
    """Rows as the searches take them, with no item dropped."""
    rows = compressed(lists)
    codes = np.arange(n_items, dtype=np.uint32)
    return projection.project_rows(rows.offsets, rows.items, codes, rows.items.size + rows.offsets.size)
