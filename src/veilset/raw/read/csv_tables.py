"""CSV tables as Polars frames of text: 007 and 7 are two things. A line is read by itself, whatever others hold."""

import re
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from veilset.arrays import BoolArray, Int64Array
from veilset.errors import BadInput
from veilset.raw.read.cells import cells_of_lines, joined_offsets
from veilset.raw.read.files import ByteFile
from veilset.raw.read.tables import Columns, check_names

UNNAMED = re.compile(r"f(0|[1-9][0-9]{0,3})")
"""What columns are called that have no name."""


def read_csv_table(
    file: ByteFile, columns: Columns, *, separator: str, has_header: bool, skips: bool
) -> pl.DataFrame:
    """Read a CSV table. Blanks around a value do not count, an empty value is a null, a blank line no row.

    A header tells how many cells a row has; a row with another number is refused, or if `skips`, all null. Without
    a header, columns are called f0, f1, ..., and a row may have any number of cells: others do not tell.
    """
    offsets, cells = _all_cells(file, separator=separator, skips=skips)
    if has_header:
        return _with_header(file, columns, offsets, cells, skips=skips)
    is_row = ~_is_blank(offsets, cells)
    named = [int(name[1:]) + 1 for name in columns.given() if UNNAMED.fullmatch(name)]
    width = max([1, *named, *np.diff(offsets)[is_row].tolist()])
    names = [f"f{number}" for number in range(width)]
    check_names(names, columns, table=file.name)
    return _frame(names, offsets, cells, is_row=is_row)


def _with_header(
    file: ByteFile, columns: Columns, offsets: Int64Array, cells: pa.StringArray, *, skips: bool
) -> pl.DataFrame:
    if offsets.size == 1 or offsets[1] == 0:
        raise BadInput(f"{file.name} does not start with the names of its columns; add such a line")
    names = cells[: offsets[1]].to_pylist()
    check_names(names, columns, table=file.name)
    is_row = ~_is_blank(offsets, cells)
    is_row[0] = False
    is_uneven = is_row & (np.diff(offsets) != len(names))
    if not skips and is_uneven.any():
        problem = "not as many cells as in the first line; check the separator, or give --format basket"
        raise file.bad_line(int(np.argmax(is_uneven)) + 1, problem)
    return _frame(names, offsets, cells, is_row=is_row, is_even=~is_uneven)


def _all_cells(file: ByteFile, *, separator: str, skips: bool) -> tuple[Int64Array, Any]:
    blocks, texts = [], []
    for lines in file.lines():
        cells = cells_of_lines(file, lines, separator=separator, keeps_empty=True, skips=skips)
        blocks.append(cells.offsets)
        texts.append(cells.texts)
    cells = pa.chunked_array(texts, pa.large_string()).combine_chunks()
    return joined_offsets(blocks), cells


def _is_blank(offsets: Int64Array, cells: Any) -> BoolArray:  # noqa: ANN401 - Arrow has no types
    """Which lines have one empty cell and no other."""
    is_blank: BoolArray = np.diff(offsets) == 1
    is_blank[is_blank] = pc.binary_length(cells).to_numpy()[offsets[:-1][is_blank]] == 0
    return is_blank


def _frame(
    names: list[str],
    offsets: Int64Array,
    cells: Any,  # noqa: ANN401
    *,
    is_row: BoolArray,
    is_even: BoolArray | bool = True,
) -> pl.DataFrame:
    """The rows as a frame; a row that is not even has only nulls."""
    starts, ends = offsets[:-1], offsets[1:]
    columns = {}
    for place, name in enumerate(names):
        places = starts + place
        is_there = (places < ends) & is_even
        columns[name] = cells.take(pa.array(places[is_row], mask=~is_there[is_row]))
    return pl.DataFrame(pa.table(columns)).with_columns(pl.col(pl.String).str.strip_chars().replace("", None))
