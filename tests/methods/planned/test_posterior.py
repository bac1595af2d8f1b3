"""Posteriors of supports against brute force, priors by hand, what is read off them."""

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.itemsets import Itemset
from veilset.methods.planned.posterior import (
    LIFTS,
    SUPPORTS_IN_GRID,
    WIDTHS,
    Measurement,
    Posterior,
    Prior,
    grid_to,
    log_likelihoods,
    precision_sums,
    prior_of,
)
from veilset.methods.planned.settings import DEFAULT

Floats = npt.NDArray[np.float64]
TINY_GRID = np.array([1.0, 2.0, 4.0, 8.0])


def posterior_of(chances: list[list[float]]) -> Posterior:
    """With these probabilities of 1, 2, 4 and 8, up to a factor for each itemset: (0,), (1,), ..."""
    itemsets: list[Itemset] = [(item,) for item in range(len(chances))]
    return Posterior.unmeasured(itemsets, np.log(np.array(chances)), TINY_GRID)


def answers_of(likelihoods: Floats) -> Measurement:
    """A measurement that is too coarse for sums."""
    return Measurement(likelihoods, np.zeros((len(likelihoods), 2)))


def laplace(value: float, middle: float, width: float) -> float:
    """The Laplace density."""
    return math.exp(-abs(value - middle) / width) / (2 * width)


def normed(chances: list[float]) -> list[float]:
    """In proportion, with a sum of 1."""
    return [chance / sum(chances) for chance in chances]


def test_a_grid_goes_from_1_to_the_number_in_equal_ratios() -> None:
    """And to 10 where there are next to no transactions: a grid needs some width."""
    grid = grid_to(5000)
    assert grid.size == SUPPORTS_IN_GRID
    assert grid[[0, -1]] == pytest.approx([1, 5000])
    assert np.diff(np.log(grid)) == pytest.approx(math.log(5000) / (SUPPORTS_IN_GRID - 1))
    assert grid_to(0)[-1] == pytest.approx(10)


@given(
    values=st.lists(st.floats(-20, 40), min_size=1, max_size=3),
    scale=st.floats(0.1, 10),
    kept=st.floats(0.1, 1),
    unevenness=st.floats(0, 0.5),
)
def test_what_is_measured_is_the_posterior_of_laplace_noise(
    values: list[float], scale: float, kept: float, unevenness: float
) -> None:
    """By brute force: the density at the value for each support, in proportion."""
    answers = log_likelihoods(np.array(values), kept * TINY_GRID, scale=scale, unevenness=unevenness)
    found = Posterior.unmeasured([(item,) for item in range(len(values))], answers, TINY_GRID).chances
    for row, value in zip(found, values, strict=True):
        densities = [
            laplace(value, kept * support, math.hypot(scale, unevenness * kept * support))
            for support in TINY_GRID
        ]
        assert row == pytest.approx(normed(densities), abs=1e-9)


def test_scales_may_differ_from_value_to_value() -> None:
    """A column of scales is the same as one at a time."""
    values, scales = np.array([3.0, 5.0]), np.array([[1.0], [4.0]])
    together = log_likelihoods(values, TINY_GRID, scale=scales, unevenness=0.0)
    apart = [
        log_likelihoods(values[[i]], TINY_GRID, scale=float(scales[i, 0]), unevenness=0.0)[0]
        for i in range(len(values))
    ]
    assert together.tolist() == np.array(apart).tolist()


def test_answers_multiply_where_they_belong() -> None:
    """Updated by answers about the second and third, the first stays as it was; and so does what was updated."""
    before = posterior_of([[1, 2, 3, 4], [1, 1, 1, 1], [4, 1, 1, 1]])
    after = before.updated(np.array([2, 1]), answers_of(np.log([[1, 2, 2, 1], [5, 1, 1, 1]])))
    assert after.chances[0].tolist() == before.chances[0].tolist()
    assert after.chances[1] == pytest.approx(normed([5, 1, 1, 1]))
    assert after.chances[2] == pytest.approx(normed([4, 2, 2, 1]))
    assert before.chances[1] == pytest.approx([0.25] * 4)


def test_two_answers_are_better_than_one() -> None:
    """The same value twice makes the middle as sure as an answer of half the scale."""
    values = np.array([4.0])
    once = log_likelihoods(values, TINY_GRID, scale=2.0, unevenness=0.0)
    twice = Posterior.unmeasured([(0,)], once, TINY_GRID).updated(np.array([0]), answers_of(once))
    half = Posterior.unmeasured(
        [(0,)], log_likelihoods(values, TINY_GRID, scale=1.0, unevenness=0.0), TINY_GRID
    )
    assert twice.chances == pytest.approx(half.chances)


def test_what_is_read_off_by_hand() -> None:
    """Probabilities to reach a support, and expected supports."""
    posterior = posterior_of([[1, 1, 1, 1], [1, 3, 3, 1]])
    assert posterior.at_least(4) == pytest.approx([0.5, 0.5])
    assert posterior.at_least(4.1) == pytest.approx([0.25, 0.125])
    assert posterior.at_least(0) == pytest.approx([1, 1])
    assert posterior.at_least(9) == pytest.approx([0, 0])
    assert posterior.means == pytest.approx([15 / 4, 27 / 8])


