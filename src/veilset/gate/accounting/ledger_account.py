"""Who pays for releases of a dataset, and what one of them has reserved: the two ends of a ledger that callers hold."""

import os
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from veilset._version import __version__
from veilset.errors import BadCall, BudgetExceeded, LedgerUnavailable
from veilset.gate.accounting import ledger_checks as checks
from veilset.gate.accounting.ledger_balance import Amount, DatasetBalance
from veilset.gate.accounting.ledger_checks import ReleaseTerms, WarningSink
from veilset.gate.accounting.ledger_entries import Entry, EntryExists, details_of, storable

if TYPE_CHECKING:
    from veilset.gate.accounting.ledger import Ledger

TRIES = 3
"""3 times a reservation or a settlement is tried where the database does not answer."""


class LedgerWarning(UserWarning):
    """What the owner of the data should know, and nobody else: no part of a release."""


def warn_owner(message: str) -> None:
    """Where warnings go if nobody says otherwise: they are Python's."""
    warnings.warn(message, LedgerWarning, stacklevel=2)


@dataclass(frozen=True, slots=True)
class LedgerRecord:
    """Where a release stands in a ledger: for whoever reads it later.

    `declared` is what its owner declared of the people in the data, in words.
    """

    dataset: str
    partition: str
    reference: str
    entry: int
    hash: str
    total: str = ""
    declared: tuple[str, ...] = ()

    @classmethod
    def of(cls, entry: Entry, *, total: str = "", declared: tuple[str, ...] = ()) -> Self:
        """Where an entry stands."""
        return cls(entry.dataset, entry.partition, entry.reference, entry.number, entry.hash, total, declared)

    def sentence(self) -> str:
        """Where a release stands, in words."""
        partition = f", partition {self.partition!r}" if self.partition else ""
        return (
            f"entry {self.entry} of a ledger, for dataset {self.dataset!r}{partition}, of which all releases together "
            f"may cost {self.total}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON values."""
        return asdict(self) | {"declared": list(self.declared)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The record that `to_dict` wrote."""
        return cls(**{**values, "declared": tuple(values["declared"])})


@dataclass(frozen=True, slots=True)
class DatasetAccount:
    """Who pays for releases of a dataset: handed to `veilset.mine`, `items` and `publish` as `account`."""

    ledger: "Ledger"
    terms: ReleaseTerms
    warn: WarningSink = warn_owner

    @property
    def name(self) -> str:
        """What the owner calls the dataset."""
        return self.terms.dataset

    def for_release(
        self,
        *,
        partition: str = "",
        reference: str | None = None,
        same_people_as: str | None = None,
        different_people: bool = False,
    ) -> "DatasetAccount":
        """The same account, with what is to be said of one release: see `ReleaseTerms`."""
        terms = ReleaseTerms(self.name, partition, same_people_as, different_people, reference)
        return replace(self, terms=terms)

    @property
    def balance(self) -> DatasetBalance:
        """What may be spent on the dataset and what was, as it stands now."""
        return self.ledger.balances()[self.name]

    @property
    def total(self) -> Amount:
        """All that its releases may cost."""
        return self.balance.total

    @property
    def spent(self) -> Amount:
        """What they cost so far, reservations included."""
        return self.balance.spent

    @property
    def left(self) -> Amount:
        """What a release can still cost; of a partition, where there is one."""
        return checks.left_for(self.terms, self.ledger.balances())

    def epsilon_for_release(self) -> Fraction:
        """What a release costs that says no epsilon."""
        allowance = self.balance.per_release
        if allowance is None:
            raise BadCall(
                f"how much may this release cost? Give epsilon (--epsilon): dataset {self.name!r} has no allowance for "
                "each release"
            )
        return allowance

    def check_affordable(self, price: Amount) -> None:
        """Raise LedgerRefusal where a release could not be paid now: before the data is read."""
        balances = self.ledger.balances()
        checks.check_open(balances[self.name], None)
        checks.check_affordable(self.terms, price, balances)

    def reserve(
        self, price: Amount, *, unit: str | None = None, data: str = "", **about: object
    ) -> "Reservation":
        """Reserve what a release may cost, durably; or raise LedgerRefusal, and nothing is changed.

        `data` is the keyed digest of what was read; `about` is what the ledger shall say of the release.
        """
        told = details_of(
            unit=unit,
            token=uuid4().hex,
            host=socket.gethostname(),
            process=os.getpid(),
            version=__version__,
            **about,
        )
        reservation = Entry(
            kind="reserve",
            dataset=self.name,
            partition=self.terms.partition,
            reference=self.terms.reference or uuid4().hex,
            epsilon=price.epsilon,
            delta=price.delta,
            data=data,
            details=told,
        )
        return self.ledger.reserve(self, reservation)

    def record_file(self, reference: str, *, name: str, sha256: str) -> None:
        """Write down which file a release went to."""
        told = details_of(name=name, sha256=sha256)
        self.ledger.append(
            Entry(
                kind="file",
                dataset=self.name,
                partition=self.terms.partition,
                reference=reference,
                details=told,
            )
        )


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a release may cost, written down: spent until it is settled."""

    ledger: "Ledger"
    entry: Entry
    total: Amount
    terms: ReleaseTerms

    @property
    def record(self) -> LedgerRecord:
        """What a release says of it."""
        entry, declared = self.entry, []
        if entry.partition:
            declared.append(
                f"nobody in partition {entry.partition!r} of {entry.dataset!r} is in another partition of it, as the "
                "publisher declared"
            )
        if self.terms.different_people:
            declared.append(
                f"the people of {entry.dataset!r} are not those of other datasets with the same data, as the publisher "
                "declared"
            )
        return LedgerRecord.of(entry, total=str(self.total), declared=tuple(declared))

    def settle(
        self, spent: Amount, *, facts: dict[str, float] | None = None, warn: WarningSink = warn_owner
    ) -> None:
        """Write down what was really charged; where that cannot be written, all of the reservation stays spent."""
        reserved = Amount(self.entry.epsilon, self.entry.delta)
        if not spent.is_within(reserved):
            raise BudgetExceeded(f"{spent} was charged, but {reserved} was reserved")
        settlement = replace(
            self.entry,
            kind="settle",
            epsilon=min(storable(spent.epsilon), reserved.epsilon),
            delta=min(storable(spent.delta), reserved.delta),
            data="",
            details=details_of(facts=facts),
        )
        failure = ""
        for _ in range(TRIES):
            try:
                self.ledger.append(settlement)
            except LedgerUnavailable as error:
                failure = str(error)
            except EntryExists:  # an earlier try was written, though the database could not say so
                return
            else:
                return
        warn(f"{failure}. The release is paid for: all that was reserved for it stays spent")

    @contextmanager
    def settling(
        self, spent: Callable[[], Amount], *, warn: WarningSink = warn_owner
    ) -> Iterator[dict[str, float]]:
        """Settle what was charged when the work ends, however it ends; with the facts that are put in meanwhile."""
        facts: dict[str, float] = {}
        try:
            yield facts
        finally:
            self.settle(spent(), facts=facts or None, warn=warn)
