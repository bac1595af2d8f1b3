"""Intervals of rules: they hold the true measure in 95 %, on counts with Laplace noise."""

import numpy as np
import pytest

from veilset.arrays import FloatArray
from veilset.results.rule_measures import (
    RULE_DRAWS,
    RuleCounts,
    UncertainCounts,
    _possible_draws,
    rule_intervals,
    rule_measures,
)

MEASURES = ("confidence", "lift", "leverage", "conviction", "zhangs_metric")
RULES = 2000

REGIMES = {
    "frequent items, little noise": (10_000, 20, (0.05, 0.5), 3.0),
    "rare pairs, near 0": (10_000, 60, (0.02, 0.3), 6.0),
    "nearly always together": (10_000, 60, (0.05, 0.3), 0.3),
    "large shares, where both sides must overlap": (10_000, 20, (0.6, 0.95), 1.0),
    "few transactions": (1_000, 10, (0.05, 0.6), 2.0),
}
"""By name: transactions, scale of the noise, shares of both sides, and how close to 0 what they share is."""


def true_counts(regime: str, rng: np.random.Generator) -> list[FloatArray]:
    """Left, right, both and all, of rules at random; what is shared lies between its bounds."""
    number, _, (least, most), rarity = REGIMES[regime]
    left, right = (
        np.floor(number * np.exp(rng.uniform(np.log(least), np.log(most), RULES))) for _ in range(2)
    )
    low, high = np.maximum(left + right - number, 0), np.minimum(left, right)
    both = np.floor(low + (high - low) * rng.beta(1, rarity, RULES))
    return [left, right, both, np.full(RULES, float(number))]


def released(
    regime: str, true: list[FloatArray], rng: np.random.Generator, *, width: float = 1.0
) -> RuleCounts:
    """The counts with noise, made consistent and cut off as in a release; intervals are `width` times what is right."""
    scale = REGIMES[regime][1]
    noisy = [np.round(count + rng.laplace(0, scale, RULES)) for count in true]
    noisy[3] = np.round(true[3] + rng.laplace(0, scale / 3, RULES))
    half = [width * np.ceil(each * np.log(20)) for each in (scale, scale, scale, scale / 3)]
    most = noisy[3] + half[3]
    left, right, both, number = noisy
    values = [
        *((np.maximum(side, both) + side) // 2 for side in (left, right)),
        (np.minimum(both, np.minimum(left, right)) + both) // 2,
    ]
    values = [np.clip(value, least, most) for value, least in zip(values, (1, 1, 0), strict=True)]
    ends = [
        (np.clip(each - wide, 0, value), np.clip(each + wide, value, most))
        for each, value, wide in zip(noisy, values, half, strict=False)
    ]
    all_of_them = UncertainCounts(np.maximum(number, values[0]), number - half[3], most)
    of_left, of_right, of_both = (
        UncertainCounts(value, *end) for value, end in zip(values, ends, strict=True)
    )
    return RuleCounts(of_left, of_right, of_both, all_of_them)


def coverage(true: list[FloatArray], counts: RuleCounts) -> dict[str, float]:
    """By measure, the share of rules whose interval holds the true one."""
    intervals, measures = rule_intervals(counts), rule_measures(*true)
    return {
        name: float(
            np.mean(
                (intervals[name][0] <= measures[name] + 1e-12)
                & (measures[name] <= intervals[name][1] + 1e-12)
            )
        )
        for name in MEASURES
    }


@pytest.mark.parametrize("regime", REGIMES)
def test_intervals_hold_the_true_measure_and_narrower_ones_do_not(regime: str) -> None:
    """At least 93 %, and no more than 98.5; supports whose intervals are half as wide give less than 90 %."""
    rng = np.random.default_rng(11)
    true = true_counts(regime, rng)
    held = coverage(true, released(regime, true, rng))
    assert {name: share for name, share in held.items() if not 0.93 <= share <= 0.985} == {}
    narrow = coverage(true, released(regime, true, rng, width=0.5))
    assert {name: share for name, share in narrow.items() if share >= 0.9} == {}


def test_intervals_of_other_rules_do_not_hold() -> None:
    """Not so wide that anything would do: with the true measures in another order, most are outside."""
    regime = "frequent items, little noise"
    rng = np.random.default_rng(12)
    true = true_counts(regime, rng)
    counts = released(regime, true, rng)
    others = [np.roll(count, 1) for count in true]
    assert max(coverage(others, counts).values()) < 0.5


def counts_of(*rows: tuple[int, int, int]) -> RuleCounts:
    """One rule, from its four counts with their ends."""
    return RuleCounts(*(UncertainCounts(*np.array([row], dtype=float).T) for row in rows))


def test_what_was_released_lies_within_its_interval() -> None:
    """Also where the interval of a support lies at one side of it."""
    counts = counts_of((100, 90, 100), (80, 80, 95), (70, 70, 70), (200, 200, 200))
    values = counts.measures()
    for name, (low, high) in rule_intervals(counts).items():
        assert low[0] <= values[name][0] <= high[0]


def test_exact_supports_give_exact_measures() -> None:
    """No interval, nothing to be unsure of."""
    counts = counts_of((600, 600, 600), (800, 800, 800), (500, 500, 500), (1000, 1000, 1000))
    for low, high in rule_intervals(counts).values():
        assert low[0] == pytest.approx(high[0])


def test_draws_are_possible() -> None:
    """A superset is no more frequent than its subsets, and sides that fill the transactions must overlap."""
    left, right, both, number = _possible_draws(
        counts_of((900, 700, 1000), (850, 600, 1000), (700, 500, 1000), (1000, 900, 1100))
    )
    assert left.shape == (1, RULE_DRAWS)
    assert np.all(both <= np.minimum(left, right))
    assert np.all(np.maximum(left, right) <= number)
    assert np.all(both >= np.maximum(left + right - number, 0) - 1e-9)
    assert np.mean(both == np.minimum(left, right)) > 0.01  # the bounds are reached


def test_a_rule_that_holds_with_certainty_has_no_upper_end_of_conviction() -> None:
    """Where the supports of both and of the left side cannot be told apart, it may always hold."""
    intervals = rule_intervals(counts_of((100, 90, 110), (500, 490, 510), (99, 90, 110), (1000, 1000, 1000)))
    assert intervals["conviction"][1][0] == np.inf
    assert intervals["confidence"][1][0] == 1
    assert np.isfinite(intervals["conviction"][0][0])


def test_the_interval_of_a_rule_depends_on_its_own_counts_alone() -> None:
    """The same whatever other rules there are, also beyond what is drawn at once."""
    regime = "few transactions"
    rng = np.random.default_rng(13)
    counts = released(regime, true_counts(regime, rng), rng)
    every = rule_intervals(counts)
    some = rule_intervals(counts.where(np.arange(RULES) % 7 == 3))
    for name, ends in some.items():
        for end, whole in zip(ends, every[name], strict=True):
            assert end.tolist() == whole[3::7].tolist()


def test_no_rules_have_no_intervals() -> None:
    """Nothing to draw."""
    nothing = UncertainCounts(*(np.empty(0) for _ in range(3)))
    assert rule_intervals(RuleCounts(nothing, nothing, nothing, nothing))["lift"][0].size == 0
