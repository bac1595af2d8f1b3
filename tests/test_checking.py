"""How a source is read, for the owner's eyes: columns, figures, what is protected, and what to do next."""

import shlex
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import veilset as vs
from shell import veilset
from veilset.checking import NOT_PRIVATE, check

SALES = pl.DataFrame(
    {
        "customer": [1, 1, 2],
        "receipt": [1, 2, 3],
        "product": ["milk", "bread", None],
        "price": [1.0, 2.0, 3.0],
    }
)
PERSONS: dict[str, Any] = {"owner": "customer", "item": "product"}


def roles(found: vs.DataCheck) -> dict[str, str]:
    """What each column is read as."""
    return {column.name: column.role for column in found.columns}


def test_columns_are_told_with_their_types_and_roles(tmp_path: Path) -> None:
    """Those that are named, and those that are not read."""
    SALES.write_csv(tmp_path / "sales.csv")
    found = check(tmp_path / "sales.csv", **PERSONS)
    assert roles(found) == {
        "customer": "whose it is: the person protected",
        "receipt": "not read",
        "product": "the items",
        "price": "not read",
    }
    assert found.layout == "one item in each row; rows of the same customer are a transaction"
    assert (found.facts["rows_of_the_table"], found.facts["transactions"], found.facts["items"]) == (3, 2, 2)
    assert (found.facts["empty_transactions"], found.protects) == (1, "one person")


def test_a_table_that_can_be_read_in_several_ways_is_shown_with_a_suggestion() -> None:
    """By the names of its columns; nothing is taken from it."""
    found = check(SALES)
    assert found.problem is not None
    assert "can be read in several ways" in found.problem
    assert found.next_step == "perhaps --owner customer --basket receipt --item product"
    assert found.facts == {}
    assert "name the columns" in check(SALES.rename({"product": "x"})).next_step


UNITS: list[tuple[dict[str, str], str]] = [
    ({"owner": "customer", "basket": "receipt", "item": "product"}, "one person, of whose transactions"),
    ({"basket": "receipt", "item": "product"}, "one basket; name the column of persons"),
    ({"owner": "customer", "item": "product"}, "one person"),
    ({"format": "table"}, "one transaction; if one person can have several"),
]


@pytest.mark.parametrize(("options", "unit"), UNITS)
def test_who_is_protected_is_told(options: dict[str, Any], unit: str) -> None:
    """Before anything is spent on protecting somebody else."""
    assert str(check(SALES, **options).protects).startswith(unit)


def test_data_in_memory_and_data_that_was_read_are_checked() -> None:
    """The next step is a call, then."""
    assert check(np.eye(3)).layout == "a row is a transaction; its items are the columns that are true or 1"
    assert check(vs.read([["milk"], []])).facts["transactions"] == 2
    assert check([["milk"]]).next_step == "veilset.mine(data, epsilon=1, k=100, delta=1e-9)"
    persons = check(SALES, owner="customer", basket="receipt", item="product")
    assert 'per_owner="auto"' in persons.next_step


def test_what_looks_wrong_is_remarked() -> None:
    """No transaction, hardly an item, identifiers for items."""
    assert check([]).remarks == ("there is no transaction",)
    assert check([[], [], ["milk"]]).remarks == ("2 of 3 transactions have no item",)
    assert "occur once" in check([[number] for number in range(30)]).remarks[0]
    assert check([["milk"]] * 30).remarks == ()


def test_it_says_that_it_is_not_private() -> None:
    """In text, in a notebook and as JSON."""
    found = check([["milk"]])
    assert repr(found).startswith(NOT_PRIVATE)
    assert "NOT private" in found._repr_html_()
    assert found.to_dict()["is_private"] is False


def test_the_command_prints_what_the_function_tells_and_suggests_a_command_that_runs(tmp_path: Path) -> None:
    """The heading on stderr; the suggested command makes a release."""
    pl.concat([SALES.drop_nulls()] * 300).write_parquet(tmp_path / "my sales.parquet")
    call = ["check", "my sales.parquet", "--owner", "customer", "--basket", "receipt", "--item", "product"]
    done = veilset(*call, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, f"veilset: {NOT_PRIVATE}\n")
    assert "which basket" in done.stdout
    suggested = shlex.split(done.stdout.splitlines()[-1].removeprefix("Next: veilset "))
    assert veilset(*suggested, cwd=tmp_path).returncode == 0


def test_a_table_that_cannot_be_read_so_ends_with_exit_code_2(tmp_path: Path) -> None:
    """After the columns were shown."""
    SALES.write_parquet(tmp_path / "sales.parquet")
    done = veilset("check", "sales.parquet", cwd=tmp_path)
    assert (done.returncode, "perhaps --owner customer" in done.stdout) == (2, True)
    assert veilset("check", "none.parquet", cwd=tmp_path).returncode == 2


def test_no_command_shows_the_address_of_a_database(tmp_path: Path) -> None:
    """Neither what it suggests, nor what it stores of a study, nor what it complains of."""
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE sales (who, what)")
        connection.executemany("INSERT INTO sales VALUES (?, ?)", [(i, "milk") for i in range(300)])
    connection.close()
    query = ["--query", "SELECT * FROM sales", "--owner", "who", "--item", "what"]
    found = veilset("check", "sqlite:///shop.db", *query, "--json", cwd=tmp_path)
    assert (found.returncode, '"source": "shop.db"' in found.stdout) == (0, True)
    assert "veilset mine ADDRESS --owner who" in found.stdout
    paid = ["--epsilon", "1", "--k", "1", "--public-items"]
    assert veilset("mine", "sqlite:///shop.db", *query, *paid, cwd=tmp_path).returncode == 0
    wrong = "postgresql://me:hush@127.0.0.1:1/shop?password=hush"
    for command in (["check"], ["mine", *paid], ["evaluate", "--methods", "planned", *paid[:4]]):
        name, *options = command
        done = veilset(name, wrong, *query, *options, cwd=tmp_path)
        assert (done.returncode, "hush" in done.stdout + done.stderr) == (2, False)


def test_files_of_a_folder_are_never_written_over(tmp_path: Path) -> None:
    """Not even by force."""
    (tmp_path / "sales").mkdir()
    for name in ("1.csv", "2.csv"):
        (tmp_path / "sales" / name).write_text("milk,bread\n" * 50)
    call = ["mine", "sales", "--public-items", "--epsilon", "1", "--k", "2", "--force"]
    assert veilset(*call, "--out", "release.csv", cwd=tmp_path).returncode == 0
    refused = veilset(*call, "--out", "sales/2.csv", cwd=tmp_path)
    assert (refused.returncode, "is read by this command" in refused.stderr) == (2, True)
