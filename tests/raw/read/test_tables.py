"""Tables and lists: long, list columns, relational, one-hot; from files, Polars, pandas, Arrow, Python."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_reading import baskets
from veilset.raw.read import read
from veilset.raw.transactions import Item

LONG = pl.DataFrame(
    {
        "who": ["ann", "bob", "ann", "cy", "bob", "ann"],
        "day": [1, 1, 2, 1, 1, 1],
        "what": ["milk", "beer", "milk", None, "beer", "bread"],
    }
)
LISTS = pl.DataFrame({"who": ["ann", "bob", "ann"], "what": [["milk", "bread", "milk", None], None, []]})

Make = Callable[[pl.DataFrame, Path], Any]


def to_csv(frame: pl.DataFrame, folder: Path) -> Path:
    """The table as a CSV file."""
    frame.write_csv(folder / "data.csv")
    return folder / "data.csv"


def to_compressed_csv(frame: pl.DataFrame, folder: Path) -> Path:
    """The table as a compressed CSV file."""
    path = folder / "data.csv.zst"
    path.write_bytes(pa.compress(frame.write_csv().encode(), "zstd", asbytes=True))
    return path


def to_parquet(frame: pl.DataFrame, folder: Path) -> Path:
    """The table as a Parquet file whose name does not say so."""
    frame.write_parquet(folder / "data")
    return folder / "data"


def to_arrow_file(frame: pl.DataFrame, folder: Path) -> Path:
    """The table as an Arrow file."""
    frame.write_ipc(folder / "data.arrow")
    return folder / "data.arrow"


def as_is(frame: pl.DataFrame, _folder: Path) -> pl.DataFrame:
    """The table in Polars."""
    return frame


def to_lazy(frame: pl.DataFrame, _folder: Path) -> pl.LazyFrame:
    """The table in Polars, not computed yet."""
    return frame.lazy()


def to_pandas(frame: pl.DataFrame, _folder: Path) -> pd.DataFrame:
    """The table in pandas."""
    return pd.DataFrame(frame.to_dict(as_series=False))


def to_arrow(frame: pl.DataFrame, _folder: Path) -> pa.Table:
    """The table in Arrow."""
    return frame.to_arrow()


in_memory = [as_is, to_lazy, to_pandas, to_arrow]
in_binary = [*in_memory, to_parquet, to_arrow_file]
anywhere = [*in_binary, to_csv, to_compressed_csv]


@pytest.mark.parametrize("make", anywhere)
def test_a_long_table_has_one_transaction_for_each_owner(make: Make, tmp_path: Path) -> None:
    """All items of an owner are one set; an owner without items has an empty one."""
    found = read(make(LONG, tmp_path), owner="who", item="what")
    assert baskets(found) == [["bread", "milk"], ["beer"], []]
    assert found.owners is None


@pytest.mark.parametrize("make", anywhere)
def test_baskets_of_one_owner_stand_together(make: Make, tmp_path: Path) -> None:
    """With a basket column, each basket is a transaction, and the owner is the privacy unit."""
    found = read(make(LONG, tmp_path), owner="who", basket="day", item="what")
    assert found.owners is not None
    assert found.owners.dtype == np.int64
    assert found.owners.tolist() == [0, 0, 1, 2]
    assert baskets(found) == [["bread", "milk"], ["milk"], ["beer"], []]


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=12)
)
def test_a_long_table_gives_what_a_dictionary_of_sets_gives(rows: list[tuple[int, int, int]]) -> None:
    """Grouping by owner and basket is grouping in a dictionary, in the order of first appearance."""
    frame = pl.DataFrame(rows, schema=["owner", "basket", "item"], orient="row")
    found = read(frame, owner="owner", basket="basket", item="item")
    expected: dict[int, dict[int, set[int]]] = {}
    for owner, basket, item in rows:
        expected.setdefault(owner, {}).setdefault(basket, set()).add(item)
    assert baskets(found) == [sorted(items) for of_owner in expected.values() for items in of_owner.values()]
    assert found.owners is not None
    assert found.owners.tolist() == [
        number for number, of_owner in enumerate(expected.values()) for _ in of_owner
    ]


@pytest.mark.parametrize("make", in_binary)
def test_a_list_column_has_one_transaction_in_each_row(make: Make, tmp_path: Path) -> None:
    """Lists are transactions, missing items are none, a missing list is an empty transaction."""
    found = read(make(LISTS, tmp_path), item="what")
    assert baskets(found) == [["bread", "milk"], [], []]
    assert found.owners is None


@pytest.mark.parametrize("make", in_binary)
def test_lists_of_one_owner_stand_together(make: Make, tmp_path: Path) -> None:
    """With an owner column, the lists are sorted by owner, and the owner is the privacy unit."""
    found = read(make(LISTS, tmp_path), item="what", owner="who")
    assert baskets(found) == [["bread", "milk"], [], []]
    assert found.owners is not None
    assert found.owners.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "source",
    [
        pl.Series([[3, 1, 3], []]),
        pl.Series([[3, 1, 3], []], dtype=pl.List(pl.UInt8)),
        pd.Series([[3, 1, 3], []]),
        pa.array([[3, 1, 3], None]),
        pa.chunked_array([[[3, 1, 3]], [[]]]),
        pl.DataFrame({"what": [[3.0, 1.0, None], []]}),
    ],
)
def test_a_series_of_lists_needs_no_column_name(source: object) -> None:
    """A series, an array or a table of nothing but lists is read as lists; whole floats are integers."""
    assert baskets(read(source)) == [[1, 3], []]


def test_categories_are_text() -> None:
    """Categorical items have the names of their categories."""
    frame = LONG.with_columns(pl.col("what", "who").cast(pl.Categorical))
    assert baskets(read(frame, owner="who", item="what")) == [["bread", "milk"], ["beer"], []]


@pytest.mark.parametrize("make", anywhere)
def test_a_relational_table_has_items_of_column_and_value(make: Make, tmp_path: Path) -> None:
    """Every row is a transaction of column=value items, missing values left out."""
    frame = pl.DataFrame({"size": [1, 2, 1], "colour": ["red", None, "red"]})
    found = read(make(frame, tmp_path), format="table")
    assert baskets(found) == [["colour=red", "size=1"], ["size=2"], ["colour=red", "size=1"]]


def test_owners_go_with_any_layout() -> None:
    """The column of owners is no item, and sorts the rows."""
    found = read(pl.DataFrame({"who": ["b", "a", "b"], "x": [1, 2, 3]}), format="table", owner="who")
    assert baskets(found) == [["x=1"], ["x=3"], ["x=2"]]
    assert found.owners is not None
    assert found.owners.tolist() == [0, 0, 1]


@pytest.mark.parametrize("make", [*in_binary, to_csv])
@pytest.mark.parametrize("dtype", [pl.Boolean, pl.Int64])
def test_a_one_hot_table_has_the_columns_that_are_true(
    make: Make, dtype: type[pl.DataType], tmp_path: Path
) -> None:
    """Columns are items, in the alphabet even if never true."""
    frame = pl.DataFrame({"milk": [1, 0, 1], "beer": [0, 0, 1], "tea": [0, 0, 0]}).cast(dtype)
    source = make(frame, tmp_path)
    found = read(source, format="onehot") if make is to_csv or dtype is pl.Int64 else read(source)
    assert baskets(found) == [["milk"], [], ["beer", "milk"]]
    assert found.alphabet.names == ("beer", "milk", "tea")


def test_numbered_columns_of_a_one_hot_table_are_integers() -> None:
    """What pandas calls 10 and 9 are items 9 and 10, in this order."""
    found = read(pd.DataFrame({10: [True, False], 9: [True, True]}))
    assert found.alphabet.names == (9, 10)
    assert baskets(found) == [[9, 10], [9]]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ([["milk", "bread", "milk"], []], [["bread", "milk"], []]),
        ([{3, 1}, (2, 2), [None]], [[1, 3], [2], []]),
        (({"a"}, frozenset("b")), [["a"], ["b"]]),
        ((range(n) for n in range(3)), [[], [0], [0, 1]]),
        ([np.array([5, 4]), [np.int8(4)]], [[4, 5], [4]]),
        ([[2, "10"], ["2", 10]], [[2, "10"], [10, "2"]]),
        ([["a", 10, 9, None], [True, "a"][1:]], [[9, 10, "a"], ["a"]]),
        ([[-1, 2**64 - 1], [3]], [[-1, 2**64 - 1], [3]]),
        ([], []),
        ([[], []], [[], []]),
        ([[2**64 - 1], [0]], [[2**64 - 1], [0]]),
        ([[-1, 2**63 - 1]], [[-1, 2**63 - 1]]),
    ],
)
def test_python_lists_are_rows(source: object, expected: list[list[Item]]) -> None:
    """Any iterables of integers or text will do; each item stays what it is, integers first."""
    assert baskets(read(source)) == expected


@given(rows=st.lists(st.lists(st.text("abé\U0001f34e", max_size=2), max_size=5), min_size=1, max_size=6))
def test_names_are_sorted_by_code_point(rows: list[list[str]]) -> None:
    """The alphabet is what Python's sort makes of the names, and rows follow it."""
    rows = [*rows, ["b"]]
    found = read(rows)
    assert found.alphabet.names == tuple(sorted({name for row in rows for name in row}))
    assert baskets(found) == [sorted(set(row)) for row in rows]


def test_a_number_in_a_csv_table_is_an_integer_unless_it_has_leading_zeros(tmp_path: Path) -> None:
    """In text, 007 is not 7, whatever else there is."""
    path = tmp_path / "data.csv"
    path.write_text("who,what\n1, 10\n1,9\n")
    assert baskets(read(path, owner="who", item="what")) == [[9, 10]]
    path.write_text("1;10\n01;09\n")
    found = read(path, owner="f0", item="f1", header=False, separator=";")
    assert baskets(found) == [[10], ["09"]]


def test_a_given_alphabet_goes_with_tables() -> None:
    """Integers of the data match the same numbers as text, other items are dropped."""
    found = read(pl.Series([[7, 8, 9], [8]]), alphabet=["9", "7", "5"])
    assert baskets(found) == [["9", "7"], []]
