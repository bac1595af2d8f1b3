"""What one file, query or sheet gives, and how several of them make one table or one list of rows.

A part is a frame with types, a table of texts, or rows of items. Parts are put together before persons and baskets
are: those of one person may stand in several files.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from veilset.arrays import Int64Array
from veilset.arrow_arrays import numpy_of
from veilset.deferred import Deferred
from veilset.errors import BadInput
from veilset.raw.read.cells import joined_offsets
from veilset.raw.read.csv_tables import CsvTable
from veilset.raw.read.encode import TokenRows
from veilset.raw.read.options import Options
from veilset.raw.read.tables import Columns, Table, guess_layout, table_rows
from veilset.raw.read.vocabulary import written_integers

if TYPE_CHECKING:
    import polars as pl
    import pyarrow.compute as pc
else:
    pl = Deferred("polars")
    pc = Deferred("pyarrow.compute")


@dataclass(frozen=True, slots=True, eq=False)
class TypedTable:
    """A table whose columns have types; `multiplicities` names that of records which veilset published."""

    frame: "pl.DataFrame"
    multiplicities: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TextTable:
    """A table of texts, such as a CSV file, and its layout."""

    table: CsvTable
    layout: str
    has_header: bool = True


SourcePart = TypedTable | TextTable | TokenRows


def rows_of_parts(parts: Sequence[SourcePart], options: Options, *, name: str) -> TokenRows:
    """The rows of a source that has one part or several; `name` is what messages call it."""
    typed = [part for part in parts if isinstance(part, TypedTable)]
    texts = [part for part in parts if isinstance(part, TextTable)]
    lines = [part for part in parts if isinstance(part, TokenRows)]
    if len(parts) not in (len(typed), len(texts), len(lines)):
        raise BadInput(f"{name} has files of several kinds; read files of one kind at a time")
    if typed:
        return _typed_rows(_joined_frames(typed, name), options, name=name)
    if texts:
        return _text_rows(_joined_texts(texts, name), options, name=name)
    return lines[0] if len(lines) == 1 else joined_rows(lines)


def _typed_rows(part: TypedTable, options: Options, *, name: str) -> TokenRows:
    columns = options.columns
    is_published = part.multiplicities is not None and columns.multiplicity in {None, part.multiplicities}
    if is_published:
        columns = replace(columns, multiplicity=part.multiplicities)
    tell_table(options, part.frame)
    table = Table(part.frame, name, options.skip_bad_rows, is_published)
    rows = table_rows(table, columns, layout=options.format)
    options.how.layout = options.format or guess_layout(part.frame, columns, name=name)
    return rows


def tell_table(options: Options, frame: "pl.DataFrame", *, is_text: bool = False) -> None:
    """Write down which columns a table has, and how many rows."""
    kinds = ["text"] * frame.width if is_text else [str(kind) for kind in frame.dtypes]
    options.how.columns = dict(zip(frame.columns, kinds, strict=True))
    options.how.table_rows = frame.height


def _joined_frames(parts: list[TypedTable], name: str) -> TypedTable:
    if len(parts) == 1:
        return parts[0]
    try:
        frames = [part.frame.select(parts[0].frame.columns) for part in parts]
        if any(part.frame.width != frames[0].width for part in parts):
            raise BadInput(_other_columns(name))
        return TypedTable(pl.concat(frames, how="vertical_relaxed"))
    except pl.exceptions.PolarsError:
        raise BadInput(_other_columns(name)) from None


def _other_columns(name: str) -> str:
    return f"{name} has files with different columns; read those with the same columns together"


def _joined_texts(parts: list[TextTable], name: str) -> TextTable:
    """Tables of texts below each other; without a header, rows may have any number of cells."""
    first = parts[0]
    if len(parts) == 1:
        return first
    has_same = all(set(part.table.numbers.columns) == set(first.table.numbers.columns) for part in parts)
    if first.has_header and not has_same:
        raise BadInput(_other_columns(name))
    texts = pa.chunked_array([part.table.texts for part in parts], pa.large_string())
    distinct = texts.combine_chunks().dictionary_encode()
    starts = np.cumsum([0, *(len(part.table.texts) for part in parts)])
    frames = []
    for part, start in zip(parts, starts.tolist(), strict=False):
        place_of = pl.Series(distinct.indices[start : start + len(part.table.texts)], dtype=pl.Int32)
        numbers = part.table.numbers
        frames.append(
            numbers.select(pl.Series(column, place_of.gather(numbers[column])) for column in numbers.columns)
        )
    return replace(first, table=CsvTable(pl.concat(frames, how="diagonal"), distinct.dictionary))


def _text_rows(part: TextTable, options: Options, *, name: str) -> TokenRows:
    options.how.layout = part.layout
    tell_table(options, part.table.numbers, is_text=True)
    if part.layout == "long":
        return _long_rows(part.table.as_values(), options, name=name)
    frame = part.table.as_text()
    if part.layout == "basket":
        return _basket_rows(frame, name=name)
    if options.multiplicity is not None:
        frame = frame.with_columns(pl.col(options.multiplicity).cast(pl.Int64, strict=False))
    return table_rows(Table(frame, name, options.skip_bad_rows), options.columns, layout=part.layout)


def _long_rows(table: CsvTable, options: Options, *, name: str) -> TokenRows:
    """The rows of a long table, put together by the numbers of its values."""
    numbered = Table(table.numbers, name, options.skip_bad_rows)
    rows = table_rows(numbered, options.columns, layout="long")
    names = table.texts.take(rows.names)
    return replace(rows, names=names, are_integers=written_integers(names))


def _basket_rows(frame: "pl.DataFrame", *, name: str) -> TokenRows:
    """A row of cells is a transaction of what stands in them."""
    lists = frame.select(items=pl.concat_list(pl.all()).list.drop_nulls())
    rows = table_rows(Table(lists, name), Columns(), layout="list")
    names = rows.names.cast(pa.large_string())
    return replace(rows, names=names, are_integers=written_integers(names))


def joined_rows(parts: Sequence[TokenRows]) -> TokenRows:
    """Rows below each other; an integer and the text of it stay two items."""
    marked = [_marked_names(part) for part in parts]
    distinct = pa.chunked_array(marked, pa.large_string()).combine_chunks().dictionary_encode()
    places = numpy_of(distinct.indices).astype(np.int64)
    starts = np.cumsum([0, *(len(names) for names in marked)]).tolist()
    tokens = [
        _tokens_in(part, places[start : start + len(part.names)])
        for part, start in zip(parts, starts, strict=False)
    ]
    names = distinct.dictionary
    return TokenRows(
        joined_offsets([part.offsets for part in parts]),
        np.concatenate(tokens).astype(np.int32),
        pc.utf8_slice_codeunits(names, 1),
        np.arange(len(names), dtype=np.int64),
        are_integers=numpy_of(pc.starts_with(names, _INTEGER)),
    )


_INTEGER, _TEXT = "i", "t"
"""Before the name of an item, what it stands for."""


def _marked_names(rows: TokenRows) -> pa.Array:
    texts = rows.names.cast(pa.large_string())
    is_text = not pa.types.is_integer(rows.names.type)
    are_integers = rows.are_integers if is_text else np.ones(len(texts), dtype=np.bool_)
    if are_integers is None:
        are_integers = np.zeros(len(texts), dtype=np.bool_)
    marks = pc.if_else(pa.array(are_integers), _INTEGER, _TEXT).cast(pa.large_string())
    return pc.binary_join_element_wise(marks, texts, pa.scalar("", pa.large_string()))


def _tokens_in(rows: TokenRows, places: Int64Array) -> Int64Array:
    """The tokens of rows, as places among the names of all parts."""
    place_of = np.zeros(int(rows.tokens_of_names.max(initial=-1)) + 1, dtype=np.int64)
    place_of[rows.tokens_of_names] = places
    return place_of[rows.tokens[: rows.offsets[-1]]]
