"""Normalised supports, scaled up: what is asked, at which price, and what answers do to intervals."""

from fractions import Fraction

import numpy as np
import pytest

import veilset as vs
from curators import curator_over
from veilset.gate import NoisyCount, SeededNoise
from veilset.methods.tps import phases, scaling
from veilset.methods.tps.scaling import ScalingPrices, scaled_up
from veilset.results.release import Release

ROWS = [frozenset({0, 1, 2, 3})] * 60 + [frozenset({0, 1})] * 30 + [frozenset({5})] * 40
NUMBER = NoisyCount(len(ROWS), None)
MUCH = Fraction(10**6)


def test_supports_are_scaled_up_to_their_sum() -> None:
    """Items 0 and 1 weigh 30 each at limit 1 and have 90 holders each; one may have lost more, or less."""
    curator = curator_over(ROWS, epsilon=Fraction(10**9))
    counts = curator.ask_normalised_supports(1, epsilon=Fraction(10**8))
    found, _ = scaled_up(curator, counts, [1, 0], number=NUMBER, largest=len(ROWS), epsilon=MUCH)
    assert list(found.itemsets) == [(1,), (0,)]
    assert np.all(np.abs(found.supports - 90) <= 15)
    assert np.all((found.low < 90) & (found.high > 90))


def test_nothing_is_scaled_where_nothing_was_lost() -> None:
    """All items of the longest transaction count: supports are as they were counted."""
    curator = curator_over(ROWS, epsilon=Fraction(10**9))
    counts = curator.ask_normalised_supports(curator.alphabet_size, epsilon=Fraction(10**8))
    found, _ = scaled_up(curator, counts, [0, 1, 2, 3], number=NUMBER, largest=len(ROWS), epsilon=MUCH)
    assert found.supports.tolist() == [90, 90, 60, 60]


@pytest.mark.parametrize("is_restricted", [False, True])
def test_prices_add_up(is_restricted: bool) -> None:
    """Nothing is asked beyond epsilon, and unlikeness only where all items were counted."""
    prices = ScalingPrices.of(Fraction(1, 7), is_restricted=is_restricted)
    assert prices.lengths + prices.total + prices.unlikeness == Fraction(1, 7)
    assert (prices.unlikeness == 0) == is_restricted


def test_each_question_is_paid_at_its_price() -> None:
    """Of all items three, of a restricted count two; what is charged is what was given."""
    curator = curator_over(ROWS, epsilon=Fraction(10**9))
    for items, asked in ((None, 3), (np.array([0, 1, 2]), 2)):
        counts = curator.ask_normalised_supports(1, epsilon=Fraction(10), items=items)
        before = len(curator.budget.charges)
        scaled_up(curator, counts, [0, 1], number=NUMBER, largest=len(ROWS), epsilon=Fraction(1, 3))
        charges = [charge.mechanism.epsilon for charge in curator.budget.charges[before:]]
        assert len(charges) == asked
        assert sum(charges) == Fraction(1, 3)


def test_a_spread_that_was_told_is_kept_for_a_restricted_count() -> None:
    """And widens its intervals."""
    curator = curator_over(ROWS, epsilon=Fraction(10**9))
    counts = curator.ask_normalised_supports(1, epsilon=Fraction(10**8), items=np.array([0, 1, 2, 3]))
    widths = []
    for told in (0.1, 1.0):
        found, kept = scaled_up(
            curator, counts, [0, 1], number=NUMBER, largest=len(ROWS), epsilon=MUCH, spread=told
        )
        assert kept == told
        widths.append(float(np.mean(found.high - found.low)))
    assert widths[1] > 1.2 * widths[0]


def released() -> Release:
    """Of baskets of 1 to 12 items."""
    random = np.random.default_rng(3)
    rows = [random.choice(60, random.integers(1, 13), replace=False).tolist() for _ in range(4000)]
    return vs.items(rows, epsilon=1, k=20, method="tps-recount", public_items=True, noise=SeededNoise(2))


def mean_width(release: Release) -> float:
    """Of its intervals."""
    return float(np.mean([each.high - each.low for each in release.itemsets]))


def test_what_is_told_reaches_the_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """The further tilts are said to be apart, the wider they are, in both counts of `tps-recount`."""
    widths = []
    for told in (0.05, 1.0):
        monkeypatch.setattr(scaling, "ask_spread", lambda *_asked, told=told, **_options: told)
        widths.append(mean_width(released()))
    assert widths[1] > 1.2 * widths[0]


def test_a_second_count_is_told_what_the_first_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """How far tilts are apart is asked once, and handed on."""
    spreads: list[tuple[float | None, float]] = []

    def recording(*asked: object, **options: object) -> object:
        found = scaled_up(*asked, **options)  # type: ignore[arg-type]
        spreads.append((options.get("spread"), found[1]))  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(phases, "scaled_up", recording)
    release = released()
    asked = [row.question for row in release.trace if "unlike" in row.question]
    assert len(asked) == 1
    (_, told), (handed, kept) = spreads
    assert told == handed == kept
