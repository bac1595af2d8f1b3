"""The noise of the audit's own algorithms: draws fit the law, tails are sums of it."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import fits
from veilset.audit import geometric


@pytest.mark.parametrize(("factor", "is_right"), [(0.9, False), (1.0, True), (1.1, False)])
def test_noise_has_the_law_that_is_computed_with(factor: float, is_right: bool) -> None:
    """Draws fit the probabilities, and do not fit those for ten percent more or less."""
    drawn = Counter(geometric.draw(np.random.default_rng(5), 0.3, 50_000).tolist())
    values = np.arange(-200, 201)
    law = dict(zip(values.tolist(), geometric.chance(values, 0.3 * factor).tolist(), strict=True))
    assert fits(drawn, law) == is_right


@given(bound=st.integers(-30, 30), epsilon=st.floats(0.2, 3))
def test_tails_are_sums_of_the_law(bound: int, epsilon: float) -> None:
    """The probability of so much or more, against adding up."""
    added = geometric.chance(np.arange(bound, bound + 400), epsilon).sum()
    assert geometric.chance_at_least(bound, epsilon) == pytest.approx(added, rel=1e-9)
