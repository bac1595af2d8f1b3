"""One more transaction in the bytes of a file is one more transaction of what is read, and nothing else changes.

The promise is about neighbours: data with and without what one owner has. So whatever an owner's rows hold, and
wherever they stand, all others must be read as if they were not there; a refusal would tell, too. Rows here may be
anything a line can hold, so they are read with `skip_bad_rows`; the same rows without it are read alike, or refused.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference_reading import baskets
from veilset.errors import BadInput
from veilset.raw.read import read
from veilset.raw.transactions import Item, Transactions

Row = bytes
Read = list[tuple[Item, ...]]


@dataclass(frozen=True)
class Kind:
    """A format: the name of a file, what stands before its rows, and how it is read."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    header: bytes = b""
    alphabet: bytes = b'12 ,x\t"0;-#@\r\xff\0|{'
    drops_rows: bool = False


KINDS = {
    "fimi": Kind("a.dat", {"format": "fimi"}),
    "fimi, by option alone": Kind("a", {"format": "fimi"}),
    "spmf": Kind("a.spmf", {"format": "spmf"}, b"@ITEM=1=milk\n@ITEM=2=12\n", drops_rows=True),
    "basket": Kind("a.csv", {"format": "basket", "separator": ","}),
    "basket with tabs": Kind("a.tsv", {"format": "basket", "separator": "\t"}),
    "basket with a header": Kind("a.csv", {"format": "basket", "separator": ",", "header": True}, b"x,y\n"),
    "table": Kind("a.csv", {"format": "table", "separator": ","}, b"x,y\n", drops_rows=True),
    "table without header": Kind(
        "a.csv", {"format": "table", "separator": ",", "header": False}, drops_rows=True
    ),
    "onehot": Kind("a.csv", {"format": "onehot", "separator": ","}, b"x,y\n", drops_rows=True),
    "onehot without header": Kind(
        "a.csv", {"format": "onehot", "separator": ",", "header": False}, drops_rows=True
    ),
}


def lines_of(kind: Kind) -> st.SearchStrategy[Row]:
    """Anything that fits on a line; but in SPMF, a line that starts with an @ is no row: it belongs to the header."""
    fitting = st.sampled_from([b"1,2", b"1 2", b"x,1", b"2\t1", b"0,1", b"", b"12", b"007,9", b"10,9"])
    wild = st.lists(st.sampled_from(kind.alphabet), max_size=8).map(bytes)
    starts = st.sampled_from(
        [b"PAR1", b"ARROW1", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"@ITEM=1=x", b"\xef\xbb\xbf1"]
    )
    rows = fitting | wild | starts
    return rows.filter(lambda row: not row.startswith(b"@")) if kind.name == "a.spmf" else rows


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[Kind, list[Row], Row, int]:
    """A format, rows, one more row, and where it stands."""
    kind = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    rows = draw(st.lists(lines_of(kind), max_size=6))
    return kind, rows, draw(lines_of(kind)), draw(st.integers(0, len(rows)))


def rows_read(source: Path, options: dict[str, Any]) -> Read:
    """What is read, as names."""
    return [tuple(row) for row in baskets(read(source, **options))]


def file_of(folder: Path, kind: Kind, rows: list[Row]) -> Path:
    """The rows as a file."""
    path = folder / kind.name
    path.write_bytes(kind.header + b"".join(row + b"\n" for row in rows))
    return path


