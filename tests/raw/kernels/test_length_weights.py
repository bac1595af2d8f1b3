"""Sums of weights by length match the obvious loop."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import reference
from reference import Baskets
from strategies import ALPHABET_SIZE, baskets, rows_of
from veilset.raw.kernels.length_weights import add_by_length


@given(
    rows=baskets(),
    weights=st.lists(st.integers(0, 2**40), min_size=ALPHABET_SIZE + 1, max_size=ALPHABET_SIZE + 1),
    before=st.lists(st.integers(0, 99), min_size=ALPHABET_SIZE, max_size=ALPHABET_SIZE),
)
def test_every_item_gets_what_the_lengths_of_its_rows_weigh(
    rows: Baskets, weights: list[int], before: list[int]
) -> None:
    """Added to what is there, also beyond 32 bits; rows of no items add nothing."""
    packed, totals = rows_of(rows), np.array(before, np.int64)
    add_by_length(packed.offsets, packed.items, np.array(weights, np.int64), totals)
    assert (totals - before).tolist() == reference.weighted_items(rows, ALPHABET_SIZE, weights)
