"""Tables of transactions, as Polars frames: long, with a list column, relational, or one-hot."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from veilset.arrays import BoolArray, Int64Array
from veilset.deferred import Deferred
from veilset.errors import BadCall, BadInput
from veilset.raw.read.encode import TokenRows, dictionary_rows, offsets_of
from veilset.raw.read.vocabulary import integers_if_all

if TYPE_CHECKING:
    import polars as pl
    import pyarrow.compute as pc
else:
    pl = Deferred("polars")
    pc = Deferred("pyarrow.compute")

LAYOUTS = {
    "long": "one item in each row",
    "list": "a list of items in each row",
    "table": "items are column=value",
    "onehot": "a column for each item",
}

MULTIPLICITY = "multiplicity"
"""A column of this name beside lists is refused, unless an option says that it tells how many each list stands for."""

MOST_ROWS = 2**31 - 1

LARGEST_WHOLE_FLOAT = 2.0**53
"""Beyond it, a float does not tell which whole number is meant."""

NO_ITEM = "no item; items are whole numbers or text in UTF-8, so convert it, or give --skip-bad-rows"

TRUE = ["1", "true", "True", "TRUE"]
FALSE = ["0", "false", "False", "FALSE"]


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column tells whose a row is, which basket it belongs to, what is in it, and how often it counts."""

    owner: str | None = None
    basket: str | None = None
    item: str | None = None
    multiplicity: str | None = None

    def __post_init__(self) -> None:
        if len(set(self.given())) != len(self.given()):
            raise BadCall("owner, basket, item and multiplicity name a column twice; name different ones")

    def given(self) -> list[str]:
        """The names that are given."""
        names = (self.owner, self.basket, self.item, self.multiplicity)
        return [name for name in names if name is not None]


def check_names(names: list[str], columns: Columns, *, table: str) -> None:
    """BadInput if two columns have one name, or one that is asked for is not there."""
    if len(set(names)) != len(names):
        raise BadInput(f"{table} has two columns of the same name; rename one of them")
    for name in columns.given():
        if name not in names:
            there = ", ".join(names)
            raise BadInput(f"{table} has no column {name!r}; name one of its columns: {there}")


@dataclass(frozen=True, slots=True)
class Table:
    """A table, what it is called in messages, and what becomes of a row that cannot be read.

    Such a row is refused, or if `skips`, counts as one without items; if it is also without an owner, it is left
    out, since whoever owns it counts already or has no other row. `is_published` tells that multiplicities are
    those of records that nobody owns. `rows_before` are in the same file, in other tables.
    """

    frame: "pl.DataFrame"
    name: str
    skips: bool = False
    is_published: bool = False
    rows_before: int = 0

    def refuse(self, is_bad: BoolArray, problem: str) -> None:
        """BadInput with the first row that is bad, unless such rows are skipped."""
        if not self.skips and is_bad.any():
            raise BadInput(
                f"{self.name}, row {self.rows_before + int(np.argmax(is_bad)) + 1} of the table: {problem}"
            )


def table_rows(table: Table, columns: Columns, *, layout: str | None) -> TokenRows:
    """The rows of a table; if no layout is given, the types of its columns tell it, never what rows hold."""
    check_names(table.frame.columns, columns, table=table.name)
    layout = layout_of(table, columns, layout)
    if layout == "long":
        return _long_rows(table, columns)
    if columns.basket is not None:
        raise BadCall(f"basket goes with a long table only; here a row is a transaction: {LAYOUTS[layout]}")
    if columns.item is not None and layout != "list":
        raise BadCall(f"item goes with a long table or a list column; here {LAYOUTS[layout]}")
    table, copied_from = _one_row_each(table, columns.multiplicity)
    table, owners = _by_owner(table, columns.owner)
    owners = copied_from if columns.owner is None else owners
    if layout == "list":
        return replace(_list_rows(table, columns.item), owners=owners)
    rows = _one_hot_rows(table) if layout == "onehot" else _relational_rows(table)
    return replace(rows, owners=owners)


