"""What is likely of supports before they are measured: by hand, and as the answers about all of them have it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from planned_cases import measured
from veilset.itemsets import Itemset
from veilset.methods.planned.measurements import LOG_TILTS, over_tilts
from veilset.methods.planned.posterior import Posterior, grid_to
from veilset.methods.planned.prior import LIFTS, WIDTHS, ItemPrior, Prior, prior_of
from veilset.methods.planned.settings import DEFAULT

KNOWN: dict[Itemset, float] = {(0,): 50, (1,): 20, (2,): 40, (0, 1): 10, (0, 2): 20, (1, 2): 16}
NO_SLACK = dict.fromkeys(KNOWN, 0.0)


def test_a_pair_is_expected_as_independence_has_it() -> None:
    """50 * 20 of 100 are 10; at most the rarer item, with a tenth on top, and slack beyond."""
    found = prior_of([(0, 1)], KNOWN, 100, slacks=dict.fromkeys(KNOWN, 3.0), settings=DEFAULT)
    assert found.expected == pytest.approx([10])
    assert found.bound == pytest.approx([1.1 * 20])
    assert found.slack == pytest.approx([3])


def test_a_triple_is_expected_as_conditional_independence_has_it() -> None:
    """The geometric mean over 10 * 20 / 50, 10 * 16 / 20 and 20 * 16 / 40; the rarest pair has slack."""
    found = prior_of([(0, 1, 2)], KNOWN, 100, slacks={**NO_SLACK, (0, 1): 2.0}, settings=DEFAULT)
    assert found.expected == pytest.approx([(4 * 8 * 8) ** (1 / 3)])
    assert found.bound == pytest.approx([1.1 * 10])
    assert found.slack == pytest.approx([2])


def test_nothing_is_expected_above_its_rarest_part() -> None:
    """Noisy parts can contradict each other."""
    found = prior_of([(0, 1)], {(0,): 90.0, (1,): 30.0}, 50, slacks=NO_SLACK, settings=DEFAULT)
    assert found.expected == pytest.approx([30])


def test_a_prior_is_a_law_around_what_is_expected_up_to_the_bound() -> None:
    """Its probabilities add up to 1, nothing is above the bound, the likeliest is expected times e^lift."""
    grid = grid_to(1000)
    prior = Prior(np.array([10.0, 100.0]), np.array([500.0, 120.0]), np.zeros(2), DEFAULT)
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
    prior = Prior(np.full(201, expected), np.full(201, 3500.0), np.zeros(201), settings)
    measurement = measured(supports, grid, scale=100.0, unevenness=0.16)
    pairs: list[Itemset] = [(0, item) for item in range(1, 202)]
    found = Posterior.measured(pairs, measurement, grid, prior=prior).means
    assert (found[-1] > 4 * expected) == is_believed
    assert found[:-1] == pytest.approx(expected, rel=0.3)


@pytest.mark.parametrize(("size", "law"), [(2, (0.7, 1.5)), (3, (0.3, 0.7))], ids=["pairs", "larger"])
def test_chances_before_any_answer_are_those_of_the_vague_law(size: int, law: tuple[float, float]) -> None:
    """Against the law on a fine grid; what is surprising has no part in it."""
    settings = replace(DEFAULT, surprising_share=1e-9)
    prior, grid = (
        Prior(np.array([10.0, 100.0, 3.0]), np.array([500.0, 150.0, 20.0]), np.zeros(3), settings),
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
    prior = Prior(expected, np.full(expected.size, 1e9), np.zeros(expected.size), DEFAULT)
    noisy = supports + rng.laplace(0, 10, supports.size)
    answers = over_tilts(measured(noisy, grid, scale=10.0).log_likelihoods() + LOG_TILTS[:, None])
    assert prior.fitted(answers, grid).tolist() == prior.log_chances(lift, width, grid).tolist()


def test_where_answers_say_nothing_the_usual_prior_stays() -> None:
    """Noise far above every support: the lift and width nearest to the usual ones."""
    grid = grid_to(1000)
    prior = Prior(np.full(5, 100.0), np.full(5, 500.0), np.zeros(5), DEFAULT)
    fitted = prior.fitted(np.zeros((5, grid.size)), grid)
    assert fitted.tolist() == prior.log_chances(0.5, 0.5, grid).tolist()


def test_the_law_of_items_is_that_of_their_supports() -> None:
    """Most items rare, some frequent, measured with noise between the two: both kinds are found again."""
    rng, grid = np.random.default_rng(3), grid_to(100_000)
    supports = np.append(rng.uniform(5, 15, 900), rng.uniform(8_000, 12_000, 100))
    law = np.exp(
        ItemPrior.explaining(measured(supports + rng.laplace(0, 100, 1000), grid, scale=100.0)).log_chances
    )
    assert law.sum() == pytest.approx(1, abs=1e-6)
    assert law[grid < 2_000].sum() == pytest.approx(0.9, abs=0.02)
    assert law[(grid > 4_000) & (grid < 20_000)].sum() == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("learns", [True, False])
def test_an_item_that_stands_out_by_its_noise_is_taken_for_what_most_items_are(*, learns: bool) -> None:
    """A thousand items of support 10: without the law of all items, the ten best seem far more frequent."""
    rng, grid = np.random.default_rng(5), grid_to(10_000)
    answers = measured(10 + rng.laplace(0, 100, 1000), grid, scale=100.0)
    prior = ItemPrior.explaining(answers) if learns else None
    best = np.argsort(-answers.values)[:10]
    found = Posterior.measured(
        [(item,) for item in best.tolist()], answers.take(best.tolist()), grid, prior=prior
    )
    assert (found.means.mean() < 200) == learns


def test_a_support_beyond_the_bound_is_possible_within_the_slack_once_it_is_measured() -> None:
    """The bound comes from noisy answers. Before a measurement, what is beyond it has no chance all the same."""
    grid = grid_to(1000)
    strict, slack = (
        Prior(np.array([90.0]), np.array([100.0]), np.array([some]), DEFAULT) for some in (0.0, 50.0)
    )
    beyond = (grid > 100) & (grid <= 150)
    assert np.exp(strict.log_chances(0.0, 0.5, grid))[0, beyond].sum() < 1e-12
    assert np.exp(slack.log_chances(0.0, 0.5, grid))[0, beyond].sum() > 0.1
    assert np.exp(slack.log_chances(0.0, 0.5, grid))[0, grid > 150].sum() < 1e-12
    assert slack.chances(2, 101.0) == pytest.approx(strict.chances(2, 101.0))
