"""Queries to databases: the rows that one SELECT returns, from a connection that reads only.

SQLite and DuckDB files are opened for reading only, a transaction of PostgreSQL is declared so, and nothing is ever
committed. A result is read as if the query had written a CSV file: every value by itself, whatever others are, and
without keeping more than `ROWS_AT_ONCE` rows of Python objects. DuckDB hands out columns with types, as Parquet does.

No message holds an address, since that may hold a password, nor what a database says of values: only complaints about
the query itself and about the connection are passed on.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import pyarrow as pa

from veilset.deferred import Deferred
from veilset.errors import BadCall, BadInput
from veilset.raw.read.csv_tables import CsvTable
from veilset.raw.read.options import Options
from veilset.raw.read.parts import SourcePart, TextTable, TypedTable
from veilset.raw.read.tables import check_names
from veilset.raw.read.text_columns import table_of_texts, texts_of

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    import sqlalchemy as sql
else:
    duckdb, pl, sql = Deferred("duckdb"), Deferred("polars"), Deferred("sqlalchemy")

ROWS_AT_ONCE = 50_000
"""50,000 rows are Python objects at a time; then they are columns of Arrow, which take a tenth of the memory."""

ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)

WEB = ("http", "https", "ftp", "s3", "gs", "abfs", "file")
"""Addresses of files, not of databases."""

FILE_STARTS = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}
"""Where a file of a database says what it is."""

READS = ("select", "with", "values", "table", "from")
"""What a query may start with."""

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)

SAFE_STATES = ("08", "28", "3D", "42", "57")
"""Classes of PostgreSQL's error codes that are about the connection, the login or the query, not about values."""

SAFE_DUCKDB_ERRORS = (
    "BinderException",
    "CatalogException",
    "ParserException",
    "IOException",
    "SyntaxException",
)


@dataclass(frozen=True, slots=True)
class SourceDatabase:
    """Where a database is: its kind, what messages call it, and what it takes to connect to it."""

    kind: str
    name: str
    address: str

    def __repr__(self) -> str:
        return f"SourceDatabase({self.name!r})"

    @classmethod
    def of_address(cls, address: str) -> "SourceDatabase":
        """A database by its address; nothing that a password can stand in is part of its name."""
        found = ADDRESS.fullmatch(address)
        kind, rest = (found[1].lower(), found[2]) if found else ("", "")
        kind = (
            "postgresql" + kind.removeprefix("postgres").removeprefix("ql")
            if kind.startswith("postgres")
            else kind
        )
        if kind in WEB:
            raise BadInput(
                f"veilset does not read from {kind}:// addresses; download the file first, and name that"
            )
        place = rest.rpartition("@")[2].partition("?")[0]
        if kind.partition("+")[0] in FILE_STARTS:
            path = unquote(place.removeprefix("/"))
            return cls(kind.partition("+")[0], path, path)
        driver = "postgresql+psycopg" if kind == "postgresql" else kind
        return cls(kind.partition("+")[0], f"{kind.partition('+')[0]}://{place}", f"{driver}://{rest}")


def is_address(source: object) -> bool:
    """Whether this is the address of a database, and not the path of a file."""
    return isinstance(source, str) and ADDRESS.fullmatch(source) is not None


def database_file(path: Path) -> str | None:
    """Which database a file holds, by its first bytes; None for any other file."""
    try:
        with path.open("rb") as stream:
            start = stream.read(16)
    except OSError:
        return None
    return next(
        (kind for kind, (at, mark) in FILE_STARTS.items() if start[at : at + len(mark)] == mark), None
    )


def read_query(database: SourceDatabase, options: Options) -> SourcePart:
    """What the query of the options returns; only the columns that are named, if that of the items is."""
    query = _checked_query(options.query, database)
    if database.kind == "duckdb":
        return _read_duckdb(database, query)
    engine = _sqlite_engine(database) if database.kind == "sqlite" else _engine(database)
    with _explained(database), engine.connect() as connection:
        table = _fetched(connection, query, database.name, options)
    return TextTable(table, options.format or "long")


def _checked_query(query: str | None, database: SourceDatabase) -> str:
    if query is None:
        raise BadCall(f"{database.name} is a database; say what to read of it: --query 'SELECT ...' (query=)")
    bare = _QUOTED.sub(" ", query).strip().rstrip(";").strip()
    first = re.match(r"\(*\s*(\w*)", bare)
    if first is None or first[1].lower() not in READS or ";" in bare:
        raise BadCall("a query is one SELECT (or WITH ... SELECT), which changes nothing; give such a one")
    return query.strip().rstrip(";")


def _sqlite_engine(database: SourceDatabase) -> "sql.Engine":
    path = Path(database.address)
    if not path.is_file():
        raise BadInput(
            f"there is no database {database.name!r}; give the path of a file, as in sqlite:///shop.db"
        )
    address = f"file:{quote(str(path.resolve()))}?mode=ro"
    return sql.create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(address, uri=True), poolclass=sql.pool.NullPool
    )


