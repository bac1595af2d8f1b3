"""From the bytes of a text to rows of numbers or cells, and from what rows hold to item codes.

Every text ends with a newline, so that no loop within a line has to look for the end of the text. A problem
is returned with the line it is on; the caller puts it into words.
"""

import numpy as np

from veilset.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, Uint32Array, Uint64Array
from veilset.raw.kernels import inner, kernel

FINE = 0
NOT_A_NUMBER = 1
NUMBER_TOO_LARGE = 2
BROKEN_QUOTE = 3

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32
QUOTE, HASH, PERCENT, MINUS, ZERO, ONE, TWO, AT = 34, 35, 37, 45, 48, 49, 50, 64

SHORT_ROW = 64


@kernel
def count_bytes(text: Uint8Array, byte: int) -> int:
    """How often a byte occurs."""
    number = 0
    for i in range(text.size):
        number += text[i] == byte
    return number


@kernel
def is_ascii(text: Uint8Array) -> bool:
    """Whether no byte is beyond ASCII."""
    together = np.uint8(0)
    for i in range(text.size):
        together |= text[i]
    return bool(together < 128)


@kernel
def parse_short_ids(text: Uint8Array, ids: Uint32Array, offsets: Int64Array) -> tuple[int, int, bool, bool]:
    """Parse lines of numbers of at most nine digits, parted by spaces and tabs.

    Only "is it a digit" is a branch: whether a line ends after a number is what a processor guesses badly.
    Positions are unsigned because numba guards every store at a signed one, at a third of the speed.

    Args:
        text: The lines.
        ids: Room for the numbers, one for each byte that is no digit.
        offsets: Room for one more than there are lines; row r will be `ids[offsets[r]:offsets[r + 1]]`.

    Returns:
        How many numbers there are, the largest, whether every row ascends without repeats, and whether all
        of this holds: it does not if the text has any other byte, or a longer number.
    """
    one = np.uint64(1)
    rows = np.uint64(0)
    found = np.uint64(0)
    value = np.uint32(0)
    digits = np.uint64(0)
    previous = np.int64(-1)
    largest = np.uint32(0)
    most_digits = np.uint64(0)
    is_ascending = True
    is_known = True
    offsets[0] = 0
    for i in range(text.size):
        byte = text[i]
        digit = np.uint32(np.uint32(byte) - np.uint32(ZERO))  # wraps around below "0"
        if digit < np.uint32(10):
            value = np.uint32(value * np.uint32(10) + digit)
            digits += one
        else:
            is_newline = byte == NEWLINE
            is_known &= is_newline | (byte == SPACE) | (byte == TAB)
            is_number = digits > 0
            is_ascending &= bool(np.int64(value) > previous) | (not is_number)
            previous = np.int64(value) if is_number else previous
            previous = np.int64(-1) if is_newline else previous
            largest = max(largest, value)
            most_digits = max(most_digits, digits)
            ids[found] = value  # without a number, the next one overwrites it
            found += np.uint64(is_number)
            offsets[rows + one] = found  # within a line, its next break overwrites it
            rows += np.uint64(is_newline)
            value = np.uint32(0)
            digits = np.uint64(0)
    return int(found), int(largest), is_ascending, is_known and bool(most_digits <= 9)


@inner
def is_break(byte: int) -> bool:
    """Whether a number ends before this byte; a return counts only before a newline, which others check."""
    return byte in (SPACE, NEWLINE, TAB, RETURN)


