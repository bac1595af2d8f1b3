"""The phases of TPS: zones of items, and what fills up."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilset.gate import NormalisedCounts
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.gate.selection.length_scores import WEIGHT_STEPS
from veilset.methods.tps.phases import Zones, filled_up


def counts_of(noisy: list[int], *, scale: int) -> NormalisedCounts:
    """Noisy supports of so many items with noise of that scale."""
    mechanism = DiscreteLaplace(scale, Fraction(1), WEIGHT_STEPS)
    return NormalisedCounts(np.arange(len(noisy)), np.array(noisy) * WEIGHT_STEPS, scale, mechanism)


def test_the_zones_of_the_running_example() -> None:
    """Figure 2: A and B are safe; E, G, F, C, H, D are unsafe in this order; I is rare; k is 5."""
    noisy = dict(zip("ABCDEFGHI", [95, 90, 60, 54, 70, 62, 66, 56, 30], strict=True))
    zones = Zones.of(counts_of(list(noisy.values()), scale=5), 5)
    names = "".join(noisy)
    assert "".join(names[code] for code in zones.safe) == "AB"
    assert "".join(names[code] for code in zones.unsafe) == "EGFCHD"
    assert zones.wanted == 3


@given(
    noisy=st.lists(st.integers(-20, 200), min_size=1, max_size=30), scale=st.integers(1, 30), data=st.data()
)
def test_zones_by_their_definition(noisy: list[int], scale: int, data: st.DataObject) -> None:
    """Safe above tau + 2 l / epsilon, unsafe within it; the k-th itself is unsafe, so something is wanted."""
    k = data.draw(st.integers(1, len(noisy)))
    zones = Zones.of(counts_of(noisy, scale=scale), k)
    tau = sorted(noisy, reverse=True)[k - 1]
    assert {*zones.safe} == {code for code, value in enumerate(noisy) if value > tau + 2 * scale}
    assert {*zones.unsafe} == {code for code, value in enumerate(noisy) if abs(value - tau) <= 2 * scale}
    assert 1 <= zones.wanted == k - zones.safe.size <= zones.unsafe.size
    in_order = [noisy[code] for code in zones.unsafe]
    assert in_order == sorted(in_order, reverse=True)


def test_missing_items_are_filled_up_in_a_public_order() -> None:
    """T2: those that were found first, then the others, none twice, never more than wanted."""
    assert filled_up((4, 1), np.array([3, 4, 2, 1]), 4) == [4, 1, 3, 2]
    assert filled_up((4, 1), np.array([3, 4]), 2) == [4, 1]
