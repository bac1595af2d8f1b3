"""Where a ledger lives: a SQLite file, or a PostgreSQL server for a team.

A transaction takes the write lock before it reads: by BEGIN IMMEDIATE on SQLite, by locking the one row of `heads` on
PostgreSQL. So nobody decides on a balance that somebody else is changing. It is on the disk when `commit` returns: the
write-ahead log is synchronised at every commit, whatever else the database is used for.

Rows of `entries` are never changed: triggers refuse that to whoever tries by accident, and `heads` counts the entries
and remembers the last hash, so that also the removal of the last entries shows.
"""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet, finalize

import sqlalchemy as sql
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from veilset.arguments import instance
from veilset.errors import BadCall, LedgerUnavailable
from veilset.gate.accounting.ledger_entries import START, Entry, EntryExists

_READS = {"veilset_only_reads": True}
"""Marks a connection on which nothing is written."""
SECONDS_TO_WAIT = 30
"""30 seconds for others to finish with the ledger."""

_TABLES = sql.MetaData()
_ENTRIES = sql.Table(
    "veilset_entries",
    _TABLES,
    sql.Column("number", sql.BigInteger, primary_key=True, autoincrement=False),
    *(
        sql.Column(name, sql.Text, nullable=False)
        for name in ("kind", "dataset", "partition", "reference", "epsilon", "delta", "at", "who", "data")
    ),
    *(sql.Column(name, sql.Text, nullable=False) for name in ("details", "previous", "hash", "seal")),
)
sql.Index("veilset_entries_of_a_dataset", _ENTRIES.c.dataset)
sql.Index("veilset_entries_of_data", _ENTRIES.c.data)
_ONCE = _ENTRIES.c.kind.in_(["reserve", "settle"])
sql.Index(
    "veilset_charged_once",
    _ENTRIES.c.reference,
    _ENTRIES.c.kind,
    unique=True,
    sqlite_where=_ONCE,
    postgresql_where=_ONCE,
)
_HEADS = sql.Table(
    "veilset_heads",
    _TABLES,
    sql.Column("id", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("version", sql.Integer, nullable=False),
    sql.Column("digest_key", sql.Text, nullable=False),
    sql.Column("entries", sql.BigInteger, nullable=False),
    sql.Column("hash", sql.Text, nullable=False),
)

_NEVER_CHANGED = {
    "sqlite": tuple(
        f"CREATE TRIGGER veilset_no_{change} BEFORE {change} ON veilset_entries "
        "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END"
        for change in ("update", "delete")
    ),
    "postgresql": (
        """CREATE FUNCTION veilset_refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'entries of a ledger are never changed'; END $$""",
        """CREATE TRIGGER veilset_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON veilset_entries
        FOR EACH STATEMENT EXECUTE FUNCTION veilset_refuse()""",
    ),
}


def _first_tables(connection: sql.Connection) -> None:
    """Version 1: entries, and what counts them."""
    _TABLES.create_all(connection)
    for statement in _NEVER_CHANGED[connection.dialect.name]:
        connection.execute(sql.text(statement))
    key = secrets.token_hex(32)
    connection.execute(_HEADS.insert().values(id=1, version=0, digest_key=key, entries=0, hash=START))


Migration = Callable[[sql.Connection], None]
MIGRATIONS: tuple[Migration, ...] = (_first_tables,)
"""What makes each version of the tables from the one before it; the first makes them from nothing."""


class LedgerTransaction:
    """The ledger, locked for whoever writes to it: what is appended is kept if nothing fails until the end."""

    def __init__(self, connection: sql.Connection, *, writes: bool) -> None:
        self._connection = connection
        head = _HEADS.select()
        self._head = connection.execute(head.with_for_update() if writes else head).one()
        _check_head(self._head)

    @property
    def digest_key(self) -> bytes:
        """What data is hashed with, so that its digest tells nothing elsewhere."""
        return bytes.fromhex(self._head.digest_key)

    @property
    def number(self) -> int:
        """How many entries there are, as the ledger counts them."""
        return int(self._head.entries)

    @property
    def head(self) -> str:
        """The hash of the last entry."""
        return str(self._head.hash)

    def entries(self, datasets: Sequence[str] | None = None) -> list[Entry]:
        """All entries, or those of some datasets, in order."""
        return self._where(sql.true() if datasets is None else _ENTRIES.c.dataset.in_(datasets))

    def links(self) -> list[Entry]:
        """Which datasets have people of which others."""
        return self._where(_ENTRIES.c.kind == "link")

    def with_reference(self, reference: str) -> list[Entry]:
        """All entries of a release."""
        return self._where(_ENTRIES.c.reference == reference)

    def _where(self, condition: sql.ColumnElement[bool]) -> list[Entry]:
        query = _ENTRIES.select().where(condition).order_by(_ENTRIES.c.number)
        found = self._connection.execute(query)
        names = tuple(found.keys())
        rows = (dict(zip(names, row, strict=True)) for row in found)
        try:
            return [Entry.from_row(row) for row in rows]
        except (ArithmeticError, AttributeError, TypeError, ValueError):
            raise DamagedError("an entry cannot be read") from None

    def readers_of(self, data: str) -> list[tuple[str, str]]:
        """The datasets, with their partitions, under which data of a digest was read before.

        Those whose owner declared that the data is about other people there are not among them.
        """
        same = _ENTRIES.c.data == data
        declared = sql.select(_ENTRIES.c.dataset).where(same, _ENTRIES.c.kind == "declare")
        query = sql.select(_ENTRIES.c.dataset, _ENTRIES.c.partition).distinct()
        query = query.where(same, _ENTRIES.c.kind == "reserve", _ENTRIES.c.dataset.not_in(declared))
        found = self._connection.execute(query.order_by(_ENTRIES.c.dataset, _ENTRIES.c.partition))
        return [(row.dataset, row.partition) for row in found]

    def last_time(self) -> str:
        """When the last entry was written; nothing where there is none."""
        query = sql.select(_ENTRIES.c.at).where(_ENTRIES.c.number == self.number)
        return str(self._connection.execute(query).scalar() or "")

    def append(self, entry: Entry) -> Entry:
        """Write one more entry; returns it at its place in the chain."""
        placed = entry.after(number=self.number, previous=self.head)
        self._connection.execute(_ENTRIES.insert().values(placed.to_row()))
        self._connection.execute(_HEADS.update().values(entries=placed.number, hash=placed.hash))
        self._head = self._connection.execute(_HEADS.select()).one()
        return placed


class LedgerDatabase:
    """A database that holds a ledger, whichever of both kinds it is."""

    def __init__(self, url: str, *, is_made: bool) -> None:
        self._url = ledger_url(url)
        self._engine = _engine(self._url)
        finalize(self, self._engine.dispose)
        path = _path_of(self._url)
        if not is_made and path is not None and not path.exists():
            raise self._missing()
        with self._complaining():
            if self._version() != len(MIGRATIONS):
                with self._engine.begin() as connection:
                    self._migrate(connection, is_made=is_made)

    def __str__(self) -> str:
        return self._url.render_as_string(hide_password=True)

    @contextmanager
    def writing(self) -> Iterator[LedgerTransaction]:
        """The ledger under its lock; everything is written at the end, or nothing is."""
        with self._complaining(), self._engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sql.text("SET LOCAL synchronous_commit = on"))
            yield LedgerTransaction(connection, writes=True)

    @contextmanager
    def reading(self) -> Iterator[LedgerTransaction]:
        """The ledger as it is at one moment, without a lock."""
        with self._complaining(), self._engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.execution_options(**_READS).begin():
                yield LedgerTransaction(connection, writes=False)

    def _version(self) -> int:
        """Which version the tables have; 0 where there are none."""
        with self._engine.connect().execution_options(**_READS) as connection:
            return _version_of(connection)

    def _migrate(self, connection: sql.Connection, *, is_made: bool) -> None:
        """Bring the tables to the version that this software writes, one version after another."""
        if connection.dialect.name == "postgresql":  # two who make the same tables must not meet
            connection.execute(sql.text("SELECT pg_advisory_xact_lock(7081402)"))
        version = _version_of(connection)
        if version == 0 and not is_made:
            raise self._missing()
        if version > len(MIGRATIONS):
            raise LedgerUnavailable(
                f"the ledger at {self} was written by a newer veilset (its tables have version {version}, this one "
                f"knows up to {len(MIGRATIONS)}); upgrade veilset here. Nothing was changed"
            )
        for migrate in MIGRATIONS[version:]:
            migrate(connection)
        connection.execute(_HEADS.update().values(version=len(MIGRATIONS)))

    def _missing(self) -> LedgerUnavailable:
        return LedgerUnavailable(f"there is no ledger at {self}; make one with `veilset ledger init`")

    @contextmanager
    def _complaining(self) -> Iterator[None]:
        """What a database says, in one line for people."""
        try:
            yield
        except IntegrityError:
            raise EntryExists from None
        except DamagedError as error:
            raise LedgerUnavailable(
                f"the ledger at {self} is damaged ({error}); bring it back from a backup. Nothing was changed"
            ) from None
        except UnicodeError:  # what SQLite says of a damaged file can hold any byte of it
            raise LedgerUnavailable(
                f"the ledger at {self} is damaged; bring it back from a backup. Nothing was changed"
            ) from None
        except (SQLAlchemyError, OSError) as error:
            raise LedgerUnavailable(
                f"the ledger at {self} cannot be used ({_reason(error)}); see that the database is there, can be "
                "written and has room"
            ) from None