@kernel
def parse_ids(
    text: Uint8Array,
    is_spmf: bool,  # noqa: FBT001 - kernels take positions only
    skips: bool,  # noqa: FBT001
    ids: Uint64Array,
    offsets: Int64Array,
) -> tuple[int, int, np.uint64, bool, int, int]:
    """Parse lines of numbers of up to 64 bits, or find the first line that is none.

    In SPMF text, lines that start with @, % or # are no rows, and the marks -1 and -2 are passed over.

    Args:
        text: The lines; a return before a newline is fine.
        is_spmf: Whether the text is SPMF.
        skips: Whether a line that cannot be read is a row without numbers, rather than a problem.
        ids: Room for the numbers, one for each byte that is no digit.
        offsets: Room for one more than there are lines; row r will be `ids[offsets[r]:offsets[r + 1]]`.

    Returns:
        How many rows and numbers there are, the largest number, whether every row ascends without repeats,
        what the problem is, and how many lines were looked at (the last one has the problem).
    """
    largest_before_digit = np.uint64(2**64 - 1) // np.uint64(10)
    rows, found, lines, i = 0, 0, 0, 0
    largest = np.uint64(0)
    is_ascending = True
    offsets[0] = 0
    while i < text.size:
        lines += 1
        if is_spmf and text[i] in (AT, PERCENT, HASH):
            while text[i] != NEWLINE:
                i += 1
            i += 1
            continue
        problem = FINE
        while problem == FINE and text[i] != NEWLINE:
            byte = text[i]
            if ZERO <= byte < ZERO + 10:
                value = np.uint64(0)
                while ZERO <= text[i] < ZERO + 10 and problem == FINE:
                    digit = np.uint64(text[i] - ZERO)
                    if value > largest_before_digit or np.uint64(value * np.uint64(10)) > ~digit:
                        problem = NUMBER_TOO_LARGE
                    value = np.uint64(value * np.uint64(10)) + digit
                    i += 1
                if problem == FINE and not is_break(text[i]):
                    problem = NOT_A_NUMBER
                ids[found] = value
                found += 1
            elif byte in (SPACE, TAB) or (byte == RETURN and text[i + 1] == NEWLINE):
                i += 1
            elif is_spmf and byte == MINUS and text[i + 1] in (ONE, TWO) and is_break(text[i + 2]):
                i += 2
            else:
                problem = NOT_A_NUMBER
        if problem != FINE:
            if not skips:
                return rows, found, largest, is_ascending, problem, lines
            found = offsets[rows]
            while text[i] != NEWLINE:
                i += 1
        for place in range(offsets[rows], found):
            is_ascending &= place == offsets[rows] or ids[place - 1] < ids[place]
            largest = max(largest, ids[place])
        i += 1
        rows += 1
        offsets[rows] = found
    return rows, found, largest, is_ascending, FINE, lines


@kernel
def split_cells(
    text: Uint8Array,
    separator: int,
    keeps_empty: bool,  # noqa: FBT001
    skips: bool,  # noqa: FBT001
    cells: Uint8Array,
    cell_offsets: Int64Array,
    offsets: Int64Array,
) -> tuple[int, int]:
    """Split lines into cells, without the quotes and the blanks around a cell.

    A cell that starts with a quote ends at the next single quote, on the same line; a doubled one stands for
    a quote. Elsewhere a quote is a letter like others.

    Args:
        text: The lines.
        separator: The byte between cells.
        keeps_empty: Whether an empty cell is one, too; then a blank line has one.
        skips: Whether a line that cannot be read is a row without cells, rather than a problem.
        cells: Room for the text of all cells, as much as `text` has.
        cell_offsets: Room for one more than there are separators and newlines.
        offsets: Room for one more than there are lines; row r will be the cells offsets[r] to offsets[r + 1].

    Returns:
        What the problem is, and how many lines were looked at (the last one has the problem).
    """
    rows, found, written, i = 0, 0, 0, 0
    offsets[0] = 0
    cell_offsets[0] = 0
    while i < text.size:
        while is_blank(text[i], separator):
            i += 1
        start = written
        is_broken = False
        if text[i] == QUOTE:
            i += 1
            while text[i] != NEWLINE and (text[i] != QUOTE or text[i + 1] == QUOTE):
                i += text[i] == QUOTE  # of a doubled quote, write the second
                written = append_byte(text[i], separator, cells, start, written)
                i += 1
            is_broken = text[i] == NEWLINE
            i += not is_broken
            while is_blank(text[i], separator):
                i += 1
            is_broken |= text[i] not in (separator, NEWLINE)
        else:
            while text[i] != separator and text[i] != NEWLINE:
                written = append_byte(text[i], separator, cells, start, written)
                i += 1
        if is_broken:
            if not skips:
                return BROKEN_QUOTE, rows + 1
            found = offsets[rows]
            written = cell_offsets[found]
            while text[i] != NEWLINE:
                i += 1
        else:
            while written > start and is_blank(cells[written - 1], separator):
                written -= 1
            if written > start or keeps_empty:
                found += 1
                cell_offsets[found] = written
        if text[i] == NEWLINE:
            rows += 1
            offsets[rows] = found
        i += 1
    return FINE, rows


