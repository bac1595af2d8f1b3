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
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from veilset.arguments import instance
from veilset.errors import BadCall, LedgerUnavailable
from veilset.gate.accounting import ledger_checks as checks
from veilset.gate.accounting.budget import Delta, Epsilon
from veilset.gate.accounting.ledger_account import (
    TRIES,
    DatasetAccount,
    LedgerRecord,
    Reservation,
    warn_owner,
)
from veilset.gate.accounting.ledger_balance import Amount, DatasetBalance, balances_of
from veilset.gate.accounting.ledger_checks import ReleaseTerms, WarningSink
from veilset.gate.accounting.ledger_entries import Entry, details_of, flaws_of_chain

if TYPE_CHECKING:
    from veilset.gate.accounting.ledger_database import LedgerTransaction


class Ledger:
    """What may be spent on datasets and what was, in a SQLite file or on a PostgreSQL server.

    >>> from fractions import Fraction
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
        warn: WarningSink = warn_owner,
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
        same_people_as: Sequence[str] = (),
    ) -> "DatasetAccount":
        """A new dataset; refused where there is one of that name.

        `same_people_as` are datasets that have people of this one: from the start, its releases count for them, too.
        """
        checks.named(name)
        with self._database.writing() as ledger:
            if ledger.entries([name]):
                raise BadCall(
                    f"the ledger has a dataset {name!r} already; take another name, or raise its total"
                )
            self._append(ledger, checks.creation(name, epsilon, delta, unit, per_release))
            for other in same_people_as:
                link = checks.link_of(ReleaseTerms(name, same_people_as=other), balances_of(ledger.entries()))
                if link is not None:
                    self._append(ledger, link)
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

    def _append(self, ledger: "LedgerTransaction", entry: Entry, *, warn: WarningSink = warn_owner) -> Entry:
        """Write an entry with who and when; where the clock runs behind, with the time of the last entry."""
        now, last = datetime.now(UTC).isoformat(timespec="seconds"), ledger.last_time()
        if last > now:
            warn(
                f"the clock of this machine says {now}, but the last entry of the ledger is of {last}: set the clock. "
                "What may be spent does not depend on it"
            )
        return ledger.append(replace(entry, at=max(now, last), who=self.who))


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
