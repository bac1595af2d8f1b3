"""Empirical Bayes: exact Bayes by brute force, what must always hold, and intervals that hold after selection."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.arrays import FloatArray
from veilset.itemsets import Itemsets
from veilset.methods.shared.noisy_values import (
    DEVIATIONS,
    NORMAL_CHANCES,
    WHOLE,
    KeptShares,
    MeasuredGroup,
    NoisyValues,
)
from veilset.methods.shared.shrinkage import (
    Shrunk,
    SupportPrior,
    calm_supports,
    posterior,
    shortest_of,
    shrunk,
    shrunk_in_groups,
)

LARGEST = 5000


def brute_force(
    value: float, scale: float, kept: KeptShares, prior: SupportPrior
) -> tuple[FloatArray, FloatArray, float]:
    """400,001 supports one after another, how much of the posterior lies up to each, and its mean."""
    supports = np.linspace(0.5, LARGEST + 0.5, 400_001)
    likely = np.zeros(supports.size)
    for share, chance, gap in kept:
        width = np.hypot(scale, gap * share * supports)
        likely += chance * np.exp(-np.abs(value - share * supports) / width) / (2 * width)
    masses = likely * prior.density_at(supports) * (supports[1] - supports[0])
    at_zero = float(prior.chances[0]) * float(np.exp(-abs(value) / scale)) / (2 * scale)
    total = at_zero + masses.sum()
    below = np.append(at_zero, at_zero + np.cumsum(masses)) / total
    return np.append(0.0, supports), below, float(masses @ supports / total)


def shortest(supports: FloatArray, below: FloatArray) -> tuple[float, float]:
    """The shortest interval of 95 %, of 500 that leave out more and more below."""
    tails = np.linspace(0, 0.05, 500)
    lows, highs = (
        supports[np.minimum(np.searchsorted(below, tails + held), supports.size - 1)] for held in (0.0, 0.95)
    )
    best = int(np.argmin(highs - lows))
    return float(lows[best]), float(highs[best])


@pytest.mark.parametrize("kept", [WHOLE, KeptShares.log_normal(0.6, 0.2)], ids=["whole", "truncated"])
@pytest.mark.parametrize(
    ("value", "scale"), [(-40, 50.0), (60, 50.0), (300, 50.0), (2000, 3.0), (2900, 400.0)]
)
def test_the_posterior_is_that_of_brute_force(value: int, scale: float, kept: KeptShares) -> None:
    """Wherever the value lies, and whether noise or truncation dominates."""
    noisy = NoisyValues.laplace(np.array([value, 10, 20, 80, 400, 1500]), scale)
    prior = SupportPrior.fitted([MeasuredGroup(noisy, kept)], largest=LARGEST)
    found = posterior(noisy, kept, prior)
    supports, below, mean = brute_force(value, scale, kept, prior)
    low, high = shortest(supports, below)
    assert found.means[0] == pytest.approx(mean, rel=0.03, abs=2)
    held = np.interp([found.low[0], found.high[0]], supports, below)
    assert held[1] - (held[0] if found.low[0] > 0 else 0) == pytest.approx(0.95, abs=0.01)
    assert found.high[0] - found.low[0] == pytest.approx(high - low, rel=0.05, abs=3)


def test_where_nobody_may_hold_an_itemset_all_that_is_left_out_is_above() -> None:
    """The interval begins at 0 and ends where 95 % are reached; the middle 95 % would end later."""
    points = np.arange(0.5, 100, 0.01)[None]
    found = shortest_of(points, np.exp(-points / 10), at_zero=2.0)
    assert found.low.tolist() == [0]
    mass = 2 + 10 * np.exp(-0.05)
    assert found.high[0] == pytest.approx(-10 * np.log(0.05 * mass / 10), rel=0.01)
    assert found.high[0] < -10 * np.log(0.025 * mass / 10) - 5


def test_a_whole_number_is_in_if_most_of_what_it_stands_for_is() -> None:
    """1.6 to 4.4 are 2 to 4, since 2 stands for 1.5 to 2.5; 1 to 5 would be too much."""
    found = Shrunk(np.array([3.0, 0.2]), np.array([1.6, 0.0]), np.array([4.4, 0.3]))
    estimates = found.estimates(Itemsets.of([(0,), (1,)]))
    assert estimates.low.tolist() == [2, 0]
    assert estimates.high.tolist() == [4, 0]


def test_nothing_is_said_to_be_above_its_ceiling() -> None:
    """A noisy value of 900 of at most 400: below 400, but far above 0; a ceiling of 4,000 changes nothing."""
    noisy = NoisyValues.laplace(np.array([900.0, 900.0, 900.0]), 200.0)
    kept = KeptShares.certain(1.0, doubt=(0.5, 0.5))
    prior = SupportPrior.vague(np.append(0.0, np.geomspace(0.5, LARGEST + 0.5, 101)))
    free = posterior(noisy, kept, prior)
    under = posterior(noisy, kept, prior, np.array([400.0, 4000.0, 0.0]))
    assert under.high[0] <= 400 < free.means[0]
    assert under.means[0] > 100
    assert under.means[1] == pytest.approx(free.means[1], rel=0.01)
    assert under.high[2] <= 1


@given(
    values=st.lists(st.integers(-500, LARGEST), min_size=2, max_size=40),
    scale=st.floats(0.1, 2000),
    share=st.floats(0.05, 1),
)
def test_estimates_rise_with_their_values_and_lie_in_their_intervals(
    values: list[int], scale: float, share: float
) -> None:
    """Between 0 and what is possible; more noise changes nothing about that."""
    noisy = NoisyValues.laplace(np.sort(values), scale)
    kept = KeptShares.log_normal(share, 0.1)
    found = shrunk_in_groups([MeasuredGroup(noisy, kept)], [np.arange(len(values))], largest=LARGEST)
    for ascending in (found.means, found.low, found.high):
        assert np.all(np.diff(ascending) >= -0.02 * ascending[1:] - 1e-6)
    assert np.all((found.low >= 0) & (found.low <= found.means))
    assert np.all((found.means <= found.high) & (found.high <= LARGEST + 1))
    estimates = found.estimates(Itemsets.of((item,) for item in range(len(values))))
    assert np.all((estimates.low <= estimates.supports) & (estimates.supports <= estimates.high))


def test_lucky_values_are_drawn_towards_the_bulk_and_clear_ones_are_left_alone() -> None:
    """Of 1,000 supports of 100 with noise 50, the largest is too high; one of 4,000 stands by itself."""
    true = np.append(np.full(1000, 100.0), 4000.0)
    values = true + np.random.default_rng(1).laplace(scale=50, size=true.size)
    best = np.argsort(-values)[:2]
    found = shrunk(NoisyValues.laplace(values, 50.0), best, largest=LARGEST)
    assert found.means[0] == pytest.approx(values[best[0]], abs=30)
    assert found.means[1] < (values[best[1]] + 100) / 2


def zipf(rng: np.random.Generator) -> FloatArray:
    """2,000 supports, the first of 30,000."""
    return np.rint(30_000 / np.arange(1, 2001) * rng.uniform(0.8, 1.2, 2000))


def coverage(
    *,
    told: float,
    scale: float = 300.0,
    is_naive: bool = False,
    uneven: float = 0.0,
    told_uneven: float = 0.0,
) -> float:
    """How often intervals hold among the 100 largest of 2,000 noisy values, in 20 draws; `told` scales the scale."""
    rng, inside = np.random.default_rng(5), []
    for _ in range(20):
        true = zipf(rng)
        counted = 0.7 * true * np.exp(uneven * rng.standard_normal(true.size))
        noisy = NoisyValues.laplace(counted + rng.laplace(scale=scale, size=true.size), told * scale)
        best = np.argsort(-noisy.values)[:100]
        if is_naive:
            half = scale * np.log(20)
            found = Shrunk(
                noisy.values[best], (noisy.values[best] - half) / 0.7, (noisy.values[best] + half) / 0.7
            )
        else:
            kept = KeptShares.log_normal(0.7, told_uneven) if told_uneven else KeptShares.certain(0.7)
            found = shrunk_in_groups([MeasuredGroup(noisy, kept)], [best], largest=50_000)
        inside.append(np.mean((np.floor(found.low) <= true[best]) & (true[best] <= np.ceil(found.high))))
    return float(np.mean(inside))


def test_intervals_hold_after_selection_and_controls_do_not() -> None:
    """95 % of 2,000 intervals, give or take; with half the scale, or with selection ignored, far fewer."""
    assert 0.93 <= coverage(told=1.0) <= 0.98
    assert coverage(told=0.5) < 0.9
    assert coverage(told=1.0, is_naive=True) < 0.85


def test_intervals_hold_where_itemsets_lose_unevenly_and_controls_do_not() -> None:
    """With a share that differs by 15 %; who takes it for certain is wrong too often."""
    assert 0.93 <= coverage(told=1.0, scale=30, uneven=0.15, told_uneven=0.15) <= 0.985
    assert coverage(told=1.0, scale=30, uneven=0.15) < 0.85


def test_many_equal_supports_are_told_from_many_different_ones() -> None:
    """16,000 supports of 1,000 with noise 3: the 100 largest values are luck, and are known to be."""
    values = 1000 + np.random.default_rng(2).laplace(scale=3, size=16_000)
    best = np.argsort(-values)[:100]
    found = shrunk(NoisyValues.laplace(values, 3.0), best, largest=50_000)
    assert np.mean((found.low <= 1000) & (found.high >= 1000)) > 0.9


def test_where_all_is_noise_the_interval_is_nearly_everything() -> None:
    """A scale of 10^6 on supports of at most 1,000 tells nothing."""
    values = np.random.default_rng(3).laplace(scale=1e6, size=300)
    found = shrunk(NoisyValues.laplace(values, 1e6), np.arange(300), largest=1000)
    assert found.low.max() <= 1
    assert found.high.min() >= 800


def test_doubt_about_all_shares_widens_every_interval() -> None:
    """By a factor of about e where all may have lost that much more."""
    noisy = NoisyValues.laplace(np.array([500.0, 1000.0]), 1.0)
    sure, unsure = (
        shrunk_in_groups(
            [MeasuredGroup(noisy, KeptShares.certain(0.5, doubt))], [np.arange(2)], largest=LARGEST
        )
        for doubt in ((0.0, 0.0), (0.2, 0.7))
    )
    assert np.all(unsure.high / unsure.means == pytest.approx(np.exp(0.7), rel=0.05))
    assert np.all(unsure.low / unsure.means == pytest.approx(np.exp(-0.2), rel=0.05))
    assert np.all(sure.high / sure.means < 1.05)


def test_groups_share_a_prior_and_keep_their_places() -> None:
    """Two groups that count all and half of their supports say the same of the same supports."""
    true = np.array([100.0, 400.0, 1600.0])
    groups = [
        MeasuredGroup(NoisyValues.laplace(true, 0.5)),
        MeasuredGroup(NoisyValues.laplace(true / 2, 0.5), KeptShares.certain(0.5)),
    ]
    found = shrunk_in_groups(groups, [np.array([2, 0]), np.array([1])], largest=LARGEST)
    assert found.means == pytest.approx([1600, 100, 400], rel=0.02)


def test_places_of_the_normal_law_have_its_variance() -> None:
    """With the Laplace noise around each: 1, or somewhat more."""
    around = 2 * (np.diff(DEVIATIONS)[0] / 2) ** 2
    assert NORMAL_CHANCES.sum() == pytest.approx(1)
    assert 1 <= NORMAL_CHANCES @ DEVIATIONS**2 + around <= 1.15


def test_multiples_of_what_is_expected_are_supports_in_other_units() -> None:
    """What is said of a support is the same multiple of what is expected, whatever that is."""
    rng = np.random.default_rng(3)
    multiples = np.exp(rng.normal(0.2, 0.4, 400))
    noisy = multiples + rng.laplace(0, 0.3, 400)
    told = []
    for unit in (50.0, 2000.0):
        values = NoisyValues.laplace(unit * noisy, 0.3 * unit, np.full(400, unit))
        found = shrunk_in_groups([MeasuredGroup(values)], [np.arange(9)], largest=1e5, within=0.5)
        told.append(np.array([found.means, found.low, found.high]) / unit)
    assert told[0] == pytest.approx(told[1], rel=1e-6)


def test_what_is_expected_tells_more_than_noise_that_drowns_all() -> None:
    """Supports that are expected to be 20 to 20,000: near to that, in intervals that hold; else all are alike."""
    rng = np.random.default_rng(4)
    expected = np.exp(rng.uniform(3, 10, 3000))
    true = expected * np.exp(rng.normal(0, 0.6, 3000))
    values = true + rng.laplace(0, 30_000, 3000)
    best = np.argsort(-values)[:200]
    held, errors = [], []
    for known, within in ((expected, 0.5), (None, None)):
        group = MeasuredGroup(NoisyValues.laplace(values, 30_000, known))
        found = shrunk_in_groups([group], [best], largest=1e5, within=within)
        held.append(float(np.mean((found.low <= true[best]) & (true[best] <= found.high))))
        errors.append(float(np.median(np.abs(np.log(np.maximum(found.means, 1) / true[best])))))
    assert held[0] >= 0.93
    assert errors[0] < 0.6 < 0.7 * errors[1]


def test_luck_is_part_of_the_error_of_what_was_drawn() -> None:
    """1,000 supports of 400 of which each holder counts with a chance of 1/2: who takes that for certain is wrong."""
    rng = np.random.default_rng(5)
    true = rng.integers(300, 500, 1000).astype(np.float64)
    counted = rng.binomial(true.astype(np.int64), 0.5) + rng.laplace(0, 2, 1000)
    held = []
    for is_drawn in (True, False):
        kept = KeptShares(np.array([0.5]), np.ones(1), np.zeros(1), is_drawn=is_drawn)
        group = MeasuredGroup(NoisyValues.laplace(counted, 2.0), kept)
        found = shrunk_in_groups([group], [np.arange(1000)], largest=LARGEST)
        held.append(float(np.mean((found.low <= true) & (true <= found.high))))
    assert 0.93 <= held[0] <= 0.98
    assert held[1] < 0.7


def test_calm_supports_are_posterior_means() -> None:
    """Reckoned at some values, and between them: near to those reckoned one by one."""
    rng = np.random.default_rng(6)
    expected = np.exp(rng.uniform(4, 6, 500))
    values = expected * np.exp(rng.normal(0, 0.5, 500)) + rng.laplace(0, 40, 500)
    group = MeasuredGroup(NoisyValues.laplace(values, 40, expected))
    one_by_one = shrunk_in_groups([group], [np.arange(500)], largest=1e4, within=0.5).means
    calm = calm_supports(group, largest=1e4, within=0.5)
    assert np.median(np.abs(np.log(calm / one_by_one))) < 0.1


def test_what_is_common_to_all_itemsets_is_no_difference_between_them() -> None:
    """As wide as before, for one itemset; half the variance is of all together."""
    law = KeptShares.log_normal(0.4, 0.3)
    parted = law.partly_together()
    spread = [np.sqrt(np.log(each.shares / 0.4) ** 2 @ each.chances) for each in (law, parted)]
    assert spread[1] == pytest.approx(spread[0] * np.sqrt(0.5))
    assert parted.doubt == pytest.approx((1.96 * spread[1], 1.96 * spread[1]))
