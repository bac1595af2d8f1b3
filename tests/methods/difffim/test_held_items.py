"""Who holds itemsets: against sums one by one, and against transactions in which some items are taken as one."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from veilset.arrays import FloatArray
from veilset.gate import NoisyHistogram
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.methods.difffim.held_items import HeldItems
from veilset.methods.shared.holders import Holding, ItemClasses
from veilset.methods.shared.length_laws import plausible_lengths
from veilset.methods.shared.tilts import USUAL_TILTS
from veilset.methods.shared.truncation import AWAY_OF_ITEMS, kept_at_random

LIMIT = 3


def _rows(rng: np.random.Generator) -> FloatArray:
    """40,000 transactions of 30 items taken independently, some many, some few; items 0 and 1 often come as one."""
    activity = rng.gamma(1.0, 1.0, 40_000)[:, None]
    popularity = 0.5 / (np.arange(30) + 2)
    rows = rng.random((40_000, 30)) < 1 - np.exp(-popularity * activity)
    bundle = rng.random(40_000) < 1 - np.exp(-0.15 * activity[:, 0])
    rows[bundle, :2] = True
    return rows[rows.any(axis=1)].astype(np.float64)


ROWS = _rows(np.random.default_rng(2))
LENGTHS, SUPPORTS = ROWS.sum(axis=1), ROWS.sum(axis=0)
HISTOGRAM = NoisyHistogram(np.bincount(LENGTHS.astype(int), minlength=31), DiscreteLaplace(1, Fraction(1000)))
DRAWS_OF_LENGTHS = plausible_lengths(HISTOGRAM)


def _held(pairs: list[tuple[int, int]]) -> HeldItems:
    at, numbers = DRAWS_OF_LENGTHS.lengths, DRAWS_OF_LENGTHS.middle
    holding = Holding.of(ItemClasses.of(SUPPORTS, clear=50, total=float(LENGTHS.sum())), at, numbers)
    classes = holding.classes_of(SUPPORTS)[np.array(pairs)]
    return HeldItems.independent(holding, at, numbers, classes, USUAL_TILTS)


def test_what_chance_makes_is_a_sum_over_lengths() -> None:
    """One length after another: the chances of both items, and that they are two."""
    pairs = list(combinations(range(5), 2))
    held = _held(pairs)
    for place, found in enumerate(held.by_chance().tolist()):
        first, second = held.classes[place]
        expected = sum(
            number
            * np.exp(held.holding.logs[first, at] + held.holding.logs[second, at])
            * (length - 1)
            / length
            for at, (length, number) in enumerate(zip(held.lengths, held.numbers, strict=True))
            if length >= 2
        )
        assert found == pytest.approx(expected)


def test_items_that_come_as_one_are_held_as_one_item_is_and_others_are_not() -> None:
    """The share that truncation keeps, to within 8 %; if they came by chance, long transactions would lose more."""
    pairs = [(0, 1), (2, 3), (3, 5)]
    true = np.array([ROWS[:, pair].all(axis=1).sum() for pair in np.array(pairs)])
    keeps = np.clip(LIMIT / LENGTHS, 0, 1) * np.clip((LIMIT - 1) / np.maximum(LENGTHS - 1, 1), 0, 1)
    kept = np.array([(ROWS[:, pair].all(axis=1) * keeps).sum() for pair in np.array(pairs)]) / true
    by_chance = _held(pairs)
    held = by_chance.with_supports(true)
    assert held.as_one[0] > 0.4
    assert np.all(held.as_one[1:] < 0.15)
    shares = []
    for who in (held, by_chance):
        laws = [
            kept_at_random(DRAWS_OF_LENGTHS, size=2, limit=LIMIT, held=who.held_by(np.array([place])))
            for place in range(3)
        ]
        shares.append(
            np.array([float(np.exp(np.interp(0.0, AWAY_OF_ITEMS, np.log(law.shares)))) for law in laws])
        )
    assert shares[0] == pytest.approx(kept, rel=0.08)
    assert shares[1][0] < 0.9 * kept[0]


def test_who_is_held_alike_is_in_one_group() -> None:
    """Pairs of the same items' classes and supports; a pair that comes as one is apart."""
    held = _held([(0, 1), (1, 0), (0, 1)]).with_supports(np.array([3000.0, 3000.0, 40_000.0]))
    assert held.groups[0] == held.groups[1] != held.groups[2]
