"""What smart truncation is taken to keep."""

from fractions import Fraction

import numpy as np
import pytest

from veilset.gate import NoisyHistogram
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.methods.difffim.smart_shares import kept_smartly, outranked
from veilset.methods.shared.length_laws import plausible_lengths

LENGTHS = plausible_lengths(
    NoisyHistogram(np.array([0, 0, 0, 0, 1000, 0, 0, 0, 1000]), DiscreteLaplace(1, Fraction(100)))
)


def test_an_itemset_is_outranked_by_items_that_stand_in_better_candidates() -> None:
    """{0, 1} is the best; {1, 2} stands behind item 0 alone; all but 3 itself come before item 3."""
    parts: dict[tuple[int, ...], int] = {(0,): 40, (1,): 30, (2,): 20, (3,): 10}
    itemsets = [(0, 1), (0, 2), (1, 2), (0, 3)]
    scores = [70, 60, 50, 50]
    shares = outranked(itemsets, scores, parts)
    assert shares[0] == 0
    assert shares[1] == pytest.approx(31 / 42, abs=0.01)
    assert shares[3] == pytest.approx(1)


@pytest.mark.parametrize("size", [2, 3])
def test_better_candidates_keep_more(size: int) -> None:
    """At least what is left whole, at most all; the more others come first, the less."""
    kept = [kept_smartly(LENGTHS, size=size, limit=4, outranked=share).middle for share in (0, 0.3, 0.6, 1)]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > 0.9
    assert kept[-1] < 0.5


def test_a_limit_that_holds_everything_keeps_everything() -> None:
    """Whoever comes first."""
    for share in (0.0, 0.5, 1.0):
        assert kept_smartly(LENGTHS, size=2, limit=8, outranked=share).middle == pytest.approx(1)


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_itemsets_of_one_dataset_lose_alike(share: float) -> None:
    """What all of them lose more than was thought is in doubt as much as how they differ, however exact lengths are."""
    kept = kept_smartly(LENGTHS, size=2, limit=4, outranked=share)
    logs = np.log(kept.shares)
    differ = float(np.sqrt((logs - logs @ kept.chances) ** 2 @ kept.chances))
    assert min(kept.doubt) >= 1.95 * differ > 0
