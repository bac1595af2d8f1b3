"""The refinement: what is asked once more, and what is known then."""

from fractions import Fraction

import numpy as np
import pytest

from curators import curator_over
from planned_cases import SPARSE, TOGETHER, sharp_posterior, sparse_scouting
from reference import support
from veilset.gate import SeededNoise
from veilset.itemsets import Itemset
from veilset.methods.planned.levelwise import MiningProgress
from veilset.methods.planned.posterior import Posterior, grid_to
from veilset.methods.planned.refinement import ask_refinement, updated_by_marginals
from veilset.methods.planned.settings import DEFAULT


def progress_of(supports: dict[Itemset, float], *, remaining: Fraction, blur: int = 1) -> MiningProgress:
    """What is known of a thousand transactions; the larger the blur, the less certain."""
    return MiningProgress(sharp_posterior(supports, 1000, blur=blur), remaining)


def measured_itemsets(posterior: Posterior) -> set[Itemset]:
    """Those that some answer of the refinement is about."""
    return {posterior.itemsets[place] for each in posterior.answered[1:] for place in each.places.tolist()}


def test_items_and_larger_itemsets_are_two_groups_that_share_all_that_remains() -> None:
    """Two histograms, then two counts, of items and of all that is larger; too many items for marginals."""
    scouting = sparse_scouting(k=40, threshold=100, number=3000, items=300)
    curator = curator_over(SPARSE)
    uncertain: dict[Itemset, float] = {(item,): 100 for item in range(DEFAULT.most_in_bases + 1)}
    uncertain |= {(0, 1): 100, (0, 2): 100}
    progress = ask_refinement(curator, scouting, progress_of(uncertain, remaining=Fraction(1), blur=20))
    assert curator.budget.spent == 1
    assert progress.remaining == 0
    assert "marginal" not in progress.notes[-1]
    spent = [charge.mechanism.epsilon for charge in curator.budget.charges]
    assert spent[:2] == [DEFAULT.share_for_overlap, DEFAULT.share_for_overlap]
    assert len(spent) == 4


def test_what_is_certain_is_measured_where_the_uncertain_need_less() -> None:
    """With hardly any noise, one itemset at the threshold does not take it all: the others become precise, too."""
    epsilon = Fraction(1000)
    scouting = sparse_scouting(k=80, threshold=100, number=3000, items=300, epsilon=epsilon)
    curator = curator_over(SPARSE, epsilon=epsilon)
    known: dict[Itemset, float] = {(item,): 300 for item in range(DEFAULT.most_in_bases + 1)}
    known[(70,)] = 100
    progress = ask_refinement(curator, scouting, progress_of(known, remaining=epsilon))
    assert f"those of {DEFAULT.most_in_bases + 1} itemsets certain to belong" in progress.notes[-1]
    assert curator.budget.spent == epsilon
    assert measured_itemsets(progress.posterior) == set(progress.posterior.itemsets)


def test_marginals_tell_about_known_itemsets() -> None:
    """With hardly any noise, what was vague becomes the support; what no marginal covers stays as it was."""
    rows = [frozenset({0, 1})] * 300 + [frozenset({1, 2})] * 100 + [frozenset({3})] * 50
    vague = Posterior.unmeasured([(0,), (1,), (0, 1), (1, 2), (3,)], np.zeros((5, 320)), grid_to(500))
    curator = curator_over(rows, epsilon=Fraction(100))
    after = updated_by_marginals(
        curator,
        sparse_scouting(k=5, threshold=100, number=450, max_size=2),
        vague,
        [(0, 1), (1, 2)],
        epsilon=Fraction(100),
    )
    true = [support(rows, itemset) for itemset in vague.itemsets[:4]]
    assert after.means[:4] == pytest.approx(true, rel=0.03)
    assert after.chances[4].tolist() == vague.chances[4].tolist()
    assert curator.budget.spent == 100


@pytest.mark.parametrize("max_size", [1, 2, 3])
def test_marginals_tell_about_itemsets_that_were_no_candidates(max_size: int) -> None:
    """All within the marginals that are not too large; with hardly any noise, their supports."""
    rows = [frozenset({0, 1, 2})] * 300 + [frozenset({1, 2})] * 100 + [frozenset({3})] * 50
    vague = Posterior.unmeasured([(0,), (3,)], np.zeros((2, 320)), grid_to(500))
    curator = curator_over(rows, epsilon=Fraction(100))
    after = updated_by_marginals(
        curator,
        sparse_scouting(k=5, threshold=100, number=450, max_size=max_size),
        vague,
        [(0, 1, 2)],
        epsilon=Fraction(100),
    )
    within = {(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)}
    assert after.itemsets[:2] == [(0,), (3,)]
    assert len(after.itemsets) == len(set(after.itemsets))
    assert set(after.itemsets) == {itemset for itemset in within if len(itemset) <= max_size} | {(3,)}
    for itemset, mean in zip(after.itemsets, after.means, strict=True):
        if itemset != (3,):
            assert mean == pytest.approx(support(rows, itemset), rel=0.03)


def test_the_largest_noise_of_a_marginal_makes_no_itemset() -> None:
    """Six items that never meet, noise larger than their supports: hardly ever is a larger itemset taken for one."""
    rows = [frozenset({item}) for item in range(6) for _ in range(300)]
    alone: dict[Itemset, float] = {(item,): 300 for item in range(6)}
    taken = 0
    for seed in range(20):
        after = updated_by_marginals(
            curator_over(rows, noise=SeededNoise(seed)),
            sparse_scouting(k=6, threshold=250, number=1800, items=6),
            sharp_posterior(alone, 1800),
            [tuple(range(6))],
            epsilon=Fraction(1, 60),
        )
        is_larger = np.array([len(itemset) > 1 for itemset in after.itemsets])
        taken += int((after.at_least(250)[is_larger] > 0.5).sum())
    assert taken <= 2


def test_marginals_and_capped_counts_of_the_rest_share_all_that_remains() -> None:
    """Few items that go together, uncertain, and one that does not, unlikely: all is spent, and all is measured."""
    epsilon = Fraction(1)
    scouting = sparse_scouting(k=30, threshold=150, number=3000, items=8)
    curator = curator_over(TOGETHER, epsilon=epsilon)
    uncertain: dict[Itemset, float] = {(item,): 200 for item in range(7)}
    uncertain |= {(a, b): 180 for a in range(7) for b in range(a + 1, 7)} | {(7,): 140}
    progress = ask_refinement(curator, scouting, progress_of(uncertain, remaining=epsilon, blur=40))
    assert curator.budget.spent == epsilon
    assert "marginal" in progress.notes[-1]
    questions = [charge.question for charge in curator.budget.charges]
    assert any(question.startswith("supports of 1 itemset,") for question in questions)
    assert measured_itemsets(progress.posterior) == set(progress.posterior.itemsets)
