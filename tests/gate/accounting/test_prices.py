"""Prices at the door of every account: exact, read once, of the gate's own mechanisms; refused ones change nothing."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import (
    AboveThreshold,
    Account,
    Budget,
    ChainedLaplace,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    ItemNaming,
    Mechanism,
    OnSample,
    SampleAccount,
)
from veilset.gate.accounting.concentrated import GaussianPurse
from veilset.gate.accounting.parallel import Chains, ParallelAccount

HALF, DELTA = Fraction(1, 2), Fraction(1, 10**6)
NAN = float("nan")


class AlmostFraction(Fraction):
    """A number that could compare as it likes."""


NOT_A_SHARE = [NAN, float("inf"), 0.5, 1, True, "1/2", None, Fraction(0), Fraction(-1), AlmostFraction(1)]
NOT_A_SENSITIVITY = [0, -1, 0.5, 1.0, NAN, True, None, np.int64(1)]

MECHANISMS: dict[str, Mechanism] = {
    "Laplace": DiscreteLaplace(1, HALF),
    "exponential": Exponential(1, 1, HALF),
    "above threshold": AboveThreshold(1, 1, HALF),
    "chained": ChainedLaplace(1, HALF),
    "Gaussian": DiscreteGaussian(1, Fraction(1, 1000), HALF, DELTA, 1),
    "naming": ItemNaming("laplace", 1, 1, HALF, DELTA, Fraction(2), 9, 1),
}


def budget() -> Budget:
    """Of epsilon 1 and a delta."""
    return Budget(Fraction(1), delta=DELTA)


ACCOUNTS: dict[str, Callable[[], Account]] = {
    "budget": budget,
    "sample": lambda: SampleAccount(budget(), rate=HALF, transactions=1, epsilon=Fraction(1)),
    "sample of a sample": lambda: SampleAccount(
        SampleAccount(budget(), rate=HALF, transactions=1, epsilon=Fraction(1)),
        rate=HALF,
        transactions=1,
        epsilon=HALF,
    ),
}


@dataclass
class Shifty:
    """A mechanism of somebody's own, which names a price when it is charged and another one later."""

    first: Any
    then: Any = Fraction(-10)
    asked: int = 0

    @property
    def epsilon(self) -> Fraction:
        """The price, at first."""
        self.asked += 1
        price: Fraction = self.first if self.asked == 1 else self.then
        return price

    delta = Fraction(0)

    def sentence(self) -> str:
        """In words."""
        return "nothing much"

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {}


class CheapLaplace(DiscreteLaplace):
    """A mechanism of the house with a price of its own."""

    @property
    def delta(self) -> Fraction:
        """Less than nothing."""
        return Fraction(-1)


def forged(name: str, **changed: object) -> Mechanism:
    """A mechanism of the house that was changed behind its back."""
    mechanism = replace(MECHANISMS[name])  # type: ignore[type-var]
    for field, value in changed.items():
        object.__setattr__(mechanism, field, value)
    return mechanism


def state_of(account: Account) -> tuple[object, ...]:
    """All that an account tells."""
    return account.spent, account.left, account.delta_left, account.charges, account.total


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("epsilon", NOT_A_SHARE, ids=repr)
def test_a_mechanism_has_an_exact_epsilon_above_0(name: str, epsilon: object) -> None:
    """Or it cannot be described, and so not be charged."""
    with pytest.raises(BadCall, match="above 0"):
        replace(MECHANISMS[name], epsilon=epsilon)  # type: ignore[type-var]


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("sensitivity", NOT_A_SENSITIVITY, ids=repr)
def test_a_mechanism_has_a_whole_sensitivity_of_1_or_more(name: str, sensitivity: object) -> None:
    """Half a sensitivity would be half the noise; a truth value is none."""
    field = "squared_sensitivity" if name == "Gaussian" else "sensitivity"
    with pytest.raises(BadCall, match="is not possible; one unit moves a count by at least 1"):
        replace(MECHANISMS[name], **{field: sensitivity})  # type: ignore[type-var]


@pytest.mark.parametrize("name", ["Gaussian", "naming"])
@pytest.mark.parametrize(
    "delta", [NAN, 0.0, 1e-9, -DELTA, Fraction(1), Fraction(2), True, AlmostFraction(DELTA)]
)
def test_a_mechanism_with_delta_has_an_exact_one(name: str, delta: object) -> None:
    """A probability below 1."""
    with pytest.raises(BadCall, match="delta"):
        replace(MECHANISMS[name], delta=delta)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("Laplace", {"steps": 0}),
        ("Laplace", {"steps": 0.5}),
        ("exponential", {"draws": 0.5}),
        ("exponential", {"draws": True}),
        ("above threshold", {"wanted": 1.5}),
        ("above threshold", {"account": (Fraction(-1), Fraction(1))}),
        ("above threshold", {"account": (NAN,)}),
        ("chained", {"largest_chain": (Fraction(3, 4),)}),
        ("chained", {"largest_chain": (NAN,)}),
        ("Gaussian", {"rho": NAN}),
        ("Gaussian", {"rho": 0.1}),
        ("Gaussian", {"rho": Fraction(0)}),
        ("Gaussian", {"steps": 0.5}),
        ("naming", {"law": "Laplace"}),
        ("naming", {"longest": 0}),
        ("naming", {"scale": 2.0}),
        ("naming", {"scale": Fraction(0)}),
        ("naming", {"threshold": NAN}),
        ("naming", {"steps": 0}),
    ],
)
def test_whatever_else_decides_about_noise_is_exact(name: str, changed: dict[str, Any]) -> None:
    """Steps, draws, rho, scale: none of them can be a number that compares with nothing."""
    with pytest.raises(BadCall):
        replace(MECHANISMS[name], **changed)  # type: ignore[type-var]


