"""The public model of supports: against a list of all itemsets."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.forecast.curve import TOLERANCE, popularity, popularity_through, support_curve


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


@given(
    items=st.integers(30, 400),
    share=st.floats(0.02, 0.5),
    k=st.integers(5, 60),
    factor=st.floats(0.5, 1.6),
)
def test_a_guess_bends_the_curve_so_that_it_passes_there(
    items: int, share: float, k: int, factor: float
) -> None:
    """Whatever the facts; where fewer hold the k-th itemset than expected, the mean length stays."""
    rows, length = 50_000, max(share * items, 1.5)
    expected = support_curve(popularity(items=items, length=length), rows=rows, max_size=4).at_rank(k)
    wanted = min(factor * expected, 0.95 * rows)
    shares = popularity_through(wanted, k=k, rows=rows, items=items, length=length, max_size=4)
    bent = support_curve(shares, rows=rows, max_size=4)
    assert bent.at_rank(k) == pytest.approx(wanted, rel=4 * TOLERANCE)
    assert np.all(np.diff(shares) <= 0)
    assert np.all((shares > 0) & (shares < 1))


def test_where_many_hold_the_kth_itemset_popularity_is_steeper_and_the_length_stays() -> None:
    """As in records of a form: 75 attributes of which 37 hold, and nearly all rows hold the 100th itemset."""
    shares = popularity_through(3021, k=100, rows=3196, items=75, length=37.0, max_size=12)
    odds = shares / (1 - shares)
    assert shares.sum() == pytest.approx(37, rel=0.1)
    assert odds[0] / odds[-1] > 75**1.5


def test_where_few_hold_more_than_expected_the_length_gives_way() -> None:
    """Items that are held together make rare itemsets more frequent: every share grows, the rarest most."""
    plain = popularity(items=500, length=2.5)
    shares = popularity_through(500, k=100, rows=60_000, items=500, length=2.5, max_size=4)
    assert np.all(shares > plain)
    assert shares[-1] / plain[-1] > shares[0] / plain[0]
