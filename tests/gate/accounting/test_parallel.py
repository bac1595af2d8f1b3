"""Chains of partitions: each pays for itself, and none spends more than was paid."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.errors import BudgetExceeded
from veilset.gate import Budget, ChainedLaplace
from veilset.gate.accounting.parallel import Chains, ParallelAccount


def test_chains_pay_apart_and_together() -> None:
    """Two chains may spend all that is left, each; the account knows the largest and how it came about."""
    chains = Chains(Fraction(1))
    ways = chains.charge(np.array([0, 0]), np.array([0, 1]), [Fraction(1, 4), Fraction(1, 2)])
    assert chains.largest == (Fraction(1, 2),)
    ways = chains.charge(ways, np.array([0, 1]), [Fraction(3, 4), Fraction(1, 2)])
    assert sum(chains.largest) == 1
    with pytest.raises(BudgetExceeded):
        chains.charge(ways[:1], np.array([0]), [Fraction(1, 100)])
    assert len(chains.largest) == 2


def test_the_trace_tells_what_the_largest_chain_has_spent() -> None:
    """What was paid stays; a refused charge changes nothing."""
    budget, paid = Budget(Fraction(1)), ChainedLaplace(2, Fraction(1, 2))
    budget.charge("sizes of partitions", paid)
    account = ParallelAccount(budget, paid)
    ways = account.charge(np.array([0]), np.array([0]), [Fraction(1, 4)])
    with pytest.raises(BudgetExceeded, match="would spend epsilon 3/4, more than the 1/2 "):
        account.charge(ways, np.array([0]), [Fraction(1, 2)])
    account.charge(ways, np.array([0]), [Fraction(1, 8)])
    (charge,) = budget.charges
    assert charge.mechanism == ChainedLaplace(2, Fraction(1, 2), (Fraction(1, 4), Fraction(1, 8)))
    assert account.sensitivity == 2


@given(st.data())
def test_every_chain_is_charged_for_itself(data: st.DataObject) -> None:
    """Against a list of what each chain has spent: any chains go on, at any of several prices, again and again."""
    prices = [Fraction(1, 7), Fraction(2, 5), Fraction(3)]
    chains, numbers = Chains(Fraction(100)), np.zeros(1, np.int64)
    spent: list[tuple[Fraction, ...]] = [()]
    largest: tuple[Fraction, ...] = ()
    for _ in range(data.draw(st.integers(1, 4))):
        going_on = data.draw(st.lists(st.integers(0, len(spent) - 1), min_size=1, max_size=6))
        costs = data.draw(st.lists(st.integers(0, 2), min_size=len(going_on), max_size=len(going_on)))
        numbers = chains.charge(numbers[going_on], np.array(costs), prices)
        spent = [(*spent[place], prices[cost]) for place, cost in zip(going_on, costs, strict=True)]
        largest = max([largest, *spent], key=sum)
        assert sum(chains.largest) == sum(largest)
        assert len(chains.largest) == len(largest) or chains.largest in spent
