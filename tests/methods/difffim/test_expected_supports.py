"""What supports should be about: one by one, and what is concluded where all counts together are too low."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.methods.difffim.expected_supports import (
    LEAST_FROM_PARTS,
    LIFT_WITHIN,
    KnownSupport,
    SupportsFromParts,
    known_supports,
    with_lowered_shares,
)
from veilset.methods.shared.noisy_values import KeptShares, MeasuredGroup, NoisyValues
from veilset.methods.shared.shrinkage import Shrunk


@given(
    st.lists(st.floats(1, 900), min_size=3, max_size=3), st.lists(st.floats(1, 900), min_size=3, max_size=3)
)
def test_an_itemset_is_all_but_one_item_times_the_share_of_that_one(
    of_items: list[float], of_pairs: list[float]
) -> None:
    """The geometric mean over whichever item is the last; a pair is as frequent as independent items make it."""
    items: dict[tuple[int, ...], KnownSupport] = {
        (i,): KnownSupport(each, 0.0, each) for i, each in enumerate(of_items)
    }
    pairs: dict[tuple[int, ...], KnownSupport] = {
        pair: KnownSupport(each, 0.0, each)
        for pair, each in zip([(1, 2), (0, 2), (0, 1)], of_pairs, strict=True)
    }
    found = SupportsFromParts.of([(0, 1, 2)], items=items, parts=pairs, transactions=1000)
    products = [of_pairs[i] * of_items[i] / 1000 for i in range(3)]
    assert found.supports[0] == pytest.approx(max(math.prod(products) ** (1 / 3), LEAST_FROM_PARTS))
    of_two = SupportsFromParts.of([(0, 1)], items=items, parts=items, transactions=1000)
    assert of_two.supports[0] == pytest.approx(max(of_items[0] * of_items[1] / 1000, LEAST_FROM_PARTS))
    assert of_two.within == LIFT_WITHIN


def test_parts_that_are_hardly_known_say_less() -> None:
    """Their own errors make supports differ more from what they say."""
    found = Shrunk(np.array([100.0, 50.0]), np.array([90.0, 0.0]), np.array([110.0, 200.0]))
    known = known_supports([(0,), (1,)], found)
    assert known[(0,)] == KnownSupport(100.0, 0.05, 110.0)
    assert known[(1,)].error == 1
    expected = SupportsFromParts.of([(0, 1)], items=known, parts=known, transactions=1000)
    assert expected.within > LIFT_WITHIN + 0.3


def _group(counted: float, *, doubt: float) -> MeasuredGroup:
    """100 itemsets that should have 200 each, of which a half should be counted, and is on average `counted`."""
    values = np.full(100, counted)
    return MeasuredGroup(
        NoisyValues.laplace(values, 10.0, np.full(100, 200.0)), KeptShares.certain(0.5, (doubt, doubt))
    )


def test_counts_that_are_too_low_together_lost_more_than_was_thought() -> None:
    """Where that is in doubt; counts that are too high say nothing, since items may belong together."""
    assert with_lowered_shares([_group(20, doubt=2.0)])[0].kept.middle == pytest.approx(0.11, abs=0.02)
    assert with_lowered_shares([_group(20, doubt=0.01)])[0].kept.middle == pytest.approx(0.5, abs=0.01)
    assert with_lowered_shares([_group(300, doubt=2.0)])[0].kept.middle == 0.5
