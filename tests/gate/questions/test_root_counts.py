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
from curators import ONE_TRANSACTION, Untouchable, engine_over
from laws import fits
from reference import Basket, Baskets
from strategies import ALPHABET_SIZE, basket, baskets, transactions_of
from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import Budget, Curator, DiscreteGaussian, GaussianCounts, PrivacyUnit, SeededNoise
from veilset.gate.mechanisms import Charge
from veilset.gate.questions.counts import root_weights
from veilset.gate.selection.length_scores import WEIGHT_STEPS
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
    budget = Budget(Fraction(1), delta=delta)
    unit = PrivacyUnit("person", transactions)
    return Curator(engine_over(rows), budget=budget, noise=SeededNoise(1), unit=unit)


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
    counts = curator.ask_root_counts(listed, most=most, epsilon=Fraction(1), delta=DELTA)
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
        return curator.ask_root_counts(many, most=2, epsilon=Fraction(1), delta=DELTA)

    values, mechanism = np.concatenate([ask(seed).values for seed in range(4000)]), ask(0).mechanism
    edges = stats.norm.ppf(np.linspace(0, 1, 21)[1:-1], scale=factor * float(mechanism.scale))
    bins = np.searchsorted(edges, values)
    assert fits(Counter(bins.tolist()), dict.fromkeys(range(20), 0.05)) == is_right
    rho = 2 * WEIGHT_STEPS**2 / (2 * mechanism.scale**2)
    assert (
        delta_of(rho, epsilon=Fraction(1)) <= DELTA < delta_of(rho * Fraction(201, 200), epsilon=Fraction(1))
    )


def test_a_question_without_enough_delta_does_not_look() -> None:
    """Neither on the data nor on a sample, which has no delta; where it is paid for, it does."""
    engine = cast("Engine", Untouchable(transactions_of([frozenset({0})])))

    def asked(delta: Fraction) -> Curator:
        budget = Budget(Fraction(1), delta=delta)
        return Curator(engine, budget=budget, noise=SeededNoise(1), unit=ONE_TRANSACTION)

    for poor in (asked(Fraction(0)), asked(DELTA / 2)):
        with pytest.raises(BudgetExceeded, match="asks for delta 1e-06"):
            poor.ask_root_counts(SOME, most=1, epsilon=Fraction(1, 2), delta=DELTA)
        assert poor.budget.charges == ()
    with pytest.raises(BadCall, match="needs delta, which no sample has"):
        asked(DELTA).on_sample(Fraction(1, 2), epsilon=Fraction(1)).ask_root_counts(
            SOME, most=1, epsilon=Fraction(1, 4), delta=DELTA
        )
    with pytest.raises(pytest.fail.Exception, match="looked at the data"):
        asked(DELTA).ask_root_counts(SOME, most=1, epsilon=Fraction(1, 2), delta=DELTA)


def test_the_row_of_the_trace_survives_json_and_reads_in_words() -> None:
    """With epsilon, delta and the exact scale."""
    curator = curator_with_delta([frozenset({0})])
    curator.ask_root_counts(SOME, most=2, epsilon=Fraction(1, 3), delta=DELTA)
    (charge,) = curator.budget.charges
    assert charge.question == "supports of 2 itemsets, contribution cap 2 in the L2 norm"
    assert isinstance(charge.mechanism, DiscreteGaussian)
    assert Charge.from_dict(charge.to_dict()) == charge
    assert "(squared L2 sensitivity 2), epsilon 1/3, delta 1e-06" in charge.sentence()


@pytest.mark.parametrize(
    ("itemsets", "most", "delta"),
    [(Itemsets.of([]), 1, DELTA), (SOME, 0, DELTA), (SOME, 1, Fraction(0))],
    ids=["nothing to count", "a cap of 0", "no delta"],
)
def test_a_bad_call_is_refused_before_anything_is_spent(
    itemsets: Itemsets, most: int, delta: Fraction
) -> None:
    """With a BadCall, not an error of numbers."""
    curator = curator_with_delta([frozenset({0})])
    with pytest.raises(BadCall):
        curator.ask_root_counts(itemsets, most=most, epsilon=Fraction(1), delta=delta)
    assert curator.budget.charges == ()
