"""Memory that grows, and Arrow arrays over NumPy's memory without a copy."""

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


def grown(array: npt.NDArray[Any], *, used: int, size: int) -> npt.NDArray[Any]:
    """A larger array that starts with what is used of this one; what is behind that is not touched yet."""
    larger = np.empty(size, dtype=array.dtype)
    larger[:used] = array[:used]
    return larger


def large_strings(text: Uint8Array, starts: Int64Array) -> pa.LargeStringArray:
    """The texts `text[starts[i]:starts[i + 1]]`."""
    return pa.LargeStringArray.from_buffers(starts.size - 1, pa.py_buffer(starts), pa.py_buffer(text))


def integers(values: npt.NDArray[Any]) -> pa.Array:
    """Integers as an Arrow array; `pa.array` does the same, but imports pandas first, where that is installed."""
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, values.size, [None, pa.py_buffer(np.ascontiguousarray(values))])


def numpy_of(array: pa.Array) -> npt.NDArray[Any]:
    """Integers or truth values without nulls, as Arrow has them; `to_numpy` does the same, but imports pandas first."""
    if pa.types.is_boolean(array.type):
        return numpy_of(array.cast(pa.uint8())).view(np.bool_).copy()
    kind = np.dtype(INTEGERS[array.type])
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.empty(0, dtype=kind)
    return np.frombuffer(data, dtype=kind, count=len(array), offset=array.offset * kind.itemsize)
