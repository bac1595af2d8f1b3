"""Items, then larger itemsets: what is asked, what is known then, and what is known when nothing is asked."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from curators import curator_over
from planned_cases import SPARSE, sharp_posterior, sparse_scouting
from veilset.itemsets import Itemset
from veilset.methods.planned.candidate_selection import LevelCandidates
from veilset.methods.planned.levelwise import MiningProgress, ask_level, ask_single_items, candidates_of
from veilset.methods.planned.scouting import SparseScouting
from veilset.methods.planned.settings import DEFAULT

ITEMS: dict[Itemset, float] = {(0,): 500.0, (1,): 450.0, (2,): 400.0, (3,): 5.0}
PAIRED = [frozenset({0, 1})] * 400 + [frozenset({2, 3})] * 300 + [frozenset({4})] * 300
"""Items that go together in pairs, and no three of them."""
APART = [frozenset({item}) for item in range(4)] * 250
"""Items that no transaction contains two of."""


def progress_of(supports: dict[Itemset, float], *, remaining: Fraction) -> MiningProgress:
    """What is known of a thousand transactions."""
    return MiningProgress(sharp_posterior(supports, 1000), remaining)


def candidates_among(
    scouting: SparseScouting,
    supports: dict[Itemset, float],
    *,
    size: int,
    support: float,
    remaining: Fraction = Fraction(1, 50),
) -> LevelCandidates | None:
    """Candidates by known supports of their subsets; by default, with so little epsilon that noise is large."""
    return candidates_of(scouting, progress_of(supports, remaining=remaining), size=size, support=support)


def test_candidates_are_those_whose_subsets_can_be_in_the_answer() -> None:
    """Items 0, 1, 2 are frequent, 3 is too rare to be in a frequent pair; triples need all three pairs."""
    scouting = sparse_scouting(k=10, threshold=200, number=1000)
    pairs = candidates_among(scouting, ITEMS, size=2, support=200.0)
    assert pairs is not None
    assert pairs.itemsets == [(0, 1), (0, 2), (1, 2)]
    assert pairs.prior.expected == pytest.approx([225, 200, 180], rel=0.05)
    two: dict[Itemset, float] = {**ITEMS, (0, 1): 300, (0, 2): 250}
    assert candidates_among(scouting, two, size=3, support=200.0) is None
    triples = candidates_among(scouting, {**two, (1, 2): 240}, size=3, support=200.0)
    assert triples is not None
    assert triples.itemsets == [(0, 1, 2)]


def test_no_more_than_the_likeliest_two_for_each_of_k_are_candidates() -> None:
    """Of the 45 pairs of ten items, those six whose items are the most frequent, in their order."""
    supports: dict[Itemset, float] = {(item,): 600.0 - 40 * item for item in range(10)}
    many, three = (sparse_scouting(k=k, threshold=150, number=1000) for k in (100, 3))
    every_pair = candidates_among(many, supports, size=2, support=150.0)
    few = candidates_among(three, supports, size=2, support=150.0)
    assert every_pair is not None
    assert few is not None
    assert every_pair.itemsets == list(combinations(range(10), 2))
    likeliest = np.argsort(-every_pair.chances, kind="stable")[:6]
    assert few.itemsets == [every_pair.itemsets[place] for place in sorted(likeliest)]
    assert (0, 1) in few.itemsets
    assert (8, 9) not in few.itemsets
    assert few.prior.expected.tolist() == every_pair.prior.expected[np.sort(likeliest)].tolist()
    clear = candidates_among(three, supports, size=2, support=150.0, remaining=Fraction(200))
    assert clear is not None
    assert clear.itemsets == every_pair.itemsets, "where noise is negligible"


def test_items_are_paid_their_share_and_those_that_may_matter_are_kept() -> None:
    """The most popular ones, at most two for each of k; what is left is what was not spent."""
    scouting = sparse_scouting(k=10, threshold=400, number=3000, items=300)
    curator = curator_over(SPARSE)
    progress = ask_single_items(curator, scouting)
    assert progress.remaining == 1 - curator.budget.spent
    assert len(progress.posterior.itemsets) <= 20
    assert {(0,), (1,), (2,)} <= set(progress.posterior.itemsets)


PAIRED_ITEMS: dict[Itemset, float] = {(0,): 400, (1,): 400, (2,): 300, (3,): 300, (4,): 300}


def test_larger_itemsets_are_measured() -> None:
    """With hardly any noise, the two pairs that there are stand out, with about their supports."""
    scouting = sparse_scouting(k=7, threshold=250, number=1000, items=6, epsilon=Fraction(10**4))
    curator = curator_over(PAIRED, epsilon=scouting.remaining)
    progress = ask_level(curator, scouting, progress_of(PAIRED_ITEMS, remaining=scouting.remaining), 2)
    measured = dict(zip(progress.posterior.itemsets, progress.posterior.means, strict=True))
    assert measured.pop((0, 1)) == pytest.approx(400, rel=0.1)
    assert measured.pop((2, 3)) == pytest.approx(300, rel=0.1)
    assert all(mean < 50 for pair, mean in measured.items() if len(pair) == 2)
    assert progress.may_grow
    assert progress.remaining == scouting.remaining - curator.budget.spent


def test_with_too_little_left_candidates_go_unmeasured() -> None:
    """They are taken to be what their subsets make of them, nothing is asked, and larger ones may follow."""
    scouting = sparse_scouting(k=7, threshold=150, number=1000, items=6)
    too_little = (
        DEFAULT.share_for_largest
        + DEFAULT.least_histograms_left * DEFAULT.share_for_overlap
        - Fraction(1, 10**6)
    )
    curator = curator_over(PAIRED)
    before = progress_of(PAIRED_ITEMS, remaining=too_little)
    progress = ask_level(curator, scouting, before, 2)
    assert curator.budget.spent == 0
    assert progress.remaining == too_little
    assert progress.may_grow
    pairs = progress.posterior.take(np.arange(5, len(progress.posterior.itemsets)))
    support = scouting.support_in_question(before.posterior)
    candidates = candidates_of(scouting, before, size=2, support=support)
    assert candidates is not None
    assert pairs.itemsets == candidates.itemsets
    by_subsets = np.exp(candidates.prior.usual(pairs.grid))
    assert pairs.chances == pytest.approx(by_subsets / by_subsets.sum(axis=1, keepdims=True))
    assert pairs.answered == () or all(each.places.size == 0 for each in pairs.answered)


def test_with_a_little_more_left_they_are_measured() -> None:
    """The border is where a histogram is a tenth of what is left."""
    scouting = sparse_scouting(k=7, threshold=150, number=1000, items=6)
    left = DEFAULT.share_for_largest + DEFAULT.least_histograms_left * DEFAULT.share_for_overlap
    curator = curator_over(PAIRED)
    ask_level(curator, scouting, progress_of(PAIRED_ITEMS, remaining=left), 2)
    assert curator.budget.spent > DEFAULT.share_for_largest


def test_nothing_is_asked_where_nothing_larger_can_be_in_the_answer() -> None:
    """A single item makes no pairs."""
    curator = curator_over(PAIRED)
    progress = ask_level(
        curator, sparse_scouting(k=1, threshold=400), progress_of({(0,): 400}, remaining=Fraction(1)), 2
    )
    assert not progress.may_grow
    assert progress.remaining == 1
    assert curator.budget.spent == 0


def test_one_answer_says_that_larger_itemsets_are_too_rare() -> None:
    """No transaction holds two items, and the largest support of pairs tells: the rest is kept."""
    scouting = sparse_scouting(k=6, threshold=200, number=1000, items=6, epsilon=Fraction(10))
    curator = curator_over(APART, epsilon=scouting.remaining)
    progress = ask_level(
        curator, scouting, progress_of({(item,): 250 for item in range(4)}, remaining=scouting.remaining), 2
    )
    assert (
        curator.budget.spent
        == DEFAULT.share_for_largest * scouting.epsilon
        == scouting.remaining - progress.remaining
    )
    assert not progress.may_grow
    assert len(progress.posterior.itemsets) == 4