def guess_layout(frame: "pl.DataFrame", columns: Columns, *, name: str) -> str:
    """Lists or long if the item column is named; otherwise lists or one-hot, if nothing else is there."""
    if columns.item is not None:
        return (
            "list"
            if _holds_lists(
                frame[columns.item], is_long=columns.owner is not None or columns.basket is not None
            )
            else "long"
        )
    rest = frame.drop(columns.given())
    lists = rest.drop(MULTIPLICITY, strict=False)
    if lists.width == 1 and _holds_lists(lists.to_series(), is_long=False):
        return "list"
    if rest.width > 0 and all(kind == pl.Boolean or kind.is_float() for kind in rest.dtypes):
        return "onehot"
    raise BadInput(
        f"{name} can be read in several ways; name the columns of owners or baskets and of items (owner, basket, "
        f"item), or give "
        f"the format: 'table' if every row is a transaction of column=value items, 'onehot' if every column is "
        f"an item and holds 1 or 0"
    )


def layout_of(table: Table, columns: Columns, layout: str | None) -> str:
    """The layout, unless a column of multiplicities would be passed over, or taken for one, without a word."""
    found = layout or guess_layout(table.frame, columns, name=table.name)
    if found == "long" and columns.multiplicity is not None:
        raise BadCall("multiplicity means nothing for a long table; leave it out, or give another format")
    is_silent = columns.multiplicity is None and MULTIPLICITY in table.frame.columns
    if found == "list" and is_silent and (layout is None or columns.item is None):
        raise BadInput(
            f"{table.name} has a column {MULTIPLICITY!r} beside its lists; if it tells how many transactions each "
            f"list stands for, give --multiplicity {MULTIPLICITY}; if not, give --format list and --item"
        )
    return found


def _holds_lists(column: "pl.Series", *, is_long: bool) -> bool:
    """Whether the type says so; a column of nothing but nulls has no type, and holds lists if nothing else fits."""
    return column.dtype.is_nested() or (column.dtype == pl.Null and not is_long)


def _long_rows(table: Table, columns: Columns) -> TokenRows:
    """One transaction for each owner, for each basket of each owner, or for each basket of nobody knows whom."""
    keys = [key for key in (columns.owner, columns.basket) if key is not None]
    if not keys or columns.item is None:
        raise BadCall(
            "a long table needs a column of owners or of baskets, and one of items; name them with owner or basket, "
            "and item"
        )
    for key in keys:
        table = _with_known(table, key)
    values, is_bad = item_values(table.frame[columns.item].to_arrow(), name=table.name)
    table.refuse(is_bad, NO_ITEM)
    items = pl.Series(columns.item, values)
    lists = table.frame.with_columns(items).group_by(keys, maintain_order=True).agg(columns.item)
    grouped, owners = _by_owner(
        replace(table, frame=lists), None if columns.basket is None else columns.owner
    )
    return replace(
        _list_rows(grouped, columns.item),
        owners=owners,
        is_by_person=columns.basket is None,
        is_by_basket=columns.owner is None,
    )


def _list_rows(table: Table, item: str | None) -> TokenRows:
    lists = table.frame[item] if item is not None else table.frame.to_series()
    if lists.dtype == pl.Null:
        lists = lists.cast(pl.List(pl.Null))
    if not isinstance(lists.dtype, (pl.List, pl.Array)):
        raise BadInput(
            f"{table.name} has no lists in the column {lists.name!r}; name a list column with item"
        )
    array = lists.to_arrow()
    offsets = offsets_of(pc.list_value_length(array).fill_null(0).to_numpy())
    items, is_bad = item_values(pc.list_flatten(array), name=table.name)
    if not is_bad.any():
        return dictionary_rows(offsets, items)
    row_of = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    is_bad_row = np.bincount(row_of[is_bad], minlength=offsets.size - 1) > 0
    table.refuse(is_bad_row, NO_ITEM)
    return dictionary_rows(offsets, pc.if_else(pa.array(~is_bad_row[row_of]), items, None))


