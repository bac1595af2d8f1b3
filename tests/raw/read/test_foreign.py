"""Tables of other libraries, through Arrow's PyCapsule interface and the dataframe protocol."""

from collections.abc import Callable
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from reference_reading import baskets
from veilset.errors import BadInput
from veilset.raw.read import read

LONG = pl.DataFrame({"who": ["ann", "ann", "bob"], "what": ["milk", "bread", "milk"]})


class Stream:
    """Something that has nothing but Arrow's stream."""

    def __init__(self, held: Any) -> None:  # noqa: ANN401
        self._held = held

    def __arrow_c_stream__(self, schema: object = None) -> object:
        return self._held.__arrow_c_stream__(schema)


class OneArray:
    """Something that has nothing but Arrow's array."""

    def __init__(self, held: Any) -> None:  # noqa: ANN401
        self._held = held

    def __arrow_c_array__(self, schema: object = None) -> object:
        return self._held.__arrow_c_array__(schema)


class Protocol:
    """Something that has nothing but the dataframe protocol."""

    def __init__(self, held: Any) -> None:  # noqa: ANN401
        self._held = held

    def __dataframe__(self, **options: Any) -> Any:  # noqa: ANN401
        return self._held.__dataframe__(**options)


class Broken:
    """Something that fails with what it holds in its words."""

    def __arrow_c_stream__(self, schema: object = None) -> object:
        raise RuntimeError("secret")


TABLES: dict[str, Callable[[], object]] = {
    "a stream": lambda: Stream(LONG.to_arrow()),
    "a batch": lambda: OneArray(LONG.to_arrow().to_batches()[0]),
    "a reader": lambda: LONG.to_arrow().to_reader(),
    "the dataframe protocol": lambda: Protocol(LONG.to_arrow()),
    "Ibis": lambda: ibis.memtable(LONG),
    "DuckDB": lambda: duckdb.from_arrow(LONG.to_arrow()),
    "a lazy frame": LONG.lazy,
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_a_table_of_any_library_is_read(make: Callable[[], object]) -> None:
    """By the columns that are named."""
    assert baskets(read(make(), owner="who", item="what")) == [["bread", "milk"], ["milk"]]


def test_a_column_of_lists_without_a_table_is_read() -> None:
    """As a stream and as one array."""
    lists = pa.array([["milk", "bread"], []])
    for source in (Stream(pa.chunked_array([lists])), OneArray(lists)):
        assert baskets(read(source)) == [["bread", "milk"], []]


def test_a_duckdb_relation_of_lists_tells_its_layout_by_its_types() -> None:
    """As a Parquet file would."""
    relation = duckdb.sql("SELECT ['milk', 'bread'] AS what UNION ALL SELECT [] ORDER BY 1 DESC")
    assert baskets(read(relation)) == [["bread", "milk"], []]


def test_a_table_that_fails_is_refused_without_its_words() -> None:
    """They can be from the data."""
    with pytest.raises(BadInput, match="the Broken could not be turned into a table") as refused:
        read(Broken(), owner="who", item="what")
    assert "secret" not in str(refused.value)


def test_a_class_is_no_table() -> None:
    """Though it has the method."""
    with pytest.raises(BadInput, match="neither a path, a table nor a list"):
        read(Stream)


def test_pandas_goes_its_own_way() -> None:
    """Its categories are items."""
    frame = pd.DataFrame(LONG.to_dict(as_series=False)).astype({"what": "category"})
    assert baskets(read(frame, owner="who", item="what")) == [["bread", "milk"], ["milk"]]
