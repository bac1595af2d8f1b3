"""How far tilts are apart: what is asked, what it tells on data of known tilts, and what follows from it."""

import math
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from curators import curator_over
from veilset.arrays import FloatArray
from veilset.gate import Curator, NormalisedCounts, SeededNoise
from veilset.itemsets import Itemsets
from veilset.methods.planned import items, levelwise, planned, refinement
from veilset.methods.planned.capped_counts import measurement_of
from veilset.methods.planned.histogram_laws import MOST, NUMBERS
from veilset.methods.planned.items import planned_items
from veilset.methods.planned.measurements import LOG_TILTS, USUAL_SPREAD, Measurement
from veilset.methods.planned.overlap import Cap, Overlap, ask_overlap
from veilset.methods.planned.settings import DEFAULT, Settings
from veilset.methods.planned.tilts import (
    TILT_SPREADS,
    Tilts,
    ask_tilts,
    choose_contrast,
    compared_items,
    expected_unlikeness,
    tilts_of,
)
from veilset.methods.shared.length_contrast import COMPARED_LENGTHS, FEWEST_COMPARED, LengthContrast
from veilset.raw.transactions import Alphabet, Transactions
from veilset.request import Request
from veilset.results.release import Release

ROWS, ITEMS = 6000, 150


def leaning_baskets(spread: float, *, seed: int) -> Transactions:
    """Baskets of 1 to 30 items, each drawn in proportion to n ** g: the g of items are `spread` apart."""
    random = np.random.default_rng(seed)
    lengths = np.clip(np.rint(np.exp(random.normal(1.3, 0.7, ROWS))), 1, 30).astype(np.int64)
    popular, leaning = 1 / np.arange(1, ITEMS + 1) ** 0.3, random.normal(0, spread, ITEMS)
    rows = []
    for length in lengths.tolist():
        keys = np.log(popular) + leaning * math.log(length) + random.gumbel(size=ITEMS)
        rows.append(np.sort(np.argpartition(-keys, length - 1)[:length]))
    offsets = np.append(0, np.cumsum([row.size for row in rows])).astype(np.int64)
    names = [f"item {place}" for place in range(ITEMS)]
    return Transactions(offsets, np.concatenate(rows).astype(np.int32), Alphabet(names, is_given=True))


def lengths_of(data: Transactions) -> Overlap:
    """How long transactions are, exactly."""
    return Overlap.known(np.bincount(data.lengths, minlength=MOST + 1)[1:].astype(np.float64), DEFAULT)


def supports_of(data: Transactions) -> FloatArray:
    """Of all items, exactly."""
    return np.bincount(data.items, minlength=ITEMS).astype(np.float64)


def told_spread(data: Transactions, *, epsilon: Fraction) -> float:
    """What one question says of data."""
    curator = curator_over(data, epsilon=epsilon, noise=SeededNoise(5))
    tilts, _ = ask_tilts(curator, lengths_of(data), supports_of(data), epsilon=epsilon)
    return tilts.spread


def test_it_tells_items_that_lean_alike_from_items_that_do_not() -> None:
    """With little noise: the less items differ in who holds them, the smaller the spread that is told."""
    told = [told_spread(leaning_baskets(spread, seed=1), epsilon=Fraction(10)) for spread in (0.0, 0.4, 1.0)]
    assert told[0] < 0.2 < told[1] < 0.4 < told[2], told


def test_noise_leaves_the_usual_spread() -> None:
    """Where the noise is larger than all there can be, what was likely before is likely after."""
    told = [told_spread(leaning_baskets(spread, seed=1), epsilon=Fraction(1, 10**6)) for spread in (0.0, 1.0)]
    assert told == pytest.approx([USUAL_SPREAD] * 2, rel=0.1)


@pytest.mark.parametrize("middle", [0.3, 1.5, 3.0])
def test_more_is_expected_the_further_tilts_are_apart(middle: float) -> None:
    """Whatever the lengths; where tilts are nearly alike, all there is is chance."""
    numbers = np.exp(-((np.log(NUMBERS) - middle) ** 2))
    lengths, supports = Overlap.known(10_000 * numbers / numbers.sum(), DEFAULT), np.full(20, 500.0)
    for limit in COMPARED_LENGTHS:
        contrast = LengthContrast.up_to(limit, NUMBERS, lengths.transactions)
        expected = expected_unlikeness(contrast, TILT_SPREADS, lengths, supports)
        assert (np.diff(expected) > -0.005 * expected[:-1]).all()
        assert expected[-1] > 1.5 * expected[0]