class DamagedError(Exception):
    """A ledger that holds what nobody wrote."""


def _version_of(connection: sql.Connection) -> int:
    if not sql.inspect(connection).has_table(_HEADS.name):
        return 0
    version = connection.execute(sql.select(_HEADS.c.version)).scalar_one()
    if not isinstance(version, int):
        raise DamagedError("its version is no number")
    return version


def _check_head(head: Any) -> None:  # noqa: ANN401 - a row of the database
    """DamagedError where the row that counts the entries cannot do that."""
    try:
        bytes.fromhex(head.digest_key)
        is_whole = isinstance(head.entries, int) and isinstance(head.hash, str)
    except (TypeError, ValueError):
        is_whole = False
    if not is_whole:
        raise DamagedError("what counts its entries cannot be read")


def ledger_url(given: str) -> URL:
    """The address of a ledger: a URL, or the path of a SQLite file.

    >>> str(ledger_url("budget.db")), ledger_url("postgresql://db/budgets").drivername
    ('sqlite:///budget.db', 'postgresql+psycopg')
    """
    instance(given, str, "the address of a ledger", give="text such as sqlite:///budget.db")
    try:
        url = make_url(given if "://" in given else f"sqlite:///{given}")
    except (ArgumentError, ValueError):
        raise BadCall(f"{_HOW_TO_NAME}; what was given is no address") from None
    if url.get_backend_name() not in _NEVER_CHANGED:
        raise BadCall(f"{_HOW_TO_NAME}; {url.get_backend_name()!r} is neither")
    if url.get_backend_name() == "sqlite" and url.database in {None, "", ":memory:"}:
        raise BadCall(f"{_HOW_TO_NAME}; a ledger in memory would end with the command")
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


