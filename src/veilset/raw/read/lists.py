"""Transactions given as Python lists, sets, tuples, or anything else one can iterate over."""

from collections.abc import Iterable
from itertools import chain

import numpy as np
import pyarrow as pa

from veilset.errors import BadInput
from veilset.raw.read.encode import TokenRows, dictionary_rows
from veilset.raw.transactions import Item

NAME = "the list"


def list_rows(source: object) -> TokenRows:
    """The rows of a list of lists; None is no item. If only some items are text, all become text."""
    rows = _tuples(source)
    if not rows:
        raise BadInput(f"{NAME} holds no transaction; give a list with one list of items for each")
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, rows), dtype=np.int64, count=len(rows)), out=offsets[1:])
    return dictionary_rows(offsets, _item_array(list(chain.from_iterable(rows))))


def _tuples(source: object) -> list[tuple[Item | None, ...]]:
    rows = list(source) if isinstance(source, Iterable) else None
    if rows is None or not all(issubclass(kind, Iterable) for kind in set(map(type, rows))):
        raise BadInput(
            "the data are neither a path, a table nor a list of lists; give one list for each transaction"
        )
    if {str, bytes} & set(map(type, rows)):
        raise BadInput(f"{NAME} holds text where a list of items should be; give a list for each transaction")
    return list(map(tuple, rows))


def _item_array(items: list[Item | None]) -> pa.Array:
    kinds = set(map(type, items)) - {type(None)}
    strange = [kind for kind in kinds if not issubclass(kind, (str, int, np.integer)) or kind is bool]
    if strange:
        raise BadInput(f"{NAME} holds an item of type {strange[0].__name__}; items are integers or text")
    try:
        if any(issubclass(kind, str) for kind in kinds):
            return pa.array([None if item is None else str(item) for item in items], pa.string())
        return _integer_array(items)
    except (pa.ArrowException, OverflowError):
        raise BadInput(f"{NAME} holds an integer of more than 64 bits; give such items as text") from None
    except UnicodeEncodeError:
        raise BadInput(f"{NAME} holds text that is not valid Unicode; clean it first") from None


def _integer_array(items: list[Item | None]) -> pa.Array:
    try:
        return pa.array(items, pa.int64())
    except (pa.ArrowException, OverflowError):
        return pa.array(items, pa.uint64())
