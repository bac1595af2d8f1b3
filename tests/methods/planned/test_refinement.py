"""The last stage: what is measured again, who gets how much, and what patterns tell."""

import math
from fractions import Fraction

import numpy as np
import pytest

from aims import SPARSE, TOGETHER, aim_of, sure_of
from curators import curator_over
from reference import support
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned.levelwise import SHARE_FOR_OVERLAP, Known
from veilset.methods.planned.overlap import MOST, Overlap
from veilset.methods.planned.posterior import Posterior, grid_to
from veilset.methods.planned.refinement import (
    MOST_IN_BASES,
    Group,
    ask_again,
    bases_for,
    part_for_untold,
    shares_of,
    unsure_ones,
    updated_by_marginals,
)
from veilset.methods.shared.marginals import noise_of_marginal

ONE_EACH = Overlap(np.array([1000.0, *[0.0] * (MOST - 1)]))
"""A thousand transactions that hold one itemset each."""


def test_what_is_unsure_comes_first_and_no_more_than_two_for_each_of_k() -> None:
    """Nearest to one half; what is nearly certain, either way, is left as it is."""
    chances = np.array([1.0, 0.9, 0.5, 0.01, 0.3, 0.985, 0.97])
    assert unsure_ones(chances, 2).tolist() == [2, 4, 1, 6]
    assert unsure_ones(chances, 1).tolist() == [2, 4]


def test_where_all_is_sure_the_likeliest_are_measured_again() -> None:
    """So that epsilon makes their supports better: k of them, in order where they tie."""
    assert unsure_ones(np.array([0.0, 1.0, 0.99, 1.0, 0.01]), 3).tolist() == [1, 3, 2]


def group_of(places: range) -> Group:
    """Itemsets at these places."""
    return Group(np.array(places), Itemsets.of((place,) for place in places), ONE_EACH)


def test_shares_are_cube_roots_of_how_many_are_unsure() -> None:
    """Eight against one, held alike: two thirds and one third; all of what is left."""
    groups, left = [group_of(range(8)), group_of(range(8, 9))], Fraction(3, 7)
    shares = shares_of(groups, np.full(9, 0.5), 1000.0, left, unit=1.0)
    assert sum(shares) == left
    assert float(shares[0] / left) == pytest.approx(2 / 3, rel=0.01)
    assert shares_of(groups[:1], np.full(9, 0.5), 1000.0, left, unit=1.0) == [left]


def known_of(supports: dict[Itemset, float], *, left: Fraction, blur: int = 1) -> Known:
    """Beliefs about a thousand transactions; the larger the blur, the less sure."""
    sure = sure_of(supports, 1000)
    return Known(Posterior.of(sure.itemsets, sure.log_chances / blur, sure.grid), left, ())


def test_items_and_larger_itemsets_are_two_groups_that_share_all_that_is_left() -> None:
    """Two histograms, then two counts, of items and of all that is larger; too many items for patterns."""
    aim = aim_of(k=40, about=100, number=3000, items=300)
    curator = curator_over(SPARSE)
    unsure: dict[Itemset, float] = {(item,): 100 for item in range(MOST_IN_BASES + 1)}
    unsure |= {(0, 1): 100, (0, 2): 100}
    known = ask_again(curator, aim, known_of(unsure, left=Fraction(1), blur=20))
    assert curator.budget.spent == 1
    assert known.left == 0
    assert "joint patterns" not in known.story[-1]
    spent = [charge.mechanism.epsilon for charge in curator.budget.charges]
    assert spent[:2] == [SHARE_FOR_OVERLAP, SHARE_FOR_OVERLAP]
    assert len(spent) == 4


def test_what_is_sure_is_measured_where_the_unsure_need_less() -> None:
    """With hardly any noise, one itemset at the threshold does not take it all: the others become precise, too."""
    epsilon = Fraction(1000)
    aim = aim_of(k=80, about=100, number=3000, items=300, epsilon=epsilon)
    curator = curator_over(SPARSE, epsilon=epsilon)
    believed: dict[Itemset, float] = {(item,): 300 for item in range(MOST_IN_BASES + 1)}
    believed[(70,)] = 100
    known = ask_again(curator, aim, known_of(believed, left=epsilon))
    assert f"the {MOST_IN_BASES + 1} others" in known.story[-1]
    assert curator.budget.spent == epsilon
    assert (known.posterior.sums[:, 1] > 0).all()