def item_values(values: pa.Array, *, name: str) -> tuple[pa.Array, BoolArray]:
    """Items as integers or text, and which are none; whole numbers stored as floats are integers, too.

    Which type they have depends on that of the column alone, and whether one is none on that value alone.
    """
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_integer(values.type):
        return values, np.zeros(len(values), dtype=np.bool_)
    if pa.types.is_floating(values.type):
        return _whole_numbers(values)
    return _as_text(values, name=name)


def _whole_numbers(values: pa.Array) -> tuple[pa.Array, BoolArray]:
    is_item = values.is_valid().to_numpy(zero_copy_only=False)
    numbers = values.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
    is_whole = (np.abs(numbers) <= LARGEST_WHOLE_FLOAT) & (np.floor(numbers) == numbers)
    whole = np.where(is_whole, numbers, 0).astype(np.int64)
    return pa.array(whole, mask=~(is_item & is_whole)), ~is_whole


def _one_row_each(table: Table, multiplicity: str | None) -> tuple[Table, Int64Array | None]:
    """Every row as often as its multiplicity says, one after another, and the number of the row each was copied from.

    The row is what somebody owns, however often it counts; so copies of one row have one owner.
    """
    if multiplicity is None:
        return table, None
    column = table.frame[multiplicity]
    problem = f"no number of transactions in the column {multiplicity!r}; give whole numbers from 0 up"
    if not (column.dtype.is_integer() or column.dtype == pl.Null):
        raise BadInput(f"{table.name}: {problem}")
    numbers = column.cast(pl.Int64, strict=False)
    is_bad = ~(numbers.is_between(0, MOST_ROWS).fill_null(value=False)).to_numpy()
    table.refuse(is_bad, problem)
    copies = np.where(is_bad, 1, numbers.fill_null(1).to_numpy())
    if copies.sum() > MOST_ROWS:
        raise BadInput(f"{table.name} stands for more than {MOST_ROWS:,} transactions; give it in parts")
    frame = _emptied(table.frame.drop(multiplicity), is_bad)
    kept = np.flatnonzero(copies)
    copied_from = np.repeat(np.arange(kept.size), copies[kept])
    owners = None if table.is_published else copied_from
    return replace(table, frame=frame[kept[copied_from]]), owners


def _emptied(frame: "pl.DataFrame", is_bad: BoolArray) -> "pl.DataFrame":
    """The table with nothing but nulls in bad rows."""
    return frame.select(pl.when(pl.Series(~is_bad)).then(pl.all())) if is_bad.any() else frame


def _one_hot_rows(table: Table) -> TokenRows:
    frame = table.frame
    marks = [_marks(column, name=table.name) for column in frame]
    shape = (frame.height, frame.width)
    is_bad = (
        np.any(np.stack([bad for _, bad in marks], axis=1), axis=1) if marks else np.zeros(shape[0], np.bool_)
    )
    table.refuse(is_bad, "a value that is neither true nor false, 1 nor 0; this table is not one-hot")
    matrix = np.stack([is_true for is_true, _ in marks], axis=1) if marks else np.zeros(shape, np.bool_)
    matrix[is_bad] = False
    tokens = np.nonzero(matrix)[1].astype(np.int32)
    names = integers_if_all(pa.array(frame.columns, pa.string()))
    return TokenRows(
        offsets_of(np.count_nonzero(matrix, axis=1)),
        tokens,
        names,
        np.arange(len(names), dtype=np.int64),
        is_ascending=True,
    )


