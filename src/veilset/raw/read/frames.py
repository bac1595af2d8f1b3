"""Polars frames, made from Parquet, Arrow and CSV files, and from tables in memory."""

import io
from itertools import islice
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from veilset.errors import BadInput
from veilset.raw.read.files import ByteFile
from veilset.raw.read.tables import MULTIPLICITY, Columns

PARQUET_START = b"PAR1"
ARROW_START = b"ARROW1"


def frame_of(source: object) -> pl.DataFrame | None:
    """A table in memory (Polars, pandas or Arrow; a series or an array is a table of one column), or None."""
    try:
        return _converted(source)
    except (pa.ArrowException, pl.exceptions.PolarsError, TypeError, ValueError):
        raise BadInput(
            "the table has columns that Polars cannot take, such as sparse or mixed ones or two of one name; "
            "make them dense, of one type, and of different names"
        ) from None


def is_table_file(file: ByteFile) -> bool:
    """Whether a file is Parquet or Arrow, by its first bytes."""
    return file.head.startswith((PARQUET_START, ARROW_START))


def read_table_file(file: ByteFile, columns: Columns) -> pl.DataFrame:
    """Read a Parquet or Arrow file; only the named columns, if the one of items is."""
    source = pa.BufferReader(file.read_all()) if file.path is None else str(file.path)
    try:
        if file.head.startswith(PARQUET_START):
            with pa.parquet.ParquetFile(source) as parquet:
                table = parquet.read(_chosen(parquet.schema_arrow.names, columns, file))
        else:
            with pa.ipc.open_file(source) as arrow:
                table = arrow.read_all().select(_chosen(arrow.schema.names, columns, file))
    except (pa.ArrowException, OSError):
        raise BadInput(f"{file.name} is damaged or breaks off; check that it was copied completely") from None
    return pl.DataFrame(table)


def read_csv_file(
    file: ByteFile, columns: Columns, *, separator: str, has_header: bool, as_text: bool
) -> pl.DataFrame:
    """Read a CSV table; without a header, its columns are called f0, f1, ...

    Values stay text if `as_text`, so that 007 and 7 are two things. Blanks around a value do not count, and
    an empty value is a null.
    """
    data = file.read_all()
    uneven_rows: list[int] = []

    def note_row(row: Any) -> str:  # noqa: ANN401 - Arrow has no types
        uneven_rows.append(row.number)
        return "error"

    options = {
        "read_options": pa.csv.ReadOptions(use_threads=False, autogenerate_column_names=not has_header),
        "parse_options": pa.csv.ParseOptions(delimiter=separator, invalid_row_handler=note_row),
    }
    try:
        names = _chosen(pa.csv.open_csv(pa.BufferReader(data), **options).schema.names, columns, file)
        convert = pa.csv.ConvertOptions(
            include_columns=names,
            column_types=dict.fromkeys(names, pa.string()) if as_text else None,
            strings_can_be_null=True,
            null_values=[""],
        )
        table = pa.csv.read_csv(pa.BufferReader(data), **options, convert_options=convert)
    except pa.ArrowInvalid:
        file.check_utf8(data, first_line=1)
        raise _uneven_line(file, data, uneven_rows) from None
    texts = [column for column in table.columns if pa.types.is_string(column.type)]
    if any(pc.any(pc.match_substring(column, "\n")).as_py() for column in texts):
        raise _open_quote(file, data)
    return pl.DataFrame(table).with_columns(pl.col(pl.String).str.strip_chars().replace("", None))


def _converted(source: Any) -> pl.DataFrame | None:  # noqa: ANN401 - pandas is not imported
    if type(source).__module__.partition(".")[0] == "pandas":
        source = pl.from_pandas(source)
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.Series):
        return source.to_frame()
    if isinstance(source, (pa.Array, pa.ChunkedArray)):
        source = pa.table({"items": source})
    if isinstance(source, (pa.Table, pa.RecordBatch)):
        return pl.DataFrame(source)
    return source if isinstance(source, pl.DataFrame) else None


def _chosen(names: list[str], columns: Columns, file: ByteFile) -> list[str]:
    """The columns to read: only the named ones, if that of the items is, otherwise all."""
    if len(set(names)) != len(names):
        raise BadInput(f"{file.name} has two columns of the same name; rename one of them")
    columns.check_against(names, table=file.name)
    is_counted = set(names) == {columns.item, MULTIPLICITY}
    return names if columns.item is None or is_counted else columns.given()


def _uneven_line(file: ByteFile, data: bytes, rows: list[int]) -> BadInput:
    if not rows:
        return BadInput(f"{file.name} cannot be read as a CSV table; check the separator and the header")
    # Arrow numbers the lines that are not blank.
    numbers = (number for number, line in enumerate(io.BytesIO(data), 1) if line.strip(b"\r\n"))
    line = next(islice(numbers, rows[0] - 1, None))
    return file.bad_line(
        line, "not as many cells as in the first line; check the separator, or give --format basket"
    )


def _open_quote(file: ByteFile, data: bytes) -> BadInput:
    line = next(number for number, line in enumerate(io.BytesIO(data), 1) if line.count(b'"') % 2)
    return file.bad_line(
        line, "a quote that does not close on its line; close it, or double it within values"
    )
