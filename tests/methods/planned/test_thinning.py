"""How a part of all items overlaps."""

import numpy as np
import pytest

from planned_cases import overlap_over
from veilset.methods.planned.histogram_laws import NUMBERS
from veilset.methods.planned.thinning import thinned


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_part_of_the_itemsets_is_contained_as_by_chance(share: float) -> None:
    """Against draws: of 3 and of 20 itemsets, each is in the part or not."""
    part = thinned(overlap_over({3: 600, 20: 400}), share).transactions
    random = np.random.default_rng(1)
    drawn = random.binomial(np.repeat([3, 20], [60_000, 40_000]), share)
    expected = np.bincount(drawn, minlength=21)[1:21] / 100
    assert part[:20] == pytest.approx(expected, abs=6)
    assert float(part @ NUMBERS) == pytest.approx(share * (3 * 600 + 20 * 400))


def test_all_of_the_itemsets_overlap_as_they_do() -> None:
    """Also where supports are told to add up to more than all of them."""
    overlap = overlap_over({3: 600})
    assert thinned(overlap, 1.0) is overlap
    assert thinned(overlap, 1.3) is overlap
