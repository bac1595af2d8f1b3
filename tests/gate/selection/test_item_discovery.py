"""Items that too few hold are named with a probability of at most delta; the law is exact, with controls."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from laws import discrete_gaussian, discrete_laplace
from veilset.gate import NamingLaw
from veilset.gate.selection.item_discovery import (
    FINENESS,
    WHOLE_WEIGHT,
    _first_place,
    expected_threshold,
    naming_noise,
    noise_and_threshold,
    noise_tail,
    weights_by_length,
)
from veilset.gate.zcdp import largest_rho

LAWS: tuple[NamingLaw, NamingLaw] = ("gaussian", "laplace")
DELTA = Fraction(1, 10**6)


def survival(law: NamingLaw, scale: Fraction) -> Callable[[float], float]:
    """The probability that noise reaches a value: the twin of `noise_tail`, by other means."""
    if law == "gaussian":
        return lambda least: float(stats.norm.sf(least, scale=float(scale)))
    a = math.exp(-1 / float(scale))

    def beyond(least: float) -> float:
        return math.exp(-least / float(scale)) / (1 + a)

    return lambda least: beyond(least) if least > 0 else 1 - beyond(1 - least)


def chance_to_be_named(
    law: NamingLaw, transactions: int, longest: int, threshold: float, scale: Fraction
) -> float:
    """The most likely way in which one unit's own items are named: all its transactions alike, of one length."""
    weights, reaches = weights_by_length(law, longest), survival(law, scale)
    return max(
        length * reaches(threshold - transactions * int(weights[length])) for length in range(1, longest + 1)
    )


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("transactions", "longest"), [(1, 1), (1, 40), (3, 1), (3, 40)])
@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.9, False)])
def test_items_of_one_unit_are_named_with_at_most_delta(
    law: NamingLaw, transactions: int, longest: int, factor: float, *, holds: bool
) -> None:
    """With nine tenths of the threshold the chance would be more than delta: the threshold is not just large."""
    epsilon = Fraction(1, 2)
    found = noise_and_threshold(law, transactions=transactions, longest=longest, epsilon=epsilon, delta=DELTA)
    share = DELTA / 2 if law == "gaussian" else DELTA
    chance = chance_to_be_named(law, transactions, longest, factor * found.threshold, found.scale)
    assert (chance <= share) == holds


@pytest.mark.parametrize("law", LAWS)
def test_the_threshold_is_no_larger_than_it_has_to_be(law: NamingLaw) -> None:
    """A thousandth of a transaction less, and a unit of one transaction would have more than its share of delta."""
    found = noise_and_threshold(law, transactions=1, longest=20, epsilon=Fraction(1, 2), delta=DELTA)
    share = DELTA / 2 if law == "gaussian" else DELTA
    below = found.threshold - 3 * FINENESS
    assert chance_to_be_named(law, 1, 20, below, found.scale) > share


@pytest.mark.parametrize("law", LAWS)
@given(lengths=st.lists(st.integers(1, 30), min_size=1, max_size=3))
def test_a_unit_moves_the_sums_by_at_most_its_number_of_transactions(
    law: NamingLaw, lengths: list[int]
) -> None:
    """In the norm of the law, whatever the lengths of its transactions and whichever items they share."""
    weights = weights_by_length(law, 30)
    sums = np.zeros(30)
    for length in lengths:  # all begin with the same items: nothing moves sums further
        sums[:length] += weights[length]
    norm = np.linalg.norm(sums, ord=2 if law == "gaussian" else 1)
    assert norm <= len(lengths) * WHOLE_WEIGHT


