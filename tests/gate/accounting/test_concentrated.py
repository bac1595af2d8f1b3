"""Gaussian questions that are asked until they have told enough: delta holds for whoever stops at the best moment."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.hermite_e import hermegauss

from veilset.arrays import FloatArray
from veilset.gate.accounting.concentrated import GaussianPurse, lines_from
from veilset.gate.zcdp import delta_of, largest_rho

DELTA = Fraction(1, 10**6)
MOST = Fraction(1)
Steps = Sequence[Fraction]


def rising_prices(number: int) -> list[Fraction]:
    """From 1/10 to 1 in all, each total larger than the one before by the same factor."""
    totals = [Fraction(round(10**9 * 0.1 * 10 ** (i / (number - 1))), 10**9) for i in range(number)]
    return [totals[0], *(b - a for a, b in pairwise(totals))]


def by_purse(prices: Steps) -> list[Fraction]:
    """What the account gives for each price."""
    purse, rhos = GaussianPurse(DELTA, first=prices[0], most=MOST), []
    for price in prices:
        rhos.append(purse.rho_for(price))
        purse.pay(price, rhos[-1])
    return rhos


def by_the_best_order(prices: Steps) -> list[Fraction]:
    """What it would give if the order were chosen in the end, by what was spent."""
    totals = [largest_rho(epsilon=total, delta=DELTA) for total in accumulate(prices)]
    return [totals[0], *(b - a for a, b in pairwise(totals))]


def failure_of_the_best_stop(prices: Steps, rhos: Steps) -> float:
    """The largest P(S) - e^epsilon Q(S) of an attacker who stops when the loss is large, in units of delta.

    After i questions the loss is normal with mean rho and variance 2 rho, of all rho so far. Whoever stops spends what
    is left on a pure question, whose loss is certain: what counts is by how much the loss exceeds the price of
    the Gaussian questions. The value of going on is computed backwards, on a grid of standardised losses.
    """
    rho = np.cumsum([float(each) for each in rhos])
    price = np.cumsum([float(each) for each in prices])
    z = np.linspace(-9, 13, 4001)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    nodes, weights = hermegauss(61)

    def stopped(i: int) -> FloatArray:
        loss = rho[i] + math.sqrt(2 * rho[i]) * z
        beyond: FloatArray = np.maximum(0, -np.expm1(np.minimum(0, price[i] - loss)))
        return beyond

    value = stopped(len(rho) - 1)
    for i in range(len(rho) - 2, -1, -1):
        kept = math.sqrt(rho[i] / rho[i + 1])
        ahead = [np.interp(kept * z + math.sqrt(1 - kept**2) * node, z, value) for node in nodes]
        value = np.maximum(stopped(i), np.average(ahead, axis=0, weights=weights))
    return float((value * density).sum()) / float(DELTA)


@pytest.mark.parametrize("number", [2, 5, 12, 30])
def test_nobody_gets_more_than_delta_by_stopping_at_the_best_moment(number: int) -> None:
    """Orders are fixed before the first answer."""
    prices = rising_prices(number)
    assert failure_of_the_best_stop(prices, by_purse(prices)) <= 1


@pytest.mark.parametrize("number", [12, 30])
def test_an_order_that_is_chosen_in_the_end_would_fail(number: int) -> None:
    """The attack has a control: the account as it once was."""
    prices = rising_prices(number)
    assert failure_of_the_best_stop(prices, by_the_best_order(prices)) > 1.5


@given(
    first=st.fractions(Fraction(1, 50), 1, max_denominator=1000),
    factor=st.fractions(1, 20, max_denominator=10),
    spent=st.fractions(Fraction(1, 100), 1, max_denominator=1000),
)
@settings(max_examples=25, deadline=None)
def test_every_line_is_a_true_conversion(first: Fraction, factor: Fraction, spent: Fraction) -> None:
    """At its order and its part of delta, whatever is spent; so none gives more rho than the best order would."""
    lines = lines_from(first, first * factor, DELTA)
    for line in lines:
        rho = line.rho_at(spent)
        if rho > 0:
            assert delta_of(rho, epsilon=spent) <= DELTA / len(lines) * (1 + Fraction(1, 10**6))
