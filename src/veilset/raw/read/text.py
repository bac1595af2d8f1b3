"""Text with one transaction on each line: numbers (FIMI, SPMF) or names (basket CSV).

A blank line is a transaction without items: an empty basket is somebody's, too. The newline at the end of
the last line may be missing. What a line means depends on that line alone, and in SPMF on the lines in front of
the first transaction; a file without lines holds no transaction. If `skips`, a line that cannot be read is a
transaction without items.
"""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.arrays import Int32Array, Int64Array
from veilset.errors import BadInput
from veilset.raw.kernels import parse
from veilset.raw.read.buffers import grown, integers
from veilset.raw.read.cells import cells_of_lines, joined_offsets, without_first_line
from veilset.raw.read.cores import on_all_cores
from veilset.raw.read.encode import TokenRows, dictionary_rows
from veilset.raw.read.files import ByteFile, Lines
from veilset.raw.read.names import NameNumbers
from veilset.raw.read.vocabulary import written_integers

SMALL_TABLE = 1 << 20
"""A table with a place for every number below this costs little, however few numbers there are."""

LARGEST_TOKEN = 2**31 - 1

PROBLEMS = {
    parse.NOT_A_NUMBER: "not only whole numbers parted by blanks; if items have names, give --format basket",
    parse.NUMBER_TOO_LARGE: "a number of more than 64 bits; to take numbers as names, give --format basket",
}

SPMF_HEADER = re.compile(rb"(?:[@%#].*\n)*")
SPMF_ITEM = re.compile(rb"^@ITEM=(\d+)=(.*?)\r?$", re.MULTILINE)


def read_fimi(file: ByteFile, *, skips: bool = False) -> TokenRows:
    """Read lines of item numbers of up to 64 bits, parted by spaces or tabs."""
    rows = IdRows(file, skips=skips)
    numbers_are_short = True
    for lines in file.lines():
        numbers_are_short = numbers_are_short and rows.add_short(lines)
        if not numbers_are_short:
            rows.add(lines, is_spmf=False)
    return rows.finish()


def read_spmf(file: ByteFile, *, skips: bool = False) -> TokenRows:
    """Read SPMF text: like FIMI, with comments, names for items, and the marks -1 and -2 of sequences.

    A sequence counts as the set of all its items. Names stand in front of the first transaction.
    """
    rows = IdRows(file, skips=skips)
    header = b""
    is_header = True
    for lines in file.lines():
        text = lines.text.tobytes()
        header_end = SPMF_HEADER.match(text).end() if is_header else 0  # type: ignore[union-attr]
        header += text[:header_end]
        is_header = header_end == len(text)
        late_name = SPMF_ITEM.search(text, header_end)
        if late_name and not skips:
            line = lines.first + text.count(b"\n", 0, late_name.start())
            raise file.bad_line(line, "an @ITEM name behind the first transaction; move it to the start")
        rows.add(lines, is_spmf=True)
    file.check_utf8(header, first_line=1)
    names = SPMF_ITEM.findall(header)
    return _named(file, rows.finish(), names) if names else rows.finish()


def read_basket(file: ByteFile, *, separator: str, has_header: bool, skips: bool = False) -> TokenRows:
    """Read lines of item names; blanks around a name, empty cells and a header are passed over.

    A cell may stand in quotes, with doubled quotes inside, but must end on its line.
    """
    numbers = NameNumbers()

    def numbered(whole: Lines) -> tuple[Int64Array, tuple[int, Int32Array]]:
        lines = without_first_line(whole) if has_header and whole.first == 1 else whole
        cells = cells_of_lines(file, lines, separator=separator, keeps_empty=False, skips=skips)
        return cells.offsets, numbers.tokens_of(cells.text, cells.starts)

    blocks = list(on_all_cores(numbered, file.lines()))
    names, tokens = numbers.united([block for _, block in blocks])
    return TokenRows(
        joined_offsets([offsets for offsets, _ in blocks]),
        tokens,
        names,
        np.arange(len(names), dtype=np.int64),
        are_integers=written_integers(names),
    )


class IdRows:
    """Rows of item numbers, added block by block: row r is `ids[offsets[r]:offsets[r + 1]]`."""

    def __init__(self, file: ByteFile, *, skips: bool) -> None:
        self._file = file
        self._skips = skips
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
        rows, found, largest, is_ascending, problem, seen = parse.parse_ids(
            lines.text, is_spmf, self._skips, ids, offsets
        )
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
        offsets, ids = self._offsets[: self._rows + 1], self._ids[: self._found]
        if self._largest > min(max(SMALL_TABLE, self._found), LARGEST_TOKEN):
            return dictionary_rows(offsets, integers(ids))
        tokens = ids.view(np.int32)
        is_present = np.zeros(self._largest + 1, dtype=np.bool_)
        parse.mark_present(tokens, is_present)
        present = np.flatnonzero(is_present)
        return TokenRows(offsets, tokens, integers(present), present, is_ascending=self._is_ascending)

    def _make_room(self, lines: Lines) -> None:
        """Make room for these lines, or for the rest of the file, if it is like what has been read.

        Room that stays empty costs nothing, but the first write to a page of memory costs about as much as
        parsing what is written: so nothing is written twice if it can be helped.
        """
        growth = self._file.growth_ahead()
        if self._offsets.size < self._rows + 1 + lines.number:
            size = int(self._rows * growth) + 1 + lines.number
            self._offsets = grown(self._offsets, used=self._rows + 1, size=size)
        if self._ids.size < self._found + _most_numbers(lines):
            size = int(self._found * growth) + _most_numbers(lines)
            self._ids = grown(self._ids, used=self._found, size=size)

    def _count(self, rows: int, found: int, largest: int, *, is_ascending: bool) -> None:
        self._rows += rows
        self._found += found
        self._largest = max(self._largest, largest)
        self._is_ascending &= is_ascending


def _most_numbers(lines: Lines) -> int:
    """How many numbers there can be: each has a digit, and a byte behind it."""
    return lines.text.size // 2 + 1


def _named(file: ByteFile, rows: TokenRows, item_names: list[tuple[bytes, bytes]]) -> TokenRows:
    """The rows with the names that the file gives to item numbers.

    A number without a name is its own; if that is the name of another item, with an @ in front.
    """
    name_of = {int(number): name.decode().strip() for number, name in item_names if name.strip()}
    taken = set(name_of.values())
    if len(taken) != len(name_of):
        raise BadInput(f"{file.name} gives two items the same name in its @ITEM lines; make the names differ")
    names = [name_of.get(number, _free_name(str(number), taken)) for number in rows.names.to_pylist()]
    return replace(rows, names=pa.array(names, pa.string()))


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name = "@" + name
    return name
