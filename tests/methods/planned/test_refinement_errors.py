"""The errors that questions of the refinement would leave."""

import math
from fractions import Fraction

import numpy as np
import pytest

from planned_cases import ONE_EACH, overlap_over, sharp_posterior, sparse_scouting
from veilset.arrays import FloatArray
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned.capped_counts import error_of_average_cap, error_of_fitting_cap
from veilset.methods.planned.membership import Membership
from veilset.methods.planned.refinement_errors import (
    CappedGroup,
    choose_cover,
    deviations_after,
    errors_by_fitting_caps,
    errors_under_caps,
    predicted_error,
    prices_of_groups,
    shares_of_groups,
)
from veilset.methods.planned.settings import DEFAULT
from veilset.methods.shared.marginals import noise_of_marginal


def group_of(places: range) -> CappedGroup:
    """Itemsets at these places."""
    return CappedGroup(np.array(places), Itemsets.of((place,) for place in places), ONE_EACH)


def test_shares_are_cube_roots_of_how_many_are_uncertain() -> None:
    """Eight against one, contained alike: two thirds and one third; all of what remains."""
    groups, remaining = [group_of(range(8)), group_of(range(8, 9))], Fraction(3, 7)
    scouting = sparse_scouting(k=9, threshold=1000)
    membership = Membership(1000.0, np.full(9, 0.5), np.arange(9), np.arange(0))
    shares = shares_of_groups(scouting, membership, groups, remaining)
    assert sum(shares) == remaining
    assert float(shares[0] / remaining) == pytest.approx(2 / 3, rel=0.01)
    assert shares_of_groups(scouting, membership, groups[:1], remaining) == [remaining]
    prices = prices_of_groups(scouting, membership, groups, remaining)
    assert [price.epsilon for price in prices] == shares
    caps = [ONE_EACH.best_cap(support=1000, noise=scouting.noise(share)) for share in shares]
    assert [price.cap for price in prices] == caps
    weighted = (8 * caps[0].error + caps[1].error) / 9
    assert predicted_error(scouting, membership, groups, remaining) == pytest.approx(weighted)


def test_marginals_cover_what_is_likely_and_their_error_is_that_of_marginals() -> None:
    """One marginal of three items: what is expected of marginals of three, for items and for pairs."""
    itemsets: list[Itemset] = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    cover = choose_cover(itemsets, np.ones(6), 10.0, DEFAULT)
    assert cover.bases == [(0, 1, 2)]
    by_hand = 10 * np.array([noise_of_marginal(3, size) for size in (1, 1, 1, 2, 2, 2)])
    assert cover.errors == pytest.approx(by_hand)
    nothing = choose_cover(itemsets, np.zeros(6), 10.0, DEFAULT)
    assert nothing.bases == []
    assert np.isinf(nothing.errors).all()
    some = choose_cover(itemsets, np.array([1, 1, 0, 1, 0, 0]), 10.0, DEFAULT)
    assert some.bases == [(0, 1)]
    assert np.isinf(some.errors).tolist() == [False, False, True, False, True, True]


def test_a_cap_errs_by_its_noise_and_by_what_it_takes_unevenly() -> None:
    """Where transactions contain one, a cap takes nothing; where some contain 60, the frequent itemset loses more."""
    scouting = sparse_scouting(k=2, threshold=100, number=1000)
    known = sharp_posterior({(0,): 100, (1,): 400, (2,): 50}, 1000)
    membership = Membership(100.0, np.full(3, 0.5), np.arange(2), np.arange(0))

    def errors(transactions: dict[int, float]) -> FloatArray:
        group = CappedGroup(np.arange(2), Itemsets.of([(0,), (1,)]), overlap_over(transactions))
        return errors_under_caps(scouting, known, membership, [group], Fraction(1))

    noise = math.sqrt(2) * scouting.noise(Fraction(1))
    assert errors({1: 1000}).tolist() == [pytest.approx(noise), pytest.approx(noise), math.inf]
    rare, frequent, unmeasured = errors({1: 2000, 60: 200})
    assert noise < rare < frequent
    assert math.isinf(unmeasured)


def test_before_overlap_is_known_each_group_has_a_cap_that_fits_it() -> None:
    """By hand, for an item beside a pair: epsilon by cube roots, and the error of a fitting cap."""
    scouting = sparse_scouting(k=2, threshold=100, number=1000)
    known = sharp_posterior({(0,): 400, (0, 1): 200, (2,): 100}, 1000)
    errors = errors_by_fitting_caps(scouting, known, np.array([0, 1]), Fraction(1, 2))
    supports = known.means[:2].tolist()
    weights = [error_of_average_cap(support / 1000, 1.0) ** (2 / 3) for support in supports]
    by_hand = [
        error_of_fitting_cap(
            support / 1000, 2 * sum(weights) / weight, support=support, unevenness=DEFAULT.unevenness
        )
        for support, weight in zip(supports, weights, strict=True)
    ]
    assert errors.tolist() == [*(pytest.approx(error) for error in by_hand), math.inf]


def test_a_group_of_items_overlaps_as_a_part_of_all_items() -> None:
    """Half of all that is contained: as many as by chance."""
    known = sharp_posterior({(0,): 400, (1,): 200, (2,): 600}, 1000)
    lengths = overlap_over({2: 600})
    group = CappedGroup.of_items(known, np.array([0, 1]), lengths)
    assert list(group.itemsets) == [(0,), (1,)]
    assert group.overlap.transactions[:2].tolist() == [
        pytest.approx(300, rel=0.03),
        pytest.approx(150, rel=0.05),
    ]


def test_what_is_measured_again_is_known_better_than_before_and_than_the_measurement_says() -> None:
    """By inverse variance; what is not measured is known as well as before."""
    known = sharp_posterior({(0,): 1000, (1,): 1000}, 10_000, blur=30)
    before = float(known.deviations[0])
    after = deviations_after(known, np.array([40.0, np.inf]))
    assert after[0] == pytest.approx(before * 40 / np.hypot(before, 40))
    assert after[1] == pytest.approx(before)