def test_the_kth_support_by_hand() -> None:
    """Sure itemsets of supports 8, 4, 2: above the next one. The least of all where there are no more than k."""
    sure = 1e-12
    posterior = posterior_of([[sure, sure, sure, 1], [sure, sure, 1, sure], [sure, 1, sure, sure]])
    assert [posterior.kth_support(k) for k in (1, 2, 3, 4)] == [8, 4, 1, 1]


@given(
    chances=st.lists(st.lists(st.floats(0.01, 1), min_size=4, max_size=4), min_size=1, max_size=6),
    k=st.integers(1, 7),
)
def test_the_kth_support_is_the_least_that_no_more_than_k_reach(chances: list[list[float]], k: int) -> None:
    """In expectation, against every value of the grid; the largest of the grid where more than k reach all."""
    posterior = posterior_of(chances)
    found = posterior.kth_support(k)
    reached = {support: float(posterior.at_least(support).sum()) for support in TINY_GRID.tolist()}
    assert found == TINY_GRID[-1] or reached[found] <= k + 1e-9
    assert all(reached[support] > k - 1e-9 for support in reached if support < found)


def test_both_and_some() -> None:
    """Beliefs about more itemsets side by side; and about some of them, in that order."""
    one, other = (
        posterior_of([[1, 2, 3, 4]]),
        Posterior.unmeasured([(3, 4)], np.log([[4.0, 3, 2, 1]]), TINY_GRID),
    )
    both = one + other
    assert both.itemsets == [(0,), (3, 4)]
    turned = both.take(np.array([1, 0]))
    assert turned.itemsets == [(3, 4), (0,)]
    assert turned.chances.tolist() == both.chances[::-1].tolist()


def test_estimates_are_means_whose_interval_holds_most_of_the_posterior() -> None:
    """One that is sure has the width of the grid; one that is not reaches from 1 to 8."""
    sure = 1e-12
    posterior = posterior_of([[sure, sure, 1, sure], [1, 1, 1, 1]])
    found = posterior.estimates(np.array([1, 0]))
    assert list(found.itemsets) == [(1,), (0,)]
    assert found.supports.tolist() == [4, 4]
    assert found.half_widths.tolist() == [math.ceil(8 - 15 / 4), math.ceil(4 * math.log(2))]


def test_intervals_hold_as_often_as_they_say() -> None:
    """Supports drawn from the grid, noise as measured: 95 % of them are inside, and not all."""
    rng, grid = np.random.default_rng(4), grid_to(10_000)
    supports = rng.choice(grid, 2000)
    answers = log_likelihoods(supports + rng.laplace(0, 50, supports.size), grid, scale=50.0, unevenness=0.0)
    posterior = Posterior.unmeasured([(item,) for item in range(supports.size)], answers, grid)
    found = posterior.estimates(np.arange(supports.size))
    inside = np.abs(found.supports - supports) <= found.half_widths
    assert 0.94 < inside.mean() < 0.995


KNOWN: dict[Itemset, float] = {(0,): 50, (1,): 20, (2,): 40, (0, 1): 10, (0, 2): 20, (1, 2): 16}


def test_a_pair_is_expected_as_independence_has_it() -> None:
    """50 * 20 of 100 are 10; at most the rarer item, with a tenth and the slack on top."""
    found = prior_of([(0, 1)], KNOWN, 100, slack=3.0, settings=DEFAULT)
    assert found.expected == pytest.approx([10])
    assert found.bound == pytest.approx([1.1 * 20 + 3])


def test_a_triple_is_expected_as_conditional_independence_has_it() -> None:
    """The geometric mean over 10 * 20 / 50, 10 * 16 / 20 and 20 * 16 / 40."""
    found = prior_of([(0, 1, 2)], KNOWN, 100, slack=0.0, settings=DEFAULT)
    assert found.expected == pytest.approx([(4 * 8 * 8) ** (1 / 3)])
    assert found.bound == pytest.approx([11])


def test_nothing_is_expected_above_its_rarest_part() -> None:
    """Noisy parts can contradict each other."""
    found = prior_of([(0, 1)], {(0,): 90.0, (1,): 30.0}, 50, slack=0.0, settings=DEFAULT)
    assert found.expected == pytest.approx([30])


def test_a_prior_is_a_law_around_what_is_expected_up_to_the_bound() -> None:
    """Its probabilities add up to 1, nothing is above the bound, the likeliest is expected times e^lift."""
    grid = grid_to(1000)
    prior = Prior(np.array([10.0, 100.0]), np.array([500.0, 120.0]), DEFAULT)
    chances = np.exp(prior.log_chances(1.0, 0.5, grid))
    assert chances.sum(axis=1) == pytest.approx([1, 1])
    assert chances[1, grid > 120].sum() < 1e-9
    assert grid[chances[0].argmax()] == pytest.approx(10 * math.e, rel=0.02)
    assert grid[chances[1].argmax()] == pytest.approx(120, rel=0.03)


