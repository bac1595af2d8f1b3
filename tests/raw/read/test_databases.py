"""Queries: SQLite, PostgreSQL and DuckDB, read only, and without a password in any message."""

import sqlite3
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from ledgers import Postgres
from reference_reading import baskets
from veilset.errors import BadCall, BadInput
from veilset.raw.read import databases, read
from veilset.raw.read.text_columns import texts_of

SALES = [("ann", 1, "milk"), ("ann", 2, "bread"), ("bob", 1, "milk"), ("bob", 1, None), ("cy", 1, None)]
BY_OWNER = [["bread", "milk"], ["milk"], []]
BY_BASKET = [["milk"], ["bread"], ["milk"], []]
QUERY = "SELECT who, day, what FROM sales ORDER BY who, day"
PUZZLING = "s3cr:et@%"


@pytest.fixture(scope="module")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sales in SQLite, beside a table of values that have no type."""
    path = tmp_path_factory.mktemp("sqlite") / "shop, 100%.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sales (who, day, what)")
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?)", SALES)
        connection.execute("CREATE TABLE odd (who, what)")
    connection.close()
    return path


@pytest.fixture(scope="module")
def duckdb_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sales in DuckDB."""
    path = tmp_path_factory.mktemp("duckdb") / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE sales (who TEXT, day INTEGER, what TEXT)")
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?)", SALES)
    return path


