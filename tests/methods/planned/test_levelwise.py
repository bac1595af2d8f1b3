"""Items, then larger itemsets: which are candidates, what they are paid, what is believed when they are not."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from aims import SPARSE, aim_of, sure_of
from curators import curator_over
from veilset.itemsets import Itemset
from veilset.methods.planned.levelwise import (
    LEAST_PART,
    LEAST_SHARE,
    MOST_SHARE,
    SHARE_FOR_LARGEST,
    SHARE_FOR_OVERLAP,
    TOO_LITTLE,
    Known,
    ask_items,
    ask_larger,
    candidates_of,
    enough,
    part_of,
    share_for,
)
from veilset.methods.planned.overlap import MOST, Overlap
from veilset.methods.planned.posterior import USUAL_LIFT, USUAL_WIDTH

ITEMS: dict[Itemset, float] = {(0,): 500.0, (1,): 450.0, (2,): 400.0, (3,): 5.0}
PAIRED = [frozenset({0, 1})] * 400 + [frozenset({2, 3})] * 300 + [frozenset({4})] * 300
"""Items that go together in pairs, and no three of them."""
ONE_EACH = Overlap(np.array([1000.0, *[0.0] * (MOST - 1)]))
"""A thousand transactions that hold one itemset each: the noise of a count is all its error."""
HALF = Fraction(1, 2)
APART = [frozenset({item}) for item in range(4)] * 250
"""Items that no transaction holds two of."""


def test_shares_for_new_candidates_by_hand() -> None:
    """32 at one half make 8, and so do 160 taken to be unsure: cube roots 2 and 2, the latter times 1.5."""
    half, nothing = np.full(32, 0.5), np.empty(0)
    assert share_for(half, nothing, 160) == Fraction(2, 5)
    assert share_for(nothing, half, 160) == LEAST_SHARE
    assert share_for(np.full(10**5, 0.5), nothing, 1) == MOST_SHARE


def test_no_more_is_paid_than_is_good_enough() -> None:
    """A quarter of 1000 is: half of epsilon where the error with all of it would be half of that."""
    half_of_it = 125 / np.sqrt(2)
    assert enough(ONE_EACH, Fraction(1), 1000.0, unit=half_of_it) == Fraction(1, 2)
    assert enough(ONE_EACH, Fraction(3), 1000.0, unit=half_of_it) == Fraction(3, 2)
    assert enough(ONE_EACH, Fraction(1), 1000.0, unit=0.001) == LEAST_PART
    assert enough(ONE_EACH, Fraction(1), 1000.0, unit=500.0) == 1


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
    left, share = Fraction(3, 5), Fraction(1, 3)
    found = part_of(ONE_EACH, left, share, 1000.0, of_answer=of_answer, unit=error / np.sqrt(2))
    assert found == left * (LEAST_SHARE if part is None else max(LEAST_SHARE, share * part))


def test_candidates_are_those_whose_parts_can_be_in_the_answer() -> None:
    """Items 0, 1, 2 are frequent, 3 is too rare to be in a frequent pair; triples need all three pairs."""
    aim = aim_of(k=10, about=200, number=1000)
    pairs, prior = candidates_of(sure_of(ITEMS, 1000), 2, 200.0, aim, unit=100.0)
    assert pairs == [(0, 1), (0, 2), (1, 2)]
    assert prior.expected == pytest.approx([225, 200, 180], rel=0.05)
    two = sure_of({**ITEMS, (0, 1): 300, (0, 2): 250}, 1000)
    assert candidates_of(two, 3, 200.0, aim, unit=100.0)[0] == []
    three = sure_of({**ITEMS, (0, 1): 300, (0, 2): 250, (1, 2): 240}, 1000)
    assert candidates_of(three, 3, 200.0, aim, unit=100.0)[0] == [(0, 1, 2)]


def test_no_more_than_the_likeliest_two_for_each_of_k_are_candidates() -> None:
    """Of the 45 pairs of ten items, those six whose items are the most frequent, in their order."""
    supports: dict[Itemset, float] = {(item,): 600.0 - 40 * item for item in range(10)}
    known, three = sure_of(supports, 1000), aim_of(k=3, about=150, number=1000)
    every_pair, prior = candidates_of(known, 2, 150.0, aim_of(k=100, about=150, number=1000), unit=100.0)
    few, of_few = candidates_of(known, 2, 150.0, three, unit=100.0)
    assert every_pair == list(combinations(range(10), 2))
    likeliest = np.argsort(-prior.chances(2, 150.0), kind="stable")[:6]
    assert few == [every_pair[place] for place in sorted(likeliest)]
    assert (0, 1) in few
    assert (8, 9) not in few
    assert of_few.expected.tolist() == prior.expected[np.sort(likeliest)].tolist()
    assert candidates_of(known, 2, 150.0, three, unit=0.01)[0] == every_pair, "where noise is negligible"


def test_items_are_paid_their_share_and_those_that_may_matter_are_kept() -> None:
    """The most popular ones, at most two for each of k; what is left is what was not spent."""
    aim = aim_of(k=10, about=400, number=3000, items=300)
    curator = curator_over(SPARSE)
    known = ask_items(curator, aim)
    assert known.left == 1 - curator.budget.spent
    assert len(known.posterior.itemsets) <= 20
    assert {(0,), (1,), (2,)} <= set(known.posterior.itemsets)


def known_of(supports: dict[Itemset, float], *, left: Fraction) -> Known:
    """What is known of a thousand transactions."""
    return Known(sure_of(supports, 1000), left, ())


PAIRED_ITEMS: dict[Itemset, float] = {(0,): 400, (1,): 400, (2,): 300, (3,): 300, (4,): 300}


def test_larger_itemsets_are_measured() -> None:
    """With hardly any noise, the two pairs that there are stand out, with about their supports."""
    aim = aim_of(k=7, about=250, number=1000, items=6, epsilon=Fraction(10**4))
    curator = curator_over(PAIRED, epsilon=aim.left)
    known = ask_larger(curator, aim, known_of(PAIRED_ITEMS, left=aim.left), 2)
    believed = dict(zip(known.posterior.itemsets, known.posterior.means(), strict=True))
    assert believed.pop((0, 1)) == pytest.approx(400, rel=0.1)
    assert believed.pop((2, 3)) == pytest.approx(300, rel=0.1)
    assert all(mean < 50 for pair, mean in believed.items() if len(pair) == 2)
    assert known.may_grow
    assert known.left == aim.left - curator.budget.spent


def test_with_too_little_left_candidates_go_unmeasured() -> None:
    """They are believed to be what their parts make of them, nothing is asked, and larger ones may follow."""
    aim = aim_of(k=7, about=150, number=1000, items=6)
    too_little = SHARE_FOR_LARGEST + TOO_LITTLE * SHARE_FOR_OVERLAP - Fraction(1, 10**6)
    curator = curator_over(PAIRED)
    before = known_of(PAIRED_ITEMS, left=too_little)
    known = ask_larger(curator, aim, before, 2)
    assert curator.budget.spent == 0
    assert known.left == too_little
    assert known.may_grow
    pairs = known.posterior.take(np.arange(5, len(known.posterior.itemsets)))
    candidates, prior = candidates_of(before.posterior, 2, aim.support(before.posterior), aim, unit=100.0)
    assert pairs.itemsets == candidates
    by_parts = np.exp(prior.log_chances(USUAL_LIFT, USUAL_WIDTH, pairs.grid))
    assert pairs.chances == pytest.approx(by_parts / by_parts.sum(axis=1, keepdims=True))
    assert (pairs.sums == 0).all()


def test_with_a_little_more_left_they_are_measured() -> None:
    """The border is where a histogram is a tenth of what is left."""
    aim = aim_of(k=7, about=150, number=1000, items=6)
    left = SHARE_FOR_LARGEST + TOO_LITTLE * SHARE_FOR_OVERLAP
    curator = curator_over(PAIRED)
    ask_larger(curator, aim, known_of(PAIRED_ITEMS, left=left), 2)
    assert curator.budget.spent > SHARE_FOR_LARGEST


def test_nothing_is_asked_where_nothing_larger_can_be_in_the_answer() -> None:
    """A single item makes no pairs."""
    curator = curator_over(PAIRED)
    known = ask_larger(curator, aim_of(k=1, about=400), known_of({(0,): 400}, left=Fraction(1)), 2)
    assert not known.may_grow
    assert known.left == 1
    assert curator.budget.spent == 0


def test_one_answer_says_that_larger_itemsets_are_too_rare() -> None:
    """No transaction holds two items, and the largest support of pairs tells: the rest is kept."""
    aim = aim_of(k=6, about=200, number=1000, items=6, epsilon=Fraction(10))
    curator = curator_over(APART, epsilon=aim.left)
    known = ask_larger(curator, aim, known_of({(item,): 250 for item in range(4)}, left=aim.left), 2)
    assert curator.budget.spent == SHARE_FOR_LARGEST * aim.epsilon == aim.left - known.left
    assert not known.may_grow
    assert len(known.posterior.itemsets) == 4
