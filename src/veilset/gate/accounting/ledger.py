"""The ledger: a budget that outlives the command. What may be spent on a dataset, what was; durable before the look.

A release reserves all of its epsilon and delta in one transaction, which is on the disk before the data can be asked
anything. When it ends, it settles to what was really charged. Whoever dies in between has spent the reservation: the
ledger never knows of less than was looked at. Fractions are exact, and so are sums; how they add up is said in
`ledger_balance`, what is checked before a reservation in `ledger_checks`.

A dataset is a name that its owner gives it and a privacy unit: data that is appended to is about the same people. The
ledger remembers a keyed digest of what was read, to notice where a budget would be evaded by renaming. It stores
nothing else that depends on the data but what a release has paid for.
"""

import getpass
import os
import socket
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from veilset._version import __version__
from veilset.arguments import instance
from veilset.errors import BadCall, BudgetExceeded, LedgerUnavailable
from veilset.gate.accounting import ledger_checks as checks
from veilset.gate.accounting.budget import Delta, Epsilon
from veilset.gate.accounting.ledger_balance import Amount, DatasetBalance, balances_of
from veilset.gate.accounting.ledger_checks import ReleaseTerms, WarningSink
from veilset.gate.accounting.ledger_entries import Entry, EntryExists, details_of, flaws_of_chain, storable

if TYPE_CHECKING:
    from veilset.gate.accounting.ledger_database import LedgerTransaction

TRIES = 3
"""3 times a reservation or a settlement is tried where the database does not answer."""


class LedgerWarning(UserWarning):
    """What the owner of the data should know, and nobody else: no part of a release."""


def _warn(message: str) -> None:
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


