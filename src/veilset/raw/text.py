"""Text with one transaction on each line: numbers (FIMI, SPMF) or names (basket CSV).

A blank line is a transaction without items: an empty basket is somebody's, too. The newline at the end of
the last line may be missing.
"""

import re
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.errors import BadInput
from veilset.raw.counts import Int64Array
from veilset.raw.encode import TokenRows, dictionary_rows
from veilset.raw.files import ByteFile, Lines
from veilset.raw.kernels import parse
from veilset.raw.vocabulary import integers_if_all

Ids = npt.NDArray[np.uint32] | npt.NDArray[np.uint64]

SMALL_TABLE = 1 << 20
"""A table with a place for every number below this costs little, however few numbers there are."""

LARGEST_TOKEN = 2**31 - 1

PROBLEMS = {
    parse.NOT_A_NUMBER: "not only whole numbers parted by blanks; if items have names, give --format basket",
    parse.NUMBER_TOO_LARGE: "a number of more than 64 bits; to take numbers as names, give --format basket",
    parse.BROKEN_QUOTE: "a quote that does not close where its cell ends; close it, or double it in names",
}

SPMF_ITEM = re.compile(rb"^@ITEM=(\d+)=(.*?)\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class IdRows:
    """Rows of item numbers: row r is `ids[offsets[r]:offsets[r + 1]]`."""

    offsets: Int64Array
    ids: Ids
    largest: int
    is_ascending: bool


def read_fimi(file: ByteFile) -> TokenRows:
    """Read lines of item numbers of up to 64 bits, parted by spaces or tabs."""
    blocks: list[IdRows] = []
    numbers_are_short = True
    for lines in file.lines():
        block = _parse_short_ids(lines) if numbers_are_short else None
        if block is None:
            numbers_are_short = False
            block = _parse_ids(file, lines, is_spmf=False)
        blocks.append(block)
    return _token_rows(_joined(file, blocks))


def read_spmf(file: ByteFile) -> TokenRows:
    """Read SPMF text: like FIMI, with comments, names for items, and the marks -1 and -2 of sequences.

    A sequence counts as the set of all its items.
    """
    blocks: list[IdRows] = []
    item_names: list[tuple[bytes, bytes]] = []
    for lines in file.lines():
        text = lines.text.tobytes()
        file.check_utf8(text, first_line=lines.first)
        blocks.append(_parse_ids(file, lines, is_spmf=True))
        item_names += SPMF_ITEM.findall(text)
    rows = _token_rows(_joined(file, blocks))
    return _named(file, rows, item_names) if item_names else rows


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


def _parse_short_ids(lines: Lines) -> IdRows | None:
    """The rows, unless the lines hold a number of more than nine digits, a carriage return or a problem."""
    ids = np.empty(_count_breaks(lines), dtype=np.uint32)
    offsets = np.empty(_count_newlines(lines) + 1, dtype=np.int64)
    found, largest, is_ascending, is_valid = parse.parse_short_ids(lines.text, ids, offsets)
    return IdRows(offsets, ids[:found], largest, is_ascending) if is_valid else None


def _parse_ids(file: ByteFile, lines: Lines, *, is_spmf: bool) -> IdRows:
    ids = np.empty(_count_breaks(lines), dtype=np.uint64)
    offsets = np.empty(_count_newlines(lines) + 1, dtype=np.int64)
    rows, found, largest, is_ascending, problem, seen = parse.parse_ids(lines.text, is_spmf, ids, offsets)
    if problem != parse.FINE:
        raise file.bad_line(lines.first + seen - 1, PROBLEMS[problem])
    narrow = ids[:found].astype(np.uint32) if largest < 2**32 else ids[:found]
    return IdRows(offsets[: rows + 1], narrow, int(largest), is_ascending)


def _split_cells(file: ByteFile, lines: Lines, *, separator: int) -> tuple[Int64Array, pa.StringArray]:
    rows = _count_newlines(lines)
    offsets = np.empty(rows + 1, dtype=np.int64)
    cells = np.empty(lines.text.size, dtype=np.uint8)
    cell_offsets = np.empty(rows + np.count_nonzero(lines.text == separator) + 1, dtype=np.int32)
    problem, seen = parse.split_cells(lines.text, separator, cells, cell_offsets, offsets)
    if problem != parse.FINE:
        raise file.bad_line(lines.first + seen - 1, PROBLEMS[problem])
    texts = pa.StringArray.from_buffers(int(offsets[-1]), pa.py_buffer(cell_offsets), pa.py_buffer(cells))
    return offsets, texts


def _count_newlines(lines: Lines) -> int:
    return int(np.count_nonzero(lines.text == parse.NEWLINE))


def _count_breaks(lines: Lines) -> int:
    """How many bytes are no digit: at least as many as there are numbers."""
    return int(np.count_nonzero(lines.text - np.uint8(parse.ZERO) > 9))  # wraps around below "0"


def _without_first_line(lines: Lines) -> Lines:
    first_newline = int(np.argmax(lines.text == parse.NEWLINE))
    return Lines(lines.text[first_newline + 1 :], lines.first + 1)


def _joined(file: ByteFile, blocks: list[IdRows]) -> IdRows:
    return IdRows(
        _joined_offsets(file, [block.offsets for block in blocks]),
        blocks[0].ids if len(blocks) == 1 else np.concatenate([block.ids for block in blocks]),
        max(block.largest for block in blocks),
        all(block.is_ascending for block in blocks),
    )


def _joined_offsets(file: ByteFile, blocks: list[Int64Array]) -> Int64Array:
    """The offsets of all rows, from those of each block, which start at 0."""
    rows = sum(block.size - 1 for block in blocks)
    if rows == 0:
        raise BadInput(f"{file.name} holds no transaction; it is empty, or only a header")
    if len(blocks) == 1:
        return blocks[0]
    offsets = np.zeros(rows + 1, dtype=np.int64)
    row = 0
    for block in blocks:
        end = row + block.size - 1
        np.add(block[1:], offsets[row], out=offsets[row + 1 : end + 1])
        row = end
    return offsets


def _token_rows(rows: IdRows) -> TokenRows:
    """Small numbers are tokens as they are; if some are large, a dictionary makes tokens of them."""
    table_limit = min(max(SMALL_TABLE, rows.ids.size), LARGEST_TOKEN)
    if rows.largest > table_limit:
        return dictionary_rows(rows.offsets, pa.array(rows.ids))
    tokens = rows.ids.view(np.int32)
    is_present = np.zeros(rows.largest + 1, dtype=np.bool_)
    parse.mark_present(tokens, is_present)
    ids = np.flatnonzero(is_present)
    return TokenRows(rows.offsets, tokens, pa.array(ids), ids, is_ascending=rows.is_ascending)


def _named(file: ByteFile, rows: TokenRows, item_names: list[tuple[bytes, bytes]]) -> TokenRows:
    """The rows with the names that the file gives to item numbers."""
    name_of = {int(number): name.decode().strip() for number, name in item_names}
    names = [name_of.get(number, str(number)) for number in rows.names.to_pylist()]
    if len(set(names)) != len(names):
        raise BadInput(f"{file.name} gives two items the same name in its @ITEM lines; make the names differ")
    return replace(rows, names=pa.array(names, pa.string()))
