"""How far items differ in who holds them: what is asked, what it tells on data of known tilts, what follows from it."""

import math
from fractions import Fraction

import numpy as np
import pytest

from curators import curator_over
from veilset.api import mine
from veilset.gate import Curator, DiscreteLaplace, NoisyHistogram, SeededNoise
from veilset.methods.difffim import levels
from veilset.methods.difffim.counted_level import NAIVE, CountedLevel
from veilset.methods.difffim.levels import SHARE_LEFT_WHOLE, ask_first_level
from veilset.methods.shared.holders import Holding, ItemClasses
from veilset.methods.shared.length_contrast import COMPARED_LENGTHS, FEWEST_COMPARED
from veilset.methods.shared.length_laws import plausible_lengths
from veilset.methods.shared.tilts import (
    SHARE_FOR_TILTS,
    SPREADS_OF_ITEMS,
    USUAL_TILTS,
    ComparedItems,
    ask_item_tilts,
    is_worth_asking,
    tilts_told_of,
)
from veilset.methods.shared.truncation import AWAY_OF_ITEMS, TiltLaw
from veilset.raw.transactions import Alphabet, Transactions

ROWS, ITEMS = 6000, 150


def _baskets(spread: float, *, seed: int = 1, longest: int = 30) -> Transactions:
    """Baskets of 1 to 30 items, each drawn in proportion to n ** g: the g of items are `spread` apart."""
    random = np.random.default_rng(seed)
    lengths = np.clip(np.rint(np.exp(random.normal(1.3, 0.7, ROWS))), 1, longest).astype(np.int64)
    popular, leaning = 1 / np.arange(1, ITEMS + 1) ** 0.3, random.normal(0, spread, ITEMS)
    rows = []
    for length in lengths.tolist():
        keys = np.log(popular) + leaning * math.log(length) + random.gumbel(size=ITEMS)
        rows.append(np.sort(np.argpartition(-keys, length - 1)[:length]))
    offsets = np.append(0, np.cumsum([row.size for row in rows])).astype(np.int64)
    names = [f"item {place}" for place in range(ITEMS)]
    return Transactions(offsets, np.concatenate(rows).astype(np.int32), Alphabet(names, is_given=True))


def _compared(data: Transactions, *, clear: float = 5) -> ComparedItems:
    """All items, with exact supports and lengths."""
    numbers = np.bincount(data.lengths, minlength=65).astype(np.float64)
    supports = np.bincount(data.items, minlength=ITEMS).astype(np.float64)
    lengths = np.arange(numbers.size, dtype=np.float64)
    classes = ItemClasses.of(supports, clear=5, total=float(lengths @ numbers))
    holding = Holding.of(classes, lengths, numbers)
    return ComparedItems.of(supports, clear=clear, holding=holding, lengths=lengths, numbers=numbers)


def _told(data: Transactions, *, epsilon: Fraction) -> TiltLaw:
    """What one question says of data."""
    curator = curator_over(data, epsilon=epsilon, noise=SeededNoise(5))
    return ask_item_tilts(curator, _compared(data), truncated_to=4, epsilon=epsilon)


def test_it_tells_items_that_lean_alike_from_items_that_do_not() -> None:
    """With little noise: the less items differ in who holds them, the smaller the spread that is told."""
    told = [_told(_baskets(spread), epsilon=Fraction(10)).spread for spread in (0.0, 0.4, 1.0)]
    assert told[0] < 0.2 < told[1] < 0.45 < told[2], told


def test_noise_leaves_what_was_likely_before() -> None:
    """Where the noise is larger than all there can be."""
    told = _told(_baskets(0.0), epsilon=Fraction(1, 10**6)).spread
    assert told == pytest.approx(USUAL_TILTS.spread, rel=0.1)


def test_only_limits_that_take_something_are_compared() -> None:
    """The limit that tells best is one of those from the truncation's own on."""
    compared = _compared(_baskets(0.4))
    for limit in (2, 5, 9, 64):
        contrast = compared.best_contrast(limit)
        assert contrast is not None
        assert contrast.limit >= limit
        assert contrast.limit in COMPARED_LENGTHS


