"""Posteriors of supports against brute force, and what is read off them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planned_cases import measured, sharp_posterior
from veilset.itemsets import Itemset
from veilset.methods.planned.measurements import TILTS, Measurement
from veilset.methods.planned.posterior import SUPPORTS_IN_GRID, FinePosterior, Posterior, grid_to

TINY_GRID = np.array([1.0, 2.0, 4.0, 8.0])


def posterior_of(chances: list[list[float]]) -> Posterior:
    """With these probabilities of 1, 2, 4 and 8, up to a factor for each itemset: (0,), (1,), ..."""
    itemsets: list[Itemset] = [(item,) for item in range(len(chances))]
    return Posterior.unmeasured(itemsets, np.log(np.array(chances)), TINY_GRID)


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


def test_answers_multiply_where_they_belong() -> None:
    """Updated by answers about the second and third, the first stays as it was; and so does what was updated."""
    before = posterior_of([[1, 2, 3, 4], [1, 1, 1, 1], [4, 1, 1, 1]])
    after = before.updated(np.array([2, 1]), measured([4.0, 2.0], TINY_GRID, scale=1.0))

    def by_hand(chances: list[int], value: float) -> list[float]:
        return normed(
            [chance * math.exp(-abs(value - x)) for chance, x in zip(chances, TINY_GRID, strict=True)]
        )

    assert after.chances[0].tolist() == before.chances[0].tolist()
    assert after.chances[1] == pytest.approx(by_hand([1, 1, 1, 1], 2.0))
    assert after.chances[2] == pytest.approx(by_hand([4, 1, 1, 1], 4.0))
    assert before.chances[1] == pytest.approx([0.25] * 4)


def test_two_answers_are_better_than_one() -> None:
    """The same value twice makes the middle as sure as an answer of half the scale."""
    once, half = (
        Posterior.measured([(0,)], measured([4.0], TINY_GRID, scale=scale), TINY_GRID) for scale in (2.0, 1.0)
    )
    twice = once.updated(np.array([0]), measured([4.0], TINY_GRID, scale=2.0))
    assert twice.chances == pytest.approx(half.chances)


def test_an_itemset_errs_alike_in_counts_under_one_cap_however_often_it_is_counted() -> None:
    """Two answers that lack about half of a support, by its tilt: together they tell no more than the tilt allows."""
    grid = grid_to(100_000)
    lacking = np.outer(np.interp(TILTS, [0.25, 2.0], [0.6, 0.3]), grid)[None]
    one = Measurement(np.array([4_500.0]), np.array([500.0]), lacking)
    once = Posterior.measured([(0,)], one, grid)
    twice = once.updated(np.array([0]), one)
    whole = once.updated(np.array([0]), measured([10_000.0], grid, scale=5.0))
    places = np.array([0])
    assert twice.fine(places).deviations[0] > 0.8 * once.fine(places).deviations[0]
    assert whole.fine(places).deviations[0] < 0.1 * once.fine(places).deviations[0]


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


def test_what_is_known_of_some_itemsets_keeps_their_answers() -> None:
    """Taken in another order, each is looked at with the answers about it."""
    grid = grid_to(10_000)
    both = Posterior.measured([(0,)], measured([400.0], grid, scale=9.0), grid) + Posterior.measured(
        [(1,), (2,)], measured([900.0, 2_500.0], grid, scale=9.0), grid
    )
    found = both.fine(np.array([2, 0]))
    assert found.itemsets == [(2,), (0,)]
    assert found.means == pytest.approx([2_500, 400], rel=0.01)


def test_a_support_between_two_values_of_the_grid_is_told_where_noise_is_less_than_that() -> None:
    """Two fine answers of one support: their mean weighted by precision, not the nearest value of the grid."""
    grid = grid_to(100_000)
    places = np.array([0])
    once = Posterior.measured(
        [(0,)], Measurement.of_supports(np.array([24_690.0]), np.array([4.0]), grid), grid
    )
    twice = once.updated(places, Measurement.of_supports(np.array([24_700.0]), np.array([2.0]), grid))
    assert once.fine(places).estimates().supports.tolist() == [24_690]
    assert twice.fine(places).estimates().supports.tolist() == [24_698]  # the second is four times as precise
    widths = [posterior.fine(places).estimates().half_widths[0] for posterior in (once, twice)]
    assert widths == pytest.approx([1.96 * 4, 1.96 * 2 * math.sqrt(0.8)], abs=1)


def test_coarse_answers_are_left_to_the_prior() -> None:
    """Noise far above the support that the prior allows."""
    grid = grid_to(1_000)
    prior = np.where(grid < 50, 0.0, -60.0)[None, :]
    posterior = Posterior.unmeasured([(0,)], prior, grid).updated(
        np.array([0]), measured([300.0], grid, scale=200.0)
    )
    assert posterior.fine(np.array([0])).estimates().supports[0] < 50


@pytest.mark.parametrize(("believed", "holds"), [(50.0, True), (25.0, False), (200.0, False)])
def test_intervals_hold_as_often_as_they_say(believed: float, *, holds: bool) -> None:
    """Supports drawn from the grid, Laplace noise of scale 50: only who believes just that has 95 % of them inside."""
    rng, grid = np.random.default_rng(4), grid_to(10_000)
    supports = rng.choice(grid, 1000)
    answers = measured(supports + rng.laplace(0, 50, supports.size), grid, scale=believed)
    posterior = Posterior.measured([(item,) for item in range(supports.size)], answers, grid)
    found = posterior.fine(np.arange(supports.size)).estimates()
    inside = float(np.mean((found.low <= supports) & (supports <= found.high)))
    assert (0.93 < inside < 0.98) == holds


def fine_of(supports: dict[Itemset, tuple[float, float]]) -> FinePosterior:
    """Normal laws of a mean and a deviation."""
    rows = [np.linspace(mean - 6 * sd, mean + 6 * sd, 161) for mean, sd in supports.values()]
    chances = [
        np.exp(-(((row - mean) / sd) ** 2) / 2)
        for row, (mean, sd) in zip(rows, supports.values(), strict=True)
    ]
    return FinePosterior(list(supports), np.array(rows), np.array([each / each.sum() for each in chances]))


def test_an_item_is_known_better_where_a_pair_of_it_is_known() -> None:
    """An item of 100 give or take 30, whose pair has 120 give or take 2, doubted, is above that: a truncated law."""
    found = fine_of({(0,): (100.0, 30.0), (0, 1): (120.0, 2.0)}).nested()
    rng = np.random.default_rng(0)
    item, pair = rng.normal(100, 30, 400_000), rng.normal(120, 2, 400_000)
    doubted_item, doubted_pair = rng.normal(100, 90, 400_000), rng.normal(120, 6, 400_000)
    item, pair = item[item > doubted_pair], pair[doubted_item > pair]
    assert found.means == pytest.approx([item.mean(), pair.mean()], rel=0.01)
    assert found.deviations == pytest.approx([item.std(), pair.std()], rel=0.05)


def test_what_another_itemset_tells_is_doubted() -> None:
    """An item whose pair has 120 give or take 20 is compared with one of 120 give or take 60: they err together."""
    found = fine_of({(0,): (100.0, 30.0), (0, 1): (120.0, 20.0)}).nested()
    rng = np.random.default_rng(0)
    item, doubted = rng.normal(100, 30, 400_000), rng.normal(120, 60, 400_000)
    assert found.means[0] == pytest.approx(item[item > doubted].mean(), rel=0.01)
    surely = rng.normal(120, 20, 400_000)
    assert found.means[0] < item[item > surely].mean() - 1


def test_what_is_not_nested_or_far_apart_stays() -> None:
    """And so does what contradicts itself beyond doubt."""
    apart = fine_of({(0,): (100.0, 3.0), (1,): (120.0, 2.0), (0, 1): (50.0, 2.0)})
    assert apart.nested().chances == pytest.approx(apart.chances, abs=1e-9)
    impossible = fine_of({(0,): (100.0, 1.0), (0, 1): (500.0, 1.0)})
    assert impossible.nested().chances.tolist() == impossible.chances.tolist()


def test_the_shortest_interval_starts_where_the_likeliest_support_is_the_least_possible() -> None:
    """Of a falling law no tail is left out below, all 5 % above; a symmetric law loses as much on both sides."""
    supports = np.tile(np.linspace(0.0, 20.0, 2001), (2, 1))
    falling, symmetric = np.exp(-supports[0]), np.exp(-((supports[1] - 10) ** 2) / 2)
    chances = np.stack([falling / falling.sum(), symmetric / symmetric.sum()])
    low, high = FinePosterior([(0,), (1,)], supports, chances).shortest(0.95)
    assert low.tolist() == pytest.approx([0.0, 10 - 1.96], abs=0.03)
    assert high.tolist() == pytest.approx([-math.log(0.05), 10 + 1.96], abs=0.03)


def test_a_support_is_told_as_likely_too_high_as_too_low() -> None:
    """A few percent far away move what is expected, and not what is told; the interval holds it."""
    supports = np.linspace(0.0, 1000.0, 1001)[None, :]
    chances = np.zeros_like(supports)
    chances[0, :20], chances[0, 1000] = 0.96 / 20, 0.04
    found = FinePosterior([(0,)], supports, chances)
    assert found.means[0] == pytest.approx(0.96 * 9.5 + 40)
    assert found.medians[0] == pytest.approx(9.9, abs=0.1)
    told = found.estimates()
    assert told.supports.tolist() == [10]
    assert told.low[0] <= 10 <= told.high[0] < 40


def test_an_itemset_that_nobody_may_have_is_told_from_0() -> None:
    """Counts of 0 and 30 under noise of a scale of 20 do not rule out none; one of 500 does."""
    told = sharp_posterior({(0,): 0.0, (1,): 30.0, (2,): 500.0}, 1000, blur=20).fine(np.arange(3)).estimates()
    assert told.low.tolist()[:2] == [0, 0]
    assert told.low[2] > 400


def test_an_item_that_is_frequent_or_no_more_than_noise_is_told_as_both() -> None:
    """A quarter of the probability lies at frequent supports: no interval of 95 % leaves them out, on any grid."""
    grid = grid_to(100_000)
    is_frequent = np.abs(np.log(grid / 5000)) < 0.2
    chances = np.where(
        is_frequent, 0.25 / is_frequent.sum(), np.where(grid < 20, 0.75 / (grid < 20).sum(), 1e-12)
    )
    known = Posterior.unmeasured([(0,)], np.log(chances)[None, :], grid)
    fine = known.fine(np.array([0]))
    assert float(fine.chances[fine.supports > 1000].sum()) == pytest.approx(0.25, abs=0.02)
    told = fine.estimates()
    assert told.supports[0] < 20
    assert told.high[0] > 5000


@pytest.mark.parametrize("deviation", [3.0, 300.0, 3000.0])
def test_a_fine_grid_fits_what_is_known_closely_and_what_is_hardly_known(deviation: float) -> None:
    """Normal noise on a support of 30,000 among 100,000: mean and deviation are those of the noise."""
    grid = grid_to(100_000)
    answer = Measurement.of_supports(np.array([30_000.0]), np.array([deviation]), grid)
    # As likely for each transaction more, not for each step on a logarithmic scale.
    flat = np.log(grid)[None, :]
    fine = Posterior.unmeasured([(0,)], flat, grid).updated(np.array([0]), answer).fine(np.array([0]))
    assert fine.means[0] == pytest.approx(30_000, abs=0.1 * deviation)
    assert fine.deviations[0] == pytest.approx(deviation, rel=0.05)


def test_supports_of_larger_itemsets_believe_most_of_their_prior() -> None:
    """A normal law on the logarithmic scale, and an answer that says nothing: a pair's support is told more widely."""
    grid = grid_to(100_000)
    log_prior = np.tile(-(((np.log(grid) - math.log(1000)) / 0.1) ** 2) / 2, (2, 1))
    fine = Posterior.unmeasured([(0,), (0, 1)], log_prior, grid).fine(np.arange(2))
    of_item, of_pair = fine.deviations / fine.means
    assert of_item == pytest.approx(0.1, rel=0.05)
    assert of_pair == pytest.approx(0.1 / math.sqrt(0.7), rel=0.05)
