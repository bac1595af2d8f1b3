"""Parquet and Arrow files of lists, read batch by batch: a file may be larger than memory.

What is held in memory is a few batches and the names of the items. The rows go to arrays on the disk, as they are
read; the operating system keeps as much of them in memory as there is room for.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from veilset.arrays import Int32Array
from veilset.arrow_arrays import integers, numpy_of, text_array
from veilset.deferred import Deferred
from veilset.errors import BadInput
from veilset.marks import PUBLISHED_MARK
from veilset.raw.disk_arrays import DiskArray
from veilset.raw.read.cores import on_all_cores
from veilset.raw.read.encode import TokenRows
from veilset.raw.read.files import ByteFile
from veilset.raw.read.frames import PARQUET_START, chosen_columns
from veilset.raw.read.names import NameTable
from veilset.raw.read.tables import Columns, Table, guess_layout, table_rows

if TYPE_CHECKING:
    import polars as pl
    import pyarrow.parquet as pq
else:
    pl = Deferred("polars")
    pq = Deferred("pyarrow.parquet")

ROWS_IN_A_BATCH = 1 << 17
"""131,072 rows in a batch: about 10 MB of them, and enough work for a core."""

WIDTH = 8
"""8 bytes of an integer are as good a name as any."""

LEAST_STREAMED = 1 << 22
"""From 4 million rows on a file is read batch by batch; a smaller one fits in memory, several times over."""


def streamed_rows(file: ByteFile, columns: Columns, *, layout: str | None, skips: bool) -> TokenRows | None:
    """The rows of a large Parquet or Arrow file with a list in each row; None if it is another one.

    Rows that tell owners or numbers of copies have to be looked at together, and so in memory.
    """
    if file.path is None or set(columns.given()) - {columns.item}:
        return None
    try:
        with _opened(file) as reader:
            names = _columns_of_lists(reader, file, columns, layout)
            if names is None:
                return None
            batches = _numbered(_batches(reader, names))
            tables = (Table(frame, file.name, skips, rows_before=before) for before, frame in batches)
            return _joined(on_all_cores(lambda table: table_rows(table, columns, layout="list"), tables))
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise BadInput(f"{file.name} is damaged or breaks off; check that it was copied completely") from None


def _opened(file: ByteFile) -> Any:  # noqa: ANN401 - Arrow has no types
    """A reader of a Parquet or Arrow file that holds nothing of it yet."""
    if file.head.startswith(PARQUET_START):
        return pq.ParquetFile(str(file.path), memory_map=True, pre_buffer=False)
    return pa.ipc.open_file(pa.memory_map(str(file.path)))


def _columns_of_lists(reader: Any, file: ByteFile, columns: Columns, layout: str | None) -> list[str] | None:  # noqa: ANN401
    """The columns to read of a large file of lists; None if it is small, or holds something else."""
    schema = reader.schema_arrow if isinstance(reader, pq.ParquetFile) else reader.schema
    if _number_of_rows(reader) < LEAST_STREAMED or PUBLISHED_MARK in (schema.metadata or {}):
        return None
    names = chosen_columns(schema.names, columns, file)
    empty = pl.DataFrame(schema.empty_table().select(names).replace_schema_metadata(None))
    return names if (layout or guess_layout(empty, columns, name=file.name)) == "list" else None


def _number_of_rows(reader: Any) -> int:  # noqa: ANN401
    if isinstance(reader, pq.ParquetFile):
        return int(reader.metadata.num_rows)
    return sum(reader.get_batch(place).num_rows for place in range(reader.num_record_batches))


def _batches(reader: Any, names: list[str]) -> Iterator["pl.DataFrame"]:  # noqa: ANN401
    """The rows of these columns, some at a time."""
    if isinstance(reader, pq.ParquetFile):
        batches = reader.iter_batches(batch_size=ROWS_IN_A_BATCH, columns=names)
    else:
        batches = _slices(reader, names)
    for batch in batches:
        yield pl.DataFrame(pa.table(batch).replace_schema_metadata(None))


def _slices(reader: Any, names: list[str]) -> Iterator[Any]:  # noqa: ANN401
    for place in range(reader.num_record_batches):
        batch = reader.get_batch(place).select(names)
        batch.validate(full=True)  # what Arrow maps as it is, Polars trusts
        for start in range(0, batch.num_rows, ROWS_IN_A_BATCH):
            yield batch.slice(start, ROWS_IN_A_BATCH)


def _numbered(frames: Iterator["pl.DataFrame"]) -> Iterator[tuple[int, "pl.DataFrame"]]:
    """Frames with the number of rows before each."""
    before = 0
    for frame in frames:
        yield before, frame
        before += frame.height


def _joined(batches: Iterator[TokenRows]) -> TokenRows:
    """The rows of all batches, in arrays on the disk; a name that several batches have is one."""
    names = _Names()
    with DiskArray(np.int64) as offsets, DiskArray(np.int32) as tokens:
        offsets.append(np.zeros(1, np.int64))
        for rows in batches:
            offsets.append(rows.offsets[1:] + len(tokens))
            tokens.append(names.tokens_of(rows.names)[rows.tokens])
        united = names.united()
        return TokenRows(offsets.whole(), tokens.whole(), united, np.arange(len(united), dtype=np.int64))


class _Names:
    """The names of several batches, all integers or all text, numbered as they come."""

    def __init__(self) -> None:
        self._table = NameTable()
        self._kind: np.dtype[Any] | None = None

    def tokens_of(self, names: pa.Array) -> Int32Array:
        """The number of each of these names."""
        if pa.types.is_integer(names.type):
            values = np.array(numpy_of(names))
            self._kind = values.dtype
            return self._table.tokens_of(values.view(np.uint8), WIDTH * np.arange(values.size + 1))
        held = text_array(names.to_pylist())
        starts, text = held.buffers()[1:]
        return self._table.tokens_of(
            np.array(np.frombuffer(text, np.uint8)), np.array(np.frombuffer(starts, np.int64))
        )

    def united(self) -> pa.Array:
        """All names there are."""
        if self._kind is None:
            return self._table.names
        values = self._table.names.buffers()[2]
        return integers(np.frombuffer(values, self._kind, count=len(self._table.names)))
