"""Parquet and Arrow files of lists, read batch by batch: a file may be larger than memory.

What is held in memory is a few batches and the names of the items. The rows go to arrays on the disk, as they are
read; the operating system keeps as much of them in memory as there is room for.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from veilset.arrays import Int32Array
from veilset.arrow_arrays import integers, numpy_of
from veilset.deferred import Deferred
from veilset.errors import BadInput
from veilset.marks import PUBLISHED_MARK
from veilset.memory_room import raise_if_memory
from veilset.raw.disk_arrays import DiskArray
from veilset.raw.read.cores import on_all_cores
from veilset.raw.read.encode import TokenRows, dictionary_rows, offsets_of
from veilset.raw.read.files import ByteFile
from veilset.raw.read.frames import PARQUET_START, chosen_columns
from veilset.raw.read.names import NameTable
from veilset.raw.read.tables import Columns, Table, layout_of, table_rows

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
        try:
            return _streamed(file, columns, layout, skips=skips, numbers_text=True)
        except pa.ArrowNotImplementedError:  # Arrow cannot number all text in lists that other programs wrote
            return _streamed(file, columns, layout, skips=skips, numbers_text=False)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise_if_memory(error)
        raise BadInput(f"{file.name} is damaged or breaks off; check that it was copied completely") from None


def _streamed(
    file: ByteFile, columns: Columns, layout: str | None, *, skips: bool, numbers_text: bool
) -> TokenRows | None:
    with _opened(file, numbers_text=numbers_text) as reader:
        names = _columns_of_lists(reader, file, columns, layout)
        if names is None:
            return None
        lists = columns.item or names[0]

        def rows_of(numbered: tuple[int, pa.RecordBatch]) -> TokenRows:
            before, batch = numbered
            if _has_plain_items(batch[lists].type):
                return _plain_rows(batch[lists])
            frame = pl.DataFrame(pa.table(batch).replace_schema_metadata(None))
            return table_rows(Table(frame, file.name, skips, rows_before=before), columns, layout="list")

        return _joined(on_all_cores(rows_of, _numbered(_batches(reader, names))))


def _opened(file: ByteFile, *, numbers_text: bool) -> Any:  # noqa: ANN401 - Arrow has no types
    """A reader of a Parquet or Arrow file that holds nothing of it yet; text in lists may come as numbers and names."""
    if not file.starts_with(PARQUET_START):
        return pa.ipc.open_file(pa.memory_map(str(file.path)))
    schema = pq.read_metadata(str(file.path)).schema
    leaves = [schema.column(place) for place in range(len(schema))]
    texts = [
        leaf.path
        for leaf in leaves
        if numbers_text and leaf.max_repetition_level > 0 and leaf.logical_type.type == "STRING"
    ]
    return pq.ParquetFile(str(file.path), memory_map=True, pre_buffer=False, read_dictionary=texts)


def _columns_of_lists(reader: Any, file: ByteFile, columns: Columns, layout: str | None) -> list[str] | None:  # noqa: ANN401
    """The columns to read of a large file of lists; None if it is small, or holds something else."""
    schema = reader.schema_arrow if isinstance(reader, pq.ParquetFile) else reader.schema
    if _number_of_rows(reader) < LEAST_STREAMED or PUBLISHED_MARK in (schema.metadata or {}):
        return None
    names = chosen_columns(schema.names, columns, file)
    empty = pl.DataFrame(schema.empty_table().select(names).replace_schema_metadata(None))
    return names if layout_of(Table(empty, file.name), columns, layout) == "list" else None


def _number_of_rows(reader: Any) -> int:  # noqa: ANN401
    if isinstance(reader, pq.ParquetFile):
        return int(reader.metadata.num_rows)
    return sum(reader.get_batch(place).num_rows for place in range(reader.num_record_batches))


def _batches(reader: Any, names: list[str]) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
    """The rows of these columns, some at a time."""
    if isinstance(reader, pq.ParquetFile):
        for group in range(reader.num_row_groups):  # a batch of two groups has no numbers for its text
            for batch in reader.iter_batches(batch_size=ROWS_IN_A_BATCH, row_groups=[group], columns=names):
                batch.validate(full=True)  # Arrow does not look whether text is UTF-8
                yield batch
        return
    for place in range(reader.num_record_batches):
        batch = reader.get_batch(place).select(names)
        batch.validate(full=True)  # what Arrow maps as it is, Polars trusts
        for start in range(0, batch.num_rows, ROWS_IN_A_BATCH):
            yield batch.slice(start, ROWS_IN_A_BATCH)


def _numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches with the number of rows before each."""
    before = 0
    for batch in batches:
        yield before, batch
        before += batch.num_rows


def _has_plain_items(kind: pa.DataType) -> bool:
    """Whether a column holds lists of integers or of text, all of which are items."""
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return False
    item = kind.value_type.value_type if pa.types.is_dictionary(kind.value_type) else kind.value_type
    return bool(pa.types.is_integer(item) or pa.types.is_string(item) or pa.types.is_large_string(item))


def _plain_rows(lists: pa.Array) -> TokenRows:
    """The rows of such a column: what `tables` makes of it, without a frame in between."""
    return dictionary_rows(offsets_of(numpy_of(lists.value_lengths().fill_null(0))), lists.flatten())


def _joined(batches: Iterator[TokenRows]) -> TokenRows:
    """The rows of all batches, in arrays on the disk; a name that several batches have is one."""
    names = _Names()
    with DiskArray(np.int64) as offsets, DiskArray(np.int32) as tokens:
        offsets.append(np.zeros(1, np.int64))
        for rows in batches:
            occurs = (
                np.bincount(rows.tokens, minlength=len(rows.names)) > 0
            )  # dictionaries may hold more names
            token_of = np.empty(occurs.size, np.int32)
            token_of[occurs] = names.tokens_of(rows.names.take(integers(np.flatnonzero(occurs))))
            offsets.append(rows.offsets[1:] + len(tokens))
            tokens.append(token_of[rows.tokens])
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
        texts = names.cast(pa.large_string())
        _, starts, text = texts.buffers()
        places = np.array(np.frombuffer(starts, np.int64)[texts.offset : texts.offset + len(texts) + 1])
        return self._table.tokens_of(np.array(np.frombuffer(text or b"", np.uint8)), places)

    def united(self) -> pa.Array:
        """All names there are."""
        if self._kind is None:
            return self._table.names
        values = self._table.names.buffers()[2]
        return integers(np.frombuffer(values, self._kind, count=len(self._table.names)))