@pytest.mark.parametrize("factor", [1.0, 0.7])
def test_the_noise_is_what_its_law_needs(factor: float) -> None:
    """Laplace of scale c / epsilon; Gaussian of scale c / sqrt(2 rho) for half of delta, rounded up by a hair."""
    epsilon = Fraction(factor)
    laplace = naming_noise("laplace", transactions=2, epsilon=epsilon, delta=DELTA)
    assert 0 <= laplace.scale - 2 * WHOLE_WEIGHT / epsilon < 1
    assert laplace.for_threshold == DELTA
    gaussian = naming_noise("gaussian", transactions=2, epsilon=epsilon, delta=DELTA)
    rho = largest_rho(epsilon=epsilon, delta=DELTA / 2)
    assert 0 <= float(gaussian.scale) - 2 * WHOLE_WEIGHT / math.sqrt(2 * rho) < 4
    assert gaussian.for_threshold == DELTA / 2


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("holders", [0, 1, 10, 30, 60, 200])
@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.75, False)])
def test_which_items_are_named_tells_neighbours_apart_by_no_more_than_is_paid(
    law: NamingLaw, holders: int, factor: float, *, holds: bool
) -> None:
    """The exact law of all sets of named items, without and with one unit that adds an item of its own.

    Some transactions hold a alone; one more holds a and b. For every set S of answers, P(S) on either is at most
    e^epsilon P(S) on the other, and delta. With three quarters of the threshold it fails for some number of holders.
    """
    epsilon = Fraction(1)
    found = noise_and_threshold(law, transactions=1, longest=2, epsilon=epsilon, delta=DELTA)
    reaches, weights = survival(law, found.scale), weights_by_length(law, 2)
    threshold = factor * found.threshold

    def named(weight: int) -> float:
        return reaches(threshold - weight) if weight > 0 else 0.0

    without = (named(holders * WHOLE_WEIGHT), 0.0)
    whole = (named(holders * WHOLE_WEIGHT + int(weights[2])), named(int(weights[2])))
    excess = max(largest_excess(without, whole, epsilon), largest_excess(whole, without, epsilon))
    if holds or holders == 0:
        assert (excess <= DELTA) == holds


def largest_excess(one: tuple[float, float], other: tuple[float, float], epsilon: Fraction) -> float:
    """The most by which P(S) on one side exceeds e^epsilon P(S) on the other, over all sets S of answers."""
    factor = math.exp(epsilon)
    pairs = [
        (chance_of(answer, one), chance_of(answer, other)) for answer in product((True, False), repeat=2)
    ]
    return sum(max(0.0, here - factor * there) for here, there in pairs)


def chance_of(answer: tuple[bool, ...], chances: tuple[float, float]) -> float:
    """How likely exactly these items are named."""
    return math.prod(
        chance if is_named else 1 - chance for is_named, chance in zip(answer, chances, strict=True)
    )


EXTREMES = [
    (law, Fraction(epsilon), Fraction(delta), transactions, longest)
    for law in LAWS
    for epsilon in ("1e-8", "1/20", "5e7", "1e9")
    for delta in ("1e-100", "1e-3", "0.6")
    for transactions, longest in ((1, 1), (3, 17))
]
"""Down to a hundredth of the least epsilon for a whole release, and beyond the largest delta."""


@pytest.mark.parametrize(("law", "epsilon", "delta", "transactions", "longest"), EXTREMES)
def test_thresholds_are_found_and_hold_at_the_ends_of_what_may_be_asked(
    law: NamingLaw, epsilon: Fraction, delta: Fraction, transactions: int, longest: int
) -> None:
    """Next to no noise or endless noise; a unit's own items stay below the share of delta, by the twin's tails."""
    found = noise_and_threshold(law, transactions=transactions, longest=longest, epsilon=epsilon, delta=delta)
    share = float(naming_noise(law, transactions=transactions, epsilon=epsilon, delta=delta).for_threshold)
    chance = chance_to_be_named(law, transactions, longest, found.threshold, found.scale)
    assert 0 <= chance <= share * (1 + 1e-9)
    assert found.threshold > transactions * WHOLE_WEIGHT or delta > Fraction(1, 2)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    "scale", [Fraction(1, 1000), Fraction(7, 2), Fraction(100), Fraction(2**30)], ids=str
)
@given(least=st.integers(-(2**31), 2**31))
def test_a_tail_is_never_stated_too_small(law: NamingLaw, scale: Fraction, least: int) -> None:
    """Also where noise may be negative, where there is none to speak of, and far beyond the smallest float."""
    stated = noise_tail(law, least, scale)
    assert 0 < stated <= 1 + Fraction(1, 10**30)
    assert float(stated) >= tail_by_summing(law, least, scale) * (1 - 1e-9)


def tail_by_summing(law: NamingLaw, least: int, scale: Fraction) -> float:
    """The probability that noise reaches a value: by its law, or by an integral where that has too many terms."""
    if scale > 10**4:
        noise = stats.norm if law == "gaussian" else stats.laplace
        return float(noise.sf(least + 0.5, scale=float(scale)))
    law_of = discrete_gaussian if law == "gaussian" else discrete_laplace
    whole = law_of(float(scale), largest=int(60 * scale) + 60)
    return math.fsum(chance for value, chance in whole.items() if value >= least)


