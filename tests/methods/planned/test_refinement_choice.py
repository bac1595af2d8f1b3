"""The choice of a refinement: what is measured once more, by which questions, and who gets how much."""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from planned_cases import ONE_EACH, overlap_over, sharp_posterior, sparse_scouting
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned.refinement_choice import (
    ByCappedCounts,
    ByMarginals,
    CappedGroup,
    Membership,
    choose_cover,
    choose_refinement,
    items_and_larger,
    part_for_uncovered,
    predicted_error,
    prices_of_groups,
    relative_error,
    shares_of_groups,
    uncertain_places,
)
from veilset.methods.planned.settings import DEFAULT
from veilset.methods.shared.marginals import noise_of_marginal


def test_what_is_uncertain_comes_first_and_no_more_than_two_for_each_of_k() -> None:
    """Nearest to one half; what is nearly certain, either way, is left as it is."""
    chances = np.array([1.0, 0.9, 0.5, 0.01, 0.3, 0.985, 0.97])
    assert uncertain_places(chances, 2, settings=DEFAULT).tolist() == [2, 4, 1, 6]
    assert uncertain_places(chances, 1, settings=DEFAULT).tolist() == [2, 4]


def test_where_all_is_certain_the_likeliest_are_measured_once_more() -> None:
    """So that epsilon makes their supports better: k of them, in order where they tie."""
    assert uncertain_places(np.array([0.0, 1.0, 0.99, 1.0, 0.01]), 3, settings=DEFAULT).tolist() == [1, 3, 2]


def group_of(places: range) -> CappedGroup:
    """Itemsets at these places."""
    return CappedGroup(np.array(places), Itemsets.of((place,) for place in places), ONE_EACH)


def test_shares_are_cube_roots_of_how_many_are_uncertain() -> None:
    """Eight against one, contained alike: two thirds and one third; all of what remains."""
    groups, remaining = [group_of(range(8)), group_of(range(8, 9))], Fraction(3, 7)
    scouting = sparse_scouting(k=9, threshold=1000)
    membership = Membership(1000.0, np.full(9, 0.5), np.arange(9))
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


def test_items_are_counted_apart_from_larger_itemsets() -> None:
    """In the order of their places; no group where there are none."""
    known = sharp_posterior({(0,): 500, (0, 1): 300, (1,): 400, (2, 3): 100}, 1000)
    assert [some.tolist() for some in items_and_larger(known, np.array([3, 2, 0]))] == [[2, 0], [3]]
    assert [some.tolist() for some in items_and_larger(known, np.array([1]))] == [[1]]


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


def test_what_marginals_do_not_cover_is_counted_by_itself() -> None:
    """A tenth of the errors, a quarter of the epsilon: shares go by square roots; nothing where all is covered."""
    scouting, remaining = sparse_scouting(k=5, threshold=100, number=1000), Fraction(1, 2)
    by_counts = 3 * math.sqrt(2) * (1 + 2 * 600 / 1000) * 2.0
    three = np.full(3, 200.0)

    def part(means: npt.NDArray[np.float64], by_marginals: float) -> Fraction:
        return part_for_uncovered(scouting, means, remaining, by_marginals=by_marginals)

    assert part(three, by_counts) == Fraction(1, 2)
    assert part(three, 9 * by_counts) == Fraction(1, 4)
    assert part(three, 1e9 * by_counts) == Fraction(1, 20)
    assert part(three, 1e-9 * by_counts) == Fraction(19, 20)
    assert part(np.empty(0), by_counts) == 0


