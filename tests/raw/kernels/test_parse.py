"""The kernels that parse text and make item codes, against loops that anybody can check."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reference_reading import lines_of_names, lines_of_numbers
from veilset.raw.kernels import parse

LARGEST = 2**64 - 1


blanks = st.text(" \t", min_size=1, max_size=2)
small_numbers = st.integers(0, 12) | st.integers(0, 10**9 - 1)
any_numbers = small_numbers | st.integers(0, LARGEST)


@st.composite
def number_lines(draw: st.DrawFn, numbers: st.SearchStrategy[int]) -> str:
    """Lines of numbers, some with leading zeros, some blank."""
    written = st.builds(
        lambda number, zeros: "0" * zeros + str(number), numbers, st.sampled_from([0, 0, 0, 1])
    )
    rows = draw(st.lists(st.lists(written, max_size=5), min_size=1, max_size=6))
    edge = st.text(" \t", max_size=1)
    return "".join(draw(edge) + draw(blanks).join(row) + draw(edge) + "\n" for row in rows)


def as_bytes(text: str) -> npt.NDArray[np.uint8]:
    """The text as the kernels take it."""
    return np.frombuffer(text.encode(), dtype=np.uint8)


def rows_of(values: list[int], offsets: list[int]) -> list[list[int]]:
    """The values, row by row."""
    return [values[a:b] for a, b in pairwise(offsets)]


def ascends(rows: list[list[int]]) -> bool:
    """Whether every row is sorted and has no repeats."""
    return all(sorted(set(row)) == row for row in rows)


@given(text=number_lines(st.integers(0, 12) | st.integers(0, 10**8 - 1)))
def test_short_numbers_are_those_that_split_finds(text: str) -> None:
    """The fast parser finds the numbers, the largest and the order that splitting lines finds."""
    rows = lines_of_numbers(text)
    ids = np.empty(len(text), dtype=np.uint32)
    offsets = np.empty(len(rows) + 1, dtype=np.int64)
    found, largest, is_ascending, is_valid = parse.parse_short_ids(as_bytes(text), ids, offsets)
    assert rows_of(ids[:found].tolist(), offsets.tolist()) == rows
    assert largest == max((number for row in rows for number in row), default=0)
    assert (is_ascending, is_valid) == (ascends(rows), True)


@pytest.mark.parametrize("text", ["1 2\r\n", "1234567890\n", "1 a\n", "-1\n", "1,2\n", "1\x002\n"])
def test_the_fast_parser_gives_up_on_all_but_short_numbers(text: str) -> None:
    """Longer numbers and other bytes are for the careful parser."""
    ids, offsets = np.empty(len(text), dtype=np.uint32), np.empty(len(text) + 1, dtype=np.int64)
    assert not parse.parse_short_ids(as_bytes(text), ids, offsets)[3]


@given(text=number_lines(any_numbers), newline=st.sampled_from(["\n", "\r\n"]))
@example(text=f"{LARGEST} 0{LARGEST}\n", newline="\n")
def test_numbers_of_up_to_64_bits_are_those_that_split_finds(text: str, newline: str) -> None:
    """The careful parser finds the numbers, the largest and the order that splitting lines finds."""
    rows = lines_of_numbers(text)
    ids = np.empty(len(text), dtype=np.uint64)
    offsets = np.empty(len(rows) + 1, dtype=np.int64)
    lines = as_bytes(text.replace("\n", newline))
    number, found, largest, is_ascending, problem, seen = parse.parse_ids(lines, False, False, ids, offsets)  # noqa: FBT003
    assert rows_of(ids[:found].tolist(), offsets.tolist()) == rows
    assert largest == max((number for row in rows for number in row), default=0)
    assert (number, is_ascending, problem, seen) == (len(rows), ascends(rows), parse.FINE, len(rows))


@pytest.mark.parametrize(
    ("text", "is_spmf", "problem", "line"),
    [
        (f"1\n{LARGEST + 1}\n", False, parse.NUMBER_TOO_LARGE, 2),
        ("1\n\n99999999999999999999999\n", False, parse.NUMBER_TOO_LARGE, 3),
        ("1 2\nmilk\n", False, parse.NOT_A_NUMBER, 2),
        ("1a\n", False, parse.NOT_A_NUMBER, 1),
        ("1 -1 -2\n", False, parse.NOT_A_NUMBER, 1),
        ("@ITEM=1=milk\n", False, parse.NOT_A_NUMBER, 1),
        ("1\r2\n", False, parse.NOT_A_NUMBER, 1),
        ("# comment\n1 -3\n", True, parse.NOT_A_NUMBER, 2),
        ("1-1\n", True, parse.NOT_A_NUMBER, 1),
        ("1 -12\n", True, parse.NOT_A_NUMBER, 1),
        ("1 # 2\n", True, parse.NOT_A_NUMBER, 1),
    ],
)
def test_a_line_that_is_no_row_of_numbers_is_found(
    text: str, *, is_spmf: bool, problem: int, line: int
) -> None:
    """The careful parser tells the kind of problem and the line."""
    ids, offsets = np.empty(len(text), dtype=np.uint64), np.empty(len(text) + 1, dtype=np.int64)
    found = parse.parse_ids(as_bytes(text), is_spmf, False, ids, offsets)  # noqa: FBT003
    assert found[4:] == (problem, line)


def test_marks_and_comments_of_spmf_are_passed_over() -> None:
    """Of SPMF text, the numbers are left."""
    text = "@CONVERTED_FROM_TEXT\n@ITEM=3=1 2\n% 4\n3 -1 5 -1 -2\n\n# 6\n7\n"
    ids, offsets = np.empty(len(text), dtype=np.uint64), np.empty(len(text), dtype=np.int64)
    rows, found, *_ = parse.parse_ids(as_bytes(text), True, False, ids, offsets)  # noqa: FBT003
    assert rows_of(ids[:found].tolist(), offsets[: rows + 1].tolist()) == [[3, 5], [], [7]]


@given(
    rows=st.lists(st.lists(st.integers(0, 99), max_size=3), max_size=4),
    bad=st.sampled_from(["x", "1 2x", "9" * 21]),
)
def test_a_line_of_numbers_that_is_skipped_is_an_empty_row(rows: list[list[int]], bad: str) -> None:
    """The others are parsed as if it were blank."""
    lines = [bad, *(" ".join(map(str, row)) + "\n" + bad for row in rows)]
    text = "\n".join(lines) + "\n"
    ids, offsets = np.empty(len(text), dtype=np.uint64), np.empty(len(text) + 1, dtype=np.int64)
    parsed = parse.parse_ids(as_bytes(text), False, True, ids, offsets)  # noqa: FBT003
    number, found, _, is_ascending, problem, _ = parsed
    expected = [[], *(part for row in rows for part in (row, []))]
    assert rows_of(ids[:found].tolist(), offsets[: number + 1].tolist()) == expected
    assert (is_ascending, problem) == (ascends(rows), parse.FINE)


def split(text: str, *, keeps_empty: bool = False, skips: bool = False) -> list[list[str]] | None:
    """What the kernel makes of basket text, or None if it finds a broken quote."""
    data = as_bytes(text)
    rows = text.count("\n")
    cells, cell_offsets = np.empty(data.size, np.uint8), np.empty(data.size + 1, np.int64)
    offsets = np.empty(rows + 1, dtype=np.int64)
    problem, lines = parse.split_cells(data, ord(","), keeps_empty, skips, cells, cell_offsets, offsets)
    if problem != parse.FINE:
        return None
    assert lines == rows
    bounds = cell_offsets[: offsets[-1] + 1].tolist()
    names = [cells[a:b].tobytes().decode() for a, b in pairwise(bounds)]
    return [names[a:b] for a, b in pairwise(offsets.tolist())]


@given(lines=st.lists(st.text('ab", ', max_size=8), max_size=6), keeps_empty=st.booleans())
def test_lines_that_are_skipped_have_no_cells_and_others_have_theirs(
    lines: list[str], *, keeps_empty: bool
) -> None:
    """Each line is split as it is by itself; one with a broken quote is a row without cells."""
    alone = [split(line + "\n", keeps_empty=keeps_empty) for line in lines]
    together = split("".join(line + "\n" for line in lines), keeps_empty=keeps_empty, skips=True)
    assert together == [[] if rows is None else rows[0] for rows in alone]


def test_empty_cells_are_kept_where_places_count() -> None:
    """A blank line has one cell, and every separator one more."""
    assert split('a,,"",b\n\n ,\n', keeps_empty=True) == [["a", "", "", "b"], [""], ["", ""]]


@given(
    text=st.text('ab", \té', max_size=15).map(lambda text: text + "\n")
    | st.text('a",\n ').map(lambda t: t + "\n")
)
@example(text='a,"b, ""c""" , ,\n\n 6" pipe\n')
@example(text='" a "\n"a"b\n')
def test_cells_are_those_of_a_regular_expression(text: str) -> None:
    """Splitting into cells does what the twin does, broken quotes included."""
    try:
        expected = lines_of_names(text)
    except ValueError:
        expected = None
    assert split(text) == expected


