"""Tables of transactions, as Polars frames: long, with a list column, relational, or one-hot."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from veilset.arrays import Int64Array
from veilset.errors import BadCall, BadInput
from veilset.raw.read.encode import TokenRows, dictionary_rows
from veilset.raw.read.vocabulary import integers_if_all

LAYOUTS = {
    "long": "one item in each row",
    "list": "a list of items in each row",
    "table": "items are column=value",
    "onehot": "a column for each item",
}

MULTIPLICITY = "multiplicity"
"""The column beside a column of lists that tells how many transactions each list stands for."""

MOST_ROWS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column tells whose a row is, which basket it belongs to, and what is in it."""

    owner: str | None = None
    basket: str | None = None
    item: str | None = None

    def __post_init__(self) -> None:
        if len(set(self.given())) != len(self.given()):
            raise BadCall("owner, basket and item name the same column twice; name different ones")

    def given(self) -> list[str]:
        """The names that are given."""
        return [name for name in (self.owner, self.basket, self.item) if name is not None]

    def check_against(self, names: list[str], *, table: str) -> None:
        """BadInput if a column is not there."""
        for name in self.given():
            if name not in names:
                there = ", ".join(names)
                raise BadInput(f"{table} has no column {name!r}; name one of its columns: {there}")


def table_rows(frame: pl.DataFrame, columns: Columns, *, layout: str | None, name: str) -> TokenRows:
    """The rows of a table; if no layout is given, the columns tell it."""
    columns.check_against(frame.columns, table=name)
    if layout in {None, "list"} and _is_counted(frame):
        frame = _one_row_each(frame, name=name)
    layout = layout or guess_layout(frame, columns, name=name)
    if frame.height == 0:
        raise BadInput(f"{name} holds no transaction; the table has no rows")
    if layout == "long":
        return _long_rows(frame, columns, name=name)
    if columns.basket is not None:
        raise BadCall(f"basket goes with a long table only; here a row is a transaction: {LAYOUTS[layout]}")
    if layout == "list":
        return _list_rows(frame, columns, name=name)
    if columns.item is not None:
        raise BadCall(f"item goes with a long table or a list column; here {LAYOUTS[layout]}")
    frame, owners = _by_owner(frame, columns.owner, name=name)
    rows = _one_hot_rows(frame, name=name) if layout == "onehot" else _relational_rows(frame, name=name)
    return replace(rows, owners=owners)


def guess_layout(frame: pl.DataFrame, columns: Columns, *, name: str) -> str:
    """Lists or long if the item column is named; otherwise lists or one-hot, if nothing else is there."""
    if columns.item is not None:
        return "list" if frame[columns.item].dtype.is_nested() else "long"
    rest = frame.drop(columns.given())
    if rest.width == 1 and rest.dtypes[0].is_nested():
        return "list"
    if rest.width > 0 and all(_is_one_hot(column) for column in rest):
        return "onehot"
    raise BadInput(
        f"{name} can be read in several ways; name the columns of owners and items (owner, item), or give "
        f"the format 'table' if every row is a transaction of column=value items"
    )


