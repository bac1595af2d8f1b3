"""Rows that are made of other rows, chunk by chunk: in memory, or on the disk where they may not fit in it."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from veilset.arrays import Int32Array
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.disk_arrays import DiskArray
from veilset.raw.kernels import parse

LARGEST_IN_MEMORY = 1 << 30
"""Rows made of 1 GB of rows, or more, go to the disk: the system keeps as much of them in memory as there is room."""


class _MemoryArray:
    """What `DiskArray` is, in memory."""

    def __init__(self, kind: type[np.generic]) -> None:
        self._parts: list[npt.NDArray[Any]] = [np.empty(0, kind)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._parts.clear()

    def append(self, values: npt.NDArray[Any]) -> None:
        self._parts.append(values)

    def whole(self) -> npt.NDArray[Any]:
        return np.concatenate(self._parts)


def joined_chunks(chunks: Iterator[CompressedRows], *, made_of: CompressedRows) -> CompressedRows:
    """The rows of all chunks, one after another, with offsets from 0."""
    is_large = made_of.offsets.nbytes + made_of.items.nbytes >= LARGEST_IN_MEMORY
    array: type[DiskArray[Any] | _MemoryArray] = DiskArray if is_large else _MemoryArray
    number = 0
    with array(np.int64) as offsets, array(np.int32) as items:
        offsets.append(np.zeros(1, np.int64))
        for rows in chunks:
            first, last = int(rows.offsets[0]), int(rows.offsets[-1])
            offsets.append(rows.offsets[1:] + (number - first))
            items.append(rows.items[first:last])
            number += last - first
        return CompressedRows(offsets.whole(), items.whole())


def with_codes(rows: CompressedRows, code_of: Int32Array) -> CompressedRows:
    """The rows under new codes, ascending; items whose code is below 0 are left out."""
    first, last = rows.offsets[0], rows.offsets[-1]
    offsets, items = rows.offsets - first, rows.items[first:last].copy()
    parse.encode_rows(offsets, items, code_of)
    return CompressedRows(offsets, items[: offsets[-1]])
