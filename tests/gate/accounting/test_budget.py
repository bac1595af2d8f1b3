"""The budget: exact epsilons, charges that never add up to more, traces that may say more but not cost less."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import AboveThreshold, Budget, Charge, DiscreteLaplace, exact_epsilon


@given(asked=st.lists(st.fractions(min_value=Fraction(1, 100), max_value=1), max_size=20))
def test_a_budget_is_never_overspent(asked: list[Fraction]) -> None:
    """Whatever is asked: refused charges change nothing, the sum of the others stays within the total."""
    budget = Budget(Fraction(1))
    for epsilon in asked:
        before = budget.spent
        try:
            budget.charge("a question", DiscreteLaplace(1, epsilon))
        except BudgetExceeded:
            assert before + epsilon > 1
            assert budget.spent == before
    assert budget.spent == sum(charge.mechanism.epsilon for charge in budget.charges) <= budget.total


@pytest.mark.parametrize("epsilon", [0, -1, "x", "1/0", float("nan"), float("inf")])
def test_an_epsilon_that_buys_nothing_is_refused(epsilon: float | str) -> None:
    """In words that tell what to give."""
    with pytest.raises(BadCall, match="above 0"):
        exact_epsilon(epsilon)


@pytest.mark.parametrize("epsilon", ["1e-400", "1e-7", "1000000001", "1e400", 10**30])
def test_an_epsilon_that_nobody_can_reckon_with_is_refused(epsilon: int | str) -> None:
    """Too small for noise in 64 bits, or so large that there is none."""
    with pytest.raises(BadCall, match=r"out of range; give 1/1000000 to 1000000000"):
        exact_epsilon(epsilon)


@pytest.mark.parametrize("epsilon", ["1e999999999", "1e-999999999", "9" * 5000])
def test_a_number_that_takes_for_ever_to_write_out_is_none(epsilon: str) -> None:
    """It is refused at once."""
    with pytest.raises(BadCall, match="not a number"):
        exact_epsilon(epsilon)


def test_a_budget_of_nothing_is_refused() -> None:
    """Every question would be."""
    with pytest.raises(BadCall, match="above 0"):
        Budget(Fraction(0))


def test_a_charge_is_explained_and_stays_the_same_charge() -> None:
    """The trace tells the parts; the sum of charges does not change, and cannot be made to."""
    budget, paid = Budget(Fraction(1)), AboveThreshold(3, 1, Fraction(1, 2))
    budget.charge("which", paid)
    budget.charge("which else", AboveThreshold(3, 1, Fraction(1, 2)))
    account = (Fraction(1, 8), Fraction(1, 4))
    budget.explain(paid, AboveThreshold(3, 1, Fraction(1, 2), account))
    assert budget.spent == 1
    first, second = (charge.mechanism for charge in budget.charges)
    assert isinstance(first, AboveThreshold)
    assert isinstance(second, AboveThreshold)
    assert (first.account, first.used, second.account) == (account, Fraction(3, 8), None)
    assert [Charge.from_dict(charge.to_dict()) for charge in budget.charges] == list(budget.charges)
    with pytest.raises(BadCall, match="what was paid stays"):
        budget.explain(first, DiscreteLaplace(1, Fraction(1, 4)))
