"""Counts under a cap in the L2 norm: twin, sensitivity over neighbours, law of the noise, and who may ask."""

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import reference
from curators import ONE_TRANSACTION, Untouchable, curator_over, engine_over
from laws import fits
from reference import Basket, Baskets
from strategies import ALPHABET_SIZE, basket, baskets, transactions_of
from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import Budget, Curator, DiscreteGaussian, GaussianCounts, PrivacyUnit, SeededNoise
from veilset.gate.questions.counts import root_weights
from veilset.gate.selection.length_scores import WEIGHT_STEPS
from veilset.gate.trace import Charge
from veilset.gate.zcdp import delta_of
from veilset.itemsets import Itemset, Itemsets

if TYPE_CHECKING:
    from veilset.raw.engines import Engine

DELTA = Fraction(1, 10**6)
SOME = Itemsets.of([(0,), (1, 2)])
some_itemsets = st.lists(
    st.sets(st.integers(0, ALPHABET_SIZE - 1), min_size=1, max_size=3).map(
        lambda items: tuple(sorted(items))
    ),
    min_size=1,
    max_size=8,
    unique=True,
)


def curator_with_delta(rows: Baskets, *, delta: Fraction = DELTA, transactions: int = 1) -> Curator:
    """A curator that may spend delta."""
    return curator_over(rows, delta=delta, unit=PrivacyUnit("person", transactions))


