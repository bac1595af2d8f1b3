"""CSV tables as Polars frames of text: 007 and 7 are two things. A line is read by itself, whatever others hold."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from veilset.arrays import BoolArray, Int32Array, Int64Array
from veilset.deferred import Deferred
from veilset.errors import BadInput
from veilset.raw.read.cells import cells_of_lines, joined_offsets
from veilset.raw.read.cores import on_all_cores
from veilset.raw.read.files import ByteFile, Lines
from veilset.raw.read.names import NameNumbers
from veilset.raw.read.tables import Columns, check_names

if TYPE_CHECKING:
    import polars as pl
    import pyarrow.compute as pc
else:
    pl = Deferred("polars")
    pc = Deferred("pyarrow.compute")

UNNAMED = re.compile(r"f(0|[1-9][0-9]{0,3})")
"""What columns are called that have no name."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CsvTable:
    """A CSV table in which a number stands for each text: `texts[number]`. What is missing is null."""

    numbers: "pl.DataFrame"
    texts: pa.LargeStringArray

    def as_text(self) -> "pl.DataFrame":
        """The table of texts. Blanks around a value do not count, an empty value is a null."""
        stripped = _stripped(self.texts)
        return self.numbers.select(
            pl.Series(name, stripped.gather(self.numbers[name])) for name in self.numbers.columns
        )

    def as_values(self) -> "CsvTable":
        """The table with one number for each value: for texts that differ in blanks around them, it is the same."""
        stripped = _stripped(self.texts)
        if (
            stripped.str.len_bytes().sum() == pl.Series(self.texts).str.len_bytes().sum()
        ):  # nothing to take off
            number_of, texts = pl.int_range(len(self.texts), dtype=pl.Int32, eager=True), self.texts
            number_of = number_of.set(stripped.is_null(), None)
        else:
            values = stripped.to_arrow().dictionary_encode()
            number_of, texts = pl.Series(values.indices, dtype=pl.Int32), values.dictionary
        numbered = self.numbers.select(
            pl.Series(name, number_of.gather(self.numbers[name])) for name in self.numbers.columns
        )
        return CsvTable(numbered, texts)


def read_csv_table(
    file: ByteFile, columns: Columns, *, separator: str, has_header: bool, skips: bool
) -> CsvTable:
    """Read a CSV table. A blank line is no row.

    A header tells how many cells a row has; a row with another number is refused, or if `skips`, all null. Without
    a header, columns are called f0, f1, ..., and a row may have any number of cells: others do not tell.
    """
    cells = _all_cells(file, separator=separator, skips=skips)
    if has_header:
        return _with_header(file, columns, cells, skips=skips)
    is_row = ~cells.is_blank()
    named = [int(name[1:]) + 1 for name in columns.given() if UNNAMED.fullmatch(name)]
    width = max([*named, int(cells.lengths[is_row].max(initial=1))])
    names = [f"f{number}" for number in range(width)]
    check_names(names, columns, table=file.name)
    return _table(names, cells, is_row=is_row)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class NumberedCells:
    """The cells of rows, as places among texts: row r has those from `offsets[r]` to `offsets[r + 1]`."""

    offsets: Int64Array
    places: Int32Array
    texts: pa.LargeStringArray

    @property
    def lengths(self) -> Int64Array:
        """How many cells each row has."""
        return np.diff(self.offsets)

    def is_blank(self) -> BoolArray:
        """Which lines have one empty cell and no other."""
        empty = pc.index(self.texts, "").as_py()
        is_blank: BoolArray = self.lengths == 1
        is_blank[is_blank] = self.places[self.offsets[:-1][is_blank]] == empty
        return is_blank


def _with_header(file: ByteFile, columns: Columns, cells: NumberedCells, *, skips: bool) -> CsvTable:
    offsets = cells.offsets
    if offsets.size == 1 or offsets[1] == 0:
        raise BadInput(f"{file.name} does not start with the names of its columns; add such a line")
    names = cells.texts.take(pa.array(cells.places[: offsets[1]])).to_pylist()
    check_names(names, columns, table=file.name)
    is_row = ~cells.is_blank()
    is_row[0] = False
    is_uneven = is_row & (cells.lengths != len(names))
    if not skips and is_uneven.any():
        problem = "not as many cells as in the first line; check the separator, or give --format basket"
        raise file.bad_line(int(np.argmax(is_uneven)) + 1, problem)
    return _table(names, cells, is_row=is_row, is_even=~is_uneven)


def _all_cells(file: ByteFile, *, separator: str, skips: bool) -> NumberedCells:
    numbers = NameNumbers()

    def numbered(lines: Lines) -> tuple[Int64Array, tuple[int, Int32Array]]:
        cells = cells_of_lines(file, lines, separator=separator, keeps_empty=True, skips=skips)
        return cells.offsets, numbers.tokens_of(cells.text, cells.starts)

    blocks = list(on_all_cores(numbered, file.lines()))
    texts, places = numbers.united([block for _, block in blocks])
    return NumberedCells(joined_offsets([offsets for offsets, _ in blocks]), places, texts)


def _table(
    names: list[str], cells: NumberedCells, *, is_row: BoolArray, is_even: BoolArray | bool = True
) -> CsvTable:
    """The rows as a table; a row that is not even has only nulls."""
    starts, ends = cells.offsets[:-1], cells.offsets[1:]
    columns = []
    for column, name in enumerate(names):
        is_there = ((starts + column < ends) & is_even)[is_row]
        first = (starts[is_row] + column)[is_there]
        numbers = np.zeros(is_there.size, dtype=np.int32)
        numbers[is_there] = cells.places[first]
        columns.append(pl.Series(name, pa.array(numbers, mask=~is_there)))
    return CsvTable(pl.DataFrame(columns), cells.texts)


def _stripped(texts: pa.LargeStringArray) -> "pl.Series":
    """Texts without blanks around them; an empty one is a null."""
    return pl.Series(texts).str.strip_chars().replace("", None)
