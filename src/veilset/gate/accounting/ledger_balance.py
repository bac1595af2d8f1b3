"""What may be spent on datasets and what was: everything follows from the entries of a ledger, in exact fractions.

Composition. What is released of the same people adds up: a dataset has spent the sum over its releases (sequential
composition; epsilons and deltas by themselves). Partitions of a dataset hold different people by their owner's word, so
whoever is in the data is touched by the releases of the whole and by those of one partition: partitions together cost
what the most expensive of them costs (parallel composition). A dataset that is linked to another has people of that
one, so its releases count there, too.

A reservation counts in full until it is settled, and then what was charged counts. What was reserved by a process that
died is never settled: it stays spent, because nobody knows how far it had looked.
"""

import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

from veilset.gate.accounting.budget import Delta, Epsilon, exact_delta, exact_epsilon
from veilset.gate.accounting.ledger_entries import Entry

LONG_DENOMINATOR = 1000
"""Fractions with larger denominators are shown as decimals."""


def readable(epsilon: Fraction) -> str:
    """A fraction as people read it: exact where that is short, else a decimal that is no larger.

    >>> readable(Fraction(7, 2)), readable(Fraction(6407, 2002))
    ('7/2', '3.2002')
    """
    if epsilon.denominator <= LONG_DENOMINATOR:
        return str(epsilon)
    return f"{float(Fraction(epsilon * 10**4 // 1, 10**4)):g}"


