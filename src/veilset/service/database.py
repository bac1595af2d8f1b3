"""Where the service keeps users, datasets and requests: a SQLite file, or PostgreSQL for a team.

Whoever writes holds the one lock of all writers, from before the first read to the commit: SQLite's by BEGIN IMMEDIATE,
an advisory one on PostgreSQL. So a decision about an allowance is made on what stays true until it is written.
Nothing of the data is in these tables. Passwords and tokens are there as Argon2 hashes only.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sql
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from veilset.errors import BadCall, VeilsetError

_LOCK = 7081403
"""The number of the writers' lock on PostgreSQL; the ledger has another one."""

_SECONDS_TO_WAIT = 30

_ONLY_READS = "veilset_service_reads"

SERVICE_SCHEMA = sql.MetaData()


def _text(name: str, **options: Any) -> "sql.Column[str]":  # noqa: ANN401 - whatever a column takes
    return sql.Column(name, sql.Text, nullable=False, **options)


USERS = sql.Table(
    "veilset_users",
    SERVICE_SCHEMA,
    _text("name", primary_key=True),
    _text("role"),
    _text("password"),
    sql.Column("sees_releases", sql.Boolean, nullable=False),
    sql.Column("is_active", sql.Boolean, nullable=False),
    sql.Column("failures", sql.Integer, nullable=False),
    sql.Column("locked_until", sql.Float(53), nullable=False),
)
PROVIDED = sql.Table(
    "veilset_provided_users",
    SERVICE_SCHEMA,
    _text("subject", primary_key=True),
    _text("user", unique=True),
)
"""Users by what a provider of logins calls them, which is theirs for good."""

TOKENS = sql.Table(
    "veilset_tokens",
    SERVICE_SCHEMA,
    _text("id", primary_key=True),
    _text("user", index=True),
    _text("label"),
    _text("scope"),
    _text("hash"),
    sql.Column("made", sql.Float(53), nullable=False),
    sql.Column("expires", sql.Float(53), nullable=False),
)
SESSIONS = sql.Table(
    "veilset_sessions",
    SERVICE_SCHEMA,
    _text("hash", primary_key=True),
    _text("user", index=True),
    _text("csrf"),
    sql.Column("expires", sql.Float(53), nullable=False),
)
DATASETS = sql.Table(
    "veilset_datasets",
    SERVICE_SCHEMA,
    _text("name", primary_key=True),
    _text("about"),
    _text("state"),
    _text("detail"),
    sql.Column("made", sql.Float(53), nullable=False),
)
ALLOWANCES = sql.Table(
    "veilset_allowances",
    SERVICE_SCHEMA,
    _text("dataset", primary_key=True),
    _text("user", primary_key=True),
    _text("epsilon"),
    _text("delta"),
)
JOBS = sql.Table(
    "veilset_jobs",
    SERVICE_SCHEMA,
    _text("id", primary_key=True),
    _text("user"),
    _text("key"),
    _text("dataset", index=True),
    _text("task"),
    _text("request"),
    _text("epsilon"),
    _text("delta"),
    _text("state", index=True),
    _text("worker"),
    _text("message"),
    _text("detail"),
    sql.Column("requested", sql.Float(53), nullable=False, index=True),
    sql.Column("finished", sql.Float(53)),
    sql.Column("wants_cancel", sql.Boolean, nullable=False),
    sql.UniqueConstraint("user", "key"),
)
EVENTS = sql.Table(
    "veilset_events",
    SERVICE_SCHEMA,
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("at", sql.Float(53), nullable=False),
    _text("who"),
    _text("what"),
    _text("about"),
)


class StoreUnavailable(VeilsetError):  # noqa: N818 - reads as what happened
    """The database of the service cannot be read or written."""


class ServiceDatabase:
    """The tables of the service in one database."""

    def __init__(self, url: str) -> None:
        self._url = make_url(url)
        if self._url.drivername == "postgresql":
            self._url = self._url.set(drivername="postgresql+psycopg")
        self._engine = _engine_for(self._url)
        self.writes = 0
        """How often this process wrote."""
        with self.writing() as connection:
            SERVICE_SCHEMA.create_all(connection)

    def __str__(self) -> str:
        return self._url.render_as_string(hide_password=True)

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """A connection under the writers' lock; everything is written at the end, or nothing is."""
        try:
            with self._complaining(), self._engine.begin() as connection:
                if connection.dialect.name == "postgresql":
                    connection.execute(sql.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
                yield connection
        finally:
            self.writes += 1

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """A connection that changes nothing."""
        with (
            self._complaining(),
            self._engine.connect().execution_options(**{_ONLY_READS: True}) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def _complaining(self) -> Iterator[None]:
        """What a database says, as one line for people."""
        try:
            yield
        except SQLAlchemyError as error:
            why = type(error).__name__
            raise StoreUnavailable(
                f"the database of the service at {self} cannot be used ({why}); see that it is there and has room"
            ) from error


def _engine_for(url: sql.URL) -> sql.Engine:
    backend = url.get_backend_name()
    if backend not in {"sqlite", "postgresql"}:
        raise BadCall(f"the service keeps its tables in SQLite or PostgreSQL; {backend!r} is neither")
    waiting = {"timeout" if backend == "sqlite" else "connect_timeout": _SECONDS_TO_WAIT}
    if backend == "sqlite":
        waiting["check_same_thread"] = False
    engine = sql.create_engine(
        url, poolclass=sql.QueuePool, pool_size=10, max_overflow=40, pool_pre_ping=True, connect_args=waiting
    )
    if backend == "sqlite":
        sql.event.listen(engine, "connect", _prepare)
        sql.event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _: object) -> None:  # noqa: ANN401 - of whichever driver
    """Readers go on while somebody writes; transactions begin where they are told to."""
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")


def _begin(connection: sql.Connection) -> None:
    only_reads = connection.get_execution_options().get(_ONLY_READS, False)
    connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")
