"""Text with one transaction on each line: numbers (FIMI, SPMF) or names (basket CSV).

A blank line is a transaction without items: an empty basket is somebody's, too. The newline at the end of
the last line may be missing.
"""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.arrays import Int64Array
from veilset.errors import BadInput
from veilset.raw.kernels import parse
from veilset.raw.read.encode import TokenRows, dictionary_rows
from veilset.raw.read.files import ByteFile, Lines
from veilset.raw.read.vocabulary import integers_if_all

SMALL_TABLE = 1 << 20
"""A table with a place for every number below this costs little, however few numbers there are."""

LARGEST_TOKEN = 2**31 - 1

PROBLEMS = {
    parse.NOT_A_NUMBER: "not only whole numbers parted by blanks; if items have names, give --format basket",
    parse.NUMBER_TOO_LARGE: "a number of more than 64 bits; to take numbers as names, give --format basket",
    parse.BROKEN_QUOTE: "a quote that does not close where its cell ends; close it, or double it in names",
}

NO_TRANSACTION = "{} holds no transaction, only a header or comments; add a line for each transaction"

SPMF_ITEM = re.compile(rb"^@ITEM=(\d+)=(.*?)\r?$", re.MULTILINE)


def read_fimi(file: ByteFile) -> TokenRows:
    """Read lines of item numbers of up to 64 bits, parted by spaces or tabs."""
    rows = IdRows(file)
    numbers_are_short = True
    for lines in file.lines():
        numbers_are_short = numbers_are_short and rows.add_short(lines)
        if not numbers_are_short:
            rows.add(lines, is_spmf=False)
    return rows.finish()


def read_spmf(file: ByteFile) -> TokenRows:
    """Read SPMF text: like FIMI, with comments, names for items, and the marks -1 and -2 of sequences.

    A sequence counts as the set of all its items.
    """
    rows = IdRows(file)
    item_names: list[tuple[bytes, bytes]] = []
    for lines in file.lines():
        text = lines.text.tobytes()
        file.check_utf8(text, first_line=lines.first)
        rows.add(lines, is_spmf=True)
        item_names += SPMF_ITEM.findall(text)
    tokens = rows.finish()
    return _named(file, tokens, item_names) if item_names else tokens


def read_basket(file: ByteFile, *, separator: str, has_header: bool) -> TokenRows:
    """Read lines of item names; blanks around a name, empty cells and a header are passed over.

    A cell may stand in quotes, with doubled quotes inside, but must end on its line.
    """
    blocks: list[Int64Array] = []
    cells: list[pa.DictionaryArray] = []
    for whole_lines in file.lines():
        lines = _without_first_line(whole_lines) if has_header and whole_lines.first == 1 else whole_lines
        file.check_utf8(lines.text.tobytes(), first_line=lines.first)
        offsets, texts = _split_cells(file, lines, separator=ord(separator))
        blocks.append(offsets)
        cells.append(texts.dictionary_encode())
    rows = dictionary_rows(_joined_offsets(file, blocks), pa.chunked_array(cells))
    return replace(rows, names=integers_if_all(rows.names))