def test_nothing_is_asked_where_few_items_stand_out() -> None:
    """And then nothing is paid: the usual law stays."""
    data = _baskets(0.4)
    supports = np.bincount(data.items, minlength=ITEMS).astype(np.float64)
    compared = _compared(data, clear=float(np.sort(supports)[-FEWEST_COMPARED]))
    curator = curator_over(data, epsilon=Fraction(1), noise=SeededNoise(5))
    assert ask_item_tilts(curator, compared, truncated_to=4, epsilon=Fraction(1)) is USUAL_TILTS
    assert curator.budget.charges == ()


def test_the_law_of_tilts_is_as_wide_as_it_says() -> None:
    """The root mean square of its places, for one spread and for a mixture of three."""
    for spreads in ([0.3], [0.1, 0.2, 0.3]):
        law = TiltLaw.mixed(np.array(spreads), np.full(len(spreads), 1 / len(spreads)))
        assert law.chances.sum() == pytest.approx(1)
        wide = math.sqrt(float(law.chances @ (law.spread * AWAY_OF_ITEMS) ** 2))
        assert wide == pytest.approx(law.spread, rel=0.05)


def _first(data: Transactions, *, seed: int = 3) -> tuple[Curator, CountedLevel]:
    curator = curator_over(data, epsilon=Fraction(2), noise=SeededNoise(seed))
    for_tilts = Fraction(2) * SHARE_FOR_TILTS
    return curator, ask_first_level(curator, NAIVE, epsilon=Fraction(2), for_tilts=for_tilts)


def test_what_it_costs_is_taken_from_what_the_supports_get() -> None:
    """Lengths, supports and the number for tilts, together all there is to spend on level 1."""
    curator, _ = _first(_baskets(0.4))
    paid = [charge.mechanism.epsilon for charge in curator.budget.charges]
    assert [charge.question.split()[0] for charge in curator.budget.charges] == ["lengths", "supports", "how"]
    assert paid[2] == Fraction(2) * SHARE_FOR_TILTS
    assert sum(paid) == 2


def test_where_truncation_takes_nothing_it_is_not_asked_and_costs_nothing() -> None:
    """Rows of one length are left whole: the supports get what is left."""
    rows = Transactions(
        np.arange(0, 5 * 4001, 5, dtype=np.int64),
        np.tile(np.arange(20, dtype=np.int32), 1000),
        Alphabet([str(each) for each in range(20)], is_given=True),
    )
    curator, level = _first(rows)
    assert [charge.question.split()[0] for charge in curator.budget.charges] == ["lengths", "supports"]
    assert sum(charge.mechanism.epsilon for charge in curator.budget.charges) == 2
    assert level.tilts is USUAL_TILTS
    alike = NoisyHistogram(np.array([0, 0, 0, 0, 0, 4000]), DiscreteLaplace(1, Fraction(1)))
    assert not is_worth_asking(plausible_lengths(alike), 5)
    assert is_worth_asking(plausible_lengths(alike), 4)
    assert SHARE_LEFT_WHOLE < 1


@pytest.mark.parametrize("method", ["f1m", "difffim-naive", "difffim"])
def test_the_told_spread_reaches_the_intervals(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Items that are said to differ three times as much have intervals that are half as wide again, and more."""

    def width(spread: float) -> float:
        law = TiltLaw.mixed(np.array([spread]), np.ones(1))
        monkeypatch.setattr(levels, "ask_item_tilts", lambda *_, **__: law)
        found = mine(data, k=40, epsilon=20, method=method, max_size=1, noise=SeededNoise(3)).itemsets
        return float(np.mean([(each.high - each.low) / each.support for each in found]))

    data = _baskets(0.4)
    assert width(0.6) > 1.5 * width(0.2)


def test_a_number_between_two_expected_ones_is_between_their_spreads() -> None:
    """The larger the answer, the larger the spread."""
    told = [
        tilts_told_of(answer, 1000 * SPREADS_OF_ITEMS, noise=20.0).spread
        for answer in np.linspace(50, 1500, 12)
    ]
    assert told == sorted(told)