def test_marginals_are_chosen_where_they_err_less_and_cover_enough() -> None:
    """Three uncertain items: one marginal, where a cap would have to be large; counts, where a cap of 1 is enough."""
    scouting = sparse_scouting(k=3, threshold=400, number=1000)
    known = sharp_posterior({(0,): 400, (1,): 400, (2,): 400}, 1000, blur=40)
    membership = Membership.of(known, scouting)
    assert sorted(membership.uncertain.tolist()) == [0, 1, 2]
    itemsets = Itemsets.of(known.itemsets)
    crowded = [CappedGroup(membership.uncertain, itemsets, overlap_over({64: 1000}))]
    by_marginals = choose_refinement(scouting, known, membership, crowded, remaining=Fraction(1))
    assert isinstance(by_marginals.choice, ByMarginals)
    assert by_marginals.choice.bases == [(0, 1, 2)]
    assert by_marginals.choice.error < by_marginals.capped_error
    apart = [CappedGroup(membership.uncertain, itemsets, ONE_EACH)]
    by_counts = choose_refinement(scouting, known, membership, apart, remaining=Fraction(1))
    assert isinstance(by_counts.choice, ByCappedCounts)
    assert by_counts.choice.for_uncertain == 1
    assert by_counts.choice.for_certain == 0


def test_marginals_that_cover_less_than_half_are_out_of_the_question() -> None:
    """One likely item among three that are uncertain makes a marginal that says nothing of the other two."""
    scouting = sparse_scouting(k=3, threshold=400, number=1000)
    known = sharp_posterior({(0,): 400, (1,): 400, (2,): 400}, 1000)
    membership = Membership(400.0, np.array([0.5, 0.1, 0.1]), np.arange(3))
    groups = [CappedGroup(np.arange(3), Itemsets.of(known.itemsets), overlap_over({64: 1000}))]
    refinement = choose_refinement(scouting, known, membership, groups, remaining=Fraction(1))
    assert isinstance(refinement.choice, ByCappedCounts)
    two = Membership(400.0, np.array([0.5, 0.5, 0.1]), np.arange(3))
    covering = choose_refinement(scouting, known, two, groups, remaining=Fraction(1)).choice
    assert isinstance(covering, ByMarginals)
    assert covering.uncovered.tolist() == [2]
    assert 0 < covering.part_for_uncovered < 1


def certain_and_uncertain(blur: int) -> ByCappedCounts:
    """What is chosen where items 0 to 3 are certain, each known up to that, and nothing else is near the threshold."""
    scouting = sparse_scouting(k=5, threshold=100, number=10_000)
    known = sharp_posterior({(0,): 4000, (1,): 3900, (2,): 3800, (3,): 3700}, 10_000, blur=blur)
    known += sharp_posterior({(4,): 100}, 10_000, blur=5)
    membership = Membership(100.0, np.array([1.0, 1.0, 1.0, 1.0, 0.5]), np.array([4]))
    groups = [CappedGroup(np.array([4]), Itemsets.of([(4,)]), overlap_over({1: 100}))]
    choice = choose_refinement(scouting, known, membership, groups, remaining=Fraction(1)).choice
    assert isinstance(choice, ByCappedCounts)
    return choice


def test_what_is_certain_is_measured_by_marginals_of_its_items() -> None:
    """Four items that most transactions contain lose much under a cap; one marginal tells them at little noise."""
    choice = certain_and_uncertain(blur=400)
    assert choice.for_certain > 0
    assert choice.for_uncertain + choice.for_certain == 1
    assert choice.bases_of_certain == [(0, 1, 2, 3)]


def test_the_error_of_what_is_measured_again_is_less_than_before_and_than_that_of_the_measurement() -> None:
    """By hand: 30 and 40 are 24 together, of 1,000; what is not measured keeps its error."""
    known = sharp_posterior({(0,): 1000}, 10_000, blur=30)
    before = float(known.deviations[0]) / float(known.means[0])
    unmeasured = relative_error(known, np.array([0]), np.array([np.inf]))
    measured_again = relative_error(known, np.array([0]), np.array([40.0]))
    assert unmeasured == pytest.approx(before)
    assert measured_again < min(before, 0.04)
    deviation = float(known.deviations[0])
    assert measured_again == pytest.approx(deviation * 40 / np.hypot(deviation, 40) / known.means[0])
