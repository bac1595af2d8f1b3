"""CSV tables: what a header tells, what rows without one hold, and what becomes of rows that cannot be read."""

from pathlib import Path
from typing import Any

import pytest

from reference_reading import baskets
from veilset.errors import BadInput
from veilset.raw.read import files, read
from veilset.raw.transactions import Item


def found(folder: Path, text: str | bytes, **options: Any) -> list[list[Item]]:  # noqa: ANN401 - those of `read`
    """What is read from a CSV file of this text."""
    (folder / "a.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    return baskets(read(folder / "a.csv", separator=",", **options))


def test_without_a_header_rows_have_as_many_cells_as_they_have(tmp_path: Path) -> None:
    """No row tells how long another may be."""
    text = "x,y\n,z\na,b,c\n\n"
    expected = [["f0=x", "f1=y"], ["f1=z"], ["f0=a", "f1=b", "f2=c"]]
    assert found(tmp_path, text, format="table", header=False) == expected
    assert found(tmp_path, "1\n0,1,true\n", format="onehot", header=False) == [["f0"], ["f1", "f2"]]


def test_without_a_header_a_column_may_be_named_that_no_row_has(tmp_path: Path) -> None:
    """Whether an item is there is a fact of each row; the owner has to be."""
    options = {"owner": "f0", "item": "f2", "header": False}
    assert found(tmp_path, "ann,1\nbob,1\n", **options) == [[], []]
    assert found(tmp_path, "", **options) == []
    with pytest.raises(BadInput, match="row 2 of the table: no value in the column 'f0'"):
        found(tmp_path, "ann,1,x\n,1,y\n", **options)


def test_a_header_without_rows_is_a_table_of_none(tmp_path: Path) -> None:
    """Of every layout."""
    assert found(tmp_path, "who,what\n", owner="who", item="what") == []
    assert found(tmp_path, "who,what", format="table") == []
    assert found(tmp_path, "who,what\r\n\r\n", format="onehot") == []


def test_true_and_false_are_written_in_many_ways(tmp_path: Path) -> None:
    """Each cell by itself; an empty one is false."""
    text = "a,b,c\n1, true ,TRUE\nTrue,0,false\nFALSE,,False\n"
    assert found(tmp_path, text, format="onehot") == [["a", "b", "c"], ["a"], []]


UNREADABLE = ["only one", "one,two,three", '"open,x', '"a"b,x', b"\xff,x"]


@pytest.mark.parametrize("row", UNREADABLE)
def test_a_row_that_cannot_be_read_is_refused_with_its_line_or_is_empty(
    tmp_path: Path, row: str | bytes
) -> None:
    """A transaction without items, if skipped; blank lines are none."""
    row = row if isinstance(row, bytes) else row.encode()
    text = b"x,y\n\na,b\n" + row + b"\nc,d\n"
    with pytest.raises(BadInput, match=r"a\.csv, line 4: "):
        found(tmp_path, text, format="table")
    expected = [["x=a", "y=b"], [], ["x=c", "y=d"]]
    assert found(tmp_path, text, format="table", skip_bad_rows=True) == expected


@pytest.mark.parametrize("row", UNREADABLE)
def test_a_row_of_nobody_is_left_out(tmp_path: Path, row: str | bytes) -> None:
    """Whose an unreadable row of a long table is, nobody knows: it must not count as one more owner."""
    row = row if isinstance(row, bytes) else row.encode()
    text = b"who,what\nann,tea\n" + row + b"\nann,milk\n,beer\nbob,\n"
    assert found(tmp_path, text, owner="who", item="what", skip_bad_rows=True) == [["milk", "tea"], []]


def test_a_multiplicity_makes_a_row_the_owner_of_its_copies(tmp_path: Path) -> None:
    """A row that stands for none has no transaction."""
    (tmp_path / "a.csv").write_text("x,n\na,2\nb,0\nc,1\n")
    transactions = read(tmp_path / "a.csv", format="table", multiplicity="n")
    assert baskets(transactions) == [["x=a"], ["x=a"], ["x=c"]]
    assert transactions.owners is not None
    assert transactions.owners.tolist() == [0, 0, 1]


def test_blanks_of_any_alphabet_around_a_value_do_not_count(tmp_path: Path) -> None:
    """A no-break space behind an owner makes no second one, and alone it is no item; a control without any."""
    options = {"owner": "who", "item": "what"}
    assert found(tmp_path, "who,what\nann,x\nann\u00a0,\u2003y\nbob,\u00a0\n", **options) == [["x", "y"], []]
    assert found(tmp_path, "who,what\nann,x\nann,y\nbob,\n", **options) == [["x", "y"], []]
    assert found(tmp_path, "who,what\nann,x\u00a0\n", format="table") == [["what=x", "who=ann"]]


def test_rows_in_several_blocks_are_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever core numbered a value: its number is that of the same value in other blocks."""
    monkeypatch.setattr(files, "BLOCK_BYTES", 7)
    text = "who,what\n" + "".join(f"p{number % 5},i{number % 3}\n" for number in range(60))
    assert found(tmp_path, text, owner="who", item="what") == [["i0", "i1", "i2"]] * 5