def test_what_is_expected_is_what_an_item_of_one_tilt_adds() -> None:
    """By hand: items in proportion to length add no more than chance, about sqrt(2 n / pi) each."""
    lengths = Overlap.known(np.where(np.isin(NUMBERS, [1, 4]), 1000.0, 0.0), DEFAULT)
    contrast = LengthContrast.up_to(4, NUMBERS, lengths.transactions)
    assert contrast == LengthContrast(4, Fraction(5, 2))
    (expected,) = expected_unlikeness(contrast, np.array([1e-3]), lengths, np.array([500.0]))
    # A tilt of 0.95 in place of 1: 1000 x 4 ** 0.95 / (1000 + 1000 x 4 ** 0.95) of the holders are long ones.
    long = 4**0.95 / (1 + 4**0.95)
    mean = long * (1 - 2.5 / 4) + (1 - long) * (1 - 2.5)
    square = long * (1 - 2.5 / 4) ** 2 + (1 - long) * (1 - 2.5) ** 2
    assert expected == pytest.approx(
        math.sqrt((500 * mean) ** 2 + 2 / math.pi * 500 * (square - mean**2)), rel=0.02
    )


def test_nothing_is_asked_where_few_items_stand_out() -> None:
    """No charge, the usual law of tilts, and settings as they are."""
    data = leaning_baskets(0.3, seed=3)
    curator, supports = curator_over(data), np.zeros(ITEMS)
    supports[: FEWEST_COMPARED - 1] = 1000.0
    tilts, cost = ask_tilts(curator, lengths_of(data), supports, epsilon=Fraction(1, 100))
    assert curator.budget.charges == ()
    assert cost == 0
    assert tilts.law.tolist() == LOG_TILTS.tolist()
    assert tilts.tuned(DEFAULT) is DEFAULT
    assert choose_contrast(lengths_of(data), supports) is None


def test_what_it_costs_is_what_is_charged() -> None:
    """One question, about the items that stand out."""
    data = leaning_baskets(0.3, seed=3)
    curator = curator_over(data)
    _, cost = ask_tilts(curator, lengths_of(data), supports_of(data), epsilon=Fraction(1, 100))
    (charge,) = curator.budget.charges
    assert charge.mechanism.epsilon == cost == Fraction(1, 100)
    assert "in 100 items" in charge.question


def test_the_most_frequent_items_are_compared() -> None:
    """Those that stand out, in the order of their codes."""
    assert compared_items(np.array([0.0, 5.0, 0.0, 9.0])).tolist() == [1, 3]
    many = compared_items(np.arange(500.0))
    assert many.tolist() == list(range(400, 500))


def test_caps_are_chosen_by_how_far_tilts_are_apart() -> None:
    """Within bounds: where items lean alike as before, where they do not, a cap takes more."""
    uneven = [Tilts(spread, LOG_TILTS).tuned(DEFAULT).unevenness for spread in (0.1, 0.45, 1.5)]
    assert uneven == pytest.approx([0.4, 0.495, 0.6])


def test_what_tilts_do_not_tell_is_less_where_they_are_close() -> None:
    """In proportion to how far they are apart, within bounds; the usual doubt where nothing was asked."""
    tuned = [Tilts(spread, LOG_TILTS).tuned(DEFAULT) for spread in (0.08, 0.2, 1.5)]
    assert [each.unevenness_of_a_tilt for each in tuned] == pytest.approx([0.06, 0.1, 0.2])
    assert [each.unevenness for each in tuned] == pytest.approx([0.4, 0.4, 0.6])
    assert Tilts().tuned(DEFAULT) is DEFAULT


def test_the_law_of_tilts_is_as_wide_as_is_told() -> None:
    """The chance of the outermost tilts grows with the answer; chances add up to 1."""
    expected = 1000 * TILT_SPREADS
    outer = []
    for answer in (100.0, 400.0, 1200.0):
        chances = np.exp(tilts_of(answer, expected, noise=50.0).law)
        assert chances.sum() == pytest.approx(1)
        outer.append(chances[0] + chances[-1])
    assert 2 * outer[0] < outer[1]
    assert 3 * outer[1] < outer[2]


def two_kinds(seed: int) -> Transactions:
    """Libraries hold 1 to 3 of ten items, programs 8 to 16 of thirty others: who has much has other things."""
    random = np.random.default_rng(seed)
    rows = [np.sort(random.choice(10, random.integers(1, 4), replace=False)) for _ in range(9000)]
    rows += [np.sort(10 + random.choice(30, random.integers(8, 17), replace=False)) for _ in range(3000)]
    offsets = np.append(0, np.cumsum([row.size for row in rows])).astype(np.int64)
    names = [f"item {place}" for place in range(40)]
    return Transactions(offsets, np.concatenate(rows).astype(np.int32), Alphabet(names, is_given=True))


