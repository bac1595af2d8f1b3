"""What a result cost and what is promised of it: who is protected, how far, and under which assumptions."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from veilset._version import __version__
from veilset.gate import Charge, Curator

_LARGEST_EXPONENT = 700
"""Of e, in a float."""


@dataclass(frozen=True, slots=True)
class Promise:
    """The guarantee of one release. Printing it gives it in words."""

    unit: str
    epsilon: Fraction
    assumptions: tuple[str, ...]
    is_kept: bool

    @classmethod
    def of(cls, curator: Curator) -> "Promise":
        """What the curator's budget, privacy unit, public facts and noise allow to promise."""
        alphabet = (
            "the list of possible items was given by the publisher and is public"
            if curator.alphabet_is_given
            else "the set of items that occur in the data is public: no list of possible items was given"
        )
        number = ["the number of transactions is public"] if curator.public_number is not None else []
        return cls(curator.unit.sentence(), curator.budget.total, (alphabet, *number), curator.is_private)

    @property
    def neighbours(self) -> str:
        """Which databases an attacker cannot tell apart."""
        return f"databases that differ by adding or removing {self.unit}"

    def __str__(self) -> str:
        if not self.is_kept:
            return "NOT PRIVATE: made with repeatable noise, for tests or evaluation only. Do not publish."
        factor = f" = {math.exp(self.epsilon):.3g}" if self.epsilon < _LARGEST_EXPONENT else ""
        return (
            f"Protected: {self.unit}. Whether it is in the data or not changes the probability of any result "
            f"by a factor of at most e^{self.epsilon}{factor} "
            f"({self.epsilon}-differential privacy). Assumed: {'; '.join(self.assumptions)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """The promise as JSON values."""
        return {
            "unit": self.unit,
            "neighbours": self.neighbours,
            "epsilon": str(self.epsilon),
            "assumptions": list(self.assumptions),
            "is_kept": self.is_kept,
            "in_words": str(self),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Promise":
        """The promise that `to_dict` wrote."""
        epsilon, assumptions = Fraction(values["epsilon"]), tuple(values["assumptions"])
        return cls(values["unit"], epsilon, assumptions, values["is_kept"])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Paid:
    """What every result carries: how it was made, what each look cost, what is promised."""

    method: str
    trace: tuple[Charge, ...]
    promise: Promise
    notes: tuple[str, ...] = ()
    version: str = __version__

    @property
    def is_private(self) -> bool:
        """Whether the promise is kept; False for life where the noise can be repeated."""
        return self.promise.is_kept

    @property
    def epsilon(self) -> Fraction:
        """What the result was allowed to cost."""
        return self.promise.epsilon

    @property
    def spent(self) -> Fraction:
        """What it did cost: the sum over the trace."""
        return sum((charge.mechanism.epsilon for charge in self.trace), Fraction(0))

    def account(self) -> dict[str, Any]:
        """All of this as JSON values."""
        return {
            "method": self.method,
            "epsilon": float(self.epsilon),
            "spent": str(self.spent),
            "trace": [charge.to_dict() for charge in self.trace],
            "promise": self.promise.to_dict(),
            "is_private": self.is_private,
            "notes": list(self.notes),
            "version": self.version,
        }
