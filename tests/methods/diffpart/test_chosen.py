"""diffpart-chosen: what is filled in."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reference import Baskets
from strategies import ALPHABET_SIZE, basket
from veilset.itemsets import Itemsets
from veilset.methods.diffpart.filling import filled_in
from veilset.methods.diffpart.records import Records


def int64(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """An array of places or masks."""
    return np.array(values, dtype=np.int64)


@given(
    rows=st.lists(basket().filter(bool), min_size=1, max_size=12),
    wanted=st.lists(st.integers(-3, 15), min_size=ALPHABET_SIZE, max_size=ALPHABET_SIZE),
    empty=st.integers(0, 6),
)
def test_filling_in_adds_what_is_missing_and_nothing_else(
    rows: Baskets, wanted: list[int], empty: int
) -> None:
    """An item is in as many records as wanted, or in those it was in, or in all; no record loses an item."""
    counts = Counter(rows)
    chosen = np.arange(ALPHABET_SIZE)[::-1].copy()
    records = Records(Itemsets.of(counts), int64(*counts.values()))
    full = filled_in(records, chosen, int64(*wanted), rows=len(rows) + empty)
    for item, number in zip(chosen.tolist(), wanted, strict=True):
        held = sum(n for r, n in zip(full.itemsets, full.copies.tolist(), strict=True) if item in r)
        assert held == min(max(number, sum(item in row for row in rows)), len(rows) + empty)
    assert len(rows) <= full.copies.sum() <= len(rows) + empty
