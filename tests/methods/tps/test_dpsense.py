"""Normalised supports of all items, or of some."""

from fractions import Fraction

from curators import curator_over
from veilset.methods.tps.dpsense import LIMITS, in_order

ROWS = [frozenset({0, 1, 2, 3})] * 6 + [frozenset({0, 1})] * 3 + [frozenset({5})] * 4


def test_items_are_in_the_order_of_their_noisy_supports() -> None:
    """At limit 1, items 0 and 1 weigh 3 each, and item 5 weighs 4."""
    curator = curator_over(ROWS, epsilon=Fraction(10**9))
    counts = curator.ask_normalised_supports(1, epsilon=Fraction(10**8))
    assert in_order(counts).tolist()[:3] == [5, 0, 1]


def test_the_public_limits_ascend() -> None:
    """From 1, without repeats."""
    assert LIMITS[0] == 1
    assert list(LIMITS) == sorted(set(LIMITS))
