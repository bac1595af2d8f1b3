"""Files that are read, but not as they were meant: a table as baskets, other separators, identifiers for items.

Read so, customer numbers become items, and a release may name them. Such a file is refused before anything is asked.
The checks look at the first rows only, and at facts that are not one row's: shares of rows. They are for the eyes of
whoever owns the data: a refusal is not a release and must not be published. What the caller says is not doubted: an
explicit format turns off the checks of what rows look like, an explicit separator those of what stands within cells.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from veilset.arrays import BoolArray, Int64Array
from veilset.arrow_arrays import numpy_of
from veilset.deferred import Deferred
from veilset.errors import BadInput
from veilset.raw.read.cells import cells_of_lines
from veilset.raw.read.encode import TokenRows
from veilset.raw.read.files import ByteFile
from veilset.wording import ordinal

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = Deferred("pyarrow.compute")


ROWS_LOOKED_AT = 500
CELLS_LOOKED_AT = 5_000
"""The first rows tell enough, and cost a fraction of a millisecond, whatever the size of a file."""

TELLING_SHARE = 0.5
"""The share of rows that must hold another separator, NUL or JSON; and at least `TWO_ROWS` of them."""

TWO_ROWS = 2

LEAST_ROWS_OF_TABLE = 4
"""The fewest rows, the header one of them, that can look like a table with a header."""

LEAST_ROWS_OF_LONG_TABLE = 12
"""The fewest rows whose likeness to a long table is no chance."""

LEAST_ROWS_OF_IDENTIFIERS = 40
"""The fewest rows in which it is no chance that items hardly repeat: 20 baskets of a shop may share nothing."""

NEARLY_ALL = 0.95
"""The share of rows that have the same number of cells in a table, another first cell in a file with identifiers, and
the share of items that occur once where hardly any occurs twice."""

OF_ONE_COLUMN = 0.9
"""The share of distinct values that stand in one column only, in a table."""

OWNERS_PER_ROW = 0.1
"""The fewest distinct values per row of a column of owners."""

POSITIONS_LOOKED_AT = 4
LONG_TABLE_COLUMNS = 4
"""A table without header that has more columns is no long one."""

FOREIGN = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}
"""What may separate cells where something else was expected, and how to write it on the command line."""

TABLE_AS_BASKETS = (
    "looks like a table, not like baskets: the same number of cells in every row; name the columns with --owner and "
    "--item (--no-header if they are called f0, f1, ...), or give --format table"
)

MOST_AS_THEY_ARE = 1 << 16
"""Values up to this are numbers enough; new ones would have to be found by sorting."""

NUMBERS_WITH_BLANKS = r"^[0-9]+([ \t]+[0-9]+)+$"
LIKE_NUMBER = re.compile(r"[-+0-9.,:/ %]*")
JSON_STARTS = (b"{", b"[")
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Sample:
    """The first rows: row r holds the values `values[offsets[r]:offsets[r + 1]]`, in the order of the file.

    Values are numbers from 0 on, none of them large; row 0 is the first line that is no header.
    """

    offsets: Int64Array
    values: Int64Array

    @classmethod
    def of(cls, offsets: Int64Array, values: Any) -> "Sample":  # noqa: ANN401 - any array of integers
        """The first rows of these, without those that hold nothing; large values get new numbers."""
        rows = min(ROWS_LOOKED_AT, int(np.searchsorted(offsets, CELLS_LOOKED_AT, side="right")) - 1)
        offsets = offsets[: rows + 1]
        is_first = np.append(np.diff(offsets) > 0, True)
        looked_at = values[: offsets[-1]]
        is_small = looked_at.dtype.kind in "iu" and looked_at.max(initial=0) <= MOST_AS_THEY_ARE
        numbered = looked_at if is_small else np.unique(looked_at, return_inverse=True)[1]
        return cls(offsets[is_first], numbered.astype(np.int64))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.offsets.size - 1

    @property
    def lengths(self) -> Int64Array:
        """How many values each row has."""
        return np.diff(self.offsets)

    def at(self, position: int) -> Int64Array:
        """The values at a position, of those rows that have one."""
        return self.values[self.offsets[:-1][self.lengths > position] + position]

    def without_first(self) -> "Sample":
        """The rows less the first."""
        return Sample(self.offsets[1:], self.values)

    @property
    def occurrences(self) -> Int64Array:
        """How often each value occurs."""
        return np.bincount(self.values[self.offsets[0] : self.offsets[-1]])


def check_encoding(file: ByteFile, *, override: str) -> None:
    """BadInput if lines end with CR alone, or if this is UTF-16 or another file of NUL bytes."""
    if not (file.is_in_head(b"\0") or file.is_in_head(b"\r") or file.starts_with(*UTF_16_MARKS)):
        return
    lines = _first_lines(file)
    if file.starts_with(*UTF_16_MARKS) or _are_most(np.array([b"\0" in line for line in lines])):
        raise _refusal(file.name, "is UTF-16 or binary: it has NUL bytes; save it as UTF-8 text", override)
    if sum(b"\r" in line.removesuffix(b"\r") for line in lines) >= TELLING_SHARE * len(lines):
        raise _refusal(file.name, "ends its lines with CR alone; save it with LF or CRLF", override)


def check_separators(file: ByteFile, *, separator: str) -> None:
    """BadInput if another separator stands within the cells of most rows, blank ones aside."""
    offsets, cells = _cells(file, separator)
    rows_with = {
        other: _rows_where(offsets, numpy_of(pc.match_substring(cells, other)))
        for other in FOREIGN
        if other != separator
    }
    if "," in rows_with:  # names have commas, too, where commas separate nothing
        rows_with[","] &= np.diff(offsets) == 1
    is_row = _rows_where(offsets, _are_filled(cells))
    other = max(rows_with, key=lambda mark: np.count_nonzero(rows_with[mark]))
    if _are_most(rows_with[other][is_row]):
        within = f"has {FOREIGN[other]} within the items of most rows"
        given = f"if it separates items, give --separator {FOREIGN[other]}"
        raise _refusal(file.name, f"{within}; {given}", f"--separator {FOREIGN.get(separator, separator)}")


def check_baskets(file: ByteFile, *, separator: str, has_header: bool) -> None:
    """BadInput if lines of names look like JSON, FIMI, a table, or identifiers."""
    offsets, cells = _cells(file, separator)
    override = "--format basket"
    if _are_most(np.array([line.lstrip().startswith(JSON_STARTS) for line in _first_lines(file)])):
        raise _refusal(file.name, "looks like JSON, which is not read; convert it to Parquet", override)
    if _are_most(_first_cells(offsets, pc.match_substring_regex(cells, NUMBERS_WITH_BLANKS))):
        raise _refusal(file.name, "has numbers parted by blanks in most rows; give --format fimi", override)
    is_filled = _are_filled(cells)
    codes = numpy_of(cells.dictionary_encode().indices)
    table = Sample.of(offsets, codes)
    body = table.without_first() if has_header and table.rows else table
    if looks_like_long_table(body) or (not has_header and looks_like_headed_table(table, cells)):
        raise _refusal(file.name, TABLE_AS_BASKETS, override)
    filled = np.concatenate([[0], np.cumsum(is_filled)])[offsets]
    baskets = Sample.of(filled, codes[is_filled])
    _check_identifiers(
        baskets.without_first() if has_header and baskets.rows else baskets, file.name, override
    )


def check_ids(rows: TokenRows, *, name: str, reading: str) -> None:
    """BadInput if rows of numbers look like a long table, or like identifiers."""
    sample = Sample.of(rows.offsets, rows.tokens)
    override = f"--format {reading}"
    if looks_like_long_table(sample):
        raise _refusal(
            name,
            "looks like a long table, an owner and an item in every row; save it as CSV and name the columns with "
            "--owner and --item",
            override,
        )
    _check_identifiers(sample, name, override)


def looks_like_headed_table(sample: Sample, cells: Any) -> bool:  # noqa: ANN401 - Arrow has no types
    """Whether all rows have equally many cells, and the first only names that no other row holds."""
    if sample.rows < LEAST_ROWS_OF_TABLE or not _is_even(sample) or sample.lengths[0] < 2:
        return False
    body = sample.without_first()
    header = sample.values[: sample.lengths[0]]
    names = cells[: sample.lengths[0]].to_pylist()
    is_new = not np.isin(header, body.values[body.offsets[0] : body.offsets[-1]]).any()
    are_names = len(set(names)) == len(names) and not any(LIKE_NUMBER.fullmatch(name) for name in names)
    return is_new and are_names and _columns_differ(body)


def looks_like_long_table(sample: Sample) -> bool:
    """Whether all rows have equally few values, each column its own, and one of them is of owners."""
    if sample.rows < LEAST_ROWS_OF_LONG_TABLE or not _is_even(sample):
        return False
    width = int(np.median(sample.lengths))
    if not 2 <= width <= LONG_TABLE_COLUMNS:
        return False
    columns = [sample.at(position) for position in range(width)]
    has_owners = [np.unique(column).size >= OWNERS_PER_ROW * sample.rows for column in columns]
    if any(has_owners) and _columns_differ(sample):
        return True
    return has_owners[0] and _is_grouped(columns[0]) and not _is_grouped(columns[1])


def identifier_position(sample: Sample) -> int | None:
    """The first position where nearly every row holds a value that no other row does, if there is one."""
    if sample.rows < LEAST_ROWS_OF_IDENTIFIERS:
        return None
    occurrences = sample.occurrences
    if (
        np.count_nonzero(occurrences == 1) < NEARLY_ALL * sample.rows
    ):  # so none of the positions can have as many
        return None
    for position in range(POSITIONS_LOOKED_AT):
        once = np.count_nonzero(occurrences[sample.at(position)] == 1)
        if once >= NEARLY_ALL * sample.rows:
            return position
    return None


def share_of_items_once(sample: Sample) -> float:
    """The share of all items in the rows that occur nowhere else; 0 if there are few rows."""
    if sample.rows < LEAST_ROWS_OF_IDENTIFIERS:
        return 0.0
    occurrences = sample.occurrences
    return float(np.count_nonzero(occurrences == 1) / occurrences.sum())


def _check_identifiers(sample: Sample, name: str, override: str) -> None:
    if share_of_items_once(sample) >= NEARLY_ALL:
        raise _refusal(
            name,
            "has hardly any item in two rows, as if rows were no baskets; give --separator or --format",
            override,
        )
    position = identifier_position(sample)
    if position is not None:
        raise _refusal(
            name,
            f"has another value in the {ordinal(position + 1)} place of nearly every row, as identifiers are; take "
            f"them out, or save a table and name the columns with --owner and --item",
            override,
        )


def _is_even(sample: Sample) -> bool:
    """Whether nearly all rows have the same number of values: that of a row in the middle, by length."""
    lengths, middle = sample.lengths, sample.rows // 2
    as_many = np.count_nonzero(lengths == np.partition(lengths, middle)[middle])
    return bool(as_many / sample.rows >= NEARLY_ALL)


def _columns_differ(sample: Sample) -> bool:
    """Whether nearly every value stands always in the same column."""
    start, end = sample.offsets[0], sample.offsets[-1]
    positions = np.arange(start, end) - np.repeat(sample.offsets[:-1], sample.lengths)
    pairs = np.unique(np.stack([sample.values[start:end], positions]), axis=1)
    columns_of_value = np.unique(pairs[0], return_counts=True)[1]
    return bool(np.mean(columns_of_value == 1) >= OF_ONE_COLUMN)


def _is_grouped(column: Int64Array) -> bool:
    """Whether equal values stand together, and some do."""
    runs = 1 + np.count_nonzero(np.diff(column))
    return bool(runs == np.unique(column).size and runs < column.size)


def _first_lines(file: ByteFile) -> list[bytes]:
    return file.first_lines(ROWS_LOOKED_AT).text.tobytes().removesuffix(b"\n").split(b"\n")


def _cells(file: ByteFile, separator: str) -> tuple[Int64Array, Any]:
    lines = file.first_lines(ROWS_LOOKED_AT)
    cells = cells_of_lines(file, lines, separator=separator, keeps_empty=True, skips=True)
    return cells.offsets, cells.texts


def _are_filled(cells: Any) -> BoolArray:  # noqa: ANN401
    """Which cells are not empty."""
    are_filled: BoolArray = numpy_of(pc.binary_length(cells)) > 0
    return are_filled


def _rows_where(offsets: Int64Array, facts: BoolArray) -> BoolArray:
    """Which rows have a cell of which it is a fact."""
    before = np.concatenate([[0], np.cumsum(facts)])
    has_one: BoolArray = np.diff(before[offsets]) > 0
    return has_one


def _first_cells(offsets: Int64Array, facts: Any) -> BoolArray:  # noqa: ANN401
    """Whether it is a fact of the first cell, for each row that has any."""
    starts = offsets[:-1][np.diff(offsets) > 0]
    of_first: BoolArray = numpy_of(facts)[starts]
    return of_first


def _are_most(facts: BoolArray) -> bool:
    return bool(np.count_nonzero(facts) >= max(TWO_ROWS, TELLING_SHARE * facts.size))


def _refusal(name: str, problem: str, override: str) -> BadInput:
    return BadInput(f"{name} {problem}; to read it as it is, give {override}")
