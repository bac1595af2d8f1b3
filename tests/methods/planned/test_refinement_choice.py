"""The choice of a refinement: what is measured once more, by which questions, and who gets how much."""

from fractions import Fraction

import numpy as np
import pytest

from planned_cases import ONE_EACH, overlap_over, sharp_posterior, sparse_scouting
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned.membership import Membership
from veilset.methods.planned.overlap import Overlap
from veilset.methods.planned.refinement_choice import (
    ByCappedCounts,
    ByMarginals,
    Option,
    choose_marginals,
    choose_refinement,
    places_to_count,
)
from veilset.methods.planned.refinement_errors import CappedGroup


def test_marginals_are_chosen_where_they_err_less() -> None:
    """Three uncertain items: one marginal, where a cap would have to be large; counts, where a cap of 1 is enough."""
    scouting = sparse_scouting(k=3, threshold=400, number=1000)
    known = sharp_posterior({(0,): 400, (1,): 400, (2,): 400}, 1000, blur=40)
    membership = Membership.of(known, scouting)
    assert sorted(membership.uncertain.tolist()) == [0, 1, 2]
    itemsets = Itemsets.of(known.itemsets)
    crowded = [CappedGroup(membership.uncertain, itemsets, overlap_over({64: 1000}))]
    by_marginals = choose_refinement(scouting, known, membership, crowded, remaining=Fraction(1))
    assert isinstance(by_marginals, ByMarginals)
    assert by_marginals.bases == [(0, 1, 2)]
    assert by_marginals.uncovered.size == 0
    apart = [CappedGroup(membership.uncertain, itemsets, ONE_EACH)]
    by_counts = choose_refinement(scouting, known, membership, apart, remaining=Fraction(1))
    assert isinstance(by_counts, ByCappedCounts)
    assert by_counts.for_uncertain == 1
    assert by_counts.for_certain == 0


@pytest.mark.parametrize(("chances", "is_counted"), [((0.5, 0.5, 0.24), True), ((0.5, 0.5, 0.0001), False)])
def test_what_marginals_do_not_cover_is_counted_where_that_is_worth_its_price(
    chances: tuple[float, ...], is_counted: bool
) -> None:
    """An item that may well be in the answer gets a part of what remains; one that hardly can be gets none."""
    scouting = sparse_scouting(k=3, threshold=400, number=1000)
    known = sharp_posterior({(0,): 400, (1,): 400, (2,): 400}, 1000, blur=40)
    membership = Membership(400.0, np.array(chances), np.arange(3), np.arange(0))
    groups = [CappedGroup(np.arange(3), Itemsets.of(known.itemsets), overlap_over({64: 1000}))]
    covering = choose_refinement(scouting, known, membership, groups, remaining=Fraction(1))
    assert isinstance(covering, ByMarginals)
    assert covering.bases == [(0, 1)]
    assert covering.uncovered.tolist() == ([2] if is_counted else [])
    assert (covering.part_for_uncovered > 0) == is_counted


def certain_and_uncertain(blur: int) -> ByCappedCounts:
    """What is chosen where items 0 to 3 are certain, each known up to that, and nothing else is near the threshold."""
    scouting = sparse_scouting(k=5, threshold=100, number=10_000)
    known = sharp_posterior({(0,): 4000, (1,): 3900, (2,): 3800, (3,): 3700}, 10_000, blur=blur)
    known += sharp_posterior({(4,): 100}, 10_000, blur=20)
    chances = np.array([1.0, 1.0, 1.0, 1.0, 0.1])
    membership = Membership(100.0, chances, np.array([4]), np.arange(4))
    groups = [CappedGroup(np.array([4]), Itemsets.of([(4,)]), overlap_over({1: 100}))]
    choice = choose_refinement(scouting, known, membership, groups, remaining=Fraction(1))
    assert isinstance(choice, ByCappedCounts)
    return choice


