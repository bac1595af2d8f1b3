"""Normalised transactions: what they weigh, what one of them can move, which length is chosen, which noise."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over, engine_over
from laws import fits, laplace_bins
from reference import Basket, Baskets, normalised_supports, truncated
from strategies import ALPHABET_SIZE, basket, baskets, items, transactions_of, truncations
from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate import PrivacyUnit, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.gate.selection.length_scores import WEIGHT_STEPS, limit_scores, restricted
from veilset.gate.trace import Charge
from veilset.raw.cuts.truncation import KeepAll, Truncation

some_limits = st.lists(st.integers(1, ALPHABET_SIZE + 1), min_size=1, max_size=4)
some_items = st.lists(items, min_size=1, unique=True)
no_keys = SeededNoise(0).keys


def weights(rows: Baskets, limits: list[int], bound: Truncation) -> Int64Array:
    """What the engine says."""
    return engine_over(rows).normalised_supports(np.array(limits), bound, no_keys, steps=WEIGHT_STEPS).values


@given(
    rows=baskets(),
    limits=some_limits,
    chosen=st.none() | some_items,
    steps=st.sampled_from([1, 7, WEIGHT_STEPS]),
)
def test_weights_are_those_of_the_twin(
    rows: Baskets, limits: list[int], chosen: list[int] | None, steps: int
) -> None:
    """All limits at once, for all items, also after a restriction to some."""
    bound = restricted(None if chosen is None else np.array(chosen))
    found = engine_over(rows).normalised_supports(np.array(limits), bound, no_keys, steps=steps).values
    held = truncated(rows, bound, iter(()))
    assert found.T.tolist() == [normalised_supports(held, ALPHABET_SIZE, limit, steps) for limit in limits]


@given(rows=baskets(), bound=truncations())
@settings(max_examples=40)
def test_a_limit_above_every_length_weighs_whole_transactions(rows: Baskets, bound: Truncation) -> None:
    """Then it is the support, in steps, under every cut."""
    engine, noise = engine_over(rows), [SeededNoise(5), SeededNoise(5)]
    found = engine.normalised_supports(
        np.array([ALPHABET_SIZE]), bound, noise[0].keys, steps=WEIGHT_STEPS
    ).values
    assert found[:, 0].tolist() == (engine.item_supports(bound, noise[1].keys).values * WEIGHT_STEPS).tolist()


@given(rows=baskets(), extra=basket(), limits=some_limits, chosen=st.none() | some_items)
def test_one_more_transaction_weighs_at_most_the_limit(
    rows: Baskets, extra: Basket, limits: list[int], chosen: list[int] | None
) -> None:
    """At most one whole on each item, at most the limit on all of them: the sensitivities that are claimed."""
    bound = restricted(None if chosen is None else np.array(chosen))
    moved = weights([*rows, extra], limits, bound) - weights(rows, limits, bound)
    assert moved.min() >= 0
    assert moved.max() <= WEIGHT_STEPS
    assert (moved.sum(axis=0) <= WEIGHT_STEPS * np.array(limits)).all()


@given(rows=baskets(), extra=basket(), limits=some_limits, chosen=st.none() | some_items, data=st.data())
def test_one_more_transaction_raises_every_score_by_0_to_1(
    rows: Baskets, extra: Basket, limits: list[int], chosen: list[int] | None, data: st.DataObject
) -> None:
    """Monotone with sensitivity 1, in steps."""
    k = data.draw(st.integers(1, len(chosen or range(ALPHABET_SIZE))))
    among = None if chosen is None else np.array(chosen)
    before, after = (
        limit_scores(engine_over(held), np.array(limits), among, k=k, price=Fraction(1, 3), draw=no_keys)
        for held in (rows, [*rows, extra])
    )
    assert (after - before).min() >= 0
    assert (after - before).max() <= WEIGHT_STEPS


ROWS = [frozenset({0, 1, 2, 3})] * 6 + [frozenset({0, 1})] * 3 + [frozenset({5})] * 4


def test_the_score_is_the_kth_weight_less_the_price() -> None:
    """By hand: items 0 and 1 weigh 6/4 + 3/2 at limit 1, 12/4 + 3 at limit 2, 6 + 3 at limit 4; item 5 weighs 4."""
    found = limit_scores(
        engine_over(ROWS), np.array([1, 2, 4]), None, k=2, price=Fraction(1, 2), draw=no_keys
    )
    assert (found / WEIGHT_STEPS).tolist() == [3 - 0.5, 6 - 1, 9 - 2]


def length_law(epsilon: float, price: Fraction, transactions: int) -> dict[int, float]:
    """P proportional to exp(epsilon * score / sensitivity), by hand."""
    scores = limit_scores(engine_over(ROWS), np.array([1, 2, 4]), None, k=2, price=price, draw=no_keys)
    tilted = [math.exp(epsilon * score / (WEIGHT_STEPS * transactions)) for score in scores.tolist()]
    return {limit: value / sum(tilted) for limit, value in zip([1, 2, 4], tilted, strict=True)}


def test_the_length_is_drawn_by_its_score() -> None:
    """The law for monotone scores fits; at a quarter more or less of epsilon it does not."""
    unit, price = PrivacyUnit("owner", 2), Fraction(1, 2)
    drawn = Counter(
        curator_over(ROWS, noise=SeededNoise(seed), unit=unit).ask_truncating_length(
            (1, 2, 4), k=2, price=price, epsilon=Fraction(1)
        )
        for seed in range(3000)
    )
    assert fits(drawn, length_law(1.0, price, 2))
    assert not fits(drawn, length_law(1.25, price, 2))
    assert not fits(drawn, length_law(0.75, price, 2))


def test_normalised_supports_have_the_noise_of_their_limit() -> None:
    """Laplace noise at limit / epsilon fits, a tenth more or less does not; items that nobody holds have it, too."""
    curator = curator_over(transactions_of(ROWS, alphabet_size=20_000))
    counts = curator.ask_normalised_supports(2, epsilon=Fraction(1, 2))
    noise = counts.values / WEIGHT_STEPS
    noise[:ALPHABET_SIZE] -= weights(ROWS, [2], KeepAll())[:, 0] / WEIGHT_STEPS
    drawn = Counter(np.floor(noise).astype(int).tolist())
    assert fits(drawn, laplace_bins(4.0))
    assert not fits(drawn, laplace_bins(4.4))
    assert not fits(drawn, laplace_bins(3.6))
    assert counts.mechanism == DiscreteLaplace(2, Fraction(1, 2), WEIGHT_STEPS)


def test_what_is_asked_of_some_items_comes_in_their_order() -> None:
    """With hardly any noise; the sensitivity is that of the few items where the limit is above their number."""
    curator = curator_over(ROWS, epsilon=Fraction(10**9))
    counts = curator.ask_normalised_supports(5, epsilon=Fraction(10**8), items=np.array([5, 0]))
    assert counts.items.tolist() == [5, 0]
    assert np.rint(counts.values / WEIGHT_STEPS).tolist() == [4, 9]
    assert counts.mechanism.sensitivity == 2
    charge = curator.budget.charges[0]
    assert "on 2 chosen items" in charge.question
    assert Charge.from_dict(charge.to_dict()) == charge


@given(rows=baskets(), chosen=st.none() | some_items, beyond=st.integers(0, 10**40))
def test_a_limit_beyond_the_number_of_items_is_that_number(
    rows: Baskets, chosen: list[int] | None, beyond: int
) -> None:
    """However large: the same answer under the same noise, at the same price, and the same row of the trace."""
    among = None if chosen is None else np.array(chosen)
    number = len(chosen or range(ALPHABET_SIZE))
    curators = [curator_over(rows, noise=SeededNoise(7)) for _ in range(2)]
    at, above = (
        curator.ask_normalised_supports(limit, epsilon=Fraction(1), items=among)
        for curator, limit in zip(curators, [number, number + beyond], strict=True)
    )
    assert above.values.tolist() == at.values.tolist()
    assert above.limit == at.limit == number
    assert above.mechanism == at.mechanism == DiscreteLaplace(number, Fraction(1), WEIGHT_STEPS)
    assert curators[0].budget.charges == curators[1].budget.charges


@pytest.mark.parametrize(
    ("limits", "k", "chosen", "message"),
    [
        ((), 1, None, "give at least 1 limit"),
        ((1,), 0, None, "k from 1"),
        ((1,), 7, None, "k from 1"),
        ((1,), 2, [3], "k from 1"),
        ((1,), 1, [3, 3], "different items"),
        ((1,), 1, [9], "from 0 to 5"),
    ],
)
def test_bad_questions_for_a_length_are_refused_before_they_cost(
    limits: tuple[int, ...], k: int, chosen: list[int] | None, message: str
) -> None:
    """In one line, with the budget untouched."""
    curator = curator_over(ROWS)
    among = None if chosen is None else np.array(chosen)
    with pytest.raises(BadCall, match=message):
        curator.ask_truncating_length(limits, k=k, price=Fraction(0), epsilon=Fraction(1), items=among)
    assert curator.budget.left == 1


def test_a_limit_of_nothing_is_refused() -> None:
    """By the gate before it costs, and by the engine."""
    curator = curator_over(ROWS)
    with pytest.raises(BadCall, match="at least 1"):
        curator.ask_normalised_supports(0, epsilon=Fraction(1))
    with pytest.raises(BadCall, match="at least 1"):
        curator.ask_total(np.array([1]), most=0, epsilon=Fraction(1))
    assert curator.budget.left == 1
    with pytest.raises(BadCall, match="at least 1"):
        weights(ROWS, [0], KeepAll())


@given(rows=baskets(), extra=basket(), chosen=some_items, most=st.integers(1, 4))
def test_the_sum_of_supports_is_limited_for_each_transaction(
    rows: Baskets, extra: Basket, chosen: list[int], most: int
) -> None:
    """Against the definition, with hardly any noise; one more transaction adds at most the limit that is paid for."""
    sums = []
    for held in (rows, [*rows, extra]):
        curator = curator_over(held, epsilon=Fraction(10**7))
        answer = curator.ask_total(np.array(chosen), most=most, epsilon=Fraction(10**6))
        assert answer.value == sum(min(most, len(held_by.intersection(chosen))) for held_by in held)
        assert answer.mechanism == DiscreteLaplace(min(most, len(chosen)), Fraction(10**6))
        sums.append(answer.value)
    assert 0 <= sums[1] - sums[0] <= min(most, len(chosen))
