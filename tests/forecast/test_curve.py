"""The public model of supports: against a list of all itemsets."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.forecast.curve import TOLERANCE, popularity, support_curve


@given(
    items=st.integers(1, 7),
    length=st.floats(0.3, 1.0),
    max_size=st.integers(1, 4),
    rows=st.integers(50, 5000),
)
def test_the_curve_is_what_listing_all_itemsets_gives(
    items: int, length: float, max_size: int, rows: int
) -> None:
    """Every rank has the support that the product of shares gives it, to within the grid."""
    shares = popularity(items=items, length=length * items)
    curve = support_curve(shares, rows=rows, max_size=max_size)
    listed = sorted(
        (
            rows * math.prod(shares[list(itemset)])
            for size in range(1, min(max_size, items) + 1)
            for itemset in combinations(range(items), size)
        ),
        reverse=True,
    )
    for rank, support in enumerate(listed, start=1):
        if support >= 1:
            assert curve.at_rank(rank) == pytest.approx(support, rel=2 * TOLERANCE)
    assert np.exp(curve.ln_numbers).sum() == pytest.approx(len(listed))
    assert curve.among_first(len(listed)).sum() == pytest.approx(len(listed))


@given(items=st.integers(1, 3000), share=st.floats(0.001, 0.99))
def test_popularity_falls_and_adds_up_to_the_length(items: int, share: float) -> None:
    """The one constant of the model is fixed by the typical length."""
    shares = popularity(items=items, length=share * items)
    assert shares.sum() == pytest.approx(share * items)
    assert np.all(np.diff(shares) < 0)
    odds = shares / (1 - shares)
    assert odds[0] / odds[-1] == pytest.approx(items)