def coverage_of_items(data: Transactions, mined_by: Callable[..., Release]) -> float:
    """How often intervals of 12 releases hold."""
    held = []
    for seed in range(12):
        curator = curator_over(data, epsilon=Fraction(1, 2), noise=SeededNoise(seed))
        released = mined_by(curator, Request.of(k=40, max_size=1), epsilon=Fraction(1, 2))
        for each in released.itemsets:
            (item,) = each.items
            true = supports_of(data)[data.alphabet.code(item)]
            held.append(each.low <= true <= each.high)
    return float(np.mean(held))


def nothing_asked(*_arguments: object, **_options: object) -> tuple[Tilts, Fraction]:
    """In place of `ask_tilts`."""
    return Tilts(), Fraction(0)


@pytest.mark.parametrize(
    ("mined_by", "module", "too_narrow"), [(planned, levelwise, 0.85), (planned_items, items, 0.93)]
)
def test_intervals_hold_where_long_and_short_transactions_share_no_item(
    mined_by: Callable[..., Release],
    module: ModuleType,
    too_narrow: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More often because it is asked, by the miner and for items: with the usual law of tilts they are too narrow."""
    data = two_kinds(4)
    asked = coverage_of_items(data, mined_by)
    monkeypatch.setattr(module, "ask_tilts", nothing_asked)
    unasked = coverage_of_items(data, mined_by)
    assert unasked < too_narrow
    assert asked > 0.88
    assert asked > unasked + 0.03


def test_what_is_told_tunes_every_later_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Caps of candidates and of the refinement are chosen by the unevenness that follows, not by the usual one."""
    uneven: dict[str, list[float]] = {"levelwise": [], "refinement": []}

    def recording(name: str) -> Callable[..., Overlap]:
        def ask(curator: Curator, itemsets: Itemsets | None, *, settings: Settings, **known: Any) -> Overlap:  # noqa: ANN401
            if itemsets is not None:
                uneven[name].append(settings.unevenness)
            return ask_overlap(curator, itemsets, settings=settings, **known)

        return ask

    monkeypatch.setattr(
        levelwise, "ask_tilts", lambda *_arguments, **_options: (Tilts(1.5, LOG_TILTS), Fraction(0))
    )
    for module in (levelwise, refinement):
        monkeypatch.setattr(module, "ask_overlap", recording(module.__name__.rpartition(".")[2]))
    curator = curator_over(leaning_baskets(0.3, seed=5), epsilon=Fraction(2), noise=SeededNoise(1))
    planned(curator, Request.of(k=150), epsilon=Fraction(2))
    assert set(uneven["levelwise"]) == {0.6}
    assert set(uneven["refinement"]) == {0.6}


@pytest.mark.parametrize(("spread", "tuned"), [(0.2, (0.4, 0.1)), (1.5, (0.6, 0.2))])
def test_what_is_told_tunes_every_count_of_items(
    spread: float, tuned: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The counts of all items are read, and counted again under caps that are chosen, by what was told."""
    found = []

    def reading(counts: NormalisedCounts, overlap: Overlap, cap: Cap, *, grid: FloatArray) -> Measurement:
        found.append((overlap.settings.unevenness, overlap.settings.unevenness_of_a_tilt))
        return measurement_of(counts, overlap, cap, grid=grid)

    def asking(curator: Curator, itemsets: Itemsets | None, *, settings: Settings, **known: Any) -> Overlap:  # noqa: ANN401
        if itemsets is not None:
            found.append((settings.unevenness, settings.unevenness_of_a_tilt))
        return ask_overlap(curator, itemsets, settings=settings, **known)

    told = Tilts(spread, LOG_TILTS)
    monkeypatch.setattr(items, "ask_tilts", lambda *_arguments, **_options: (told, Fraction(0)))
    monkeypatch.setattr(items, "measurement_of", reading)
    monkeypatch.setattr(items, "ask_overlap", asking)
    curator = curator_over(leaning_baskets(0.3, seed=5), epsilon=Fraction(2), noise=SeededNoise(1))
    planned_items(curator, Request.of(k=40, max_size=1), epsilon=Fraction(2))
    assert len(found) > 1
    assert set(found) == {tuned}