def item_values(values: pa.Array, *, name: str) -> pa.Array:
    """Items as integers or text; whole numbers stored as floats (a column with gaps) are integers, too."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_integer(values.type):
        return values
    if not pa.types.is_floating(values.type):
        return _as_text(values, name=name)
    try:
        return values.cast(pa.int64())
    except pa.ArrowInvalid:
        raise BadInput(f"{name} has items that are fractions; items are whole numbers or text") from None


def _long_rows(frame: pl.DataFrame, columns: Columns, *, name: str) -> TokenRows:
    """One transaction for each owner, or for each basket of each owner."""
    if columns.owner is None or columns.item is None:
        raise BadCall("a long table needs a column of owners and one of items; name both with owner and item")
    keys = [columns.owner] if columns.basket is None else [columns.owner, columns.basket]
    for key in keys:
        _refuse_nulls(frame[key], name=name)
    lists = frame.group_by(keys, maintain_order=True).agg(columns.item)
    owner_of_list = None if columns.basket is None else columns.owner
    return _list_rows(lists, Columns(owner=owner_of_list, item=columns.item), name=name)


def _list_rows(frame: pl.DataFrame, columns: Columns, *, name: str) -> TokenRows:
    frame, owners = _by_owner(frame, columns.owner, name=name)
    lists = frame[columns.item] if columns.item is not None else frame.to_series()
    if not isinstance(lists.dtype, (pl.List, pl.Array)):
        raise BadInput(f"{name} has no lists in the column {lists.name!r}; name a list column with item")
    array = lists.to_arrow()
    lengths = pc.list_value_length(array).fill_null(0).to_numpy()
    items = item_values(pc.list_flatten(array), name=name)
    return replace(dictionary_rows(_offsets(lengths), items), owners=owners)


def _is_counted(frame: pl.DataFrame) -> bool:
    """Whether a table holds lists and their multiplicities, and nothing else."""
    rest = frame.drop(MULTIPLICITY, strict=False)
    return frame.width == 2 and rest.width == 1 and rest.dtypes[0].is_nested()


def _one_row_each(frame: pl.DataFrame, *, name: str) -> pl.DataFrame:
    """Every list as often as its multiplicity says, one after another."""
    numbers = frame[MULTIPLICITY]
    is_whole = numbers.dtype.is_integer() and numbers.null_count() == 0
    if not is_whole or not (numbers >= 0).all() or numbers.cast(pl.Float64).sum() > MOST_ROWS:
        raise BadInput(
            f"{name} has multiplicities that are no numbers of transactions; give whole numbers from 0 up, "
            f"together at most {MOST_ROWS:,}"
        )
    return frame.drop(MULTIPLICITY)[np.repeat(np.arange(frame.height), numbers.to_numpy())]


def _one_hot_rows(frame: pl.DataFrame, *, name: str) -> TokenRows:
    if not all(_is_one_hot(column) for column in frame):
        raise BadInput(f"{name} is not one-hot; every column must hold only true and false, or 1 and 0")
    matrix = frame.select(pl.all().cast(pl.Boolean).fill_null(value=False)).to_numpy()
    tokens = np.nonzero(matrix)[1].astype(np.int32)
    names = integers_if_all(pa.array(frame.columns, pa.string()))
    return TokenRows(
        _offsets(np.count_nonzero(matrix, axis=1)),
        tokens,
        names,
        np.arange(len(names), dtype=np.int64),
        is_ascending=True,
    )


def _relational_rows(frame: pl.DataFrame, *, name: str) -> TokenRows:
    """Every row a transaction of `column=value` items, but for nulls."""
    names: list[str] = []
    columns: list[Int64Array] = []
    for column in frame:
        values = _as_text(column.to_arrow(), name=name).dictionary_encode()
        columns.append(values.indices.cast(pa.int64()).fill_null(-1 - len(names)).to_numpy() + len(names))
        names += [f"{column.name}={value}" for value in values.dictionary.to_pylist()]
    if len(set(names)) != len(names):
        raise BadInput(f"{name} has two columns that make the same column=value item; rename one of them")
    matrix = np.column_stack(columns)
    return TokenRows(
        _offsets(np.count_nonzero(matrix >= 0, axis=1)),
        matrix[matrix >= 0].astype(np.int32),
        pa.array(names, pa.string()),
        np.arange(len(names), dtype=np.int64),
        is_ascending=True,
    )


def _by_owner(frame: pl.DataFrame, owner: str | None, *, name: str) -> tuple[pl.DataFrame, Int64Array | None]:
    """The table without the column of owners, rows of one owner together, and the number of each row's."""
    if owner is None:
        return frame, None
    _refuse_nulls(frame[owner], name=name)
    numbers = frame[owner].to_arrow().dictionary_encode().indices.to_numpy().astype(np.int64)
    order = np.argsort(numbers, kind="stable")
    return frame.drop(owner)[order], numbers[order]


def _as_text(values: pa.Array, *, name: str) -> pa.Array:
    try:
        return values.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise BadInput(f"{name} has items of type {values.type}; convert them to text first") from None


def _is_one_hot(column: pl.Series) -> bool:
    if column.dtype == pl.Boolean:
        return True
    return column.dtype.is_integer() and bool(column.is_between(0, 1).all())


def _refuse_nulls(column: pl.Series, *, name: str) -> None:
    if column.null_count():
        raise BadInput(
            f"{name} has rows without a value in the column {column.name!r}, so nobody knows whose they are; "
            f"fill in the values, or remove those rows"
        )


def _offsets(lengths: Int64Array) -> Int64Array:
    offsets = np.zeros(lengths.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
