"""One more transaction in a file changes nothing but noise: not whether an answer comes, not what is said beside it.

The neighbours are the bytes of files, and the look is through the command line: reading stands within the promise.
"""

import gzip
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from shell import veilset

Rows = Sequence[Sequence[str]]
"""Items by name, which are written like numbers: all formats can hold them."""

ITEMS = ("1", "2", "3", "44")
COMMON: Rows = [("1", "2")] * 150 + [("2", "3")] * 150
ODD: dict[str, tuple[str, ...]] = {
    "like the others": ("1", "2"),
    "with an item that nobody else has": ("44",),
    "empty": (),
    "with all there is": ITEMS,
}
"""What the transaction may be that is in one of two files."""


def lines(rows: Rows, separator: str) -> bytes:
    """A line for each transaction."""
    return "".join(separator.join(row) + "\n" for row in rows).encode()


def long_frame(rows: Rows) -> pl.DataFrame:
    """A row for each item of a person; somebody without items has a missing one."""
    cells = [(f"p{person}", item) for person, row in enumerate(rows) for item in (row or (None,))]
    return pl.DataFrame(cells, schema={"who": pl.String, "what": pl.String}, orient="row")


def columns_frame(rows: Rows, present: Any, absent: Any, of: pl.DataType) -> pl.DataFrame:  # noqa: ANN401
    """A column for each item, and what tells that a transaction holds it."""
    held = {item: [present if item in row else absent for row in rows] for item in ITEMS}
    return pl.DataFrame(held, schema=dict.fromkeys(ITEMS, of))


def lists_frame(rows: Rows) -> pl.DataFrame:
    """A list for each transaction."""
    return pl.DataFrame({"items": [list(row) for row in rows]}, schema={"items": pl.List(pl.String)})


def csv_of(frame: pl.DataFrame) -> bytes:
    """A table as text."""
    return frame.write_csv().encode()


def parquet_of(frame: pl.DataFrame) -> bytes:
    """A table as Parquet."""
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def arrow_of(frame: pl.DataFrame) -> bytes:
    """A table as an Arrow file."""
    file = io.BytesIO()
    frame.write_ipc(file)
    return file.getvalue()


def zstd_of(text: bytes) -> bytes:
    """Text, compressed."""
    packed: bytes = pa.Codec("zstd").compress(text, asbytes=True)
    return packed


BOOLEAN, TEXT = pl.Boolean(), pl.String()
FORMATS: dict[str, tuple[str, list[str], Callable[[Rows], bytes]]] = {
    "fimi": ("data.dat", [], lambda rows: lines(rows, " ")),
    "fimi, gzip": ("data.dat.gz", [], lambda rows: gzip.compress(lines(rows, " "))),
    "fimi, zstd": ("data.dat.zst", [], lambda rows: zstd_of(lines(rows, " "))),
    "fimi, no suffix": ("data", ["--format", "fimi"], lambda rows: lines(rows, " ")),
    "spmf": ("data.spmf", [], lambda rows: lines(rows, " ")),
    "basket": ("data.csv", [], lambda rows: lines(rows, ",")),
    "basket, tabs": ("data.tsv", [], lambda rows: lines(rows, "\t")),
    "basket, semicolons": ("data.csv", ["--separator", ";"], lambda rows: lines(rows, ";")),
    "basket, no suffix": ("data", ["--format", "basket"], lambda rows: lines(rows, ",")),
    "long": ("data.csv", ["--owner", "who", "--item", "what"], lambda rows: csv_of(long_frame(rows))),
    "long, parquet": (
        "data.parquet",
        ["--owner", "who", "--item", "what"],
        lambda rows: parquet_of(long_frame(rows)),
    ),
    "list": ("data.parquet", [], lambda rows: parquet_of(lists_frame(rows))),
    "list, arrow": ("data.arrow", ["--item", "items"], lambda rows: arrow_of(lists_frame(rows))),
    "onehot": (
        "data.csv",
        ["--format", "onehot"],
        lambda rows: csv_of(columns_frame(rows, "1", "0", TEXT)),
    ),
    "onehot, parquet": (
        "data.parquet",
        [],
        lambda rows: parquet_of(columns_frame(rows, present=True, absent=False, of=BOOLEAN)),
    ),
    "table": (
        "data.csv",
        ["--format", "table"],
        lambda rows: csv_of(columns_frame(rows, "yes", None, TEXT)),
    ),
}
"""For each format: the name of a file, the options to read it, and its bytes."""