@pytest.mark.parametrize(
    "changed",
    [
        {"epsilon": NAN},
        {"epsilon": Fraction(-1)},
        {"rate": 0.5},
        {"rate": Fraction(0)},
        {"rate": Fraction(2)},
        {"mechanism": MECHANISMS["naming"]},
        {"mechanism": Shifty(HALF)},
    ],
    ids=repr,
)
def test_a_price_on_a_sample_is_exact_and_of_a_pure_mechanism(changed: dict[str, Any]) -> None:
    """It may be 0, where the price of all is rounded up to what it was."""
    priced = OnSample(MECHANISMS["Laplace"], HALF, Fraction(0))
    with pytest.raises(BadCall):
        replace(priced, **changed)


@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize(
    "mechanism",
    [
        lambda: Shifty(HALF),
        lambda: Shifty(HALF, then=NAN),
        lambda: Shifty(NAN),
        lambda: CheapLaplace(1, HALF),
        *(lambda bad=bad: forged("Laplace", epsilon=bad) for bad in NOT_A_SHARE),
        *(lambda bad=bad: forged("naming", delta=bad) for bad in (NAN, -DELTA, Fraction(1), 0.0)),
        lambda: forged("naming", epsilon=NAN),
        lambda: "DiscreteLaplace",
    ],
)
def test_an_account_charges_for_mechanisms_of_the_gate_at_exact_prices_alone(
    account: str, mechanism: Callable[[], Mechanism]
) -> None:
    """Others are refused, whatever they say of themselves, and the account stays exactly as it was."""
    paying = ACCOUNTS[account]()
    paying.charge("before", MECHANISMS["Laplace"])
    before = state_of(paying)
    with pytest.raises(BadCall):
        paying.charge("a question", mechanism())
    assert state_of(paying) == before


@given(first=st.fractions(0, 2), then=st.fractions(-2, 2))
def test_what_was_charged_stays_whatever_the_mechanism_says_later(first: Fraction, then: Fraction) -> None:
    """Also where a mechanism of the gate is changed behind its back: no refund, and none for others."""
    paying, mechanism = budget(), forged("Laplace", epsilon=first)
    try:
        paying.charge("a question", mechanism)
    except (BadCall, BudgetExceeded):
        assert not 0 < first <= 1
        assert state_of(paying) == state_of(budget())
    else:
        object.__setattr__(mechanism, "epsilon", then)
        assert (paying.spent, paying.left) == (first, 1 - first)


@pytest.mark.parametrize("total", [*NOT_A_SHARE, [1]], ids=repr)
def test_a_budget_is_exact(total: Any) -> None:  # noqa: ANN401
    """A budget that compares with nothing would refuse nothing."""
    with pytest.raises(BadCall, match="above 0"):
        Budget(total)
    with pytest.raises(BadCall):
        SampleAccount(budget(), rate=HALF, transactions=1, epsilon=total)


@pytest.mark.parametrize("delta", [NAN, 0.0, 1e-9, Fraction(1), -DELTA, True], ids=repr)
def test_a_budget_has_an_exact_delta(delta: Any) -> None:  # noqa: ANN401
    """From 0 up, below 1."""
    with pytest.raises(BadCall, match="from 0 up, below 1"):
        Budget(Fraction(1), delta=delta)


@pytest.mark.parametrize(
    "changed",
    [{"rate": 0.5}, {"rate": Fraction(0)}, {"rate": Fraction(2)}, {"transactions": 0}, {"transactions": 1.5}],
    ids=repr,
)
def test_a_sample_is_of_an_exact_rate_and_whole_units(changed: dict[str, Any]) -> None:
    """Its prices are reckoned from both."""
    with pytest.raises(BadCall):
        SampleAccount(budget(), **{"rate": HALF, "transactions": 1, "epsilon": HALF, **changed})


def test_what_an_account_may_spend_cannot_be_raised() -> None:
    """It was settled when the account was opened."""
    paying = budget()
    for name in ("total", "delta", "spent", "left", "delta_left", "charges"):
        with pytest.raises(AttributeError):
            setattr(paying, name, Fraction(10))


