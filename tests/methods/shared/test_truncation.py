"""Length limits from noisy lengths, and what truncation to them keeps."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.gate import NoisyHistogram
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.methods.shared.length_laws import LengthDraws, plausible_lengths
from veilset.methods.shared.truncation import (
    holders_by_length,
    kept_at_random,
    kept_share,
    length_up_to,
    lengths_above_noise,
)


def histogram(values: list[int], scale: Fraction = Fraction(1, 100)) -> NoisyHistogram:
    """Noisy lengths."""
    return NoisyHistogram(np.array(values, np.int64), DiscreteLaplace(1, 1 / scale))


def test_the_length_limit_leaves_85_percent_whole() -> None:
    """Empty transactions do not count; noise may make a class negative."""
    assert length_up_to(histogram([500, 50, 34, 2, 14]), Fraction(85, 100)) == 3
    assert length_up_to(histogram([0, 60, -5, 40, 5]), Fraction(85, 100)) == 3
    assert length_up_to(histogram([9, -3, -2]), Fraction(85, 100)) in (1, 2)


@given(values=st.lists(st.integers(-20, 100), min_size=2, max_size=30), share=st.fractions(0, 1))
def test_a_length_limit_is_always_possible(values: list[int], share: Fraction) -> None:
    """Whatever the noise does."""
    assert 1 <= length_up_to(histogram(values), share) < len(values)


def test_classes_of_lengths_within_the_noise_count_as_none() -> None:
    """Twice the scale is the line."""
    noisy = NoisyHistogram(np.array([21, 20, -50, 400]), DiscreteLaplace(1, Fraction(1, 10)))
    assert lengths_above_noise(noisy).tolist() == [21, 0, 0, 400]


def share_by_enumeration(lengths: list[int], *, size: int, limit: int) -> float:
    """All ways to keep `limit` of h items, for each length h; the itemset is the first `size` of them."""
    holders = {h: number for h, number in enumerate(lengths) if h >= size and number > 0}
    if not holders:
        return float(size <= limit)
    kept = 0.0
    for h, number in holders.items():
        ways = list(combinations(range(h), min(h, limit)))
        kept += number * sum(set(range(size)) <= set(way) for way in ways) / len(ways)
    return kept / sum(holders.values())


@given(lengths=st.lists(st.integers(-3, 20), max_size=9), size=st.integers(1, 9), limit=st.integers(1, 9))
def test_the_kept_share_is_that_of_all_truncations(lengths: list[int], size: int, limit: int) -> None:
    """Against the enumeration of all ways to truncate; negative counts of transactions weigh nothing."""
    expected = share_by_enumeration(lengths, size=size, limit=limit)
    found = kept_share(np.array(lengths, np.int64), size=size, limit=limit)
    assert found == pytest.approx(expected, abs=1e-12)


def test_transactions_that_are_not_truncated_keep_everything() -> None:
    """Repair Z9: up to the limit the share is 1, where the printed ratio is undefined or above it."""
    assert kept_share(np.array([5.0, 4.0, 3.0, 2.0]), size=2, limit=3) == 1
    assert kept_share(np.array([5.0, 4.0, 3.0, 2.0]), size=2, limit=50) == 1


def test_an_itemset_larger_than_the_limit_is_never_kept() -> None:
    """Whether or not a transaction could hold it."""
    assert kept_share(np.array([0, 0, 0, 7, 7]), size=3, limit=2) == 0
    assert kept_share(np.array([9, 9]), size=3, limit=2) == 0


def test_an_itemset_that_no_transaction_can_hold_is_taken_as_kept() -> None:
    """Nothing tells of a loss, so no support is raised."""
    assert kept_share(np.array([9, 9, 0, -2]), size=2, limit=2) == 1


def test_an_itemset_is_the_likelier_in_a_transaction_the_longer_it_is() -> None:
    """Of l items there are C(l, size) itemsets."""
    assert holders_by_length(np.array([9, 5, 7, 1]), 2).tolist() == [0, 0, 7, 3]


def _lengths(numbers: list[int], *, epsilon: Fraction = Fraction(100)) -> LengthDraws:
    return plausible_lengths(NoisyHistogram(np.array(numbers), DiscreteLaplace(1, epsilon)))


def test_where_all_transactions_are_alike_the_kept_share_is_certain() -> None:
    """Rows of 8 items cut to 6 keep 3 of 4 of every item, whoever holds it."""
    kept = kept_at_random(_lengths([0] * 8 + [10_000]), size=1, limit=6)
    assert kept.shares == pytest.approx(0.75, abs=0.01)
    assert max(kept.doubt) < 0.01


def test_where_lengths_differ_itemsets_lose_unevenly() -> None:
    """One in long transactions keeps less; larger itemsets keep less than their items."""
    numbers = [0, *[1000] * 20]
    one, two = (kept_at_random(_lengths(numbers), size=size, limit=8) for size in (1, 2))
    assert np.all(np.diff(one.shares) < 0)
    assert one.shares[0] / one.shares[-1] > 1.2
    assert two.middle < one.middle


def test_a_histogram_that_noise_drowns_leaves_all_shares_in_doubt() -> None:
    """Ten transactions with noise of 1,000 in each class say nothing."""
    kept = kept_at_random(_lengths([0, -900, 300, -2000, 10], epsilon=Fraction(1, 1000)), size=1, limit=2)
    assert kept.shares[kept.shares.size // 2] * np.exp(kept.doubt[0]) == pytest.approx(1, abs=0.05)
    assert min(kept.doubt) > 0.1


def test_many_empty_classes_are_not_taken_for_long_transactions() -> None:
    """Rows of 23 items, and noise up to 64: next to nothing is lost under a limit of 23."""
    noise = np.random.default_rng(3).laplace(scale=20, size=65)
    numbers = np.rint(noise).astype(int) + 8000 * (np.arange(65) == 23)
    kept = kept_at_random(_lengths(numbers.tolist(), epsilon=Fraction(1, 20)), size=1, limit=23)
    assert kept.middle > 0.97


def test_the_doubt_about_shares_is_what_the_noise_of_the_lengths_makes_of_them() -> None:
    """In 200 histograms with other noise, 95 % of the shares are within their doubt, and it is no more than needed."""
    rng = np.random.default_rng(7)
    true = np.rint(20_000 * 0.7 ** np.arange(65)) * (np.arange(65) > 0)
    sure = kept_at_random(_lengths(true.astype(int).tolist()), size=1, limit=4).middle
    off, doubts = [], []
    for _ in range(200):
        numbers = np.rint(true + rng.laplace(scale=50, size=65)).astype(int).tolist()
        kept = kept_at_random(_lengths(numbers, epsilon=Fraction(1, 50)), size=1, limit=4)
        off.append(abs(np.log(kept.middle / sure)))
        doubts.append(max(kept.doubt))
    assert np.mean(np.array(off) <= np.array(doubts)) > 0.9
    assert np.median(doubts) < 4 * np.quantile(off, 0.95)