@pytest.mark.parametrize(("share", "is_believed"), [(0.05, True), (1e-9, False)])
def test_a_pair_that_is_nearly_always_together_is_not_taken_for_noise(
    share: float, *, is_believed: bool
) -> None:
    """Two hundred pairs as independence has them, and one of six times that: measured well, it is believed."""
    settings, grid, expected = replace(DEFAULT, surprising_share=share), grid_to(90_000), 500.0
    supports = np.append(np.full(200, expected), 6 * expected)
    prior = Prior(np.full(201, expected), np.full(201, 3500.0), settings)
    measurement = Measurement.of(supports, grid, scale=100.0, unevenness=0.16, grid=grid)
    pairs: list[Itemset] = [(0, item) for item in range(1, 202)]
    found = Posterior.measured(pairs, measurement, grid, prior=prior).means
    assert (found[-1] > 4 * expected) == is_believed
    assert found[:-1] == pytest.approx(expected, rel=0.3)


@pytest.mark.parametrize(("size", "law"), [(2, (0.7, 1.5)), (3, (0.3, 0.7))], ids=["pairs", "larger"])
def test_chances_before_any_answer_are_those_of_the_vague_law(size: int, law: tuple[float, float]) -> None:
    """Against the law on a fine grid; what is surprising has no part in it."""
    settings = replace(DEFAULT, surprising_share=1e-9)
    prior, grid = (
        Prior(np.array([10.0, 100.0, 3.0]), np.array([500.0, 150.0, 20.0]), settings),
        np.geomspace(1e-3, 1000, 200_001),
    )
    on_grid = np.exp(prior.log_chances(*law, grid))
    for support in (5.0, 30.0, 160.0):
        expected = on_grid[:, grid >= support].sum(axis=1)
        assert prior.chances(size, support) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("lift", [-0.5, 0.5, 2.0])
@pytest.mark.parametrize("width", [0.25, 0.8])
def test_the_fitted_prior_has_the_lift_and_width_of_its_data(lift: float, width: float) -> None:
    """Supports drawn from the law, measured with little noise: the prior that comes out is that law."""
    assert lift in LIFTS
    assert width in WIDTHS
    rng, grid = np.random.default_rng(1), grid_to(100_000)
    expected = rng.uniform(200, 1000, 400)
    supports = expected * np.exp(lift + width * rng.normal(size=expected.size))
    prior = Prior(expected, np.full(expected.size, 1e9), DEFAULT)
    answers = log_likelihoods(supports + rng.laplace(0, 10, supports.size), grid, scale=10.0, unevenness=0.0)
    assert prior.fitted(answers, grid).tolist() == prior.log_chances(lift, width, grid).tolist()


def test_where_answers_say_nothing_the_usual_prior_stays() -> None:
    """Noise far above every support: the lift and width nearest to the usual ones."""
    grid = grid_to(1000)
    prior = Prior(np.full(5, 100.0), np.full(5, 500.0), DEFAULT)
    fitted = prior.fitted(np.zeros((5, grid.size)), grid)
    assert fitted.tolist() == prior.log_chances(0.5, 0.5, grid).tolist()


def test_a_support_between_two_values_of_the_grid_is_told_where_noise_is_less_than_that() -> None:
    """Two fine answers of one support: their mean weighted by precision, not the nearest value of the grid."""
    grid = grid_to(100_000)
    values, scale = np.array([12_345.0]), 2.0
    once = Posterior.measured([(0,)], Measurement.of(values, grid / 2, scale=scale, grid=grid), grid)
    finer = Measurement.of(np.array([24_700.0]), grid, scale=scale, grid=grid)
    twice = once.updated(np.array([0]), finer)
    assert once.estimates(np.array([0])).supports.tolist() == [24_690]
    assert twice.estimates(np.array([0])).supports.tolist() == [24_698]  # the second is four times as precise
    assert twice.estimates(np.array([0])).half_widths[0] < once.estimates(np.array([0])).half_widths[0] < 13


def test_coarse_answers_are_left_to_the_grid() -> None:
    """Noise far above the steps of the grid: the posterior, prior and all, decides."""
    grid = grid_to(1_000)
    prior = np.where(grid < 50, 0.0, -60.0)[None, :]
    coarse = Measurement.of(np.array([300.0]), grid, scale=200.0, grid=grid)
    posterior = Posterior.unmeasured([(0,)], prior, grid).updated(np.array([0]), coarse)
    assert posterior.estimates(np.array([0])).supports[0] < 50


def test_nothing_counted_says_nothing() -> None:
    """No transaction holds anything: no precision, and no division by zero."""
    grid = grid_to(100)
    assert (
        precision_sums(np.array([0.0]), np.zeros(grid.size), scale=1e-6, unevenness=0.0, grid=grid)[0, 1] < 1
    )
