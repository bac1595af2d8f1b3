"""Mechanisms with a delta: what was done to an answer whose promise may fail with that probability."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from veilset.errors import BadCall
from veilset.gate.mechanisms import check_cost
from veilset.integers import whole

NamingLaw = Literal["gaussian", "laplace"]
"""Which noise decides whether an item is named."""


def check_delta(delta: Fraction) -> None:
    """Raise BadCall unless it is a Fraction, and a probability below 1."""
    if type(delta) is not Fraction:
        raise BadCall(f"delta {delta!r} is no exact number; give a Fraction from 0 up, below 1")
    if not 0 <= delta < 1:
        raise BadCall(f"delta {delta} is no probability of failing; give one from 0 up, below 1")


def check_naming(epsilon: Fraction, delta: Fraction) -> None:
    """Raise BadCall where no item can be named at that price."""
    if type(epsilon) is not Fraction or epsilon <= 0:
        raise BadCall(f"items cannot be named at epsilon {epsilon}; give one above 0, as a Fraction")
    if type(delta) is not Fraction or not 0 < delta < 1:
        raise BadCall(f"items cannot be named at delta {delta}; give one above 0 and below 1, as a Fraction")


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Integer noise with P(x) proportional to exp(-x^2 / (2 scale^2)), on every count.

    `squared_sensitivity` is the square of the L2 distance by which one privacy unit can move all counts together, in
    whole transactions. The answer is `rho`-zCDP; `epsilon` and `delta` are by how much it raises the cost of all
    questions with Gaussian noise (`gate.accounting.concentrated`): delta is paid by the first of them.
    """

    squared_sensitivity: int
    rho: Fraction
    epsilon: Fraction
    delta: Fraction
    steps: int

    def __post_init__(self) -> None:
        check_cost(self.epsilon, self.squared_sensitivity)
        check_delta(self.delta)
        whole(self.steps, "the number of steps", least=1)
        if type(self.rho) is not Fraction or self.rho <= 0:
            raise BadCall(f"Gaussian noise of rho {self.rho!r} cannot be drawn; give a Fraction above 0")

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in steps, rounded up to an integer: the root of D^2 / (2 rho)."""
        return Fraction(math.isqrt(math.ceil(self.squared_sensitivity * self.steps**2 / (2 * self.rho))) + 1)

    def sentence(self) -> str:
        """The mechanism in words."""
        scale = float(self.scale / self.steps)
        return (
            f"discrete Gaussian noise of scale {scale:.6g} (squared L2 sensitivity {self.squared_sensitivity}, "
            f"rho {float(self.rho):.4g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The mechanism as JSON values."""
        return {
            "mechanism": "discrete Gaussian",
            "squared_sensitivity": self.squared_sensitivity,
            "rho": str(self.rho),
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "scale": float(self.scale / self.steps),
            "steps": self.steps,
        }

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "DiscreteGaussian":
        """The mechanism that `to_dict` wrote."""
        rho, epsilon, delta = (Fraction(row[name]) for name in ("rho", "epsilon", "delta"))
        return cls(row["squared_sensitivity"], rho, epsilon, delta, row["steps"])


@dataclass(frozen=True, slots=True)
class ItemNaming:
    """Noise on weights of items, of which those that reach a threshold are named: see `selection.item_discovery`.

    An item of a transaction of n weighs 1 / sqrt(n) under Gaussian noise, 1 / n under Laplace noise; longer ones than
    `longest` are truncated to that. `scale` and `threshold` are in steps, `steps` of them for a whole weight.
    """

    law: NamingLaw
    longest: int
    sensitivity: int
    epsilon: Fraction
    delta: Fraction
    scale: Fraction
    threshold: int
    steps: int

    def __post_init__(self) -> None:
        check_cost(self.epsilon, self.sensitivity)
        check_naming(self.epsilon, self.delta)
        whole(self.longest, "the longest length", least=1)
        whole(self.threshold, "the threshold")
        whole(self.steps, "the number of steps", least=1)
        if self.law not in get_args(NamingLaw):
            raise BadCall(f"{self.law!r} is no law to name items by; give one of {get_args(NamingLaw)}")
        if type(self.scale) is not Fraction or self.scale <= 0:
            raise BadCall(f"noise of scale {self.scale!r} hides nothing; give a Fraction above 0")

    def sentence(self) -> str:
        """The mechanism in words."""
        law, weight = ("Gaussian", "1/sqrt(n)") if self.law == "gaussian" else ("Laplace", "1/n")
        return (
            f"discrete {law} noise of scale {float(self.scale / self.steps):.6g} on sums of weights, {weight} for each "
            f"of the n items of a transaction, at most {self.longest} of them (sensitivity {self.sensitivity}); "
            f"items are named from a noisy sum of {float(Fraction(self.threshold, self.steps)):.6g}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The mechanism as JSON values."""
        return {
            "mechanism": "item naming",
            "law": self.law,
            "longest": self.longest,
            "sensitivity": self.sensitivity,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "scale": float(self.scale / self.steps),
            "scale_in_steps": str(self.scale),
            "threshold_in_steps": self.threshold,
            "steps": self.steps,
        }

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "ItemNaming":
        """The mechanism that `to_dict` wrote."""
        return cls(
            law=row["law"],
            longest=row["longest"],
            sensitivity=row["sensitivity"],
            epsilon=Fraction(row["epsilon"]),
            delta=Fraction(row["delta"]),
            scale=Fraction(row["scale_in_steps"]),
            threshold=row["threshold_in_steps"],
            steps=row["steps"],
        )
