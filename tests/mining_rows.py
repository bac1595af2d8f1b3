"""Rows over few or many items and filters of itemsets, in the forms that the miner and its kernels take."""

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from reference_mining import Supported
from strategies import arrays_of
from veilset.raw.counts import ExactItemsets
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.engines.itemset_filter import ItemsetFilter
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


def listed(itemsets: ExactItemsets) -> list[Supported]:
    """What was mined, as the twins give it."""
    ends = itemsets.offsets.tolist()
    items = itemsets.items.tolist()
    found = [tuple(items[begin:end]) for begin, end in pairwise(ends)]
    return list(zip(found, itemsets.supports.tolist(), strict=True))


@st.composite
def filters(draw: st.DrawFn, most: int) -> dict[str, Any]:
    """What an `ItemsetFilter` and the slow miner are made with; `min_count` is up to `most`."""
    min_size = draw(st.integers(1, 3))
    larger = draw(st.none() | st.integers(0, 2))
    return {
        "min_count": draw(st.integers(1, most)),
        "min_size": min_size,
        "max_size": None if larger is None else min_size + larger,
        "items": draw(st.none() | st.lists(st.integers(0, 6), max_size=6)),
    }


def as_filter(items: list[int] | None = None, max_size: int | None = None, **limits: int) -> ItemsetFilter:
    """A filter for the fast miner, which takes items as an array."""
    codes = None if items is None else np.array(items, np.int32)
    return ItemsetFilter(items=codes, max_size=max_size, **limits)
