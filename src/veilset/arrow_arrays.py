"""Arrow arrays over NumPy's memory without a copy, and made without importing pandas.

Arrow's own `pa.array` and `to_numpy` import pandas first, where that is installed: longer than reading a small file.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.arrays import Int64Array, Uint8Array

INTEGERS = {
    pa.uint8(): np.uint8,
    pa.int32(): np.int32,
    pa.int64(): np.int64,
    pa.uint64(): np.uint64,
}


def integers(values: npt.NDArray[Any]) -> pa.Array:
    """Integers as an Arrow array."""
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(np.ascontiguousarray(values))])


def numpy_of(array: pa.Array) -> npt.NDArray[Any]:
    """Integers or truth values without nulls, as Arrow has them."""
    if pa.types.is_boolean(array.type):
        return numpy_of(array.cast(pa.uint8())).view(np.bool_).copy()
    kind = np.dtype(INTEGERS[array.type])
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.empty(0, dtype=kind)
    return np.frombuffer(data, dtype=kind, count=len(array), offset=array.offset * kind.itemsize)


def taken(values: pa.Array, places: Int64Array) -> pa.Array:
    """The values at some places, none of which is missing; of integers without importing Arrow's functions.

    >>> taken(integers(np.array([5, 6, 7])), np.array([2, 0])).to_pylist()
    [7, 5]
    """
    if values.type in INTEGERS:
        return integers(numpy_of(values)[places])
    return values.take(integers(places))


def whole_parquet(path: Path) -> pa.Table:
    """The table of a Parquet file, checked value by value; an Arrow error where the file is damaged.

    Polars reads these files, too, and ends in a panic where one is damaged.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - what most commands do without

    with pq.ParquetFile(path) as parquet:
        table = parquet.read()
    table.validate(full=True)
    return table


def large_strings(text: Uint8Array, starts: Int64Array) -> pa.LargeStringArray:
    """The texts `text[starts[i]:starts[i + 1]]`."""
    return pa.LargeStringArray.from_buffers(starts.size - 1, pa.py_buffer(starts), pa.py_buffer(text))


def text_array(words: Sequence[str]) -> pa.LargeStringArray:
    """Words as an Arrow array.

    >>> text_array(["milk", "", "bread"]).to_pylist()
    ['milk', '', 'bread']
    """
    encoded = [word.encode() for word in words]
    starts = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(word) for word in encoded], out=starts[1:])
    return large_strings(np.frombuffer(b"".join(encoded), np.uint8), starts)