class Ledger:
    """What may be spent on datasets and what was, in a SQLite file or on a PostgreSQL server.

    >>> from tempfile import mkdtemp
    >>> ledger = Ledger(f"sqlite:///{mkdtemp()}/budget.db")
    >>> stores = ledger.dataset("stores", epsilon=4)
    >>> reserved = stores.reserve(Amount(Fraction(1)))
    >>> str(stores.left)
    'epsilon 3'
    >>> reserved.settle(Amount(Fraction(1, 2)))
    >>> str(stores.left)
    'epsilon 7/2'
    """

    def __init__(self, url: str, *, who: str | None = None, must_exist: bool = False) -> None:
        # SQLAlchemy is loaded where there is a ledger, and nowhere else.
        from veilset.gate.accounting.ledger_database import LedgerDatabase  # noqa: PLC0415

        self._database = LedgerDatabase(url, is_made=not must_exist)
        self.who = who or _who()

    def __repr__(self) -> str:
        return f"Ledger({str(self._database)!r})"

    @cached_property
    def digest_key(self) -> bytes:
        """What data is hashed with; every ledger has its own."""
        with self._database.reading() as ledger:
            return ledger.digest_key

    def dataset(
        self,
        name: str,
        *,
        epsilon: Epsilon | None = None,
        delta: Delta | None = None,
        unit: str | None = None,
        per_release: Epsilon | None = None,
        warn: WarningSink = _warn,
    ) -> "DatasetAccount":
        """The account of a dataset; it is made where there is none and epsilon says what may be spent in all.

        Args:
            name: what the owner calls it.
            epsilon: all that its releases may cost together. Another one than it has is refused: see `raise_total`.
            delta: the same for delta; none if left out.
            unit: "transaction" or "person", who is protected; if left out, the first release decides.
            per_release: what a release may cost that says no epsilon.
            warn: where warnings for the owner go; by default they are Python's.
        """
        checks.named(name)
        with self._database.reading() as ledger:
            known = balances_of(ledger.entries([name])).get(name)
        if known is None:
            with self._database.writing() as ledger:
                known = balances_of(ledger.entries([name])).get(name)
                if known is None:
                    self._append(ledger, checks.creation(name, epsilon, delta, unit, per_release))
        if known is not None:
            checks.check_same(known, epsilon=epsilon, delta=delta, unit=unit)
        return DatasetAccount(self, ReleaseTerms(name), warn)

    def create(
        self,
        name: str,
        *,
        epsilon: Epsilon,
        delta: Delta | None = None,
        unit: str | None = None,
        per_release: Epsilon | None = None,
    ) -> "DatasetAccount":
        """A new dataset; refused where there is one of that name."""
        checks.named(name)
        with self._database.writing() as ledger:
            if ledger.entries([name]):
                raise BadCall(
                    f"the ledger has a dataset {name!r} already; take another name, or raise its total"
                )
            self._append(ledger, checks.creation(name, epsilon, delta, unit, per_release))
        return DatasetAccount(self, ReleaseTerms(name))

    def raise_total(
        self, name: str, *, reason: str, epsilon: Epsilon | None = None, delta: Delta | None = None
    ) -> None:
        """Let more be spent on a dataset than was said first; the reason stays in the ledger."""
        checks.named(name)
        if not instance(reason, str, "a reason", give="it in words").strip():
            raise BadCall("a total is raised for a reason that stays in the ledger; give one (--reason)")
        with self._database.writing() as ledger:
            now = _existing(ledger, name).total
            raised = now.with_changes(epsilon, delta)
            if raised == now or not now.is_within(raised):
                raise BadCall(
                    f"dataset {name!r} may spend {now}; give a larger epsilon or delta, and none that is smaller"
                )
            told = details_of(reason=reason)
            self._append(
                ledger,
                Entry(kind="raise", dataset=name, epsilon=raised.epsilon, delta=raised.delta, details=told),
            )

    def close_dataset(self, name: str, *, reason: str | None = None) -> None:
        """Let nothing more be spent on a dataset, for good."""
        checks.named(name)
        with self._database.writing() as ledger:
            if _existing(ledger, name).is_closed:
                raise BadCall(f"dataset {name!r} is closed already")
            self._append(ledger, Entry(kind="close", dataset=name, details=details_of(reason=reason)))

    def balances(self) -> dict[str, DatasetBalance]:
        """All datasets by name: what may be spent, what was, release by release."""
        return balances_of(self.entries())

    def entries(self) -> list[Entry]:
        """Every entry, in order."""
        with self._database.reading() as ledger:
            return ledger.entries()

    def flaws(self, records: Sequence[LedgerRecord] = ()) -> list[str]:
        """What shows that entries were edited or removed, in words; nothing where all is as it was written.

        `records` are those of releases: each must stand in the ledger with the hash that it had when it was made.
        """
        with self._database.reading() as ledger:
            entries = ledger.entries()
            flaws = flaws_of_chain(entries, number=ledger.number, head=ledger.head)
        hashes = {entry.number: entry.hash for entry in entries}
        flaws.extend(
            f"entry {record.entry} is not the one that the release {record.reference} was made with"
            for record in records
            if hashes.get(record.entry) != record.hash
        )
        return flaws or checks.overspent(balances_of(entries))

    def reserve(self, account: "DatasetAccount", reservation: Entry) -> "Reservation":
        """Write a reservation, or raise LedgerRefusal and leave everything as it was.

        Where the connection breaks before the database has answered, whether it was written is looked up, and it is
        written once.
        """
        failure: LedgerUnavailable | None = None
        for _ in range(TRIES):
            try:
                with self._database.writing() as ledger:
                    written, total = self._reserved(ledger, account, reservation)
            except LedgerUnavailable as error:
                failure = error
            else:
                return Reservation(self, written, total, account.terms)
        raise failure or AssertionError

    def _reserved(
        self, ledger: "LedgerTransaction", account: "DatasetAccount", reservation: Entry
    ) -> tuple[Entry, Amount]:
        """Check and write a reservation under the lock; returns it, and all that may be spent on the dataset."""
        terms, data = account.terms, reservation.data
        balances = balances_of(ledger.entries(_family(terms, ledger)))
        if terms.dataset not in balances:
            raise BadCall(
                f"the ledger has no dataset {terms.dataset!r}; `veilset ledger list` shows what it has"
            )
        balance = balances[terms.dataset]
        for earlier in ledger.with_reference(reservation.reference):
            if earlier.told.get("token") == reservation.told["token"]:
                return earlier, balance.total
            raise _charged_already(earlier)
        checks.check_open(balance, reservation.told.get("unit"))
        link = checks.link_of(terms, balances)
        if link is not None:
            balance.enter(self._append(ledger, link))
            balances[str(terms.same_people_as)].linked.append(balance)
        declaration = checks.declaration_of(terms, data, ledger.readers_of(data), balances)
        if declaration is not None:
            self._append(ledger, declaration)
        checks.check_affordable(terms, Amount(reservation.epsilon, reservation.delta), balances)
        warning = checks.other_data_warning(terms, data, balance)
        if warning is not None:
            account.warn(warning)
        return self._append(ledger, reservation, warn=account.warn), balance.total

    def append(self, entry: Entry) -> Entry:
        """Write one entry in a transaction of its own."""
        with self._database.writing() as ledger:
            return self._append(ledger, entry)

    def _append(self, ledger: "LedgerTransaction", entry: Entry, *, warn: WarningSink = _warn) -> Entry:
        """Write an entry with who and when; where the clock runs behind, with the time of the last entry."""
        now, last = datetime.now(UTC).isoformat(timespec="seconds"), ledger.last_time()
        if last > now:
            warn(
                f"the clock of this machine says {now}, but the last entry of the ledger is of {last}: set the clock. "
                "What may be spent does not depend on it"
            )
        return ledger.append(replace(entry, at=max(now, last), who=self.who))