def test_what_is_certain_is_measured_by_marginals_of_its_items() -> None:
    """Four items that most transactions contain lose much under a cap; one marginal tells them at little noise."""
    choice = certain_and_uncertain(blur=400)
    assert choice.for_certain > 0
    assert choice.for_uncertain + choice.for_certain == 1
    assert choice.bases_of_certain == [(0, 1, 2, 3)]


def test_what_is_certain_and_known_well_gets_nothing() -> None:
    """The control of the test above: known up to less than a thousandth, the four need no more."""
    assert certain_and_uncertain(blur=1).for_uncertain > certain_and_uncertain(blur=400).for_uncertain


def test_the_loss_counts_what_is_mistaken_and_how_far_supports_are_off() -> None:
    """By hand, for an itemset at the threshold and a certain one: half of the error is half of the loss."""
    known = sharp_posterior({(0,): 100, (1,): 1000}, 10_000, blur=10)
    membership = Membership(100.0, np.array([0.5, 1.0]), np.array([0]), np.array([1]))
    nothing = ByMarginals([], np.empty(0, np.int64), Fraction(0))

    def loss(*errors: float) -> float:
        return Option(nothing, np.array(errors)).expected_loss(known, membership)

    before = known.deviations / known.means
    assert loss(np.inf, np.inf) == pytest.approx(0.25 + 0.5 * before[0] + before[1], rel=1e-6)
    same = known.deviations
    assert loss(same[0], same[1]) == pytest.approx(loss(np.inf, np.inf) / 2**0.5)
    assert loss(same[0], np.inf) < loss(np.inf, same[1]) < loss(np.inf, np.inf)


CLIQUE: dict[Itemset, float] = {(item,): 500 for item in range(4)}
CLIQUE |= {(a, b): 480 for a in range(4) for b in range(a + 1, 4)}
"""Four items that are nearly always together."""


def test_marginals_replace_the_search_for_larger_itemsets_where_they_clearly_lose_less() -> None:
    """Four items with all of their pairs: one marginal tells of these and of all triples."""
    scouting = sparse_scouting(k=12, threshold=450, number=1000)
    known = sharp_posterior(CLIQUE, 1000, blur=40)
    marginals = choose_marginals(scouting, known, Fraction(1))
    assert marginals is not None
    assert marginals.bases == [(0, 1, 2, 3)]


def test_marginals_do_not_replace_the_search_where_items_are_many_and_apart() -> None:
    """Forty items of which no transaction has two: capped counts err less than fourteen marginals."""
    scouting = sparse_scouting(k=40, threshold=20, number=1000)
    known = sharp_posterior({(item,): 20.0 for item in range(40)}, 1000, blur=10)
    assert choose_marginals(scouting, known, Fraction(1)) is None


def counted_places(certain: float, uncertain: float, lengths: Overlap | None) -> set[int]:
    """Which of ten items of one support and ten of another are counted, where the first are certain."""
    scouting = sparse_scouting(k=15, threshold=round(uncertain), number=10_000)
    known = sharp_posterior({(item,): certain for item in range(10)}, 10_000, blur=30)
    known += sharp_posterior({(item,): uncertain for item in range(10, 20)}, 10_000, blur=30)
    chances = np.repeat([1.0, 0.5], 10)
    membership = Membership(uncertain, chances, np.arange(10, 20), np.arange(10))
    return set(places_to_count(scouting, known, membership, lengths, Fraction(1, 2)).tolist())


def test_certain_items_are_counted_with_uncertain_ones_where_they_are_about_as_frequent() -> None:
    """One cap for all is hardly larger; where they are many times as frequent, it would be all theirs."""
    short = overlap_over({2: 9000})
    assert counted_places(200.0, 150.0, short) == set(range(20))
    assert counted_places(1500.0, 150.0, short) == set(range(10, 20))


def test_certain_items_are_counted_apart_where_a_cap_would_take_much_or_lengths_are_not_known() -> None:
    """The same items in few long transactions lose much under any cap that is worth its noise."""
    long = overlap_over({1: 2000, 300: 60})
    assert counted_places(200.0, 150.0, long) == set(range(10, 20))
    assert counted_places(200.0, 150.0, None) == set(range(10, 20))
