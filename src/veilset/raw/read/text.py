"""Text with one transaction on each line: numbers (FIMI, SPMF) or names (basket CSV).

A blank line is a transaction without items: an empty basket is somebody's, too. The newline at the end of
the last line may be missing. What a line means depends on that line alone, and in SPMF on the lines in front of
the first transaction; a file without lines holds no transaction. If `skips`, a line that cannot be read is a
transaction without items.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.arrays import Int32Array, Int64Array, Uint32Array
from veilset.arrow_arrays import integers
from veilset.errors import BadInput
from veilset.raw.kernels import parse
from veilset.raw.read.buffers import grown
from veilset.raw.read.cells import cells_of_lines, joined_offsets, without_first_line
from veilset.raw.read.cores import on_all_cores, on_parts
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
    rows = IdRows()

    def parsed(lines: Lines) -> ParsedIds:
        return rows.parsed_short(lines) or parsed_ids(file, lines, is_spmf=False, skips=skips)

    for block in on_all_cores(parsed, file.lines(), is_short=file.is_short):
        rows.add(block)
    return rows.finish()


def read_spmf(file: ByteFile, *, skips: bool = False) -> TokenRows:
    """Read SPMF text: like FIMI, with comments, names for items, and the marks -1 and -2 of sequences.

    A sequence counts as the set of all its items. Names stand in front of the first transaction.
    """
    rows = IdRows()
    header = SpmfHeader(file, skips=skips)

    def parsed(lines: Lines) -> ParsedIds:
        return parsed_ids(file, lines, is_spmf=True, skips=skips)

    for block in on_all_cores(parsed, header.passing(file.lines())):
        rows.add(block)
    names = header.item_names()
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


class SpmfHeader:
    """The lines in front of the first transaction of an SPMF text, which may give names to numbers."""

    def __init__(self, file: ByteFile, *, skips: bool) -> None:
        self._file = file
        self._skips = skips
        self._text = b""
        self._goes_on = True

    def passing(self, blocks: Iterable[Lines]) -> Iterator[Lines]:
        """The same blocks; BadInput at a name behind the first transaction, once all before it have been passed on."""
        for lines in blocks:
            text = lines.text.tobytes()
            end = SPMF_HEADER.match(text).end() if self._goes_on else 0  # type: ignore[union-attr]
            self._text += text[:end]
            self._goes_on = end == len(text)
            late_name = SPMF_ITEM.search(text, end) if b"@" in text else None
            if late_name and not self._skips:
                line = lines.first + text.count(b"\n", 0, late_name.start())
                problem = "an @ITEM name behind the first transaction; move it to the start"
                raise self._file.bad_line(line, problem)
            yield lines

    def item_names(self) -> list[tuple[bytes, bytes]]:
        """The numbers that have names, and these."""
        self._file.check_utf8(self._text, first_line=1)
        return SPMF_ITEM.findall(self._text)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ParsedIds:
    """Rows of item numbers: row r is `ids[offsets[r]:offsets[r + 1]]`.

    `growth` is the factor by which all rows up to these may grow until the end of the file, `spare` the memory that
    is free again once they have been copied.
    """

    offsets: Int64Array
    ids: npt.NDArray[Any]
    largest: int
    is_ascending: bool
    growth: float
    spare: tuple[Int64Array, Uint32Array] | None = None


def parsed_ids(file: ByteFile, lines: Lines, *, is_spmf: bool, skips: bool) -> ParsedIds:
    """Lines of numbers of any length."""
    ids = np.empty(_most_numbers(lines), dtype=np.uint64)
    offsets = np.empty(lines.number + 1, dtype=np.int64)
    rows, found, largest, is_ascending, problem, seen = parse.parse_ids(
        lines.text, is_spmf, skips, ids, offsets
    )
    if problem != parse.FINE:
        raise file.bad_line(lines.first + seen - 1, PROBLEMS[problem])
    return ParsedIds(offsets[: rows + 1], ids[:found], int(largest), is_ascending, lines.growth)


class IdRows:
    """Rows of item numbers, added block by block: row r is `ids[offsets[r]:offsets[r + 1]]`."""

    def __init__(self) -> None:
        self._offsets: Int64Array = np.zeros(1, dtype=np.int64)
        self._ids: npt.NDArray[Any] = np.empty(0, dtype=np.uint32)
        self._rows = 0
        self._found = 0
        self._largest = 0
        self._is_ascending = True
        self._spare: SimpleQueue[tuple[Int64Array, Uint32Array]] = SimpleQueue()

    def parsed_short(self, lines: Lines) -> ParsedIds | None:
        """Lines of numbers of up to nine digits, on any thread; None if there is any other.

        The rows lie in memory that the next block will be parsed into, once they have been added.
        """
        offsets, ids = self._spare_memory(lines)
        found, largest, is_ascending, is_valid = parse.parse_short_ids(lines.text, ids, offsets)
        if not is_valid:
            return None
        rows = offsets[: lines.number + 1]
        return ParsedIds(rows, ids[:found], largest, is_ascending, lines.growth, spare=(offsets, ids))

    def add(self, block: ParsedIds) -> None:
        """Add the rows of a block; if it is likely to be the only one, it is taken as it is."""
        rows, found = block.offsets.size - 1, block.ids.size
        if self._rows == 0 and block.growth == 1 and block.spare is not None:
            self._offsets, self._ids = block.spare
            self._note(block)
            return
        if block.largest >= 2**32:
            self._ids = self._ids.astype(np.uint64, copy=False)
        self._make_room(rows, found, block.growth)
        self._ids[self._found : self._found + found] = block.ids
        np.add(block.offsets, self._found, out=self._offsets[self._rows : self._rows + rows + 1])
        self._note(block)
        if block.spare is not None:
            self._spare.put(block.spare)

    def _note(self, block: ParsedIds) -> None:
        """Count the rows of a block, which stand behind those that were added before."""
        self._rows += block.offsets.size - 1
        self._found += block.ids.size
        self._largest = max(self._largest, block.largest)
        self._is_ascending &= block.is_ascending

    def finish(self) -> TokenRows:
        """The rows, of tokens: the numbers as they are, or places in a dictionary if some are large."""
        offsets, ids = self._offsets[: self._rows + 1], self._ids[: self._found]
        if self._largest > min(max(SMALL_TABLE, self._found), LARGEST_TOKEN):
            return dictionary_rows(offsets, integers(ids))
        tokens = ids.view(np.int32)
        is_present = np.zeros(self._largest + 1, dtype=np.bool_)
        on_parts(lambda part: parse.mark_present(part, is_present), tokens)
        present = np.flatnonzero(is_present)
        return TokenRows(offsets, tokens, integers(present), present, is_ascending=self._is_ascending)

    def _spare_memory(self, lines: Lines) -> tuple[Int64Array, Uint32Array]:
        """Room for the rows of these lines: that of rows which have been added, or new memory if there is none."""
        numbers = _most_numbers(lines)
        try:
            offsets, ids = self._spare.get_nowait()
        except Empty:
            offsets, ids = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint32)
        if offsets.size <= lines.number:
            offsets = np.empty(lines.number * 5 // 4 + 1, dtype=np.int64)
        if ids.size < numbers:
            ids = np.empty(numbers * 5 // 4, dtype=np.uint32)
        return offsets, ids

    def _make_room(self, rows: int, found: int, growth: float) -> None:
        """Make room for a block, or for the rest of the file, if it is like what has been read.

        Room that stays empty costs nothing, but the first write to a page of memory costs about as much as
        parsing what is written: so nothing is written twice if it can be helped.
        """
        if self._offsets.size < self._rows + 1 + rows:
            size = int((self._rows + rows) * growth) + 1 + rows
            self._offsets = grown(self._offsets, used=self._rows + 1, size=size)
        if self._ids.size < self._found + found:
            size = int((self._found + found) * growth) + found
            self._ids = grown(self._ids, used=self._found, size=size)


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
