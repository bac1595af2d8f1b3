"""Rows that cannot be read are transactions without items, where the caller says so; nothing tells how many."""

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from reference_reading import baskets
from veilset.errors import BadInput
from veilset.raw.read import read
from veilset.raw.transactions import Item

TEXTS: list[tuple[str, bytes, list[list[Item]]]] = [
    ("a.dat", b"1 2\nx\n2 99999999999999999999999\n1-2\n3\n", [[1, 2], [], [], [], [3]]),
    ("a.dat", b"x\n", [[]]),
    ("a.spmf", b"@ITEM=1=a\n1 -1 -2\n1 -7\n\xff\n1\n", [["a"], [], [], ["a"]]),
    ("a.csv", b'a,b\n"c\n\xff,d\ne"f,g\n', [["a", "b"], [], [], ['e"f', "g"]]),
    ("a.csv", b"\x1f\x8b\na\n", [[], ["a"]]),
    ("a.csv", b"PAR1\na\n", [["PAR1"], ["a"]]),
]


@pytest.mark.parametrize(("name", "data", "expected"), TEXTS)
def test_an_unreadable_line_is_a_transaction_without_items(
    tmp_path: Path, name: str, data: bytes, expected: list[list[Item]]
) -> None:
    """One line in, one transaction out; the others are read as ever."""
    (tmp_path / name).write_bytes(data)
    assert baskets(read(tmp_path / name, skip_bad_rows=True)) == expected


def test_names_tell_what_is_compressed_where_rows_may_be_anything(tmp_path: Path) -> None:
    """A first row can look like the start of a compressed file, so its first bytes do not tell."""
    (tmp_path / "a.dat.gz").write_bytes(gzip.compress(b"1 2\nx\n"))
    assert baskets(read(tmp_path / "a.dat.gz", skip_bad_rows=True)) == [[1, 2], []]
    (tmp_path / "a.dat.gz").write_bytes(b"1 2\n")
    with pytest.raises(BadInput, match="breaks off or is damaged"):
        read(tmp_path / "a.dat.gz", skip_bad_rows=True)


IN_MEMORY: list[tuple[Any, dict[str, Any], list[list[Item]]]] = [
    ([[1], "text", 7, [1.5, 1], [True], [2**64]], {}, [[1], [], [], [], [], []]),
    (pl.Series([[1.0, 2.0], [1.5, 2.0], [float("nan")], [None, 3.0]]), {}, [[1, 2], [], [], [3]]),
    (pl.Series([[b"a"], [b"\xff", b"a"], None]), {}, [["a"], [], []]),
    (pl.DataFrame({"a": [1, 2, None], "b": [1, 1, 0]}), {"format": "onehot"}, [["a", "b"], [], []]),
    (pl.DataFrame({"a": [b"x", b"\xff"], "b": [1, 2]}), {"format": "table"}, [["a=x", "b=1"], []]),
    (
        pl.DataFrame({"who": [1, 1, 2, None], "what": [1.0, 0.5, 0.5, 2.0]}),
        {"owner": "who", "item": "what"},
        [[1], []],
    ),
]


@pytest.mark.parametrize(("source", "options", "expected"), IN_MEMORY)
def test_an_unreadable_row_in_memory_is_one_without_items(
    source: object, options: dict[str, Any], expected: list[list[Item]]
) -> None:
    """In a long table only the item is missing, its owner is not."""
    assert baskets(read(source, **options, skip_bad_rows=True)) == expected


def test_tables_without_rows_are_data() -> None:
    """Whatever their columns; a column of nothing but nulls has no type, and holds lists."""
    assert len(read(pl.Series([], dtype=pl.List(pl.Int64)))) == 0
    assert len(read(pl.Series([]))) == 0
    assert baskets(read(pl.Series([None, None]))) == [[], []]
    empty = pl.DataFrame(schema={"who": pl.String, "day": pl.Int64, "what": pl.String})
    assert len(read(empty, owner="who", item="what")) == 0
    assert len(read(empty, format="table")) == 0
    owners = read(empty, owner="who", basket="day", item="what").owners
    assert owners is not None
    assert owners.size == 0
