"""What a result cost and what is promised of it: who is protected, how far, and under which assumptions."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Self

from veilset._version import __version__
from veilset.gate import Charge, Curator, LedgerRecord
from veilset.results.html import Badge

ItemSource = Literal["public list", "declared public", "found privately"]
"""Why the items of a result may be named."""

_LARGEST_EXPONENT = 700
"""Of e, in a float."""

_WHY_ITEMS: dict[ItemSource, str] = {
    "public list": "the list of possible items was given by the publisher and is public",
    "declared public": "the items that occur in the data are public anyway, as the publisher declared",
    "found privately": "nothing about the items: they were found privately, as part of the cost",
}
_CONDITION = (
    "ON CONDITION that the items which occur in the data are public anyway, as the publisher declared (an item that "
    "one person alone has would give this person away):"
)
_WARNING = (
    "this promise is conditional: it holds only if the items that occur in the data are public anyway, as the "
    "publisher declared; an item that one person alone has would give this person away"
)


@dataclass(frozen=True, slots=True)
class Promise:
    """The guarantee of one release. Printing it gives it in words."""

    unit: str
    epsilon: Fraction
    assumptions: tuple[str, ...]
    is_kept: bool
    delta: Fraction = Fraction(0)
    items: ItemSource = "public list"

    @classmethod
    def of(cls, curator: Curator) -> "Promise":
        """What the curator's budget, privacy unit, public facts and noise allow to promise."""
        items = _source_of_items(curator)
        number = ["the number of transactions is public"] if curator.public_number is not None else []
        return cls(
            unit=curator.unit.sentence(),
            epsilon=curator.budget.total,
            assumptions=(_WHY_ITEMS[items], *number),
            is_kept=curator.is_private,
            delta=curator.budget.delta,
            items=items,
        )

    @property
    def is_conditional(self) -> bool:
        """Whether it holds only if the items of the data are public anyway."""
        return self.items == "declared public"

    @property
    def warning(self) -> str | None:
        """What whoever sees the result must know first; None where the promise holds without a condition."""
        return _WARNING if self.is_conditional and self.is_kept else None

    @property
    def neighbours(self) -> str:
        """Which databases an attacker cannot tell apart."""
        return f"databases that differ by adding or removing {self.unit}"

    @property
    def name(self) -> str:
        """The guarantee by its usual name."""
        if self.delta == 0:
            return f"{self.epsilon}-differential privacy"
        return f"({self.epsilon}, {float(self.delta):g})-differential privacy"

    def __str__(self) -> str:
        if not self.is_kept:
            return "NOT PRIVATE: made with repeatable noise, for tests or evaluation only. Do not publish."
        condition = f"{_CONDITION} " if self.is_conditional else ""
        factor = f" = {math.exp(self.epsilon):.3g}" if self.epsilon < _LARGEST_EXPONENT else ""
        exponent = self.epsilon if self.epsilon.denominator == 1 else f"({self.epsilon})"
        return (
            f"{condition}Protected: {self.unit}. Whether it is in the data or not "
            f"changes the probability of any result by a factor of at most e^{exponent}{factor}"
            f"{self._exception()} ({self.name}). Assumed: {'; '.join(self.assumptions)}."
        )

    def _exception(self) -> str:
        """What delta means, within the sentence of the promise."""
        return "" if self.delta == 0 else f", except with {self.meaning_of_delta()}"

    def meaning_of_delta(self) -> str:
        """Delta in words."""
        return f"a probability of at most {float(self.delta):g} (delta), as when an item is named that nobody else has"

    def to_dict(self) -> dict[str, Any]:
        """The promise as JSON values."""
        return {
            "unit": self.unit,
            "neighbours": self.neighbours,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "items": self.items,
            "is_conditional": self.is_conditional,
            "assumptions": list(self.assumptions),
            "is_kept": self.is_kept,
            "in_words": str(self),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Promise":
        """The promise that `to_dict` wrote; one of version 0.1 has no delta, and its assumptions tell of the items."""
        assumptions = tuple(values["assumptions"])
        took_for_granted = any("occur in the data" in assumed for assumed in assumptions)
        return cls(
            unit=values["unit"],
            epsilon=Fraction(values["epsilon"]),
            assumptions=assumptions,
            is_kept=values["is_kept"],
            delta=Fraction(values.get("delta", 0)),
            items=values.get("items", "declared public" if took_for_granted else "public list"),
        )


def _source_of_items(curator: Curator) -> ItemSource:
    if curator.alphabet_is_found:
        return "found privately"
    return "public list" if curator.alphabet_is_given else "declared public"


def as_sentence(text: str) -> str:
    """With a capital letter and a full stop.

    >>> as_sentence("there are no items")
    'There are no items.'
    """
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


@dataclass(frozen=True, slots=True)
class Origin:
    """When a result was made, what was asked for, and where a ledger tells of it."""

    date: str
    request: dict[str, Any]
    ledger: LedgerRecord | None = None

    def to_dict(self) -> dict[str, Any]:
        """The origin as JSON values."""
        ledger = None if self.ledger is None else self.ledger.to_dict()
        return {"date": self.date, "request": self.request, "ledger": ledger}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Origin | None":
        """The origin that `to_dict` wrote; results of version 0.1 have none."""
        if values.get("date") is None:
            return None
        ledger = values.get("ledger")
        record = None if ledger is None else LedgerRecord.from_dict(ledger)
        return cls(values["date"], values["request"], record)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Paid:
    """What every result carries: how it was made, what each look cost, what is promised."""

    method: str
    trace: tuple[Charge, ...]
    promise: Promise
    notes: tuple[str, ...] = ()
    version: str = __version__
    origin: Origin | None = None

    def made(self, origin: Origin) -> Self:
        """The same result, with its origin; what its owner declared of the people in the data becomes an assumption."""
        declared = () if origin.ledger is None else origin.ledger.declared
        promise = replace(self.promise, assumptions=self.promise.assumptions + declared)
        return replace(self, promise=promise, origin=origin)

    @property
    def ledger(self) -> LedgerRecord | None:
        """Where a ledger tells of it; None where none does."""
        return None if self.origin is None else self.origin.ledger

    @property
    def is_private(self) -> bool:
        """Whether the promise is kept; False for life where the noise can be repeated."""
        return self.promise.is_kept

    @property
    def standing(self) -> str:
        """In a word or two, whether it is private."""
        if not self.is_private:
            return "NOT private"
        return "private on a condition" if self.promise.is_conditional else "private"

    @property
    def epsilon(self) -> Fraction:
        """What the result was allowed to cost."""
        return self.promise.epsilon

    @property
    def delta(self) -> Fraction:
        """The probability with which the promise may fail; 0 where it cannot."""
        return self.promise.delta

    @property
    def spent(self) -> Fraction:
        """What it did cost: the sum over the trace."""
        return sum((charge.mechanism.epsilon for charge in self.trace), Fraction(0))

    def badge(self) -> Badge:
        """The standing, on the colour that it deserves."""
        colours = {"private": "good", "private on a condition": "doubt", "NOT private": "bad"}
        return Badge(self.standing, colours[self.standing])

    def cost_lines(self) -> Iterator[str]:
        """What it cost, who is protected and on which condition, as a notebook says it."""
        if self.is_private:
            price = f"{self._price()} (smaller protects more)"
            yield f"Cost: {price}. Protected: {self.promise.unit}. Method: {self.method}."
        else:
            yield f"Made by {self.method} with noise that can be repeated, for tests only: do not publish."
        if self.promise.warning is not None:
            yield as_sentence(self.promise.warning)

    def _repr_with(self, *facts: str) -> str:
        """What it is in one short line: the facts of its kind, the price, the method, the standing."""
        first, *others = facts
        return (
            f"{type(self).__name__}({', '.join([first, self._price(), self.method, self.standing, *others])})"
        )

    def _price(self) -> str:
        return f"epsilon {float(self.epsilon):g}" + (f", delta {float(self.delta):g}" if self.delta else "")

    def account(self) -> dict[str, Any]:
        """All of this as JSON values."""
        return {
            "method": self.method,
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "spent": str(self.spent),
            "trace": [charge.to_dict() for charge in self.trace],
            "promise": self.promise.to_dict(),
            "is_private": self.is_private,
            "is_conditional": self.promise.is_conditional,
            "notes": list(self.notes),
            "version": self.version,
            **(
                {"date": None, "request": None, "ledger": None}
                if self.origin is None
                else self.origin.to_dict()
            ),
        }
