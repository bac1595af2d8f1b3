"""Workbooks: the first sheet, cell by cell, as if it had been saved as CSV."""

from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from reference_reading import baskets
from veilset.errors import BadCall, BadInput
from veilset.raw.read import read

ROWS: list[list[Any]] = [["who", "what"], [1, "milk"], [], [1, 7], [2, "007"], [3, None]]


def workbook(path: Path, rows: list[list[Any]]) -> Path:
    """Write rows to the first sheet, and others to a second."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
        book.add_worksheet().write_row(0, 0, ["another sheet"])
    return path


def test_a_long_table_is_read_from_the_first_sheet(tmp_path: Path) -> None:
    """A cell by itself: 7 is an integer, 007 is text; a blank row is none."""
    path = workbook(tmp_path / "a.xlsx", ROWS)
    assert baskets(read(path, owner="who", item="what")) == [[7, "milk"], ["007"], []]
    assert baskets(read(path, owner="f0", item="f1", header=False))[0] == ["what"]


def test_rows_of_cells_are_baskets_if_the_format_says_so(tmp_path: Path) -> None:
    """A blank row is a basket without items."""
    path = workbook(tmp_path / "a.xlsx", [["milk", "bread"], [], ["beer"], [7, None, "milk"]])
    assert baskets(read(path, format="basket")) == [["bread", "milk"], [], ["beer"], [7, "milk"]]
    assert len(read(path, format="basket", header=True)) == 3


def test_other_layouts_are_read_if_the_format_says_so(tmp_path: Path) -> None:
    """One-hot and column=value."""
    path = workbook(tmp_path / "a.xlsx", [["milk", "beer"], [1, 0], [True, 1]])
    assert baskets(read(path, format="onehot")) == [["milk"], ["beer", "milk"]]
    assert baskets(read(path, format="table"))[0] == ["beer=0", "milk=1"]


def test_several_workbooks_are_one_source(tmp_path: Path) -> None:
    """As other files are."""
    workbook(tmp_path / "1.xlsx", ROWS)
    workbook(tmp_path / "2.xlsx", [["what", "who"], ["beer", 2]])
    assert baskets(read(tmp_path, owner="who", item="what")) == [[7, "milk"], ["007", "beer"], []]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "a workbook, which does not tell its layout; name the columns"),
    ({"format": "list"}, "a workbook, which does not tell its layout"),
    ({"separator": ",", "format": "table"}, "separator means nothing for a workbook"),
    ({"format": "basket", "item": "what"}, "item means nothing for baskets in a workbook"),
    ({"owner": "whose", "item": "what"}, "no column 'whose'; name one of its columns: who, what"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_a_workbook_does_not_tell_is_demanded(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    """Nothing is guessed from what cells hold."""
    with pytest.raises((BadCall, BadInput), match=message):
        read(workbook(tmp_path / "a.xlsx", ROWS), **options)


def test_a_file_that_is_no_workbook_is_refused_in_one_line(tmp_path: Path) -> None:
    """Whatever its name says, and without what it holds."""
    (tmp_path / "a.xlsx").write_text("secret")
    with pytest.raises(BadInput, match=r"a\.xlsx cannot be read as a workbook") as refused:
        read(tmp_path / "a.xlsx", format="basket")
    assert "secret" not in str(refused.value)
    with pytest.raises(BadInput, match="does not start with the names of its columns"):
        read(workbook(tmp_path / "b.xlsx", []), format="table")