_HOW_TO_NAME = (
    "a ledger is a SQLite file (sqlite:///budget.db) or a PostgreSQL database "
    "(postgresql+psycopg://user@host/name)"
)


def _path_of(url: URL) -> Path | None:
    """The file of a SQLite database."""
    return Path(str(url.database)) if url.get_backend_name() == "sqlite" else None


_ENGINES: "WeakSet[sql.Engine]" = WeakSet()
_INHERITED: list[object] = []
"""Connections of a parent process: not to be used, and not to be closed either, by its children."""


def _forget_connections() -> None:
    """After a fork, connections belong to the parent; the child opens its own."""
    for engine in _ENGINES:
        _INHERITED.append(engine.pool)
        engine.dispose(close=False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_connections)


def _engine(url: URL) -> sql.Engine:
    """Connections are kept from one transaction to the next, and looked at before they are used again."""
    waiting = "timeout" if url.get_backend_name() == "sqlite" else "connect_timeout"
    try:
        engine = sql.create_engine(
            url, poolclass=sql.QueuePool, pool_pre_ping=True, connect_args={waiting: SECONDS_TO_WAIT}
        )
    except (ImportError, NoSuchModuleError):
        raise BadCall(
            "a ledger on PostgreSQL needs psycopg; install it with: pip install 'veilset[postgres]'"
        ) from None
    if url.get_backend_name() == "sqlite":
        sql.event.listen(engine, "connect", _prepare_sqlite)
        sql.event.listen(engine, "begin", _lock_sqlite)
    _ENGINES.add(engine)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:  # noqa: ANN401 - of whichever driver
    """A log that is synchronised at every commit; transactions begin where they are told to, not by guess."""
    connection.isolation_level = None
    cursor = connection.cursor()
    if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA fullfsync = ON")
    cursor.close()


def _lock_sqlite(connection: sql.Connection) -> None:
    """Take the write lock before anything is read, but for whoever only reads."""
    only_reads = _READS.items() <= connection.get_execution_options().items()
    connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")


def _reason(error: Exception) -> str:
    """The first line of what the database or the system says; it is about itself, never about data."""
    said = str(error.orig) if isinstance(error, DBAPIError) and error.orig is not None else str(error)
    return (said.strip().splitlines() or [type(error).__name__])[0]