short_rows = st.lists(st.integers(0, 11), max_size=12)
long_rows = st.lists(st.integers(0, 11), min_size=parse.SHORT_ROW, max_size=parse.SHORT_ROW + 2)
rows_of_tokens = st.lists(short_rows | long_rows, max_size=6)


@given(rows=rows_of_tokens, code_of=st.permutations([*range(10), -1, -1]))
def test_encoded_rows_are_sorted_sets_of_the_codes(rows: list[list[int]], code_of: list[int]) -> None:
    """Encoding drops what has no code, sorts each row and keeps repeats once."""
    tokens = np.array([token for row in rows for token in row], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    parse.encode_rows(offsets, tokens, np.array(code_of, dtype=np.int32))
    expected = [sorted({code_of[token] for token in row} - {-1}) for row in rows]
    assert rows_of(tokens.tolist(), offsets.tolist()) == expected


@given(tokens=st.lists(st.integers(0, 5), max_size=10), code_of=st.permutations(range(6)))
def test_tokens_are_marked_and_replaced_one_by_one(tokens: list[int], code_of: list[int]) -> None:
    """Marking and replacing do what a comprehension does."""
    array = np.array(tokens, dtype=np.int32)
    present = np.zeros(6, dtype=np.bool_)
    parse.mark_present(array, present)
    parse.replace(array, np.array(code_of, dtype=np.int32))
    assert np.flatnonzero(present).tolist() == sorted(set(tokens))
    assert array.tolist() == [code_of[token] for token in tokens]