@kernel
def is_blank(byte: int, separator: int) -> bool:
    """Whether a byte is a blank that may stand around a cell."""
    return byte in (SPACE, TAB, RETURN) and byte != separator


@inner
def append_byte(byte: int, separator: int, cells: Uint8Array, start: int, written: int) -> int:
    """Add a byte to the cell from `start` on, unless it is a blank in front; returns how much is written."""
    if written == start and is_blank(byte, separator):
        return written
    cells[written] = byte
    return written + 1


@kernel
def mark_present(tokens: Int32Array, present: BoolArray) -> None:
    """Set `present[token]` for every token there is."""
    for i in range(tokens.size):
        present[tokens[i]] = True


@kernel
def replace(tokens: Int32Array, code_of: Int32Array) -> None:
    """Put `code_of[token]` in the place of every token."""
    for i in range(tokens.size):
        tokens[i] = code_of[tokens[i]]


@kernel
def encode_rows(offsets: Int64Array, tokens: Int32Array, code_of: Int32Array) -> None:
    """Turn rows of tokens into rows of codes that ascend without repeats, in place.

    A token with a code below zero is dropped. The rows move together: of `tokens`, what is behind the last
    offset is meaningless afterwards.
    """
    one = np.uint64(1)  # positions are unsigned for the reason that `parse_short_ids` gives
    written = np.uint64(0)
    start = np.uint64(0)
    for row in range(offsets.size - 1):
        end = np.uint64(offsets[row + 1])
        first = written
        previous = np.int32(-1)
        is_ascending = True
        for i in range(start, end):
            code = code_of[tokens[i]]
            if code >= 0:
                is_ascending &= bool(code > previous)
                previous = code
                tokens[written] = code
                written += one
        if not is_ascending:
            if written - first <= np.uint64(SHORT_ROW):
                sort_short(tokens, first, written)
            else:
                tokens[first:written].sort()
            written = drop_repeats(tokens, first, written)
        start = end
        offsets[row + 1] = written


@inner
def sort_short(values: Int32Array, first: np.uint64, end: np.uint64) -> None:
    """Sort `values[first:end]`: on a few values, several times as fast as a general sort.

    Each value passes by all that are sorted already and changes places with those that are larger. Stopping
    where it belongs would save half the steps, but where that is, a processor guesses badly.
    """
    for position in range(first, end):
        largest = values[position]
        for i in range(first, position):
            held = values[i]
            values[i] = min(held, largest)
            largest = max(held, largest)
        values[position] = largest


@inner
def drop_repeats(values: Int32Array, first: np.uint64, end: np.uint64) -> np.uint64:
    """Move what is distinct in the sorted `values[first:end]` to its front; returns where that ends."""
    kept = first
    previous = np.int32(-1)  # codes are not negative
    for i in range(first, end):
        value = values[i]
        values[kept] = value  # a repeat does not count, so that the next value overwrites it
        kept += np.uint64(value != previous)
        previous = value
    return kept
