"""What cannot be read is refused in one line that says where and what to do, and quotes no data."""

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from veilset.errors import BadCall, BadInput
from veilset.raw.read import read

SECRET = "secret"  # noqa: S105 - stands for private data
TABLE = pl.DataFrame({"who": ["a"], "what": [SECRET], "n": [5]})


def zstd(data: bytes) -> bytes:
    """The data compressed."""
    compressed: bytes = pa.compress(data, "zstd", asbytes=True)
    return compressed


def parquet_bytes() -> bytes:
    """A Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(TABLE.to_arrow(), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data


BAD_FILES: list[tuple[str, bytes, dict[str, Any], str]] = [
    ("a.parquet", b"", {}, "is no parquet file, whatever its name says"),
    ("a.csv", b"", {"item": "what", "owner": "who"}, "does not start with the names of its columns; add"),
    ("a.csv", b'"who\nb\n', {"format": "table"}, "line 1: a quote that does not close"),
    ("a.dat", b"1\n2 secret\n", {}, "line 2: not only whole numbers.*--format basket"),
    ("a.dat", b"1\n\n18446744073709551616\n", {}, "line 3: a number of more than 64 bits"),
    ("a.spmf", b"@ITEM=1=a\n1 -7\n", {}, "line 2: not only whole numbers"),
    ("a.spmf", b"@ITEM=1=\xff\n1\n", {}, "line 1: not UTF-8"),
    ("a.spmf", b"@ITEM=1=secret\n@ITEM=2=secret\n1 2\n", {}, "two items the same name"),
    ("a.csv", b'secret\nb,"secret,c\n', {}, "line 2: a quote that does not close"),
    ("a.csv", b'x\nb\n"secret"c\n', {"header": True}, "line 3: a quote that does not close"),
    ("a.csv", b"a\n\nsecret\xff\n", {}, "line 3: not UTF-8; save"),
    ("a.dat.gz", gzip.compress(b"1 2\n" * 99, mtime=0)[:-9], {}, "breaks off or is damaged"),
    ("a.dat.zst", zstd(b"1 2\n" * 99)[:-3], {}, "breaks off or is damaged"),
    ("a.dat.zst", zstd(b"1 2\n" * 99)[:9] + b"garbage", {}, "breaks off or is damaged"),
    (
        "a.doc",
        b"1 2\n",
        {},
        "not tell its format by its name; give --format, one of fimi.*name the file .dat",
    ),
    ("a.txt", b"1 2\n", {}, "not tell its format by its name; give --format, one of fimi, spmf, basket"),
    ("a", b"1 2\n", {}, "not tell its format by its name; give --format, one of fimi, spmf, basket"),
    ("a.jsonl", b"[1, 2]\n", {}, "not tell its format by its name; give --format"),
    ("a.spmf", b"@ITEM=1=a\n1\n@ITEM=2=b\n", {}, "line 3: an @ITEM name behind the first transaction"),
    ("a.parquet", b"1 2\n", {}, "is no parquet file"),
    ("a.parquet", parquet_bytes()[:-9], {}, "is damaged or breaks off"),
    ("a.arrow", b"ARROW1 secret", {}, "is damaged or breaks off"),
    ("a.parquet", parquet_bytes(), {}, "can be read in several ways; name the columns"),
    ("a.parquet", parquet_bytes(), {"item": "x", "owner": "who"}, "no column 'x'; .*: who, what, n$"),
    ("a.csv", b"who,what\na,secret\n", {"item": "x", "owner": "who"}, "no column 'x'; .*: who, what$"),
    ("a.csv", b"who,who\na,secret\n", {"item": "x", "owner": "who"}, "two columns of the same name"),
    ("a.csv", b"who,what\na,b\n,secret\n", {"item": "what", "owner": "who"}, "in the column 'who'"),
    ("a.csv", b"who,what\n\na,b\nsecret\n", {"item": "what", "owner": "who"}, "line 4: not as many cells"),
    ("a.csv", b"who,what\na,b\na,secret\xff\n", {"item": "what", "owner": "who"}, "line 3: not UTF-8"),
    ("a.csv", b'who,what\na,"b"\na,"secret\nb,c\n', {"item": "what", "owner": "who"}, "line 3: a quote"),
    ("a.csv", b"a,b\n1,0\n1,secret\n", {"format": "onehot"}, "row 2 of the table: .* is not one-hot"),
    (
        "a.csv",
        b"a,n\n1,2\n1,secret\n",
        {"format": "table", "multiplicity": "n"},
        "row 2 of the table: no number",
    ),
]


@pytest.mark.parametrize(("name", "data", "options", "message"), BAD_FILES)
def test_a_bad_file_is_refused_with_its_name_and_line(
    tmp_path: Path, name: str, data: bytes, options: dict[str, Any], message: str
) -> None:
    """The message names the file, is one line, and tells nothing of what the file holds."""
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(BadInput, match=message) as caught:
        read(path, **options)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_directory_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    """Nothing to read is said plainly."""
    with pytest.raises(BadInput, match="has no data file; name a folder"):
        read(tmp_path)
    with pytest.raises(BadInput, match=r"none\.dat does not exist; check the path"):
        read(tmp_path / "none.dat")


BAD_DATA: list[tuple[Any, dict[str, Any], str]] = [
    (5, {}, "neither a path, a table nor a list of lists"),
    ([[1], 2], {}, "row 2: neither a list of items nor anything like one; give a list"),
    (["secret"], {}, "row 1: text where a list of items should be"),
    ([["a"], [1.5]], {}, "row 2: an item of type float, not an integer or text; give"),
    ([[True]], {}, "an item of type bool"),
    ([[2**64]], {}, "more than 64 bits"),
    ([["a"], [-(2**63) - 1]], {}, "row 2: an integer of more than 64 bits"),
    ([["\ud800"]], {}, "not valid Unicode"),
    (TABLE, {}, "the table can be read in several ways"),
    (
        TABLE,
        {"owner": "who", "item": "x"},
        "the table has no column 'x'; name one of its columns: who, what, n",
    ),
    (TABLE, {"item": "what", "format": "list"}, "no lists in the column 'what'"),
    (TABLE, {"format": "onehot"}, "row 1 of the table: .*not one-hot"),
    (
        pl.DataFrame({"a": [0, 1]}),
        {},
        "in several ways.*'onehot' if every column is an item and holds 1 or 0",
    ),
    (pl.DataFrame({"a": [0.5]}), {"format": "onehot"}, "not one-hot"),
    (pl.DataFrame({"a": ["x"], "a=b": ["y"]}), {"format": "table"}, "same column=value item"),
    (pl.Series([[1.0], [1.5]]), {}, "row 2 of the table: no item; items are whole numbers"),
    (pl.Series([[b"\xff"]]), {}, "row 1 of the table: no item; .*text in UTF-8"),
    (
        pl.DataFrame({"who": [1], "what": [0.5]}),
        {"owner": "who", "item": "what"},
        "row 1 of the table: no item",
    ),
    (
        pl.DataFrame({"items": [["a"]], "multiplicity": [50]}),
        {},
        "a column 'multiplicity' beside its lists; .*give --multiplicity multiplicity; if not, give --format list",
    ),
    (
        pl.DataFrame({"items": [["a"]], "multiplicity": [50], "shop": ["x"]}),
        {"item": "items"},
        "a column 'multiplicity' beside its lists",
    ),
    (pl.Series([[["secret"]]]), {}, "items of type large_list"),
    (pl.DataFrame({"who": [None], "what": [["b"]]}), {"owner": "who", "item": "what"}, "in the column 'who'"),
    (pd.DataFrame({"a": [1, "secret"]}), {"format": "table"}, "columns that Polars cannot take"),
    (pa.table([[1], [2]], ["a", "a"]), {"format": "table"}, "two of one name"),
    (TABLE.lazy().select("x"), {"format": "table"}, "columns that Polars cannot take"),
    ([[1]], {"alphabet": []}, "alphabet is empty"),
    ([[1]], {"alphabet": [1, "1"]}, "alphabet lists an item twice"),
    ([[1]], {"alphabet": [1.5]}, "alphabet holds an item of type float"),
    ([[1]], {"alphabet": "/nowhere/to/be/found"}, "does not exist"),
]


@pytest.mark.parametrize(("source", "options", "message"), BAD_DATA)
def test_bad_data_in_memory_are_refused(source: object, options: dict[str, Any], message: str) -> None:
    """The message is one line and tells nothing of what the data holds."""
    with pytest.raises(BadInput, match=message) as caught:
        read(source, **options)
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)


BAD_CALLS: list[tuple[Any, dict[str, Any], str]] = [
    ([[1]], {"format": "excel"}, "no format 'excel'; give one of fimi, spmf"),
    ([[1]], {"separator": "ab"}, "a separator is one ASCII character"),
    ([[1]], {"separator": '"'}, "a separator is one ASCII character"),
    ([[1]], {"owner": "who"}, "owner means nothing for a list of lists"),
    (TABLE, {"format": "fimi"}, "format means nothing for data in memory"),
    (TABLE, {"header": True}, "header means nothing for data in memory"),
    (TABLE, {"item": "what", "owner": "what"}, "name a column twice"),
    (
        TABLE,
        {"item": "what", "owner": "who", "multiplicity": "n"},
        "multiplicity means nothing for a long table",
    ),
    ([[1]], {"multiplicity": "n"}, "multiplicity means nothing for a list of lists"),
    ("a.dat", {"multiplicity": "n", "format": "fimi"}, "multiplicity means nothing for fimi files"),
    (TABLE, {"item": "what"}, "needs a column of owners or of baskets, and one of items"),
    (TABLE, {"basket": "n", "format": "table"}, "basket goes with a long table only"),
    (TABLE, {"item": "what", "format": "table"}, "item goes with a long table or a list column"),
    ("a.dat", {"owner": "who", "format": "fimi"}, "owner means nothing for fimi files"),
    ("a.dat", {"separator": ","}, "separator means nothing for fimi files"),
    ("a.dat", {"format": "list"}, "format means nothing for a text file"),
    ("a.parquet", {"separator": ";"}, "separator means nothing for a Parquet or Arrow file"),
    ("a.parquet", {"format": "basket"}, "format means nothing for a Parquet or Arrow file"),
]


@pytest.mark.parametrize(("source", "options", "message"), BAD_CALLS)
def test_arguments_that_make_no_sense_are_refused(
    source: Any,  # noqa: ANN401 - tables, lists and names of files
    options: dict[str, Any],
    message: str,
    tmp_path: Path,
) -> None:
    """An option that would be passed over in silence is an error."""
    (tmp_path / "a.dat").write_bytes(b"1 2\n")
    (tmp_path / "a.parquet").write_bytes(parquet_bytes())
    with pytest.raises(BadCall, match=message):
        read(tmp_path / source if isinstance(source, str) else source, **options)
