"""Tables of other libraries: whatever hands itself out through Arrow's PyCapsule interface or the dataframe protocol.

That covers DuckDB relations, Ibis tables, and frames of Narwhals, Modin, DataFusion and others, none of which is
imported here. A source that computes its rows when it is asked, such as a query, computes them here.
"""

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from veilset.deferred import Deferred
from veilset.errors import BadInput

if TYPE_CHECKING:
    import polars as pl
    import pyarrow.interchange as dataframe_protocol
else:
    pl = Deferred("polars")
    dataframe_protocol = Deferred("pyarrow.interchange")

_ONE_COLUMN = "items"
"""What the one column of an array is called."""


def foreign_frame(source: Any) -> "pl.DataFrame | None":  # noqa: ANN401 - any object
    """The table behind an object of another library; None where it offers no way to get at it."""
    offered = [name for name in _WAYS if _offers(source, name)]
    if not offered:
        return None
    try:
        table = _WAYS[offered[0]](source)
    except Exception:  # noqa: BLE001 - what it says of itself, in whatever class, can be from the data
        raise BadInput(
            f"the {type(source).__name__} could not be turned into a table; turn it into a pandas, Polars or Arrow "
            "table first, which will tell why"
        ) from None
    return pl.DataFrame(table)


def _offers(source: object, name: str) -> bool:
    """Whether its class has this method; a class itself, which has it too, is no table."""
    return callable(getattr(type(source), name, None)) and not isinstance(source, type)


def _of_stream(source: Any) -> pa.Table:  # noqa: ANN401
    try:
        return pa.table(source)
    except (TypeError, ValueError, pa.ArrowException):  # a stream of values, not of rows
        return pa.table({_ONE_COLUMN: pa.chunked_array(source)})


def _of_array(source: Any) -> pa.Table:  # noqa: ANN401
    array = pa.array(source)
    if pa.types.is_struct(array.type):
        return pa.Table.from_struct_array(array)
    return pa.table({_ONE_COLUMN: array})


def _of_protocol(source: Any) -> pa.Table:  # noqa: ANN401
    return dataframe_protocol.from_dataframe(source)


_WAYS = {"__arrow_c_stream__": _of_stream, "__arrow_c_array__": _of_array, "__dataframe__": _of_protocol}
