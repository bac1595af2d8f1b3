"""The budget: exact epsilons and deltas, charges that never add up to more, traces that never cost less."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import (
    AboveThreshold,
    Budget,
    Charge,
    DiscreteGaussian,
    DiscreteLaplace,
    ItemNaming,
    Mechanism,
    SampleAccount,
    SeededNoise,
    exact_delta,
    exact_epsilon,
    tells_spent,
)
from veilset.opening import Access, ItemChoice


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


def naming(epsilon: Fraction, delta: Fraction) -> ItemNaming:
    """A mechanism that costs both."""
    return ItemNaming("laplace", 3, 1, epsilon, delta, scale=Fraction(4), threshold=9, steps=2)


@given(
    total=st.fractions(min_value=Fraction(1, 10**100), max_value=Fraction(1, 1000)),
    asked=st.lists(
        st.tuples(
            st.fractions(min_value=Fraction(1, 100), max_value=1),
            st.fractions(min_value=Fraction(1, 10**100), max_value=Fraction(1, 1000)),
        ),
        max_size=20,
    ),
)
def test_a_delta_is_never_overspent(total: Fraction, asked: list[tuple[Fraction, Fraction]]) -> None:
    """Whatever is asked: refused charges change neither epsilon nor delta, the others stay within both, exactly."""
    budget = Budget(Fraction(1), delta=total)
    for epsilon, delta in asked:
        before = budget.charges, budget.left, budget.delta_left
        try:
            budget.charge("which items", naming(epsilon, delta))
        except BudgetExceeded:
            assert epsilon > budget.left or delta > budget.delta_left
            assert (budget.charges, budget.left, budget.delta_left) == before
    paid = sum((charge.mechanism.delta for charge in budget.charges), Fraction(0))
    assert isinstance(budget.delta_left, Fraction)
    assert budget.delta_left == total - paid >= 0
    assert budget.spent <= 1


def test_all_of_delta_can_be_spent_and_not_a_hair_more() -> None:
    """Three thirds are one; pure questions cost none of it."""
    delta = Fraction(1, 10**9)
    budget = Budget(Fraction(1), delta=delta)
    for _ in range(3):
        budget.charge("which items", naming(Fraction(1, 10), delta / 3))
    assert budget.delta_left == 0
    budget.charge("number", DiscreteLaplace(1, Fraction(1, 10)))
    with pytest.raises(BudgetExceeded, match=r"asks for delta 1e-100, but only 0 of 1e-09 is left"):
        budget.charge("which items", naming(Fraction(1, 10), Fraction(1, 10**100)))
    assert len(budget.charges) == 4


@pytest.mark.parametrize(
    ("given_delta", "meant"),
    [
        (1e-9, Fraction(1, 10**9)),
        ("1e-9", Fraction(1, 10**9)),
        ("1/3000", Fraction(1, 3000)),
        (Fraction(1, 7000), Fraction(1, 7000)),
        ("0.001", Fraction(1, 1000)),
        ("1e-100", Fraction(1, 10**100)),
    ],
)
def test_a_delta_is_the_fraction_that_was_meant(given_delta: float | str | Fraction, meant: Fraction) -> None:
    """Both limits are in range."""
    assert exact_delta(given_delta) == meant


NO_DELTA = [
    0,
    -1,
    -1e-9,
    "x",
    "",
    "1/0",
    "1e-101",
    "0.0011",
    1,
    True,
    float("nan"),
    float("inf"),
    "1e-9999999",
]


@pytest.mark.parametrize("delta", NO_DELTA)
def test_a_delta_that_promises_nothing_is_refused(delta: float | str) -> None:
    """In words that tell what to give, and before a curator is opened."""
    with pytest.raises(BadCall, match=r"for example 1e-9"):
        exact_delta(delta)
    with pytest.raises(BadCall, match=r"for example 1e-9"):
        Access(epsilon=1, noise=SeededNoise(1), items=ItemChoice(delta=delta)).unnamed_curator([["a"]])


@pytest.mark.parametrize("delta", [Fraction(-1, 10**9), Fraction(1), Fraction(2)])
def test_a_budget_has_a_delta_from_0_up_below_1(delta: Fraction) -> None:
    """With less, no question could be paid; with 1, nothing is promised."""
    with pytest.raises(BadCall, match="from 0 up, below 1"):
        Budget(Fraction(1), delta=delta)


def test_delta_cannot_be_spent_on_a_sample() -> None:
    """Its price there is not known; both accounts stay as they were."""
    budget = Budget(Fraction(1), delta=Fraction(1, 10**6))
    account = SampleAccount(budget, rate=Fraction(1, 2), transactions=1, epsilon=Fraction(1, 2))
    with pytest.raises(BadCall, match="needs delta, which no sample has"):
        account.charge("which items", naming(Fraction(1, 100), Fraction(1, 10**9)))
    assert (account.charges, budget.charges, budget.delta_left) == ((), (), Fraction(1, 10**6))


def test_an_explanation_cannot_change_delta() -> None:
    """What was paid stays."""
    budget, paid = Budget(Fraction(1), delta=Fraction(1, 10**6)), naming(Fraction(1, 2), Fraction(1, 10**6))
    budget.charge("which items", paid)
    with pytest.raises(BadCall, match="what was paid stays"):
        budget.explain(paid, naming(Fraction(1, 2), Fraction(1, 10**7)))
    assert budget.charges[0].mechanism is paid


def test_the_largest_and_the_smallest_epsilon_can_be_given() -> None:
    """The ends of the range belong to it."""
    assert exact_epsilon(10**9) == 10**9
    assert exact_epsilon("1/1000000") == Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("paid", "notes"),
    [
        ([], []),
        ([DiscreteLaplace(1, Fraction(1, 4))], ["epsilon 1/4 was spent"]),
        (
            [
                DiscreteGaussian(1, Fraction(1, 9), Fraction(1, 4), Fraction(1, 1000), 1),
                DiscreteGaussian(1, Fraction(1, 9), Fraction(1, 4), Fraction(1, 1000), 1),
            ],
            ["epsilon 1/2 and delta 0.002 were spent"],
        ),
    ],
    ids=["nothing", "epsilon", "delta"],
)
def test_an_error_says_what_was_spent(paid: list[Mechanism], notes: list[str]) -> None:
    """And nothing where nothing was."""
    with pytest.raises(MemoryError) as raised, tells_spent(lambda: [Charge("q", each) for each in paid]):
        raise MemoryError
    assert getattr(raised.value, "__notes__", []) == notes


def test_a_sample_may_be_worth_nothing() -> None:
    """A price below the smallest step buys no question there, and is no mistake."""
    account = SampleAccount(
        Budget(Fraction(1)), rate=Fraction(1, 2), transactions=1, epsilon=Fraction(1, 10**12)
    )
    assert account.total == 0
    with pytest.raises(BudgetExceeded):
        account.charge("number", DiscreteLaplace(1, Fraction(1, 10**6)))
