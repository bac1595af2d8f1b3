"""What capped counts of chosen itemsets tell of supports."""

import numpy as np
import pytest

from veilset.methods.planned.capped_counts import CHOSEN_LEAN
from veilset.methods.planned.measurements import USUAL_TILT
from veilset.methods.planned.overlap import MOST, Overlap, weights_under
from veilset.methods.planned.settings import DEFAULT


def chosen_of_generated(seed: int, *, most_frequent: int) -> np.ndarray:
    """Which of 4,000 baskets hold which of the most frequent of 800 items: a row for each item."""
    draw = np.random.default_rng(seed)
    chances = 1 / np.arange(1, 801)
    held = np.zeros((800, 4000), bool)
    for basket, length in enumerate(draw.geometric(1 / 7, 4000)):
        held[draw.choice(800, length, p=chances / chances.sum()), basket] = True
    return held[np.argsort(-held.sum(axis=1))[:most_frequent]]


@pytest.mark.parametrize("most", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_chosen_itemsets_lean_more_towards_transactions_that_hold_many_of_them(seed: int, most: int) -> None:
    """Capped counts are predicted more closely than if they leaned as items towards lengths: less of them is kept."""
    held = chosen_of_generated(seed, most_frequent=40)
    number, supports = held.sum(axis=0), held.sum(axis=1).astype(float)
    overlap = Overlap.known(np.bincount(number, minlength=MOST + 1)[1:].astype(float), DEFAULT)
    weights = weights_under(most)
    counted = (held * np.append(0.0, weights)[number]).sum(axis=1)
    # Of the most frequent items each is a case of its own: they are left out.
    as_chosen, as_items = (
        overlap.counted_with(supports, weights, tilt=lean * USUAL_TILT)[5:] / counted[5:] - 1
        for lean in (CHOSEN_LEAN, 1.0)
    )
    assert 0 < as_chosen.mean() < 0.75 * as_items.mean()