def _marks(column: "pl.Series", *, name: str) -> tuple[BoolArray, BoolArray]:
    """Which values of a one-hot column are true, and which are neither true nor false; a null is false."""
    if column.dtype in (pl.Boolean, pl.Null):
        marks = column.cast(pl.Boolean).fill_null(value=False).to_numpy()
        return marks, np.zeros(marks.size, dtype=np.bool_)
    if column.dtype.is_float():
        numbers = column.fill_nan(None).fill_null(0).to_numpy()
        return numbers == 1, (numbers != 1) & (numbers != 0)
    if not (column.dtype.is_integer() or column.dtype == pl.String):
        raise BadInput(f"{name} is not one-hot; every column must hold only true and false, or 1 and 0")
    values = column.cast(pl.String)
    is_true = values.is_in(TRUE).fill_null(value=False)
    is_known = is_true | values.is_in(FALSE).fill_null(value=True)
    return is_true.to_numpy(), ~is_known.to_numpy()


def _relational_rows(table: Table) -> TokenRows:
    """Every row a transaction of `column=value` items, but for nulls."""
    _refuse_ambiguous(table)
    names: list[str] = []
    columns: list[Int64Array] = []
    is_bad_row = np.zeros(table.frame.height, dtype=np.bool_)
    for column in table.frame:
        texts, is_bad = _as_text(column.to_arrow(), name=table.name)
        values = texts.dictionary_encode()
        columns.append(values.indices.cast(pa.int64()).fill_null(-1 - len(names)).to_numpy() + len(names))
        names += [f"{column.name}={value}" for value in values.dictionary.to_pylist()]
        is_bad_row |= is_bad
    table.refuse(is_bad_row, NO_ITEM)
    matrix = np.column_stack(columns) if columns else np.zeros((table.frame.height, 0), dtype=np.int64)
    matrix[is_bad_row] = -1
    return TokenRows(
        offsets_of(np.count_nonzero(matrix >= 0, axis=1)),
        matrix[matrix >= 0].astype(np.int32),
        pa.array(names, pa.string()),
        np.arange(len(names), dtype=np.int64),
        is_ascending=True,
    )


def _refuse_ambiguous(table: Table) -> None:
    """BadInput if two columns can make the same item: `a` of `b=c`, and `a=b` of `c`."""
    names = table.frame.columns
    if any(other.startswith(f"{name}=") for name in names for other in names):
        raise BadInput(
            f"{table.name} has two columns that make the same column=value item; rename one of them"
        )


def _by_owner(table: Table, owner: str | None) -> tuple[Table, Int64Array | None]:
    """The table without the column of owners, rows of one owner together, and the number of each row's."""
    if owner is None:
        return table, None
    table = _with_known(table, owner)
    numbers = table.frame[owner].to_arrow().dictionary_encode().indices.to_numpy().astype(np.int64)
    order = np.argsort(numbers, kind="stable")
    return replace(table, frame=table.frame.drop(owner)[order]), numbers[order]


def _with_known(table: Table, key: str) -> Table:
    """The table without rows of which nobody knows whose they are."""
    column = table.frame[key]
    table.refuse(
        column.is_null().to_numpy(),
        f"no value in the column {key!r}, so nobody knows whose it is; fill it in, or give --skip-bad-rows",
    )
    return replace(table, frame=table.frame.filter(column.is_not_null())) if column.null_count() else table


def _as_text(values: pa.Array, *, name: str) -> tuple[pa.Array, BoolArray]:
    """Values as text, and which of them cannot be."""
    is_bad = np.zeros(len(values), dtype=np.bool_)
    try:
        return values.cast(pa.large_string()), is_bad
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if not (pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type)):
            raise BadInput(f"{name} has items of type {values.type}; convert them to text first") from None
    texts = [None if value is None else _decoded(value) for value in values.to_pylist()]
    is_value = values.is_valid().to_numpy(zero_copy_only=False)
    return pa.array(texts, pa.large_string()), is_value & np.array(
        [text is None for text in texts], dtype=np.bool_
    )


def _decoded(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None