@dataclass(frozen=True, slots=True)
class DatasetAccount:
    """Who pays for releases of a dataset: handed to `veilset.mine`, `items` and `publish` as `account`."""

    ledger: Ledger
    terms: ReleaseTerms
    warn: WarningSink = _warn

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

    ledger: Ledger
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
        self, spent: Amount, *, facts: dict[str, float] | None = None, warn: WarningSink = _warn
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
        self, spent: Callable[[], Amount], *, warn: WarningSink = _warn
    ) -> Iterator[dict[str, float]]:
        """Settle what was charged when the work ends, however it ends; with the facts that are put in meanwhile."""
        facts: dict[str, float] = {}
        try:
            yield facts
        finally:
            self.settle(spent(), facts=facts or None, warn=warn)


def _who() -> str:
    """Who writes, as the system knows them."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = f"user {os.getuid()}"
    return f"{name}@{socket.gethostname()}"


def _existing(ledger: "LedgerTransaction", name: str) -> DatasetBalance:
    balance = balances_of(ledger.entries([name])).get(name)
    if balance is None:
        raise BadCall(f"the ledger has no dataset {name!r}; `veilset ledger list` shows what it has")
    return balance


def _family(terms: ReleaseTerms, ledger: "LedgerTransaction") -> list[str]:
    """All datasets whose balances a release can depend on: those that are linked, in any number of steps."""
    pairs = [(link.dataset, str(link.told["same_people_as"])) for link in ledger.links()]
    names = [terms.dataset]
    if terms.same_people_as not in {None, terms.dataset}:
        names.append(str(terms.same_people_as))
    for name in names:
        neighbours = [b for a, b in pairs if a == name] + [a for a, b in pairs if b == name]
        names.extend(each for each in dict.fromkeys(neighbours) if each not in names)
    return names


def _charged_already(earlier: Entry) -> BadCall:
    return BadCall(
        f"the reference {earlier.reference!r} was charged already, on {earlier.at[:10]} by {earlier.who}: a release is "
        "paid for once and made once; take the file that it was written to, or give another reference"
    )