@given(made=neighbours())
@example(made=(KINDS["basket"], [b"9,10"] * 3, b"x", 0))
@example(made=(KINDS["basket"], [], b"", 0))
@example(made=(KINDS["fimi"], [b"1 2"] * 3, b"x", 0))
@example(made=(KINDS["fimi"], [], b"1", 0))
@example(made=(KINDS["basket"], [b"a"], b"\x1f\x8b", 0))
@example(made=(KINDS["table"], [b'a,b"', b'c,d"'], b'"a,b', 0))
def test_one_more_row_is_one_more_transaction(
    made: tuple[Kind, list[Row], Row, int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """For every text format: the others are read as before, and the new one is read as it is by itself."""
    kind, rows, one, place = made
    folder = tmp_path_factory.mktemp("neighbours")
    options = {**kind.options, "skip_bad_rows": True}
    before = rows_read(file_of(folder, kind, rows), options)
    alone = rows_read(file_of(folder, kind, [one]), options)
    after = rows_read(file_of(folder, kind, [*rows[:place], one, *rows[place:]]), options)
    assert Counter(after) == Counter(before) + Counter(alone)
    assert len(alone) == 1 or (kind.drops_rows and len(alone) == 0)


@given(made=neighbours())
def test_a_file_is_read_alike_or_refused_where_bad_rows_are_not_skipped(
    made: tuple[Kind, list[Row], Row, int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Skipping changes nothing in a file that can be read; and if both parts can be, so can the whole."""
    kind, rows, one, place = made
    folder = tmp_path_factory.mktemp("neighbours")

    def strictly(some: list[Row]) -> Read | None:
        path = file_of(folder, kind, some)
        try:
            found = rows_read(path, kind.options)
        except BadInput:
            return None
        assert found == rows_read(path, {**kind.options, "skip_bad_rows": True})
        return found

    parts = strictly(rows), strictly([one])
    whole = strictly([*rows[:place], one, *rows[place:]])
    assert (whole is None) == (None in parts)


wild_cells = st.text('ab1", \xe9;', max_size=4) | st.sampled_from(["", "1", "007", "x"])


@given(
    owned=st.lists(st.tuples(st.integers(0, 3), wild_cells), max_size=8),
    of_one=st.lists(st.tuples(wild_cells, st.integers(0, 8)), min_size=1, max_size=4),
    has_baskets=st.booleans(),
)
def test_one_more_owner_of_a_long_table_is_one_more_owner(
    owned: list[tuple[int, str]],
    of_one: list[tuple[str, int]],
    tmp_path_factory: pytest.TempPathFactory,
    *,
    has_baskets: bool,
) -> None:
    """Wherever the rows stand, whatever they hold: the transactions of all others stay what they are."""
    folder = tmp_path_factory.mktemp("owners")
    options = {"owner": "who", "item": "what", "separator": ",", "skip_bad_rows": True}
    if has_baskets:
        options["basket"] = "day"

    def found(rows: list[str]) -> Counter[tuple[Item, ...]]:
        (folder / "a.csv").write_text("who,day,what\n" + "".join(row + "\n" for row in rows))
        return Counter(rows_read(folder / "a.csv", options))

    others = [f"o{owner},{owner % 2},{item}" for owner, item in owned]
    new = [f"new,1,{item}" for item, _ in of_one]
    mixed = list(others)
    for row, (_, place) in zip(new, of_one, strict=True):
        mixed.insert(place, row)
    assert found(mixed) == found(others) + found(new)
    assert sum(found(new).values()) <= 1


lists_of_items = st.lists(st.lists(st.integers(0, 4), max_size=3), max_size=5)


def parquet(rows: list[Any], dtype: Any) -> Callable[[Path], Path]:  # noqa: ANN401 - Polars has no common type
    """A file of the rows as lists."""

    def write(folder: Path) -> Path:
        pl.DataFrame({"items": pl.Series(rows, dtype=dtype)}).write_parquet(folder / "a.parquet")
        return folder / "a.parquet"

    return write


@given(
    rows=st.lists(st.lists(st.floats(width=32) | st.integers(0, 4).map(float), max_size=3), max_size=5),
    one=st.lists(st.floats() | st.integers(0, 4).map(float), max_size=3),
)
def test_one_more_list_of_a_parquet_file_is_one_more_transaction(
    rows: list[list[float]], one: list[float], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Also where a list holds what is no item, and where there is none."""
    folder = tmp_path_factory.mktemp("lists")

    def found(some: list[list[float]]) -> Counter[tuple[Item, ...]]:
        path = parquet(some, pl.List(pl.Float64))(folder)
        return Counter(rows_read(path, {"skip_bad_rows": True}))

    assert found([one, *rows]) == found(rows) + found([one])
    assert sum(found([one]).values()) == 1


@given(
    rows=st.lists(st.lists(st.integers(-1, 3), min_size=2, max_size=2), max_size=5),
    one=st.lists(st.integers(-1, 3), min_size=2, max_size=2),
    layout=st.sampled_from(["onehot", "table"]),
)
def test_one_more_row_of_a_table_in_memory_is_one_more_transaction(
    rows: list[list[int]],
    one: list[int],
    layout: Any,  # noqa: ANN401 - a format
) -> None:
    """A value that is neither 1 nor 0 says nothing of other rows."""

    def found(some: list[list[int]]) -> Counter[tuple[Item, ...]]:
        frame = pl.DataFrame(some, schema={"x": pl.Int64, "y": pl.Int64}, orient="row")
        return Counter(tuple(row) for row in baskets(read(frame, format=layout, skip_bad_rows=True)))

    assert found([one, *rows]) == found(rows) + found([one])
    assert sum(found([one]).values()) == 1


python_items = (
    st.none() | st.integers(-2, 2) | st.sampled_from([2**64, 2**64 - 1, 1.5, True, "1", "a", "\ud800"])
)
python_rows = st.lists(python_items, max_size=3) | st.sampled_from(["text", b"bytes", 7, None])


@given(rows=st.lists(python_rows, max_size=5), one=python_rows, place=st.integers(0, 5))
def test_one_more_python_list_is_one_more_transaction(rows: list[Any], one: object, place: int) -> None:
    """Whether others are integers or text, or no lists at all, changes nothing."""

    def found(some: list[Any]) -> Counter[tuple[Item, ...]]:
        return Counter(tuple(row) for row in baskets(read(some, skip_bad_rows=True)))

    assert found([*rows[:place], one, *rows[place:]]) == found(rows) + found([one])
    assert sum(found([one]).values()) == 1


@given(copies=st.lists(st.integers(-1, 4) | st.none(), max_size=5), one=st.integers(-1, 4) | st.none())
def test_a_row_with_a_multiplicity_is_one_owner(copies: list[int | None], one: int | None) -> None:
    """However many transactions it stands for, they are one owner's; a number that is none stands for an empty one."""

    def found(some: list[int | None]) -> Counter[tuple[tuple[Item, ...], ...]]:
        frame = pl.DataFrame({"items": pl.Series([["a"]] * len(some), dtype=pl.List(pl.String)), "n": some})
        frame = frame.with_columns(pl.col("n").cast(pl.Int64))
        return by_owner(read(frame, item="items", multiplicity="n", skip_bad_rows=True))

    assert found([one, *copies]) == found(copies) + found([one])
    expected = ((),) if one is None or one < 0 else (("a",),) * one
    assert found([one]) == Counter([expected] if expected else [])


def by_owner(transactions: Transactions) -> Counter[tuple[tuple[Item, ...], ...]]:
    """How many owners have these transactions."""
    assert transactions.owners is not None
    of: dict[int, list[tuple[Item, ...]]] = {}
    for owner, row in zip(transactions.owners.tolist(), baskets(transactions), strict=True):
        of.setdefault(owner, []).append(tuple(row))
    return Counter(map(tuple, of.values()))
