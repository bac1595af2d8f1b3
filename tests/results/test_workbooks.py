"""Releases in spreadsheets: a workbook, and a CSV file that people can read."""

import builtins
import io
from pathlib import Path

import fastexcel
import polars as pl
import pytest

import veilset as vs
from shell import veilset
from veilset.errors import BadCall, BadInput
from veilset.results.workbooks import itemset_in_words, workbook_of

NAMES = ["=cmd()", "bread", "a\u202eb"]


@pytest.fixture(scope="module")
def release() -> vs.Release:
    """A release of items with odd names."""
    baskets = [NAMES] * 300 + [["bread"]] * 200
    return vs.mine(baskets, epsilon=1, k=3, public_items=True, noise=vs.SeededNoise(7))


def test_a_workbook_holds_itemsets_promise_and_costs(release: vs.Release) -> None:
    """As text and numbers; nothing is a formula."""
    book = fastexcel.read_excel(workbook_of(release))
    assert book.sheet_names == ["itemsets", "promise", "paid for"]
    itemsets = book.load_sheet("itemsets").to_polars()
    assert itemsets["support"].to_list() == [found.support for found in release.itemsets]
    assert "bread" in itemsets["itemset"].to_list()
    promise = book.load_sheet("promise", header_row=None).to_polars()
    assert str(release.promise) in promise.to_series(1).to_list()
    assert book.load_sheet("paid for").to_polars().height == len(release.trace)


def test_no_cell_is_a_formula_and_no_sign_turns_a_line_round() -> None:
    """Whatever an item is called; a negative number stays one."""
    assert itemset_in_words(["=1+1", "x"]) == "'=1+1, x"
    assert itemset_in_words(["@a"]) == "'@a"
    assert itemset_in_words([-7]) == "-7"
    assert itemset_in_words(["a\u202eb"]) == "a\\u202eb"


def test_a_csv_file_has_readable_itemsets_first_and_is_read_back(release: vs.Release, tmp_path: Path) -> None:
    """The list that `load` takes stands in the last column."""
    release.save(tmp_path / "release.csv")
    frame = pl.read_csv(tmp_path / "release.csv")
    assert frame.columns == ["itemset", "support", "low", "high", "frequency", "items"]
    assert frame["itemset"].to_list() == [itemset_in_words(found.items) for found in release.itemsets]
    assert vs.Release.load(tmp_path / "release.csv").itemsets == release.itemsets


def test_a_workbook_is_not_read_back(release: vs.Release, tmp_path: Path) -> None:
    """It is for people, and says so."""
    release.save(tmp_path / "release.xlsx")
    with pytest.raises(BadInput, match="a workbook, which is for people"):
        vs.Release.load(tmp_path / "release.xlsx")


def test_a_missing_package_is_noticed_before_anything_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, and how to install it."""
    (tmp_path / "data.csv").write_text("milk,tea\n" * 100)
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name == "xlsxwriter":
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    call = ["mine", "data.csv", "--public-items", "--epsilon", "1", "--k", "1", "--out", "r.xlsx"]
    done = veilset(*call, cwd=tmp_path)
    assert (done.returncode, "pip install 'veilset[excel]'" in done.stderr) == (2, True)
    assert "was spent" not in done.stderr
    with pytest.raises(BadCall, match="needs xlsxwriter"):
        workbook_of(vs.mine([["a"]], epsilon=1, k=1, public_items=True, noise=vs.SeededNoise(1)))


def test_the_command_writes_a_workbook(tmp_path: Path) -> None:
    """Named by --out."""
    (tmp_path / "data.csv").write_text("milk,tea\n" * 100)
    call = ["mine", "data.csv", "--public-items", "--epsilon", "1", "--k", "1", "--out", "r.xlsx", "--quiet"]
    assert veilset(*call, cwd=tmp_path).returncode == 0
    assert (
        fastexcel.read_excel(io.BytesIO((tmp_path / "r.xlsx").read_bytes()).getvalue()).sheet_names[0]
        == "itemsets"
    )
