"""The exact sampler of the exponential mechanism against the law it claims."""

import decimal
import math
import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import fits
from veilset.gate.selection.exponential import _floor_of_scaled_exp, _is_below_exp, _upper_power, draw_scores

RUNS = 20_000


def law_of_draws(members: dict[int, int], draws: int, rate: float) -> dict[tuple[int, ...], float]:
    """The probability of every sequence of scores, by the definition of the mechanism."""
    if draws == 0:
        return {(): 1.0}
    weights = {score: number * math.exp(rate * score) for score, number in members.items() if number}
    law = {}
    for score, weight in weights.items():
        rest = {**members, score: members[score] - 1}
        for sequence, probability in law_of_draws(rest, draws - 1, rate).items():
            law[score, *sequence] = probability * weight / sum(weights.values())
    return law


@pytest.mark.parametrize(("factor", "is_right"), [(0.9, False), (1.0, True), (1.1, False)])
def test_sequences_of_draws_have_the_law_of_the_mechanism(factor: float, is_right: bool) -> None:
    """Three draws from four classes follow the definition; ten percent less or more epsilon is told apart."""
    members = {9: 1, 7: 2, 4: 5, 0: 40}
    below = random.Random(5).randrange
    rate = Fraction(1, 2)
    drawn = Counter(tuple(draw_scores(members, draws=3, rate=rate, below=below)) for _ in range(RUNS))
    assert fits(drawn, law_of_draws(members, 3, factor * float(rate))) == is_right


def test_a_block_of_astronomic_size_is_drawn_as_often_as_its_weight_says() -> None:
    """10^50 members at score 0 weigh as much as one at ln(10^50) / rate."""
    members, rate = {115: 1, 0: 10**50}, Fraction(1)
    below = random.Random(6).randrange
    drawn = Counter(next(draw_scores(members, draws=1, rate=rate, below=below)) for _ in range(RUNS))
    weights = {115: 1.0, 0: math.exp(50 * math.log(10) - 115)}
    assert fits(drawn, {score: weight / sum(weights.values()) for score, weight in weights.items()})


def test_classes_that_underflow_any_float_are_drawn_once_the_better_ones_are_gone() -> None:
    """After the best is taken, the next best wins, although its weight beside the best was exp(-10^6)."""
    members = {3_000_000: 1, 2_000_000: 1, 0: 10**30}
    drawn = list(draw_scores(members, draws=3, rate=Fraction(1), below=random.Random(1).randrange))
    assert drawn == [3_000_000, 2_000_000, 0]


@given(exponent=st.floats(0, 200), bits=st.integers(60, 300))
def test_uppers_are_never_below_the_true_weight(exponent: float, bits: int) -> None:
    """The proposal covers the target, which rejection sampling needs; and not by much."""
    upper = _upper_power(exponent, bits=bits)
    true = Fraction(2) ** (bits - math.floor(exponent)) * Fraction(2 ** (math.floor(exponent) - exponent))
    assert true <= upper <= true * Fraction(1 + 2**-29) + 2


@given(x=st.fractions(0, 50, max_denominator=1000), bits=st.integers(1, 200))
def test_digits_of_the_exponential_agree_with_its_series(x: Fraction, bits: int) -> None:
    """floor(2^bits exp(-x)) against partial sums of the alternating series, which enclose the value."""
    low, high = _enclose_exp(x)
    assert math.floor(low * 2**bits) <= _floor_of_scaled_exp(x, bits=bits) <= math.floor(high * 2**bits)


def _enclose_exp(x: Fraction) -> tuple[Fraction, Fraction]:
    term, total, n = Fraction(1), Fraction(1), 0
    while n < 2 * x + 2 or abs(term) > Fraction(1, 2**260):
        n += 1
        term = -term * x / n
        total += term
    return total - abs(term), total + abs(term)


def test_more_digits_are_drawn_until_a_number_is_told_from_the_threshold() -> None:
    """A uniform number whose first digits equal those of exp(-1) is decided by the digits after them."""
    first = _floor_of_scaled_exp(Fraction(1), bits=8)
    assert _is_below_exp(first, x=Fraction(1), bits=8, below=lambda _: 0)
    assert not _is_below_exp(first, x=Fraction(1), bits=8, below=lambda bound: bound - 1)
    assert not _is_below_exp(256, x=Fraction(0), bits=8, below=lambda _: 0)


@given(st.floats(-5, 5), st.integers(60, 200))
def test_a_proposal_is_never_too_small(beyond: float, bits: int) -> None:
    """Where the binary digits of a float just fit, and where they do not."""
    exponent = bits - 53 + beyond
    upper = _upper_power(exponent, bits=bits)
    assert upper >= 1
    assert math.log2(upper) >= bits - exponent - 1e-9
    assert upper == 1 or math.log2(upper - 1 or 1) <= max(1, bits - exponent) + 1e-3


@pytest.mark.parametrize("above", [True, False])
@given(digits=st.integers(1, 2**40 - 1))
def test_digits_next_to_a_whole_number_are_told_by_more_precision(digits: int, above: bool) -> None:
    """2^40 exp(-x) lies 10^-40 above or below a whole number: 20 digits beyond the point are all 0, or all 9."""
    with decimal.localcontext(prec=120):
        beyond = decimal.Decimal(10) ** -40
        value = digits + (beyond if above else -beyond)
        x = -Fraction((value / 2**40).ln())
    assert _floor_of_scaled_exp(x, bits=40) == (digits if above else digits - 1)
