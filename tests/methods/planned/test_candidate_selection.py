"""Which items and itemsets are measured level by level, and what they are paid: by hand."""

from fractions import Fraction

import numpy as np
import pytest

from planned_cases import ONE_EACH, sharp_posterior, sparse_scouting
from veilset.methods.planned.candidate_selection import (
    Price,
    choose_candidates,
    choose_items_to_keep,
    enough,
    extended,
    is_too_little,
    is_too_rare,
    part_of_share,
    price_of_items,
    share_of_candidates,
    slacks_of_bounds,
    still_possible,
)
from veilset.methods.planned.overlap import Cap
from veilset.methods.planned.prior import Prior
from veilset.methods.planned.settings import DEFAULT

HALF = Fraction(1, 2)


def test_shares_for_new_candidates_by_hand() -> None:
    """32 at one half make 8, and so do 160 taken to be uncertain: cube roots 2 and 2, the latter times 1.5."""
    half, nothing = np.full(32, 0.5), np.empty(0)
    assert share_of_candidates(half, nothing, 160, settings=DEFAULT) == Fraction(2, 5)
    assert share_of_candidates(nothing, half, 160, settings=DEFAULT) == DEFAULT.least_share
    assert share_of_candidates(np.full(10**5, 0.5), nothing, 1, settings=DEFAULT) == DEFAULT.most_share


def test_no_more_is_paid_than_is_good_enough() -> None:
    """A quarter of 1000 is: half of epsilon where the error with all of it would be half of that."""
    half_of_it = 125 / np.sqrt(2)
    assert enough(ONE_EACH, Fraction(1), 1000.0, noise=half_of_it) == Fraction(1, 2)
    assert enough(ONE_EACH, Fraction(3), 1000.0, noise=half_of_it) == Fraction(3, 2)
    assert enough(ONE_EACH, Fraction(1), 1000.0, noise=0.001) == DEFAULT.least_part
    assert enough(ONE_EACH, Fraction(1), 1000.0, noise=500.0) == 1


@pytest.mark.parametrize(
    ("error", "of_answer", "part"),
    [
        (1001, 1.0, None),
        (500, 0.1, Fraction(1, 2)),
        (500, 0.8, Fraction(4, 5)),
        (500, 2.0, 1),
        (125, 0.1, HALF),
    ],
)
def test_candidates_that_can_hardly_be_told_apart_get_less(
    error: float, of_answer: float, part: Fraction | None
) -> None:
    """Least where the error would be the support; half of a share at twice what is good enough, or at half of it.

    More, if they are expected to be much of the answer.
    """
    remaining, share = Fraction(3, 5), Fraction(1, 3)
    found = part_of_share(ONE_EACH, remaining, share, 1000.0, of_answer=of_answer, noise=error / np.sqrt(2))
    assert found == remaining * (
        DEFAULT.least_share if part is None else max(DEFAULT.least_share, share * part)
    )


def test_items_are_paid_no_more_than_their_share() -> None:
    """Two fifths where noise is large; three tenths of that where next to nothing would do."""
    noisy, clear = (sparse_scouting(k=10, threshold=100, epsilon=Fraction(each)) for each in ("0.01", 1000))
    assert price_of_items(noisy, ONE_EACH, noisy.remaining).epsilon == Fraction("0.004")
    price = price_of_items(clear, ONE_EACH, clear.remaining)
    assert price.epsilon == 400 * DEFAULT.least_part
    assert price.cap == ONE_EACH.best_cap(support=100, noise=clear.noise(price.epsilon))


@pytest.mark.parametrize(("k", "most"), [(10, 20), (300, 400), (500, 500)])
def test_items_are_kept_down_to_two_scales_below_the_kth(k: int, most: int) -> None:
    """By hand: a cap of 4 at epsilon 1/2 has scale 8; the floor counts for what is kept of it."""
    scouting, price = sparse_scouting(k=k, threshold=100), Price(HALF, Cap(4, 0.75, 10.0, 4.0))
    assert choose_items_to_keep(scouting, price, kth_count=90.0).least == 90 - 2 * 8
    assert choose_items_to_keep(scouting, price, kth_count=70.0).least == 100 * 0.75 - 2 * 8
    assert choose_items_to_keep(scouting, price, kth_count=70.0).most == most


def test_pairs_are_made_of_all_items_and_triples_of_likely_pairs() -> None:
    """However rare an item seems, its pairs are looked at; an unlikely pair makes no triple."""
    known = sharp_posterior({(0,): 500, (1,): 450, (2,): 5, (0, 1): 300, (0, 2): 5, (1, 2): 5}, 1000)
    assert extended(known, size=2, support=200, settings=DEFAULT) == [(0, 1), (0, 2), (1, 2)]
    assert extended(known, size=3, support=200, settings=DEFAULT) == []
    assert extended(known, size=3, support=2, settings=DEFAULT) == [(0, 1, 2)]


def test_bounds_have_slack_for_the_error_of_the_subsets_that_bound() -> None:
    """Twice the median deviation of items for pairs; for triples twice the deviation of each pair."""
    items = sharp_posterior({(0,): 500, (1,): 400}, 1000, blur=5)
    pairs = sharp_posterior({(0, 1): 90}, 1000) + sharp_posterior({(0, 2): 90}, 1000, blur=9)
    known = items + pairs
    of_item = 2 * np.median(items.deviations)
    slacks = slacks_of_bounds(known, size=2, settings=DEFAULT)
    assert slacks == pytest.approx({(0,): of_item, (1,): of_item})
    sharp, blurred = (2 * pairs.deviations).tolist()
    slacks = slacks_of_bounds(known, size=3, settings=DEFAULT)
    assert slacks == pytest.approx({(0, 1): sharp, (0, 2): blurred})
    assert sharp < blurred


def test_no_candidates_where_none_is_likely() -> None:
    """Expected far below the support in question, or bounded by a rare subset."""
    scouting = sparse_scouting(k=5, threshold=500, number=1000)
    unlikely = Prior(np.array([2.0, 400.0]), np.array([1000.0, 300.0]), np.zeros(2), DEFAULT)
    assert choose_candidates(scouting, [(0, 1), (1, 2)], unlikely, support=500, remaining=HALF) is None


def test_candidates_are_measured_while_ten_histograms_can_be_paid() -> None:
    """The largest support of a size comes first."""
    scouting = sparse_scouting(k=5, threshold=100)
    border = DEFAULT.share_for_largest + 10 * DEFAULT.share_for_overlap
    assert not is_too_little(scouting, border)
    assert is_too_little(scouting, border - Fraction(1, 10**9))


def test_a_size_is_too_rare_four_scales_below_the_support_in_question() -> None:
    """Scale 200 at the price of that question."""
    scouting = sparse_scouting(k=5, threshold=1000)
    assert not is_too_rare(scouting, 1000 - 4 * 200, support=1000)
    assert is_too_rare(scouting, 1000 - 4 * 200 - 1, support=1000)


def test_what_cannot_reach_half_of_the_support_is_forgotten() -> None:
    """Of three that are known well, the two with more than 100."""
    known = sharp_posterior({(0, 1): 150, (0, 2): 20, (1, 2): 900}, 1000)
    assert still_possible(known, support=200, settings=DEFAULT).tolist() == [0, 2]