class IdRows:
    """Rows of item numbers, added block by block: row r is `ids[offsets[r]:offsets[r + 1]]`."""

    def __init__(self, file: ByteFile) -> None:
        self._file = file
        self._offsets: Int64Array = np.zeros(1, dtype=np.int64)
        self._ids: npt.NDArray[Any] = np.empty(0, dtype=np.uint32)
        self._rows = 0
        self._found = 0
        self._largest = 0
        self._is_ascending = True

    def add_short(self, lines: Lines) -> bool:
        """Add lines of numbers of up to nine digits; False, and nothing is added, if there is any other."""
        self._make_room(lines)
        text, ids, offsets = lines.text, self._ids[self._found :], self._offsets[self._rows :]
        found, largest, is_ascending, is_valid = parse.parse_short_ids(text, ids, offsets)
        offsets[: lines.number + 1] += self._found
        if is_valid:
            self._count(lines.number, found, largest, is_ascending=is_ascending)
        return is_valid

    def add(self, lines: Lines, *, is_spmf: bool) -> None:
        """Add lines of numbers of any length."""
        ids = np.empty(_most_numbers(lines), dtype=np.uint64)
        offsets = np.empty(lines.number + 1, dtype=np.int64)
        rows, found, largest, is_ascending, problem, seen = parse.parse_ids(lines.text, is_spmf, ids, offsets)
        if problem != parse.FINE:
            raise self._file.bad_line(lines.first + seen - 1, PROBLEMS[problem])
        if largest >= 2**32:
            self._ids = self._ids.astype(np.uint64, copy=False)
        self._make_room(lines)
        self._ids[self._found : self._found + found] = ids[:found]
        self._offsets[self._rows : self._rows + rows + 1] = offsets[: rows + 1] + self._found
        self._count(rows, found, int(largest), is_ascending=is_ascending)

    def finish(self) -> TokenRows:
        """The rows, of tokens: the numbers as they are, or places in a dictionary if some are large."""
        if self._rows == 0:
            raise BadInput(NO_TRANSACTION.format(self._file.name))
        offsets, ids = self._offsets[: self._rows + 1], self._ids[: self._found]
        if self._largest > min(max(SMALL_TABLE, self._found), LARGEST_TOKEN):
            return dictionary_rows(offsets, pa.array(ids))
        tokens = ids.view(np.int32)
        is_present = np.zeros(self._largest + 1, dtype=np.bool_)
        parse.mark_present(tokens, is_present)
        present = np.flatnonzero(is_present)
        return TokenRows(offsets, tokens, pa.array(present), present, is_ascending=self._is_ascending)

    def _make_room(self, lines: Lines) -> None:
        """Make room for these lines, or for the rest of the file, if it is like what has been read.

        Room that stays empty costs nothing, but the first write to a page of memory costs about as much as
        parsing what is written: so nothing is written twice if it can be helped.
        """
        growth = self._file.growth_ahead()
        if self._offsets.size < self._rows + 1 + lines.number:
            size = int(self._rows * growth) + 1 + lines.number
            self._offsets = _grown(self._offsets, used=self._rows + 1, size=size)
        if self._ids.size < self._found + _most_numbers(lines):
            size = int(self._found * growth) + _most_numbers(lines)
            self._ids = _grown(self._ids, used=self._found, size=size)

    def _count(self, rows: int, found: int, largest: int, *, is_ascending: bool) -> None:
        self._rows += rows
        self._found += found
        self._largest = max(self._largest, largest)
        self._is_ascending &= is_ascending


def _split_cells(file: ByteFile, lines: Lines, *, separator: int) -> tuple[Int64Array, pa.StringArray]:
    offsets = np.empty(lines.number + 1, dtype=np.int64)
    cells = np.empty(lines.text.size, dtype=np.uint8)
    cell_offsets = np.empty(lines.number + np.count_nonzero(lines.text == separator) + 1, dtype=np.int32)
    problem, seen = parse.split_cells(lines.text, separator, cells, cell_offsets, offsets)
    if problem != parse.FINE:
        raise file.bad_line(lines.first + seen - 1, PROBLEMS[problem])
    texts = pa.StringArray.from_buffers(int(offsets[-1]), pa.py_buffer(cell_offsets), pa.py_buffer(cells))
    return offsets, texts


def _grown(array: npt.NDArray[Any], *, used: int, size: int) -> npt.NDArray[Any]:
    grown = np.empty(size, dtype=array.dtype)
    grown[:used] = array[:used]
    return grown


def _most_numbers(lines: Lines) -> int:
    """How many numbers there can be: each has a digit, and a byte behind it."""
    return lines.text.size // 2 + 1


def _without_first_line(lines: Lines) -> Lines:
    first_newline = int(np.argmax(lines.text == parse.NEWLINE))
    return Lines(lines.text[first_newline + 1 :], lines.first + 1, lines.number - 1)


def _joined_offsets(file: ByteFile, blocks: list[Int64Array]) -> Int64Array:
    """The offsets of all rows, from those of each block, which start at 0."""
    rows = sum(block.size - 1 for block in blocks)
    if rows == 0:
        raise BadInput(NO_TRANSACTION.format(file.name))
    offsets = np.zeros(rows + 1, dtype=np.int64)
    row = 0
    for block in blocks:
        end = row + block.size - 1
        np.add(block[1:], offsets[row], out=offsets[row + 1 : end + 1])
        row = end
    return offsets


def _named(file: ByteFile, rows: TokenRows, item_names: list[tuple[bytes, bytes]]) -> TokenRows:
    """The rows with the names that the file gives to item numbers."""
    name_of = {int(number): name.decode().strip() for number, name in item_names}
    names = [name_of.get(number, str(number)) for number in rows.names.to_pylist()]
    if len(set(names)) != len(names):
        raise BadInput(f"{file.name} gives two items the same name in its @ITEM lines; make the names differ")
    return replace(rows, names=pa.array(names, pa.string()))