def _engine(database: SourceDatabase) -> "sql.Engine":
    try:
        return sql.create_engine(database.address, poolclass=sql.pool.NullPool)
    except ImportError as error:
        extra = " (pip install 'veilset[postgres]')" if database.kind == "postgresql" else ""
        raise BadInput(
            f"reading from {database.kind} needs the package {error.name}, which is not installed; install it{extra}"
        ) from None
    except (sql.exc.SQLAlchemyError, ValueError, TypeError):
        raise BadInput(
            f"there is no database of the kind {database.kind!r}, or its address cannot be read; give one like "
            "postgresql://user@host/name, sqlite:///file.db or duckdb:///file.duckdb"
        ) from None


def _fetched(connection: "sql.Connection", query: str, name: str, options: Options) -> CsvTable:
    """All rows of a query as texts, a block of them at a time; the transaction is never committed."""
    how: dict[str, Any] = {"no_parameters": True, "stream_results": True, "max_row_buffer": ROWS_AT_ONCE}
    if connection.dialect.name == "postgresql":
        connection = connection.execution_options(postgresql_readonly=True)
    with connection.execution_options(**how).exec_driver_sql(query) as found:
        names = list(found.keys())
        check_names(names, options.columns, table=name)
        wanted = names if options.item is None else options.columns.given()
        return table_of_texts(_text_columns(found, names, wanted))


def _text_columns(
    found: "sql.CursorResult[Any]", names: list[str], wanted: list[str]
) -> dict[str, pa.ChunkedArray]:
    """The wanted columns of a result; texts that come again take no more memory."""
    kept = {name: place for place, name in enumerate(names) if name in wanted}
    blocks: dict[str, list[pa.Array]] = {name: [] for name in kept}
    for rows in found.partitions(ROWS_AT_ONCE):
        values = list(zip(*rows, strict=True))
        for name, place in kept.items():
            blocks[name].append(texts_of(values[place], column=name).dictionary_encode())
    kind = pa.dictionary(pa.int32(), pa.large_string())
    return {name: pa.chunked_array(block, kind).unify_dictionaries() for name, block in blocks.items()}


def _read_duckdb(database: SourceDatabase, query: str) -> TypedTable:
    """DuckDB's own columns, with their types."""
    if not Path(database.address).is_file():
        raise BadInput(
            f"there is no database {database.name!r}; give the path of a file, as in duckdb:///shop.duckdb"
        )
    try:
        with duckdb.connect(database.address, read_only=True) as connection:
            return TypedTable(pl.DataFrame(connection.sql(query).to_arrow_table()))
    except ImportError:
        raise BadInput(
            "reading from DuckDB needs the package duckdb; install it with pip install 'veilset[duckdb]'"
        ) from None
    except duckdb.Error as error:
        is_safe = type(error).__name__ in SAFE_DUCKDB_ERRORS
        raise BadInput(_failed(database, str(error) if is_safe else None)) from None


@contextmanager
def _explained(database: SourceDatabase) -> Iterator[None]:
    """What a database complains of, in one line that holds neither values nor passwords."""
    try:
        yield
    except ImportError as error:
        raise BadInput(f"reading from {database.kind} needs the package {error.name}; install it") from None
    except sql.exc.SQLAlchemyError as error:
        raise BadInput(_failed(database, _safe_words(error, database))) from None
    except UnicodeError:
        raise BadInput(f"{database.name} has text that is not UTF-8; mend it in the query") from None


def _safe_words(error: "sql.exc.SQLAlchemyError", database: SourceDatabase) -> str | None:
    """What the driver said, where it cannot be of values; without the password, whatever it quotes."""
    said = getattr(error, "orig", None)
    state = getattr(said, "sqlstate", None)
    is_about_query = isinstance(said, sqlite3.OperationalError) and "decode" not in str(said)
    is_connecting = state is None and type(said).__name__ == "OperationalError"
    if not (is_about_query or is_connecting or (state or "").startswith(SAFE_STATES)):
        return None
    words = str(said)
    for secret in _secrets(database.address):
        words = words.replace(secret, "***")
    return words


def _secrets(address: str) -> list[str]:
    """Whatever may be a password in an address: between the colon and the last @, or as an option."""
    login = address.partition("://")[2].rpartition("@")[0].partition(":")[2]
    options = re.findall(r"[?&]\w*pass\w*=([^&]*)", address)
    return [form for each in (login, *options) if each for form in (each, unquote(each))]


def _failed(database: SourceDatabase, words: str | None) -> str:
    why = "" if words is None else ": " + next(iter(words.strip().splitlines()), "")
    return f"{database.name} could not be read{why}; check the address and the query"
