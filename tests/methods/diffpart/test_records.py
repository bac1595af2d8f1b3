"""Noisy records: copies that add up."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.gate import SubPartitions
from veilset.methods.diffpart.records import MOST_SCALED, fitted


def int64(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """An array of places or masks."""
    return np.array(values, dtype=np.int64)


@given(
    parts=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 40)), max_size=12).map(sorted),
    wanted=st.lists(st.integers(0, 90), min_size=4, max_size=4),
)
def test_copies_add_up_to_what_is_wanted(parts: list[tuple[int, int]], wanted: list[int]) -> None:
    """The smallest go first, none grows more than twofold, and what is in no part is the rest."""
    parents, sizes = (int64(*column) for column in (zip(*parts, strict=True) if parts else ([], [])))
    fit = fitted(SubPartitions(parents, np.arange(len(parts)), sizes), int64(*wanted))
    for partition, total in enumerate(wanted):
        mine = parents == partition
        copies = fit.copies[mine]
        assert copies.sum() + fit.rest[partition] == total
        assert np.all(copies <= MOST_SCALED * sizes[mine])
        if sizes[mine].sum() >= total:
            assert fit.rest[partition] == 0
            assert np.all(copies <= sizes[mine])
            shortened = sizes[mine][copies < sizes[mine]]
            assert shortened.max(initial=0) <= sizes[mine][copies > 0].min(initial=99)
        else:
            assert np.all(copies >= sizes[mine])
