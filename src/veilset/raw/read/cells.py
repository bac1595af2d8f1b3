"""Lines of separated cells, the common part of baskets and CSV tables. A line is read without looking at others."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from veilset.arrays import Int64Array, Uint8Array
from veilset.arrow_arrays import large_strings
from veilset.raw.kernels import parse
from veilset.raw.read.files import ByteFile, Lines

OPEN_QUOTE = "a quote that does not close where its cell ends; close it, or double it in names"

UNREADABLE_LINE = b'"'
"""Stands for a line that is not UTF-8: as unreadable as that one, for whatever reads cells."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CellRows:
    """Row r has the cells from `offsets[r]` to `offsets[r + 1]`; cell c is `text[starts[c]:starts[c + 1]]`."""

    offsets: Int64Array
    text: Uint8Array
    starts: Int64Array

    @property
    def texts(self) -> pa.LargeStringArray:
        """The cells as an Arrow array."""
        return large_strings(self.text, self.starts)


def cells_of_lines(
    file: ByteFile, lines: Lines, *, separator: str, keeps_empty: bool, skips: bool
) -> CellRows:
    """The cells of lines, quotes and blanks around them taken off.

    A line that is not UTF-8 or has a broken quote is refused, or if `skips`, a row without cells. If `keeps_empty`,
    empty cells count, and a blank line has one.
    """
    lines = _in_utf8(file, lines, skips=skips)
    offsets = np.empty(lines.number + 1, dtype=np.int64)
    text = np.empty(lines.text.size, dtype=np.uint8)
    most_cells = lines.number + parse.count_bytes(lines.text, ord(separator))
    starts = np.empty(most_cells + 1, dtype=np.int64)
    problem, seen = parse.split_cells(lines.text, ord(separator), keeps_empty, skips, text, starts, offsets)
    if problem != parse.FINE:
        raise file.bad_line(lines.first + seen - 1, OPEN_QUOTE)
    return CellRows(offsets, text, starts[: int(offsets[-1]) + 1])


def joined_offsets(blocks: list[Int64Array]) -> Int64Array:
    """The offsets of all rows, from those of each block, which start at 0."""
    offsets = np.zeros(sum(block.size - 1 for block in blocks) + 1, dtype=np.int64)
    row = 0
    for block in blocks:
        end = row + block.size - 1
        np.add(block[1:], offsets[row], out=offsets[row + 1 : end + 1])
        row = end
    return offsets


def without_first_line(lines: Lines) -> Lines:
    """The lines less the first."""
    first_newline = int(np.argmax(lines.text == parse.NEWLINE))
    return Lines(lines.text[first_newline + 1 :], lines.first + 1, lines.number - 1)


def _in_utf8(file: ByteFile, lines: Lines, *, skips: bool) -> Lines:
    if _is_utf8_text(lines.text):
        return lines
    text = lines.text.tobytes()
    if not skips:
        file.check_utf8(text, first_line=lines.first)
    kept = [line if _is_utf8(line) else UNREADABLE_LINE for line in text.split(b"\n")]
    return Lines(np.frombuffer(b"\n".join(kept), dtype=np.uint8), lines.first, lines.number)


def _is_utf8_text(text: Uint8Array) -> bool:
    """Whether this is UTF-8; Arrow tells without holding up the threads that work on other blocks."""
    if parse.is_ascii(text):
        return True
    try:
        large_strings(text, np.array([0, text.size])).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
