"""What is protected, from whom it follows, and under which assumptions; in data and in words."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from veilset.gate import Curator

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