def test_an_explanation_is_one_of_the_same_mechanism() -> None:
    """Neither of somebody's own, nor of another kind, nor of what was never paid here."""
    paying, paid = budget(), AboveThreshold(1, 1, HALF)
    paying.charge("which", paid)
    for explained in (Shifty(HALF, HALF), CheapLaplace(1, HALF), DiscreteLaplace(1, HALF)):
        with pytest.raises(BadCall):
            paying.explain(paid, explained)
    with pytest.raises(BadCall, match="was not paid here"):
        paying.explain(AboveThreshold(1, 1, HALF), AboveThreshold(1, 1, HALF, (Fraction(1, 4),)))
    assert (paying.charges[0].mechanism, paying.spent) == (paid, HALF)


@pytest.mark.parametrize("epsilon", NOT_A_SHARE, ids=repr)
def test_chains_pay_exact_prices(epsilon: Any) -> None:  # noqa: ANN401
    """One that compares with nothing would exceed no limit."""
    paying, paid = budget(), ChainedLaplace(1, HALF)
    paying.charge("sizes", paid)
    account = ParallelAccount(paying, paid)
    with pytest.raises(BadCall, match="above 0"):
        account.charge(np.array([0]), np.array([0]), [epsilon])
    assert paying.charges[0].mechanism is paid
    account.charge(np.array([0]), np.array([0]), [HALF])
    with pytest.raises(BadCall, match="above 0"):
        Chains(epsilon)


@pytest.mark.parametrize(
    ("ways", "costs"),
    [
        (np.array([1]), np.array([0])),
        (np.array([-1]), np.array([0])),
        (np.array([0]), np.array([-1])),
        (np.array([0]), np.array([1])),
        (np.array([0.0]), np.array([0])),
        (np.array([0]), np.array([NAN])),
        (np.array([0, 0]), np.array([0])),
        (np.array([[0]]), np.array([[0]])),
    ],
)
def test_chains_go_on_from_ways_and_at_prices_that_there_are(ways: Any, costs: Any) -> None:  # noqa: ANN401
    """A negative place would be one from the end."""
    chains = Chains(Fraction(1))
    with pytest.raises(BadCall, match="split what the last answer holds"):
        chains.charge(ways, costs, [HALF])
    assert chains.largest == ()


def test_a_chain_cannot_go_on_from_the_same_place_twice() -> None:
    """A record there would be tested twice, and each charge would take it for once."""
    chains = Chains(Fraction(1))
    start = np.array([0])
    first = chains.charge(start, np.array([0]), [Fraction(99, 100)])
    with pytest.raises(BadCall, match="each once"):
        chains.charge(start, np.array([0]), [Fraction(99, 100)])
    with pytest.raises(BudgetExceeded):
        chains.charge(first, np.array([0]), [Fraction(99, 100)])
    assert chains.largest == (Fraction(99, 100),)


def test_chains_stay_as_they_were_where_the_trace_cannot_tell() -> None:
    """A charge that fails on its way changes nothing."""
    chains = Chains(Fraction(1))

    def fail(_: object) -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        chains.charge(np.array([0]), np.array([0]), [HALF], tell=fail)
    assert chains.largest == ()
    chains.charge(np.array([0]), np.array([0]), [Fraction(1)])


@pytest.mark.parametrize("bad", NOT_A_SHARE, ids=repr)
def test_a_purse_for_gaussian_noise_is_exact(bad: Any) -> None:  # noqa: ANN401
    """Epsilon, delta and rho; what was paid before stays."""
    purse = GaussianPurse(DELTA, first=HALF, most=Fraction(1))
    rho = purse.rho_for(HALF)
    for call in (
        lambda: purse.rho_for(bad),
        lambda: purse.pay(bad, rho),
        lambda: purse.pay(HALF, bad),
        lambda: budget().charge_gaussian("counts", squared_sensitivity=1, epsilon=bad, steps=1),
    ):
        with pytest.raises(BadCall):
            call()
    assert purse.rho_for(HALF) == rho
    for prices in ({"first": bad, "most": HALF}, {"first": HALF, "most": bad}):
        with pytest.raises(BadCall):
            GaussianPurse(DELTA, **prices)
    for delta in (NAN, 1e-9, Fraction(1), -DELTA, True):
        with pytest.raises(BadCall):
            GaussianPurse(delta, first=HALF, most=HALF)  # type: ignore[arg-type]


def test_a_failing_charge_for_gaussian_noise_leaves_the_budget_as_it_was() -> None:
    """Neither epsilon nor delta, nor what the next question gets."""
    paying = budget()
    before, offered = state_of(paying), paying.gaussian_cost(HALF)
    for sensitivity, epsilon in ((0, HALF), (1, Fraction(2)), (True, HALF)):
        with pytest.raises((BadCall, BudgetExceeded)):
            paying.charge_gaussian("counts", squared_sensitivity=sensitivity, epsilon=epsilon, steps=1)
    assert (state_of(paying), paying.gaussian_cost(HALF)) == (before, offered)
    mechanism = paying.charge_gaussian("counts", squared_sensitivity=1, epsilon=HALF, steps=1)
    assert (mechanism.rho, mechanism.delta, paying.delta_left) == (offered.rho, DELTA, Fraction(0))