@given(rows=baskets(), itemsets=some_itemsets, most=st.integers(1, 9))
def test_rows_weigh_what_the_twin_says(rows: Baskets, itemsets: list[Itemset], most: int) -> None:
    """A basket that holds n of them weighs sqrt(most / n), rounded down to a step, and never more than a whole one."""
    listed = Itemsets.of(itemsets)
    weights = root_weights(most, len(itemsets))
    found = engine_over(rows).weighted_counts(listed.offsets, listed.items, weights).values
    held = reference.containment(rows, itemsets)
    wanted = [
        sum(
            min(WEIGHT_STEPS, math.isqrt(WEIGHT_STEPS**2 * most // number))
            for each, number in zip(rows, held, strict=True)
            if each.issuperset(itemset)
        )
        for itemset in itemsets
    ]
    assert found.tolist() == wanted


@pytest.mark.parametrize("transactions", [1, 3])
@given(rows=baskets(), extra=basket(), itemsets=some_itemsets, most=st.integers(1, 9))
def test_one_more_unit_moves_the_counts_by_no_more_than_is_paid_for(
    transactions: int, rows: Baskets, extra: Basket, itemsets: list[Itemset], most: int
) -> None:
    """In the L2 norm, also for a person whose transactions are all alike; the mechanism states the square of it."""
    listed = Itemsets.of(itemsets)
    curator = curator_with_delta(rows, transactions=transactions)
    counts = curator.ask_root_counts(listed, most=most, epsilon=Fraction(1))
    weights = root_weights(most, len(itemsets))
    before, after = (
        engine_over(database).weighted_counts(listed.offsets, listed.items, weights).values
        for database in (rows, [*rows, *[extra] * transactions])
    )
    moved = sum(int(step) ** 2 for step in after - before)
    assert moved <= counts.mechanism.squared_sensitivity * WEIGHT_STEPS**2
    assert counts.mechanism.squared_sensitivity <= transactions**2 * most


def test_a_cap_that_no_transaction_exceeds_is_reached() -> None:
    """The control of the bound: a basket that holds all of as many itemsets as the cap moves counts by all of it."""
    listed, weights = Itemsets.of([(0,), (1,), (0, 1)]), root_weights(3, 3)
    moved = engine_over([frozenset({0, 1})]).weighted_counts(listed.offsets, listed.items, weights).values
    assert sum(int(step) ** 2 for step in moved) == 3 * WEIGHT_STEPS**2


@pytest.mark.parametrize(("factor", "is_right"), [(0.9, False), (1.0, True), (1.1, False)])
def test_the_noise_has_the_scale_that_epsilon_and_delta_need(factor: float, *, is_right: bool) -> None:
    """Of a count that nobody moves; the scale's rho is within (epsilon, delta), and half a percent less is not."""
    many = Itemsets.of((item,) for item in range(ALPHABET_SIZE))

    def ask(seed: int) -> GaussianCounts:
        budget = Budget(Fraction(1), delta=DELTA)
        curator = Curator(engine_over([]), budget=budget, noise=SeededNoise(seed), unit=ONE_TRANSACTION)
        return curator.ask_root_counts(many, most=2, epsilon=Fraction(1))

    values, mechanism = np.concatenate([ask(seed).values for seed in range(4000)]), ask(0).mechanism
    edges = stats.norm.ppf(np.linspace(0, 1, 21)[1:-1], scale=factor * float(mechanism.scale))
    bins = np.searchsorted(edges, values)
    assert fits(Counter(bins.tolist()), dict.fromkeys(range(20), 0.05)) == is_right
    rho = 2 * WEIGHT_STEPS**2 / (2 * mechanism.scale**2)
    assert (
        delta_of(rho, epsilon=Fraction(1)) <= DELTA < delta_of(rho * Fraction(201, 200), epsilon=Fraction(1))
    )


def test_a_question_without_delta_does_not_look() -> None:
    """Neither on the data nor on a sample, which has no delta; where it is paid for, it does."""
    engine = cast("Engine", Untouchable(transactions_of([frozenset({0})])))

    def asked(delta: Fraction, epsilon: Fraction = Fraction(1)) -> Curator:
        budget = Budget(epsilon, delta=delta)
        return Curator(engine, budget=budget, noise=SeededNoise(1), unit=ONE_TRANSACTION)

    sample = asked(DELTA).on_sample(Fraction(1, 2), epsilon=Fraction(1))
    for poor in (asked(Fraction(0)), sample):
        with pytest.raises(BadCall, match="needs delta, which there is none of here"):
            poor.ask_root_counts(SOME, most=1, epsilon=Fraction(1, 4))
        assert poor.budget.charges == ()
    poor = asked(DELTA, Fraction(1, 5))
    with pytest.raises(BudgetExceeded, match="only 1/5 of 1/5 is left"):
        poor.ask_root_counts(SOME, most=1, epsilon=Fraction(1, 4))
    assert (poor.budget.charges, poor.budget.delta_left) == ((), DELTA)
    with pytest.raises(pytest.fail.Exception, match="looked at the data"):
        asked(DELTA).ask_root_counts(SOME, most=1, epsilon=Fraction(1, 2))


def test_several_questions_are_converted_together() -> None:
    """Their rho add up to what (the sum of their epsilons, delta) pays for, and no more; delta is paid by the first."""
    curator = curator_with_delta([frozenset({0})])
    asked = [
        curator.ask_root_counts(SOME, most=1, epsilon=Fraction(1, share)).mechanism
        for share in (10, 10, 5, 7)
    ]
    curator.ask_number(epsilon=Fraction(1, 10))
    rho, epsilon = sum(each.rho for each in asked), sum(each.epsilon for each in asked)
    assert delta_of(Fraction(rho), epsilon=Fraction(epsilon)) <= DELTA
    assert delta_of(Fraction(rho) * Fraction(5, 4), epsilon=Fraction(epsilon)) > DELTA
    assert [each.delta for each in asked] == [DELTA, 0, 0, 0]
    assert curator.budget.delta_left == 0
    assert curator.budget.spent == epsilon + Fraction(1, 10)
    assert asked[1].scale < asked[0].scale


@pytest.mark.parametrize("factor", [Fraction(1001, 1000), Fraction(2)])
def test_a_forged_rho_is_refused(factor: Fraction) -> None:
    """Whoever puts less noise than the price allows is stopped at the account, which stays as it was."""
    budget = Budget(Fraction(1), delta=DELTA)
    cost = budget.gaussian_cost(Fraction(1, 2))
    with pytest.raises(BadCall, match="must have the rho that its price allows"):
        budget.charge("counts", DiscreteGaussian(1, cost.rho * factor, cost.epsilon, cost.delta, 1))
    assert (budget.charges, budget.delta_left) == ((), DELTA)
    budget.charge("counts", DiscreteGaussian(1, cost.rho, cost.epsilon, cost.delta, 1))
    with pytest.raises(BadCall):
        budget.charge("counts", DiscreteGaussian(1, 4 * cost.rho, cost.epsilon, Fraction(0), 1))


def test_the_row_of_the_trace_survives_json_and_reads_in_words() -> None:
    """With epsilon, delta and the exact scale."""
    curator = curator_with_delta([frozenset({0})])
    curator.ask_root_counts(SOME, most=2, epsilon=Fraction(1, 3))
    (charge,) = curator.budget.charges
    assert charge.question == "supports of 2 itemsets, contribution cap 2 in the L2 norm"
    assert isinstance(charge.mechanism, DiscreteGaussian)
    assert Charge.from_dict(charge.to_dict()) == charge
    assert "(squared L2 sensitivity 2, rho" in charge.sentence()
    assert charge.sentence().endswith("epsilon 1/3, delta 1e-06")


@pytest.mark.parametrize(
    ("itemsets", "most"), [(Itemsets.of([]), 1), (SOME, 0)], ids=["nothing to count", "a cap of 0"]
)
def test_a_bad_call_is_refused_before_anything_is_spent(itemsets: Itemsets, most: int) -> None:
    """With a BadCall, not an error of numbers."""
    curator = curator_with_delta([frozenset({0})])
    with pytest.raises(BadCall):
        curator.ask_root_counts(itemsets, most=most, epsilon=Fraction(1))
    assert curator.budget.charges == ()


def test_a_cap_beyond_all_itemsets_adds_no_noise() -> None:
    """None holds more itemsets than there are."""
    few, many = (
        curator_with_delta([frozenset({0})])
        .ask_root_counts(SOME, most=most, epsilon=Fraction(1, 2))
        .mechanism
        for most in (len(SOME), 100)
    )
    assert few == many
