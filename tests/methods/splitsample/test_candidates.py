"""The candidates of SplitSample: lengths of pieces, and counts in shortened transactions."""

from fractions import Fraction

import numpy as np
import pytest

from veilset.gate import KeepRandom, NoisyCounts
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Itemsets
from veilset.methods.shared.truncation import holders_by_length
from veilset.methods.splitsample import candidates
from veilset.methods.splitsample.split_loss import left_of_support


def test_pieces_are_as_short_as_the_loss_of_pairs_allows() -> None:
    """l_opt from noisy lengths alone: long where transactions are long, 2 where nothing is known."""
    lengths = np.zeros(20, np.int64)
    lengths[10] = 500
    limit = candidates.piece_length(lengths)
    assert left_of_support(lengths, size=2, limit=limit) >= candidates.PAIR_SUPPORT_LEFT
    assert left_of_support(lengths, size=2, limit=limit - 1) < candidates.PAIR_SUPPORT_LEFT
    assert candidates.piece_length(np.zeros(20, np.int64)) == 2
    assert candidates.piece_length(np.array([3, 9])) == 2


def test_counts_in_shortened_transactions_are_scaled_by_what_shortening_leaves() -> None:
    """Truncation from 4 items to 2 leaves half of an item's support and a sixth of a pair's."""
    lengths = np.array([0, 0, 0, 0, 100])
    assert holders_by_length(np.array([9, 5, 7, 1]), 2).tolist() == [0, 0, 7, 3]
    counts = NoisyCounts(Itemsets.of([(0,)]), np.array([30]), DiscreteLaplace(2, Fraction(1)))
    for size, factor in ((1, 2), (2, 6)):
        found = candidates.upscaled(counts, lengths, KeepRandom(2), size=size)
        assert found.values.tolist() == [30 * factor]
        assert found.scale == pytest.approx(2 * factor)
