"""planned for items: what it spends, what it finds, and what it claims of supports."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import veilset as vs
from curators import curator_over
from reference import Baskets
from strategies import baskets
from veilset.arrays import FloatArray
from veilset.datasets import groceries, quest
from veilset.evaluate import Study, evaluate
from veilset.gate import PrivacyUnit, SeededNoise
from veilset.methods import DEFAULTS, METHODS
from veilset.methods.planned.histogram_laws import MOST
from veilset.methods.planned.item_posterior import NoisySum, corrected_by_sum
from veilset.methods.planned.item_rounds import Counting, CountingPlan, ItemZones, choose_plan, possible_plans
from veilset.methods.planned.measurements import TILTS, Measurement
from veilset.methods.planned.overlap import Overlap
from veilset.methods.planned.posterior import Posterior, grid_to
from veilset.methods.planned.prior import ItemPrior
from veilset.methods.planned.settings import DEFAULT
from veilset.raw.transactions import Alphabet
from veilset.request import Request

METHOD = METHODS["planned-items"]
TRANSACTIONS = 20_000
GRID = grid_to(TRANSACTIONS)


def counts_of(values: FloatArray, *, scale: float, kept: float = 1.0) -> Measurement:
    """Noisy counts of items, of which a cap leaves the same share of every support."""
    return Measurement(values, np.array([np.sqrt(2) * scale]), np.tile(kept * GRID, (1, len(TILTS), 1)))


def posterior_of(values: FloatArray, *, scale: float, candidates: int) -> Posterior:
    """What counts of items say, of which the first are candidates."""
    every, first = counts_of(values, scale=scale), list(range(candidates))
    prior = ItemPrior.explaining(every)
    return Posterior.measured([(item,) for item in first], every.take(first), GRID, prior=prior)


def many_supports(rng: np.random.Generator) -> FloatArray:
    """Supports of a thousand items, few of them frequent."""
    supports: FloatArray = np.sort(np.exp(rng.normal(4, 1.5, 1000)).clip(1, TRANSACTIONS))[::-1]
    return supports


def test_it_is_the_default_of_items() -> None:
    """It has the name of the default miner."""
    assert DEFAULTS["items"] == METHOD.name == "planned"
    assert vs.items(groceries(500), epsilon=1, k=3, noise=SeededNoise(1)).method == "planned"


@given(
    rows=baskets(),
    epsilon=st.sampled_from([Fraction(1, 1000), Fraction(1, 10), Fraction(3), Fraction(1000)]),
    wanted=st.sampled_from([Request.of(k=1), Request.of(k=6), Request.of(min_support="0.2")]),
    transactions=st.sampled_from([1, 3]),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=30, deadline=None)
def test_all_of_epsilon_is_spent_and_intervals_hold_their_supports(
    rows: Baskets, epsilon: Fraction, wanted: Request, transactions: int, seed: int
) -> None:
    """Whatever the data, for one transaction or several of one person; a threshold may end early."""
    unit = PrivacyUnit("person", transactions)
    curator = curator_over(rows, epsilon=epsilon, noise=SeededNoise(seed), unit=unit)
    release = METHOD.run(curator, wanted, epsilon=epsilon)
    assert release.spent == epsilon or len(release) == 0
    assert all(found.low <= found.support <= found.high for found in release.itemsets)
    assert wanted.k is None or len(release) == wanted.k


@pytest.mark.parametrize("rows", [[frozenset({0})], [frozenset[int]()] * 3, [frozenset({0, 1})] * 2])
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1000)])
def test_tiny_data_has_an_answer(rows: Baskets, epsilon: Fraction) -> None:
    """One row, empty rows, two rows: nothing is divided by zero."""
    release = METHOD.run(curator_over(rows, epsilon=epsilon), Request.of(k=1), epsilon=epsilon)
    assert len(release) == 1
    assert release.spent == epsilon


def test_without_noise_to_speak_of_the_answer_is_exact() -> None:
    """All items, and supports within what the grid and the caps allow."""
    held = groceries(3000)
    release = vs.items(held, epsilon=10**5, k=20, noise=SeededNoise(1))
    supports = np.bincount(held.items)
    exact = {held.alphabet.names[code]: supports[code] for code in np.argsort(-supports)[:20]}
    assert {found.items[0] for found in release.itemsets} == set(exact)
    for found in release.itemsets:
        assert found.support == pytest.approx(exact[found.items[0]], rel=0.02)


def test_items_that_are_found_privately_are_counted_too() -> None:
    """Where k is more than what was found, all of it is released."""
    held = groceries(5000)
    held = replace(held, alphabet=Alphabet(held.alphabet.names, is_given=False))
    release = vs.items(held, epsilon=2, k=10_000, delta="1e-9", noise=SeededNoise(1))
    assert 0 < len(release) < 10_000
    assert release.spent <= 2


def test_nothing_is_paid_for_a_public_number() -> None:
    """What is public is not asked for."""
    held = groceries(2000)
    release = vs.items(held, epsilon=1, k=5, transactions=len(held), noise=SeededNoise(1))
    assert not any("number of transactions" in charge.question for charge in release.trace)
    assert release.spent == 1


@pytest.mark.parametrize(
    "held", [quest(20_000, items=600, seed=3), groceries(20_000, seed=5)], ids=["quest", "groceries"]
)
def test_claims_of_released_items_are_honest_on_generated_baskets(held: vs.Transactions) -> None:
    """Selection included; and the answer keeps up with that of noisy supports alone, as far as ten runs tell."""
    study = Study.of(
        task="items", methods=["planned", "frefirst"], ks=[50], epsilons=["0.1", "0.5"], repeats=5, seed=3
    )
    results = evaluate({"generated": held}, study)
    ours, theirs = (results.filter(pl.col("method") == name) for name in ("planned", "frefirst"))
    assert 0.88 <= float(ours["coverage"].to_numpy().mean()) <= 0.995
    assert abs(float(ours["bias"].to_numpy().mean())) < 0.1
    assert ours["f_score"].to_numpy().mean() >= theirs["f_score"].to_numpy().mean() - 0.03


def test_listed_items_are_drawn_back_by_the_prior() -> None:
    """The largest noisy counts are too large on average; their posterior is not. That is what the prior is for."""
    rng = np.random.default_rng(1)
    supports = many_supports(rng)
    noisy = supports + rng.laplace(0, 300, supports.size)
    order = np.argsort(-noisy)
    posterior = posterior_of(noisy[order], scale=300, candidates=200)
    true = supports[order][:100]
    fine = posterior.fine(np.arange(100))
    known = fine.estimates()
    assert np.mean(noisy[order][:100] - true) > 200
    assert abs(np.mean(fine.means - true)) < 80
    assert 0.35 <= np.mean(known.supports > true) <= 0.65  # what is told is as likely too high as too low
    assert 0.88 <= np.mean((known.low <= true) & (true <= known.high)) <= 1


def test_a_few_items_far_above_all_others_are_in_the_law_of_items() -> None:
    """Three of twenty thousand items; a law learned from every tenth item takes them for impossible."""
    supports = np.append(np.full(3, 15_000.0), np.full(20_000, 5.0))
    measured = counts_of(supports + np.random.default_rng(4).laplace(0, 20, supports.size), scale=20)
    is_near = (GRID > 12_000) & (GRID < 18_000)

    def chance_of(prior: ItemPrior) -> float:
        return float(np.exp(prior.log_chances)[is_near].sum())

    assert chance_of(ItemPrior.explaining(measured)) == pytest.approx(3 / supports.size, rel=0.5)


@pytest.mark.parametrize("assumed", [0.2, 0.3])
def test_a_sum_corrects_what_all_items_have_in_common(assumed: float) -> None:
    """Counts that were taken for too much are brought down, those for too little up, most of the way."""
    supports = many_supports(np.random.default_rng(3))[:100]
    measured = counts_of(supports * 0.25, scale=1.0, kept=assumed)  # a quarter was kept
    posterior = Posterior.measured([(item,) for item in range(100)], measured, GRID)
    places, total = np.arange(100), float(supports.sum())
    by_sum = corrected_by_sum(posterior, places, NoisySum(total, 10.0))
    by_nothing = corrected_by_sum(posterior, places, NoisySum(total, 1e9))
    off, off_by_nothing = (abs(each.means.sum() / total - 1) for each in (by_sum, by_nothing))
    assert abs(posterior.means.sum() / total - 1) > 0.15
    assert off < 0.06
    assert off_by_nothing > 0.08
    assert np.all(by_nothing.deviations > by_sum.deviations)


def test_counts_that_lack_nothing_are_not_corrected() -> None:
    """What no cap was applied to cannot have been misread, whatever a sum says."""
    supports = many_supports(np.random.default_rng(3))[:100]
    posterior = Posterior.measured([(item,) for item in range(100)], counts_of(supports, scale=1.0), GRID)
    corrected = corrected_by_sum(posterior, np.arange(100), NoisySum(2 * float(supports.sum()), 10.0))
    assert np.allclose(corrected.means, posterior.means)


def counting_over(lengths: dict[int, float]) -> Counting:
    """Transactions of some lengths."""
    transactions = np.zeros(MOST)
    for length, number in lengths.items():
        transactions[length - 1] = number
    return Counting(Overlap.known(transactions, DEFAULT), 1, Fraction(1, 1000))


def test_fewer_items_are_counted_with_less_noise() -> None:
    """And a question that its histogram uses up counts nothing."""
    counting = counting_over({20: 10_000})
    errors = [counting.error(together, 500, Fraction(1, 10)) for together in (200_000, 50_000, 1000)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 2 * errors[-1]
    assert counting.error(1000, 500, Fraction(1, 1000)) == np.inf


def test_a_sum_under_a_cap_says_what_it_leaves_out() -> None:
    """A strict cap where noise is large, none where it is small."""
    counting = counting_over({1: 10_000, 100: 50})
    most, kept = counting.cap_of_sum(15_000, Fraction(1, 10_000))
    assert most < 100
    assert kept < 1
    most, kept = counting.cap_of_sum(15_000, Fraction(10))
    assert most >= 100
    assert kept == pytest.approx(1)


def test_every_plan_spends_what_remains() -> None:
    """Whatever goes to certain items and to rounds."""
    zones = ItemZones(100.0, np.full(500, 0.5), np.arange(450), np.arange(450, 500))
    every = list(possible_plans(50, zones, Fraction(1, 3), Fraction(1, 100)))
    assert {len(plan.rounds) for plan in every} == {0, 1, 2}
    for plan in every:
        assert sum((each.epsilon for each in plan.rounds), plan.for_certain) == Fraction(1, 3)


def test_where_nothing_is_uncertain_the_certain_items_get_more() -> None:
    """Well apart from the bar, counting again serves supports alone; crowded around it, it serves the choice."""
    counting = counting_over({5: float(TRANSACTIONS)})
    apart = posterior_of(np.append(np.full(50, 5000.0), np.full(450, 20.0)), scale=100, candidates=100)
    crowded = posterior_of(np.linspace(1100, 900, 500), scale=100, candidates=100)

    def plan_for(posterior: Posterior) -> CountingPlan:
        return choose_plan(posterior, ItemZones.of(posterior, 50), counting, 50, remaining=Fraction(1, 4))

    assert plan_for(apart).for_certain == Fraction(1, 4)
    assert plan_for(crowded).for_certain == 0