@pytest.mark.parametrize(
    ("one", "other"),
    [((0.02, 0.98), (0.3, 0.98)), ((0.5, 0.5), (0.999, 0.0)), ((1.0, 0.0), (0.4, 0.4))],
)
def test_items_of_ones_own_cost_no_more_than_their_chance(
    one: tuple[float, float], other: tuple[float, float]
) -> None:
    """The step of the proof: P on the common items is private; others appear with delta_2; together delta_2 more.

    Two answers on common items, any two laws of them; epsilon is what keeps these apart, delta_1 is what is left.
    """
    epsilon, delta_2 = Fraction(1), 0.01
    delta_1 = max(loss(one, other, epsilon), loss(other, one, epsilon))
    widened = tuple(chance * (1 - delta_2) for chance in other), delta_2 * sum(other)
    here, there = (*one, 0.0), (*widened[0], widened[1])
    assert loss(here, there, epsilon) <= delta_1 + delta_2
    assert loss(there, here, epsilon) <= delta_1 + delta_2


def loss(one: tuple[float, ...], other: tuple[float, ...], epsilon: Fraction) -> float:
    """The most by which a set of answers is likelier here than e^epsilon times there."""
    return sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(one, other, strict=True))


@pytest.mark.parametrize("law", LAWS)
@given(
    unit=st.lists(st.frozensets(st.integers(0, 8), min_size=1), min_size=1, max_size=3),
    epsilon=st.sampled_from([Fraction(1, 2), Fraction(4), Fraction(100)]),
)
def test_whatever_a_person_holds_alone_is_named_with_at_most_delta(
    law: NamingLaw, unit: list[frozenset[int]], epsilon: Fraction
) -> None:
    """Transactions of different lengths that share some items: the exact chance that any item is named."""
    delta, longest = Fraction(1, 1000), 9
    found = noise_and_threshold(law, transactions=3, longest=longest, epsilon=epsilon, delta=delta)
    weights, reaches = weights_by_length(law, longest), survival(law, found.scale)
    held = {
        item: sum(int(weights[len(row)]) for row in unit if item in row) for item in frozenset().union(*unit)
    }
    none = math.prod(1 - reaches(found.threshold - weight) for weight in held.values())
    assert 1 - none <= naming_noise(law, transactions=3, epsilon=epsilon, delta=delta).for_threshold


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("transactions", "longest"), [(1, 1), (3, 40)])
def test_a_threshold_is_about_what_was_expected_and_not_a_step_too_high(
    law: NamingLaw, transactions: int, longest: int
) -> None:
    """One step lower, a unit's own items would be named too often."""
    found = noise_and_threshold(
        law, transactions=transactions, longest=longest, epsilon=Fraction(1, 2), delta=DELTA
    )
    noise = naming_noise(law, transactions=transactions, epsilon=Fraction(1, 2), delta=DELTA)
    weights = [transactions * int(weight) for weight in weights_by_length(law, longest)[1:]]

    def failing(threshold: int) -> Fraction:
        return transactions * max(
            length * noise_tail(law, threshold - weight, noise.scale)
            for length, weight in enumerate(weights, start=1)
        )

    assert failing(found.threshold) <= noise.for_threshold < failing(found.threshold - FINENESS)
    expected = expected_threshold(law, float(noise.scale), weights, float(noise.for_threshold / transactions))
    assert found.threshold == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("law", LAWS)
def test_a_threshold_is_found_where_all_transactions_of_a_unit_together_exceed_delta(law: NamingLaw) -> None:
    """The share of delta goes to each of 1,000 transactions: 1,000 times delta would be no probability."""
    found = noise_and_threshold(
        law, transactions=1000, longest=2, epsilon=Fraction(1), delta=Fraction(1, 100)
    )
    share = float(
        naming_noise(law, transactions=1000, epsilon=Fraction(1), delta=Fraction(1, 100)).for_threshold
    )
    chance = chance_to_be_named(law, 1000, 2, found.threshold, found.scale)
    assert 0.99 * share <= 1000 * chance <= share


@given(start=st.integers(-50, 50), beyond=st.integers(-50, 3000))
def test_the_first_place_is_looked_for_from_the_start_up(start: int, beyond: int) -> None:
    """Where the condition holds already at the start, that is the place."""
    first = start + beyond
    assert _first_place(lambda place: place >= first, start=start) == max(start, first)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7, 2)], ids=str)
@pytest.mark.parametrize("least", [0, 1, 5])
def test_a_laplace_tail_is_stated_closely_from_0_up(scale: Fraction, least: int) -> None:
    """Below 0 it is stated as 1."""
    assert float(noise_tail("laplace", least, scale)) == pytest.approx(
        tail_by_summing("laplace", least, scale), rel=1e-9
    )
    assert noise_tail("laplace", -1, scale) == 1
