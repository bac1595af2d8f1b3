"""Normalised transactions: what they weigh, what one of them can move, which length is chosen, which noise."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over, engine_over
from laws import fits
from reference import Basket, Baskets, cut, normalised_supports
from strategies import ALPHABET_SIZE, basket, baskets, cuts, items, transactions_of
from veilset.errors import BadCall
from veilset.gate import NoisyHistogram, NormalisedCounts, PrivacyUnit, SeededNoise
from veilset.gate.mechanisms import Charge, DiscreteLaplace
from veilset.gate.normalised import STEPS, limit_scores, restricted
from veilset.methods.dpsense import LIMITS, Sensed, holders
from veilset.raw.bound import Cut, KeepAll
from veilset.raw.counts import Int64Array

some_limits = st.lists(st.integers(1, ALPHABET_SIZE + 1), min_size=1, max_size=4)
some_items = st.lists(items, min_size=1, unique=True)
no_keys = SeededNoise(0).keys


def weights(rows: Baskets, limits: list[int], bound: Cut) -> Int64Array:
    """What the engine says."""
    return engine_over(rows).normalised_supports(np.array(limits), bound, no_keys, steps=STEPS).values


@given(
    rows=baskets(), limits=some_limits, chosen=st.none() | some_items, steps=st.sampled_from([1, 7, STEPS])
)
def test_weights_are_those_of_the_twin(
    rows: Baskets, limits: list[int], chosen: list[int] | None, steps: int
) -> None:
    """All limits at once, for all items, also after a restriction to some."""
    bound = restricted(None if chosen is None else np.array(chosen))
    found = engine_over(rows).normalised_supports(np.array(limits), bound, no_keys, steps=steps).values
    held = cut(rows, bound, iter(()))
    assert found.T.tolist() == [normalised_supports(held, ALPHABET_SIZE, limit, steps) for limit in limits]


@given(rows=baskets(), bound=cuts())
@settings(max_examples=40)
def test_a_limit_above_every_length_weighs_whole_transactions(rows: Baskets, bound: Cut) -> None:
    """Then it is the support, in steps, under every cut."""
    engine, noise = engine_over(rows), [SeededNoise(5), SeededNoise(5)]
    found = engine.normalised_supports(np.array([ALPHABET_SIZE]), bound, noise[0].keys, steps=STEPS).values
    assert found[:, 0].tolist() == (engine.item_supports(bound, noise[1].keys).values * STEPS).tolist()


@given(rows=baskets(), extra=basket(), limits=some_limits, chosen=st.none() | some_items)
def test_one_more_transaction_weighs_at_most_the_limit(
    rows: Baskets, extra: Basket, limits: list[int], chosen: list[int] | None
) -> None:
    """At most one whole on each item, at most the limit on all of them: the sensitivities that are claimed."""
    bound = restricted(None if chosen is None else np.array(chosen))
    moved = weights([*rows, extra], limits, bound) - weights(rows, limits, bound)
    assert moved.min() >= 0
    assert moved.max() <= STEPS
    assert (moved.sum(axis=0) <= STEPS * np.array(limits)).all()


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
    assert (after - before).max() <= STEPS


ROWS = [frozenset({0, 1, 2, 3})] * 6 + [frozenset({0, 1})] * 3 + [frozenset({5})] * 4


def test_the_score_is_the_kth_weight_less_the_price() -> None:
    """By hand: items 0 and 1 weigh 6/4 + 3/2 at limit 1, 12/4 + 3 at limit 2, 6 + 3 at limit 4; item 5 weighs 4."""
    found = limit_scores(
        engine_over(ROWS), np.array([1, 2, 4]), None, k=2, price=Fraction(1, 2), draw=no_keys
    )
    assert (found / STEPS).tolist() == [3 - 0.5, 6 - 1, 9 - 2]


def length_law(epsilon: float, price: Fraction, transactions: int) -> dict[int, float]:
    """P proportional to exp(epsilon * score / sensitivity), by hand."""
    scores = limit_scores(engine_over(ROWS), np.array([1, 2, 4]), None, k=2, price=price, draw=no_keys)
    tilted = [math.exp(epsilon * score / (STEPS * transactions)) for score in scores.tolist()]
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
    noise = counts.values / STEPS
    noise[:ALPHABET_SIZE] -= weights(ROWS, [2], KeepAll())[:, 0] / STEPS
    drawn = Counter(np.floor(noise).astype(int).tolist())
    assert fits(drawn, laplace_bins(4.0))
    assert not fits(drawn, laplace_bins(4.4))
    assert not fits(drawn, laplace_bins(3.6))
    assert counts.mechanism == DiscreteLaplace(2, Fraction(1, 2), STEPS)


def laplace_bins(scale: float) -> dict[int, float]:
    """P(floor(noise) = n) for Laplace noise; so fine a discrete one cannot be told from it."""

    def below(x: float) -> float:
        return math.exp(x / scale) / 2 if x < 0 else 1 - math.exp(-x / scale) / 2

    return {n: below(n + 1) - below(n) for n in range(-200, 200)}


def test_what_is_asked_of_some_items_comes_in_their_order() -> None:
    """With hardly any noise; the sensitivity is that of the few items where the limit is above their number."""
    curator = curator_over(ROWS, epsilon=Fraction(10**9))
    counts = curator.ask_normalised_supports(5, epsilon=Fraction(10**8), items=np.array([5, 0]))
    assert counts.items.tolist() == [5, 0]
    assert np.rint(counts.values / STEPS).tolist() == [4, 9]
    assert counts.mechanism.sensitivity == 2
    charge = curator.budget.charges[0]
    assert "on 2 chosen items" in charge.question
    assert Charge.from_dict(charge.to_dict()) == charge


@pytest.mark.parametrize(
    ("limits", "k", "chosen", "message"),
    [
        ((), 1, None, "give limits"),
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
    assert curator.budget.left == 1
    with pytest.raises(BadCall, match="at least 1"):
        weights(ROWS, [0], KeepAll())


def test_long_lengths_that_may_be_noise_are_left_out() -> None:
    """Scale 2: below 5 it may be noise; behind the first such length all is left out."""
    histogram = NoisyHistogram(np.array([50, 1, 90, 40, 3, 60]), DiscreteLaplace(1, Fraction(1, 2)))
    assert holders(histogram).tolist() == [0, 0, 180, 120, 0, 0]


def test_supports_are_scaled_up_by_what_normalising_kept() -> None:
    """Half was kept: supports and the half width of their noise are doubled; the order stays."""
    noise = DiscreteLaplace(3, Fraction(1), STEPS)
    counts = NormalisedCounts(np.arange(3), np.array([10, 30, 10]) * STEPS, 3, noise)
    sensed = Sensed(counts, kept=0.5)
    assert sensed.supports.tolist() == [20, 60, 20]
    assert sensed.half_width == math.ceil(2 * noise.half_width() / STEPS)
    assert sensed.order.tolist() == [1, 0, 2]


def test_the_public_limits_ascend() -> None:
    """From 1, without repeats."""
    assert LIMITS[0] == 1
    assert list(LIMITS) == sorted(set(LIMITS))