@dataclass(frozen=True, slots=True)
class Amount:
    """An epsilon and a delta."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.epsilon + other.epsilon, self.delta + other.delta)

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(self.epsilon - other.epsilon, self.delta - other.delta)

    def or_more(self, other: "Amount") -> "Amount":
        """The larger epsilon and the larger delta of both."""
        return Amount(max(self.epsilon, other.epsilon), max(self.delta, other.delta))

    def with_changes(self, epsilon: Epsilon | None, delta: Delta | None) -> "Amount":
        """The same with what is given in its place."""
        return Amount(
            self.epsilon if epsilon is None else exact_epsilon(epsilon),
            self.delta if delta is None else exact_delta(delta),
        )

    def __str__(self) -> str:
        return f"epsilon {readable(self.epsilon)}" + (
            f" and delta {float(self.delta):g}" if self.delta else ""
        )

    def to_dict(self) -> dict[str, str]:
        """Exactly, as JSON values."""
        return {"epsilon": str(self.epsilon), "delta": str(self.delta)}

    def is_within(self, other: "Amount") -> bool:
        """Whether both are no larger."""
        return self.epsilon <= other.epsilon and self.delta <= other.delta


@dataclass(slots=True)
class Booked:
    """A release in the ledger: what was reserved, what it did cost once that is known, where it was written."""

    reservation: Entry
    settlement: Entry | None = None
    files: list[Entry] = field(default_factory=list)

    @property
    def price(self) -> Amount:
        """What counts as spent: what was charged, or all that was reserved as long as that is not known."""
        entry = self.settlement or self.reservation
        return Amount(entry.epsilon, entry.delta)

    @property
    def state(self) -> str:
        """How far it got: settled; running; or interrupted, and then all of the reservation stays spent."""
        if self.settlement is not None:
            return "settled" if self.price != Amount() else "nothing was looked at"
        told = self.reservation.told
        if told.get("host") != socket.gethostname():
            return f"interrupted, or running on {told.get('host')}"
        return "running" if _is_alive(int(told.get("process", 0))) else "interrupted"

    def to_dict(self) -> dict[str, Any]:
        """The release as JSON values."""
        entry = self.reservation
        told = {name: value for name, value in entry.told.items() if name not in {"token", "process"}}
        return {
            "entry": entry.number,
            "reference": entry.reference,
            "partition": entry.partition,
            "at": entry.at,
            "who": entry.who,
            "reserved": Amount(entry.epsilon, entry.delta).to_dict(),
            "spent": self.price.to_dict(),
            "state": self.state,
            "files": [file.told for file in self.files],
            **told,
        }


@dataclass(slots=True)
class DatasetBalance:
    """What may be spent on one dataset, what was, and what is known of it."""

    name: str
    total: Amount
    created: Entry
    unit: str | None = None
    per_release: Fraction | None = None
    is_closed: bool = False
    people_of: list[str] = field(default_factory=list)
    booked: dict[str, Booked] = field(default_factory=dict)
    other_people: set[str] = field(default_factory=set)
    linked: list["DatasetBalance"] = field(default_factory=list)

    @classmethod
    def created_by(cls, entry: Entry) -> Self:
        """A dataset, as its first entry has it."""
        told = entry.told
        per_release = told.get("per_release")
        return cls(
            entry.dataset,
            Amount(entry.epsilon, entry.delta),
            entry,
            unit=told.get("unit"),
            per_release=None if per_release is None else Fraction(per_release),
        )

    def enter(self, entry: Entry) -> None:
        """Take one more entry into account."""
        if entry.kind == "raise":
            self.total = Amount(entry.epsilon, entry.delta)
        elif entry.kind == "close":
            self.is_closed = True
        elif entry.kind == "link":
            self.people_of.append(entry.told["same_people_as"])
        elif entry.kind == "declare":
            self.other_people.add(entry.data)
        elif entry.kind == "reserve":
            self.unit = self.unit or entry.told.get("unit")
            self.booked[entry.reference] = Booked(entry)
        elif entry.kind == "settle":
            self.booked[entry.reference].settlement = entry
        elif entry.kind == "file":
            self.booked[entry.reference].files.append(entry)

    @property
    def last_facts(self) -> dict[str, float]:
        """What the last release told in public of how much data there is; nothing where none did."""
        for each in reversed(self.booked.values()):
            if each.settlement is not None and "facts" in each.settlement.told:
                facts: dict[str, float] = each.settlement.told["facts"]
                return facts
        return {}

    @property
    def partitions(self) -> dict[str, Amount]:
        """What was spent on each partition; on the whole dataset under the empty name."""
        spent: dict[str, Amount] = {"": Amount()}
        for each in self.booked.values():
            name = each.reservation.partition
            spent[name] = spent.get(name, Amount()) + each.price
        return spent

    @property
    def spent(self) -> Amount:
        """What was spent on whoever was touched most, linked datasets included."""
        return self._spent_beside(None)

    @property
    def left(self) -> Amount:
        """What can still be spent on the whole of it."""
        return self.total - self.spent

    def left_for(self, partition: str) -> Amount:
        """What can still be spent on a partition: only the whole and this one count for its people."""
        return self.total - self._spent_beside(partition) if partition else self.left

    def _spent_beside(self, partition: str | None) -> Amount:
        """What was spent on the people of one partition, or on those of the most expensive one."""
        by_partition = self.partitions
        spent = by_partition.pop("")
        most = Amount()
        for name, price in by_partition.items():
            if partition is None or name == partition:
                most = most.or_more(price)
        return sum((each.spent for each in self.linked), spent + most)

    def to_dict(self) -> dict[str, Any]:
        """The dataset as JSON values."""
        return {
            "dataset": self.name,
            "unit": self.unit,
            "total": self.total.to_dict(),
            "spent": self.spent.to_dict(),
            "left": self.left.or_more(Amount()).to_dict(),
            "per_release": None if self.per_release is None else str(self.per_release),
            "is_closed": self.is_closed,
            "people_of": self.people_of,
            "partitions": {name: price.to_dict() for name, price in self.partitions.items() if name},
            "releases": [each.to_dict() for each in self.booked.values()],
        }


def _is_alive(process: int) -> bool:
    """Whether a process of this machine is running."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def balances_of(entries: Iterable[Entry]) -> dict[str, DatasetBalance]:
    """All datasets that entries tell of, by name, each with those of them that are linked to it."""
    balances: dict[str, DatasetBalance] = {}
    for entry in entries:
        if entry.kind == "create":
            balances[entry.dataset] = DatasetBalance.created_by(entry)
        else:
            balances[entry.dataset].enter(entry)
    for balance in balances.values():
        for name in balance.people_of:
            if name in balances:
                balances[name].linked.append(balance)
    return balances


def payers_of(name: str, balances: dict[str, DatasetBalance]) -> list[DatasetBalance]:
    """A dataset and all that it has people of, however many steps away: what is released of it counts for each."""
    names = [name]
    for each in names:
        names.extend(other for other in balances[each].people_of if other not in names)
    return [balances[each] for each in names]