@pytest.fixture(scope="module")
def postgres_address(postgres: Postgres) -> str:
    """Sales in PostgreSQL."""
    address = postgres.address()
    with psycopg.connect(address.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("CREATE TABLE sales (who TEXT, day INTEGER, what TEXT)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO sales VALUES (%s, %s, %s)", SALES)
    return address


@pytest.fixture(params=["sqlite", "sqlite file", "postgresql", "duckdb", "duckdb file"])
def source(request: pytest.FixtureRequest) -> str:
    """Where sales are: an address, or a file whose first bytes tell."""
    kind, _, is_file = request.param.partition(" ")
    if kind == "postgresql":
        return str(request.getfixturevalue("postgres_address"))
    path = request.getfixturevalue(f"{kind}_file")
    return str(path) if is_file else f"{kind}:///{path}"


def test_a_query_is_read_as_a_long_table(source: str) -> None:
    """By owners, by baskets of owners, and by baskets alone."""
    assert baskets(read(source, query=QUERY, owner="who", item="what")) == BY_OWNER
    held = read(source, query=QUERY + ";", owner="who", basket="day", item="what")
    assert (baskets(held), held.owners is not None) == (BY_BASKET, True)
    alone = read(source, query="SELECT who || day AS basket, what FROM sales", basket="basket", item="what")
    assert (len(alone), alone.owners, alone.is_by_basket, alone.is_by_person) == (4, None, True, False)


def test_a_query_can_return_other_layouts(source: str) -> None:
    """One-hot and column=value, if the format says so."""
    query = "SELECT 1 AS milk, 0 AS beer UNION ALL SELECT 1, 1"
    assert sorted(baskets(read(source, query=query, format="onehot"))) == [["beer", "milk"], ["milk"]]
    assert min(baskets(read(source, query=query, format="table"))) == ["beer=0", "milk=1"]


WRITES = [
    "DROP TABLE sales",
    "INSERT INTO sales VALUES ('x', 1, 'y')",
    "SELECT 1; DROP TABLE sales",
    "",
    "-- SELECT\nDELETE FROM sales",
]


@pytest.mark.parametrize("query", WRITES)
def test_only_one_select_is_taken(source: str, query: str) -> None:
    """Whatever else changes something, or several things."""
    with pytest.raises(BadCall, match="a query is one SELECT"):
        read(source, query=query, owner="who", item="what")


def test_a_select_that_writes_is_stopped_by_the_database(postgres_address: str, sqlite_file: Path) -> None:
    """The connection is for reading only, whatever a query looks like."""
    query = "WITH gone AS (DELETE FROM sales RETURNING who, what) SELECT * FROM gone"
    with pytest.raises(BadInput, match="could not be read"):
        read(postgres_address, query=query, owner="who", item="what")
    assert len(read(postgres_address, query=QUERY, owner="who", item="what")) == 3
    with (
        pytest.raises(sqlite3.OperationalError, match="readonly"),
        databases._sqlite_engine(
            databases.SourceDatabase.of_address(f"sqlite:///{sqlite_file}")
        ).connect() as connection,
    ):
        connection.connection.cursor().execute("DELETE FROM sales")


def test_quotes_percent_signs_and_colons_reach_the_database(source: str) -> None:
    """No sign of a query is taken for a parameter, and a semicolon within quotes ends nothing."""
    query = "SELECT who, what FROM sales WHERE what LIKE 'mi%' OR what = ';:x' /* ; */ -- ;"
    assert baskets(read(source, query=query, owner="who", item="what")) == [["milk"], ["milk"]]


def test_a_query_is_demanded_for_a_database_and_refused_elsewhere(source: str, tmp_path: Path) -> None:
    """Nobody guesses which table is meant."""
    with pytest.raises(BadCall, match=r"is a database; say what to read of it: --query"):
        read(source)
    (tmp_path / "a.dat").write_text("1 2\n")
    with pytest.raises(BadCall, match="query means nothing for files"):
        read(tmp_path / "a.dat", query=QUERY)
    with pytest.raises(BadCall, match="query means nothing for data in memory"):
        read([[1]], query=QUERY)


def test_what_is_wrong_with_a_query_is_told(source: str) -> None:
    """A column that is not there, in the words of the database; a column that was not returned, in ours."""
    with pytest.raises(BadInput, match=r"could not be read: .*nope"):
        read(source, query="SELECT nope FROM sales", owner="who", item="what")
    with pytest.raises(BadInput, match="has no column 'item'; name one of its columns: who, what"):
        read(source, query="SELECT who, what FROM sales", owner="who", item="item")


def test_values_of_a_complaint_are_not_told(postgres_address: str, duckdb_file: Path) -> None:
    """What cannot be converted is from the data."""
    for source in (postgres_address, str(duckdb_file)):
        with pytest.raises(BadInput, match="could not be read; check") as refused:
            read(source, query="SELECT who, CAST(what AS INTEGER) AS n FROM sales", owner="who", item="n")
        assert "milk" not in str(refused.value)


ADDRESSES = [
    "postgresql://me:{}@127.0.0.1:1/shop",
    "postgres://me:{}@127.0.0.1:1/shop",
    "postgresql://127.0.0.1:1/shop?user=me&password={}",
    "postgresql://127.0.0.1:1/{}@shop",
    "postgresql://me:{}@127.0.0.1:one/shop",
    "nothing://me:{}@127.0.0.1/shop",
    "mysql+pymysql://me:{}@127.0.0.1:1/shop",
    "https://me:{}@127.0.0.1/shop.csv",
    "sqlite://me:{}@none.db",
    "duckdb://me:{}@none.db",
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("query", [None, "SELECT 1 AS who"])
@pytest.mark.parametrize("secret", [PUZZLING, "s3cr%3Aet%40", "hush"])
def test_no_message_holds_the_password(address: str, query: str | None, secret: str) -> None:
    """Wherever it stands in an address, and whatever is wrong with it; nor does the object that holds the address."""
    given = address.format(secret)
    with pytest.raises((BadInput, BadCall)) as refused:
        read(given, query=query, owner="who", item="who")
    assert secret not in str(refused.value)
    assert refused.value.__cause__ is None
    if not given.startswith("https"):
        assert secret not in repr(databases.SourceDatabase.of_address(given))


def test_a_value_is_read_by_itself(sqlite_file: Path) -> None:
    """Numbers and text of one column: an item is an integer if it is written like one, as in a CSV file."""
    values = "VALUES ('a', 7), ('b', '7'), ('c', 7.0), ('d', 7.5), ('e', '007'), ('f', x'6d696c6b')"
    found = baskets(read(str(sqlite_file), query=values, owner="column1", item="column2"))
    assert found == [[7], [7], [7], ["7.5"], ["007"], ["milk"]]
    numbers = read(str(sqlite_file), query="VALUES ('a', 7)", owner="column1", item="column2")
    assert baskets(numbers) == [[7]]


def test_types_of_postgresql_become_text(postgres_address: str) -> None:
    """Numbers, truth values and dates as one would write them; lists are refused with a way out."""
    query = (
        "SELECT 1 AS who, 7.50::numeric AS a, true AS b, DATE '2026-11-16' AS c, NULL AS d, 'NaN'::float AS e"
    )
    found = read(postgres_address, query=query, format="table")
    assert baskets(found) == [["a=7.50", "b=true", "c=2026-11-16", "who=1"]]
    with pytest.raises(BadInput, match=r"the column 'a' has values of the type list; .*one item in each row"):
        read(postgres_address, query="SELECT 1 AS who, ARRAY[1, 2] AS a", owner="who", item="a")


def test_blocks_of_rows_are_put_together(sqlite_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows are fetched at a time."""
    monkeypatch.setattr(databases, "ROWS_AT_ONCE", 2)
    assert baskets(read(str(sqlite_file), query=QUERY, owner="who", item="what")) == BY_OWNER


def test_an_empty_result_is_data_like_any_other(source: str) -> None:
    """No row, no transaction."""
    assert len(read(source, query="SELECT who, what FROM sales WHERE 1 = 0", owner="who", item="what")) == 0


def test_a_list_column_of_duckdb_is_one_transaction_a_row(duckdb_file: Path) -> None:
    """By its type, as in Parquet."""
    query = "SELECT who, list(what) AS whats FROM sales GROUP BY who ORDER BY who"
    assert baskets(read(str(duckdb_file), query=query, owner="who", item="whats")) == BY_OWNER


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("sqlite:///none.db", {"query": QUERY}, "there is no database 'none.db'"),
    ("duckdb:///none.db", {"query": QUERY}, "there is no database 'none.db'"),
    ("sqlite:///none.db", {"query": QUERY, "separator": ","}, "separator means nothing for a query"),
    ("sqlite:///none.db", {"query": QUERY, "format": "fimi"}, "format means nothing for a query"),
    ("sqlite:///none.db", {"query": QUERY, "format": "list"}, "format means nothing for a query"),
    ("https://host/sales.csv", {}, "download the file first"),
    ("nothing://host/db", {"query": QUERY}, "there is no database of the kind 'nothing'"),
]


@pytest.mark.parametrize(("address", "options", "message"), REFUSED)
def test_what_cannot_be_asked_is_refused(address: str, options: dict[str, Any], message: str) -> None:
    """Before anything is connected to."""
    with pytest.raises((BadCall, BadInput), match=message):
        read(address, **options)


def test_decimals_and_floats_are_written_alike() -> None:
    """A whole number without a point; what is no number is missing."""
    values = [Decimal("7.00"), 7.0, Decimal("0.10"), 0.1, float("nan"), float("inf"), 1e22, True, 2**80]
    found = texts_of(values, column="x").to_pylist()
    assert found == ["7", "7", "0.10", "0.1", None, "inf", str(10**22), "true", str(2**80)]