def test_patterns_tell_about_known_itemsets() -> None:
    """With hardly any noise, what was vague becomes the support; what lies in no group stays as it was."""
    rows = [frozenset({0, 1})] * 300 + [frozenset({1, 2})] * 100 + [frozenset({3})] * 50
    vague = Posterior.of([(0,), (1,), (0, 1), (1, 2), (3,)], np.zeros((5, 320)), grid_to(500))
    curator = curator_over(rows, epsilon=Fraction(100))
    told = updated_by_marginals(
        curator,
        aim_of(k=5, about=100, number=450, max_size=2),
        vague,
        [(0, 1), (1, 2)],
        epsilon=Fraction(100),
    )
    true = [support(rows, itemset) for itemset in vague.itemsets[:4]]
    assert told.means()[:4] == pytest.approx(true, rel=0.03)
    assert told.chances[4].tolist() == vague.chances[4].tolist()
    assert curator.budget.spent == 100


@pytest.mark.parametrize("max_size", [1, 2, 3])
def test_patterns_tell_about_itemsets_that_were_not_known(max_size: int) -> None:
    """All within the groups that are not too large; with hardly any noise, their supports."""
    rows = [frozenset({0, 1, 2})] * 300 + [frozenset({1, 2})] * 100 + [frozenset({3})] * 50
    vague = Posterior.of([(0,), (3,)], np.zeros((2, 320)), grid_to(500))
    curator = curator_over(rows, epsilon=Fraction(100))
    told = updated_by_marginals(
        curator,
        aim_of(k=5, about=100, number=450, max_size=max_size),
        vague,
        [(0, 1, 2)],
        epsilon=Fraction(100),
    )
    within = {(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)}
    assert told.itemsets[:2] == [(0,), (3,)]
    assert len(told.itemsets) == len(set(told.itemsets))
    assert set(told.itemsets) == {itemset for itemset in within if len(itemset) <= max_size} | {(3,)}
    for itemset, mean in zip(told.itemsets, told.means(), strict=True):
        if itemset != (3,):
            assert mean == pytest.approx(support(rows, itemset), rel=0.03)


def test_groups_hold_what_is_likely_and_their_error_is_that_of_patterns() -> None:
    """One group of three items: what is expected of patterns of three, for items and for pairs."""
    posterior = sure_of({(0,): 500, (1,): 450, (2,): 400, (0, 1): 300, (0, 2): 250, (1, 2): 240}, 1000)
    itemsets = posterior.itemsets
    bases, errors = bases_for(itemsets, np.ones(6), unit=10.0)
    assert bases == [(0, 1, 2)]
    assert errors == pytest.approx(10 * np.array([noise_of_marginal(3, size) for size in (1, 1, 1, 2, 2, 2)]))
    assert bases_for(itemsets, np.zeros(6), unit=10.0)[0] == []
    assert np.isinf(bases_for(itemsets, np.zeros(6), unit=10.0)[1]).all()
    bases, errors = bases_for(itemsets, np.array([1, 1, 0, 1, 0, 0]), unit=10.0)
    assert bases == [(0, 1)]
    assert np.isinf(errors).tolist() == [False, False, True, False, True, True]


def test_what_patterns_do_not_tell_is_counted_by_itself() -> None:
    """A tenth of the errors, a quarter of the epsilon: shares go by square roots; nothing where all is told."""
    aim, unit = aim_of(k=5, about=100, number=1000), 2.0
    by_supports = 3 * math.sqrt(2) * (1 + 2 * 600 / 1000) * unit
    three = np.full(3, 200.0)
    assert part_for_untold(by_supports, three, aim, unit=unit) == Fraction(1, 2)
    assert part_for_untold(9 * by_supports, three, aim, unit=unit) == Fraction(1, 4)
    assert part_for_untold(1e9 * by_supports, three, aim, unit=unit) == Fraction(1, 20)
    assert part_for_untold(1e-9 * by_supports, three, aim, unit=unit) == Fraction(19, 20)
    assert part_for_untold(by_supports, np.empty(0), aim, unit=unit) == 0


def test_patterns_and_supports_of_the_rest_share_all_that_is_left() -> None:
    """Few items that go together, unsure, and one that does not, unlikely: all is spent, and all is measured."""
    epsilon = Fraction(1)
    aim = aim_of(k=30, about=150, number=3000, items=8)
    curator = curator_over(TOGETHER, epsilon=epsilon)
    unsure: dict[Itemset, float] = {(item,): 200 for item in range(7)}
    unsure |= {(a, b): 180 for a in range(7) for b in range(a + 1, 7)} | {(7,): 100}
    known = ask_again(curator, aim, known_of(unsure, left=epsilon, blur=40))
    assert curator.budget.spent == epsilon
    assert "joint patterns" in known.story[-1]
    questions = [charge.question for charge in curator.budget.charges]
    assert any(question.startswith("supports of 1 itemset,") for question in questions)
    assert (known.posterior.sums[:, 1] > 0).all()
