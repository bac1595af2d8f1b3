"""How far tilts are apart: what is asked, and what it tells on data of known tilts."""

import math
from fractions import Fraction

import numpy as np
import pytest

from curators import curator_over
from veilset.gate import SeededNoise
from veilset.methods.shared.length_contrast import COMPARED_LENGTHS, MOST_COMPARED, LengthContrast
from veilset.methods.tps.drawn_supports import DrawnSupports
from veilset.methods.tps.leanings import SupportClasses
from veilset.methods.tps.lengths import LENGTHS, LengthLaws
from veilset.methods.tps.unlikeness import (
    POSSIBLE_SPREADS,
    USUAL_TILT_SPREAD,
    ask_spread,
    contrast_for,
    expected_spread,
)
from veilset.raw.transactions import Alphabet, Transactions

ROWS, ITEMS = 6000, 150


def leaning_baskets(spread: float) -> Transactions:
    """Baskets of 1 to 30 items, each drawn in proportion to n ** g: the g of items are `spread` apart."""
    random = np.random.default_rng(1)
    lengths = np.clip(np.rint(np.exp(random.normal(1.3, 0.7, ROWS))), 1, 30).astype(np.int64)
    popular, leaning = 1 / np.arange(1, ITEMS + 1) ** 0.3, random.normal(0, spread, ITEMS)
    rows = []
    for length in lengths.tolist():
        keys = np.log(popular) + leaning * math.log(length) + random.gumbel(size=ITEMS)
        rows.append(np.sort(np.argpartition(-keys, length - 1)[:length]))
    offsets = np.append(0, np.cumsum([row.size for row in rows])).astype(np.int64)
    names = [f"item {place}" for place in range(ITEMS)]
    return Transactions(offsets, np.concatenate(rows).astype(np.int32), Alphabet(names, is_given=True))


def drawn_for(data: Transactions) -> DrawnSupports:
    """With exact lengths and supports, as nothing was normalised."""
    places = np.searchsorted(LENGTHS, data.lengths)
    numbers = np.bincount(places, minlength=LENGTHS.size).astype(np.float64) + 1e-6
    supports = np.bincount(data.items, minlength=ITEMS).astype(np.float64)
    classes = SupportClasses.of(supports, np.arange(ITEMS))
    return DrawnSupports.of(LengthLaws.of(numbers[None, :], 1000), classes, number=ROWS)


def told_spread(data: Transactions, *, epsilon: Fraction) -> float:
    """What one question says of data."""
    curator = curator_over(data, epsilon=epsilon, noise=SeededNoise(5))
    return ask_spread(curator, drawn_for(data), np.arange(ITEMS), epsilon=epsilon)


def test_it_tells_items_that_lean_alike_from_items_that_do_not() -> None:
    """With little noise: the less items differ in who holds them, the smaller the spread that is told."""
    told = [told_spread(leaning_baskets(spread), epsilon=Fraction(10)) for spread in (0.0, 0.4, 1.0)]
    assert told[0] < 0.2 < told[1] < 0.28 < told[2], told


def test_noise_leaves_the_usual_spread() -> None:
    """Where the noise is larger than all there can be, what was likely before is likely after."""
    told = [told_spread(leaning_baskets(spread), epsilon=Fraction(1, 10**6)) for spread in (0.0, 1.0)]
    assert told == pytest.approx([USUAL_TILT_SPREAD] * 2, rel=0.5)


def test_more_is_expected_the_further_tilts_are_apart() -> None:
    """Up to each limit."""
    drawn = drawn_for(leaning_baskets(0.3))
    for limit in COMPARED_LENGTHS:
        contrast = LengthContrast.up_to(limit, LENGTHS, drawn.laws.mean)
        expected = expected_spread(contrast, POSSIBLE_SPREADS, drawn)
        assert np.all(np.diff(expected) > -0.005 * expected[:-1])


def test_one_question_about_the_most_frequent() -> None:
    """At its price, of 100 items at most, by the contrast that is best."""
    data = leaning_baskets(0.3)
    curator = curator_over(data)
    ask_spread(curator, drawn_for(data), np.arange(ITEMS), epsilon=Fraction(1, 100))
    (charge,) = curator.budget.charges
    assert charge.mechanism.epsilon == Fraction(1, 100)
    assert f"in {MOST_COMPARED} items" in charge.question
    assert f"up to {contrast_for(drawn_for(data)).limit} items" in charge.question
