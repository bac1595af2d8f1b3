"""Memory that grows, and Arrow arrays over NumPy's memory without a copy."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.arrays import Int64Array, Uint8Array


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
