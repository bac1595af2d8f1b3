"""Transactions given as Python lists, sets, tuples, or anything else one can iterate over."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from veilset.arrays import Int64Array
from veilset.errors import BadInput
from veilset.raw.read.encode import TokenRows, dictionary_rows, offsets_of
from veilset.raw.transactions import Item

NAME = "the list"

PythonRow = tuple[Item | None, ...]


def list_rows(source: object, *, skips: bool = False) -> TokenRows:
    """The rows of a list of lists; None is no item. An integer and the text of it are two items.

    If `skips`, a row that is no list of integers and text is one without items.
    """
    if not isinstance(source, Iterable):
        raise BadInput(
            "the data are neither a path, a table nor a list of lists; give one list for each transaction"
        )
    found = [_row(row) for row in source]
    rows = [row for row in found if isinstance(row, tuple)]
    items = _item_array(rows) if len(rows) == len(found) else None
    if items is None:  # several types of items, or rows that cannot be read: look at each
        rows = [_readable(row, number, skips=skips) for number, row in enumerate(found, 1)]
        return _mixed_rows(offsets_of(_lengths(rows)), list(chain.from_iterable(rows)))
    return dictionary_rows(offsets_of(_lengths(rows)), items)


def _row(row: object) -> PythonRow | str:
    """The items of a row, or why it has none."""
    if isinstance(row, (str, bytes)):
        return "text where a list of items should be"
    return tuple(row) if isinstance(row, Iterable) else "neither a list of items nor anything like one"


def _item_array(rows: list[PythonRow]) -> pa.Array | None:
    """All items as one array, if they are all text, or all integers that fit into one type."""
    items = list(chain.from_iterable(rows))
    kinds = set(map(type, items)) - {type(None)}
    if all(issubclass(kind, str) for kind in kinds):
        types = [pa.string()]
    elif all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds):
        types = [pa.int64(), pa.uint64()]
    else:
        return None
    return next((array for array in (_array(items, kind) for kind in types) if array is not None), None)


def _array(items: list[Item | None], kind: pa.DataType) -> pa.Array | None:
    try:
        return pa.array(items, kind)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        return None


def _readable(row: PythonRow | str, number: int, *, skips: bool) -> PythonRow:
    problem = row if isinstance(row, str) else next(filter(None, map(_problem, row)), None)
    if problem is None:
        return row  # type: ignore[return-value]  # a text is a problem
    if skips:
        return ()
    raise BadInput(f"{NAME}, row {number}: {problem}; give a list of integers and text for each transaction")


def _problem(item: Any) -> str | None:  # noqa: ANN401 - whatever the list holds
    """Why this is no item."""
    if isinstance(item, str):
        is_unicode = not any("\ud800" <= letter <= "\udfff" for letter in item)
        return None if is_unicode else "text that is not valid Unicode"
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        return None if -(2**63) <= int(item) < 2**64 else "an integer of more than 64 bits"
    return None if item is None else f"an item of type {type(item).__name__}, not an integer or text"


def _mixed_rows(offsets: Int64Array, items: list[Item | None]) -> TokenRows:
    """Rows of integers and text, each of which stays what it is."""
    kept_before = np.cumsum([0, *(item is not None for item in items)], dtype=np.int64)
    token_of: dict[Item, int] = {}
    tokens = [token_of.setdefault(_plain(item), len(token_of)) for item in items if item is not None]
    return TokenRows(
        kept_before[offsets],
        np.array(tokens, dtype=np.int32),
        pa.array([str(name) for name in token_of], pa.string()),
        np.arange(len(token_of), dtype=np.int64),
        are_integers=np.array([not isinstance(name, str) for name in token_of], dtype=np.bool_),
    )


def _plain(item: Item) -> Item:
    return str(item) if isinstance(item, str) else int(item)


def _lengths(rows: list[PythonRow]) -> Int64Array:
    return np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