CHOICES = ("alphabet", "delta")


def asked(folder: Path, format_name: str, rows: Rows, choice: str) -> tuple[object, ...]:
    """What others can see of a release of these rows, less its noisy numbers: the keys, the promise, the texts."""
    name, options, written = FORMATS[format_name]
    (folder / name).write_bytes(written(rows))
    listed = folder / "items.txt"
    value = "=yes" if format_name == "table" else ""
    listed.write_text("".join(f"{item}{value}\n" for item in ITEMS))
    may_name = ["--alphabet", listed] if choice == "alphabet" else ["--delta", "1e-9"]
    run = veilset("mine", folder / name, *options, *may_name, "--epsilon", "1", "--k", "3", "--json")
    assert run.returncode == 0, run.stderr
    document = json.loads(run.stdout)
    return run.stderr, sorted(document), document["promise"], document["epsilon"], document["method"]


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("format_name", FORMATS)
def test_no_transaction_and_one_look_the_same(tmp_path: Path, format_name: str, choice: str) -> None:
    """An empty file gives a release: a missing one would tell that nobody is in it."""
    nobody = asked(tmp_path, format_name, [], choice)
    for row in ODD.values():
        assert asked(tmp_path, format_name, [row], choice) == nobody


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("format_name", FORMATS)
def test_many_transactions_and_one_more_look_the_same(tmp_path: Path, format_name: str, choice: str) -> None:
    """Whatever it holds, and also where it comes first."""
    without = asked(tmp_path, format_name, COMMON, choice)
    for row in ODD.values():
        assert asked(tmp_path, format_name, [row, *COMMON], choice) == without
    assert asked(tmp_path, format_name, [*COMMON, ODD["empty"]], choice) == without


UNREADABLE: dict[str, tuple[str, list[str], bytes, bytes]] = {
    "a word among numbers": ("data.dat", [], b"1 2\n" * 300, b"milk\n"),
    "a word among numbers, spmf": ("data.spmf", [], b"1 2\n" * 300, b"milk\n"),
    "another encoding": ("data.csv", [], b"1,2\n" * 300, b"k\xe4se\n"),
    "a quote that never ends": ("data.csv", [], b"1,2\n" * 300, b'"1\n'),
    "a row that is too wide": (
        "data.csv",
        ["--owner", "who", "--item", "what"],
        b"who,what\n" + b"".join(b"p%d,1\n" % person for person in range(300)),
        b"p300,1,2,3\n",
    ),
}
"""A file, how to read it, its bytes, and one row more, which cannot be read."""


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_row_that_cannot_be_read_is_seen_by_nobody_where_bad_rows_are_skipped(
    tmp_path: Path, name: str
) -> None:
    """Where they are not, the refusal names the line, for whoever owns the file; it is no release."""
    file, options, before, row = UNREADABLE[name]
    path, seen = tmp_path / file, []
    call = ["--delta", "1e-9", "--epsilon", "1", "--k", "3", "--json"]
    for content in (before, before + row):
        path.write_bytes(content)
        run = veilset("mine", path, *options, *call, "--skip-bad-rows")
        assert run.returncode == 0, run.stderr
        document = json.loads(run.stdout)
        seen.append((run.stderr, sorted(document), document["promise"]))
    assert seen[0] == seen[1]
    refused = veilset("mine", path, *options, *call)
    assert (refused.returncode, refused.stdout, "line 30" in refused.stderr) == (2, "", True)
