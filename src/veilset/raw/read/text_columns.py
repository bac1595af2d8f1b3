"""Columns of values as a table of texts, each value by itself: what a CSV file of them would hold."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from veilset.deferred import Deferred
from veilset.errors import BadInput
from veilset.raw.read.csv_tables import CsvTable

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Deferred("polars")

_VECTORISED = (pa.types.is_integer, pa.types.is_string, pa.types.is_large_string, pa.types.is_null)

_PLAIN_TYPES = (str, int, float, Decimal, date, datetime, time, UUID)


def table_of_texts(columns: Mapping[str, Any]) -> CsvTable:
    """A table of text columns, chunked arrays of Arrow, with one number for each distinct text."""
    chunks = [column.cast(pa.large_string()) for column in columns.values()]
    rows = len(chunks[0]) if chunks else 0
    everything = pa.chunked_array([chunk for each in chunks for chunk in each.chunks], pa.large_string())
    distinct = everything.combine_chunks().dictionary_encode()
    numbers = pl.Series(distinct.indices, dtype=pl.Int32)
    frame = pl.DataFrame(
        {name: numbers[place * rows : (place + 1) * rows] for place, name in enumerate(columns)}
    )
    return CsvTable(frame, distinct.dictionary)


def texts_of(values: Sequence[object], *, column: str) -> pa.Array:
    """Values from a database as text, those that are missing as null; each is written the same whatever others are."""
    try:
        array = pa.array(values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        array = None
    if array is not None and any(is_kind(array.type) for is_kind in _VECTORISED):
        return array.cast(pa.large_string())
    try:
        return pa.array([_text(value, column) for value in values], pa.large_string())
    except UnicodeEncodeError:
        raise BadInput(
            f"the column {column!r} has text that is not valid Unicode; mend it in the query"
        ) from None


def _text(value: object, column: str) -> str | None:
    """A value as text: whole numbers without a point, truth values as true and false."""
    if value is None:
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | Decimal):
        return _number_text(Decimal(value), str(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return _decoded_text(bytes(value), column)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, _PLAIN_TYPES):
        return str(value)
    raise BadInput(
        f"the column {column!r} has values of the type {type(value).__name__}; let the query return text or numbers, "
        "one item in each row"
    )


def _number_text(value: Decimal, written: str) -> str | None:
    """A number as it is written, a whole one without a point; none where it stands for a missing value."""
    if value.is_nan():
        return None
    return str(int(value)) if value.is_finite() and value == int(value) else written


def _decoded_text(value: bytes, column: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise BadInput(
            f"the column {column!r} has bytes that are no text in UTF-8; let the query return text"
        ) from None
