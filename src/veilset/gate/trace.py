"""The trace: one row for each question that was paid for, and how rows are read back."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from veilset.errors import BadCall
from veilset.gate.approximate_mechanisms import DiscreteGaussian, ItemNaming, check_delta
from veilset.gate.mechanisms import (
    AboveThreshold,
    ChainedLaplace,
    DiscreteLaplace,
    Exponential,
    Mechanism,
    OnSample,
    check_share,
)

_OWN = frozenset(
    {
        AboveThreshold,
        ChainedLaplace,
        DiscreteGaussian,
        DiscreteLaplace,
        Exponential,
        ItemNaming,
        OnSample,
    }
)
"""All mechanisms there are: nobody is charged for anything else."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a mechanism costs."""

    epsilon: Fraction
    delta: Fraction


def cost_of(mechanism: Mechanism) -> Cost:
    """What a mechanism costs, read once; BadCall where it is none of the gate's, or names no price.

    Exact types only: another class could name one price when it is charged, and another one later.
    """
    if type(mechanism) not in _OWN:
        raise BadCall(
            f"a {type(mechanism).__name__} is no mechanism of the gate, which charges for its own alone; ask a curator"
        )
    cost = Cost(mechanism.epsilon, mechanism.delta)
    if not (type(mechanism) is OnSample and type(cost.epsilon) is Fraction and cost.epsilon == 0):
        check_share(cost.epsilon)
    check_delta(cost.delta)
    return cost


@dataclass(frozen=True, slots=True)
class Charge:
    """One row of the trace: one question whose answer left the raw data, and what it cost."""

    question: str
    mechanism: Mechanism

    def sentence(self) -> str:
        """The row in words."""
        delta = f", delta {float(self.mechanism.delta):.3g}" if self.mechanism.delta else ""
        return f"{self.question}: {self.mechanism.sentence()}, epsilon {self.mechanism.epsilon}{delta}"

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON values."""
        return {"question": self.question, **self.mechanism.to_dict()}

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "Charge":
        """The row that `to_dict` wrote."""
        return cls(row["question"], mechanism_from_dict(row))


_READ_BY_THEMSELVES: dict[str, Callable[[dict[str, Any]], Mechanism]] = {
    "discrete Gaussian": DiscreteGaussian.from_dict,
    "item naming": ItemNaming.from_dict,
}


def mechanism_from_dict(row: dict[str, Any]) -> Mechanism:
    """The mechanism that `to_dict` wrote."""
    epsilon = Fraction(row["epsilon"])
    if row["mechanism"] == "on a sample":
        return OnSample(mechanism_from_dict(row["on_the_sample"]), Fraction(row["rate"]), epsilon)
    if row["mechanism"] in _READ_BY_THEMSELVES:
        return _READ_BY_THEMSELVES[row["mechanism"]](row)
    sensitivity = row["sensitivity"]
    if row["mechanism"] == "exponential":
        return Exponential(row["draws"], sensitivity, epsilon, is_monotone=row["is_monotone"])
    if row["mechanism"] == "above threshold":
        account = None if row["account"] is None else tuple(map(Fraction, row["account"]))
        return AboveThreshold(row["wanted"], sensitivity, epsilon, account)
    if row["mechanism"] == "chained Laplace":
        return ChainedLaplace(sensitivity, epsilon, tuple(map(Fraction, row["largest_chain"])))
    return DiscreteLaplace(sensitivity, epsilon, row.get("steps", 1))
