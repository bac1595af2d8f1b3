"""How unlike long and short transactions are: the number itself, what one transaction moves, its noise, refusals."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curators import curator_over
from laws import fits, laplace_bins
from reference import Basket, Baskets, unlikeness
from strategies import ALPHABET_SIZE, basket, baskets, items, transactions_of
from veilset.errors import BadCall
from veilset.gate import PrivacyUnit, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.gate.questions.counts import LONGEST_COMPARED, PARTS_OF_A_STEP
from veilset.gate.selection.length_scores import WEIGHT_STEPS

STEPS = WEIGHT_STEPS * PARTS_OF_A_STEP
some_items = st.lists(items, min_size=1, unique=True)


@st.composite
def contrasts(draw: st.DrawFn) -> tuple[int, Fraction]:
    """A limit, and an average of 1 to the limit in eighths."""
    limit = draw(st.integers(2, ALPHABET_SIZE + 1))
    return limit, Fraction(draw(st.integers(8, 8 * limit)), 8)


def exact(rows: Baskets, chosen: list[int], limit: int, average: Fraction) -> int:
    """What the gate looks at, in steps: epsilon is so large that noise is none."""
    curator = curator_over(rows, epsilon=Fraction(10**30), noise=SeededNoise(3))
    return curator.ask_unlikeness(
        np.array(chosen), limit=limit, average=average, epsilon=Fraction(10**30)
    ).value


@given(rows=baskets(), chosen=some_items, contrast=contrasts())
def test_it_is_that_of_the_twin(rows: Baskets, chosen: list[int], contrast: tuple[int, Fraction]) -> None:
    """But for rounding: a weight is rounded down to a step, of which there are a million."""
    limit, average = contrast
    found = exact(rows, chosen, limit, average) / STEPS
    off = len(rows) * len(chosen) * (1 + limit) / WEIGHT_STEPS
    assert found == pytest.approx(float(unlikeness(rows, chosen, limit, average)), abs=off + 1e-9)


@given(rows=baskets(), more=basket(), chosen=some_items, contrast=contrasts())
def test_no_transaction_moves_it_by_more_than_is_paid_for(
    rows: Baskets, more: Basket, chosen: list[int], contrast: tuple[int, Fraction]
) -> None:
    """In steps, exactly; an empty one moves nothing."""
    limit, average = contrast
    without, with_it = (exact(some, chosen, limit, average) for some in (rows, [*rows, more]))
    curator = curator_over(rows)
    paid = curator.ask_unlikeness(np.array(chosen), limit=limit, average=average, epsilon=Fraction(1, 9))
    assert abs(with_it - without) <= paid.mechanism.sensitivity * STEPS
    if not more:
        assert with_it == without


@pytest.mark.parametrize(
    ("limit", "average", "moved"),
    [
        (2, Fraction(2), 1),
        (3, Fraction(2), 2),
        (4, Fraction(5, 2), 2),
        (9, Fraction(1), 9),
        (9, Fraction(9), 8),
    ],
)
def test_the_sensitivity_by_hand(limit: int, average: Fraction, moved: int) -> None:
    """The larger of average - 1 and limit - average with what rounding adds, as whole transactions; c times that."""
    rows: Baskets = [frozenset({0})]
    for transactions in (1, 3):
        curator = curator_over(rows, unit=PrivacyUnit("owner", transactions))
        asked = curator.ask_unlikeness(np.array([0]), limit=limit, average=average, epsilon=Fraction(1, 2))
        assert asked.mechanism == DiscreteLaplace(transactions * moved, Fraction(1, 2), STEPS)


def test_a_transaction_of_one_item_moves_it_by_all_that_is_paid_for() -> None:
    """So the sensitivity is no larger than it must be."""
    alone: Baskets = [frozenset({1})]
    assert exact(alone, [1], 2, Fraction(2)) - exact([], [1], 2, Fraction(2)) == STEPS


def test_transactions_that_hold_the_same_whatever_their_length_are_alike() -> None:
    """All hold each item in the same proportions; or short ones hold two items, and long ones two others."""
    alone: Baskets = [frozenset({item}) for item in range(4)]
    alike: Baskets = [*alone, *[frozenset({0, 1, 2, 3})] * 4]
    apart: Baskets = [*alone[:2] * 2, *[frozenset({2, 3, 4, 5})] * 4]
    assert exact(alike, [0, 1, 2, 3], 4, Fraction(5, 2)) == 0
    assert exact(apart, [0, 1, 2, 3], 4, Fraction(5, 2)) == 9 * STEPS


def test_it_has_the_noise_that_is_paid_for() -> None:
    """Laplace noise of scale 4 fits, a tenth more or less does not."""
    rows = transactions_of([frozenset({0})], alphabet_size=3)
    drawn = Counter(
        int(
            np.floor(
                curator_over(rows, noise=SeededNoise(seed))
                .ask_unlikeness(np.array([1]), limit=4, average=Fraction(5, 2), epsilon=Fraction(1, 2))
                .value
                / STEPS
            )
        )
        for seed in range(6000)
    )
    assert fits(drawn, laplace_bins(4.0))
    assert not fits(drawn, laplace_bins(4.6))
    assert not fits(drawn, laplace_bins(3.4))


@pytest.mark.parametrize(
    ("limit", "average", "words"),
    [
        (1, Fraction(1), "length limit"),
        (LONGEST_COMPARED + 1, Fraction(2), "too large"),
        (4, Fraction(1, 2), "average"),
        (4, Fraction(5), "average"),
        (4, Fraction(4, 3), "1/8"),
        (4, 2.0, "Fraction"),
        (4, float("nan"), "Fraction"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_it_is_paid_for(
    limit: int, average: Fraction, words: str
) -> None:
    """In one line; nothing is charged."""
    curator = curator_over([frozenset({0})])
    with pytest.raises(BadCall, match=words):
        curator.ask_unlikeness(np.array([0]), limit=limit, average=average, epsilon=Fraction(1))
    assert curator.budget.charges == ()
