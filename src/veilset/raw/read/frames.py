"""Polars frames, made from Parquet and Arrow files, and from tables in memory."""

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from veilset.deferred import Deferred
from veilset.errors import BadInput
from veilset.marks import PUBLISHED_MARK
from veilset.memory_room import check_room_for_values, raise_if_memory
from veilset.raw.read.files import ByteFile
from veilset.raw.read.foreign import foreign_frame
from veilset.raw.read.tables import MULTIPLICITY, Columns, check_names

if TYPE_CHECKING:
    import polars as pl
    import pyarrow.parquet as pq
else:
    pl = Deferred("polars")
    pq = Deferred("pyarrow.parquet")

PARQUET_START = b"PAR1"
ARROW_START = b"ARROW1"


def frame_of(source: object) -> "pl.DataFrame | None":
    """A table in memory, of whatever library; a series or an array is a table of one column. None for anything else."""
    try:
        return _converted(source)
    except BadInput:
        raise
    except (pa.ArrowException, pl.exceptions.PolarsError, TypeError, ValueError):
        raise BadInput(
            "the table has columns that Polars cannot take, such as mixed ones or two of one name; make them of one "
            "type, and of different names"
        ) from None


def is_table_file(file: ByteFile) -> bool:
    """Whether a file is Parquet or Arrow, by its first bytes."""
    return file.starts_with(PARQUET_START, ARROW_START)


def read_table_file(file: ByteFile, columns: Columns) -> "tuple[pl.DataFrame, str | None]":
    """Read a Parquet or Arrow file, only the named columns if the one of items is; and what `PUBLISHED_MARK` says."""
    source = pa.BufferReader(file.read_all()) if file.path is None else str(file.path)
    try:
        if file.starts_with(PARQUET_START):
            with pq.ParquetFile(source) as parquet:
                chosen = chosen_columns(parquet.schema_arrow.names, columns, file)
                check_room_for_values(file.name, _values_in(parquet.metadata, set(chosen)))
                table = parquet.read(chosen)
        else:
            with pa.ipc.open_file(source) as arrow:
                table = arrow.read_all().select(chosen_columns(arrow.schema.names, columns, file))
        table.validate(
            full=True
        )  # what Arrow takes as it is, Polars trusts: places in the file, and text as UTF-8
        mark = (table.schema.metadata or {}).get(PUBLISHED_MARK)
        return pl.DataFrame(table.replace_schema_metadata(None)), mark and mark.decode()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise_if_memory(error)
        raise BadInput(f"{file.name} is damaged or breaks off; check that it was copied completely") from None


def _values_in(metadata: Any, chosen: set[str]) -> int:  # noqa: ANN401 - Arrow has no types
    """How many values the columns of a Parquet file hold, as it says itself."""
    leaves = [
        place
        for place in range(metadata.num_columns)
        if metadata.schema.column(place).path.partition(".")[0] in chosen
    ]
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return sum(group.column(place).num_values for group in groups for place in leaves)


def _converted(source: Any) -> "pl.DataFrame | None":  # noqa: ANN401 - pandas is not imported
    if type(source).__module__.partition(".")[0] == "pandas":
        source = pl.from_pandas(_without_sparse(source))
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.Series):
        return source.to_frame()
    if isinstance(source, (pa.Array, pa.ChunkedArray)):
        source = pa.table({"items": source})
    if isinstance(source, (pa.Table, pa.RecordBatch)):
        return pl.DataFrame(source)
    return source if isinstance(source, pl.DataFrame) else foreign_frame(source)


def _without_sparse(source: Any) -> Any:  # noqa: ANN401 - pandas is not imported
    """The frame with its sparse columns made dense: Polars takes no others."""
    kinds = list(source.dtypes) if getattr(source, "ndim", 0) == 2 else []
    sparse = (
        [name for name, kind in zip(source.columns, kinds, strict=True) if _is_sparse(kind)] if kinds else []
    )
    return source.astype({name: source.dtypes[name].subtype for name in sparse}) if sparse else source


def _is_sparse(kind: object) -> bool:
    return type(kind).__name__ == "SparseDtype"


def chosen_columns(names: list[str], columns: Columns, file: ByteFile) -> list[str]:
    """The columns to read: all, unless that of the items is named; then the named ones, and multiplicities."""
    check_names(names, columns, table=file.name)
    wanted = {*columns.given(), MULTIPLICITY}
    return names if columns.item is None else [name for name in names if name in wanted]
