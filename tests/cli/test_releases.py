"""Commands that show what was released: nothing is read but releases."""

import json
from pathlib import Path

import pytest

import veilset as vs
from shell import veilset
from veilset.results.comparison import Comparison
from veilset.results.release import Release

BASKETS = [["milk", "tea"]] * 600 + [["tea"]] * 200 + [["jam"]] * 50


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A release in a file."""
    found = vs.mine(BASKETS, k=3, epsilon=1, alphabet=["milk", "tea", "jam"])
    found.save(tmp_path / "first.json")
    return tmp_path / "first.json"


def with_itemsets(release: Release, *rows: tuple[tuple[str, ...], int, int, int]) -> Release:
    """The same release with other itemsets."""
    values = release.to_dict()
    itemsets = [
        {"items": items, "support": support, "low": low, "high": high} for items, support, low, high in rows
    ]
    return Release.from_dict({**values, "itemsets": itemsets})


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_show_prints_what_mine_printed(tmp_path: Path, suffix: str) -> None:
    """The table, the cost and the promise, line by line; and the same document."""
    (tmp_path / "data.csv").write_text("milk,tea\n" * 300 + "tea\n" * 100)
    (tmp_path / "items.txt").write_text("milk\ntea\n")
    out = f"release.{suffix}"
    call = ["mine", "data.csv", "--alphabet", "items.txt", "--epsilon", "1", "--k", "3", "--out", out]
    mined = veilset(*call, cwd=tmp_path)
    assert mined.returncode == 0, mined.stderr
    assert veilset("show", out, cwd=tmp_path).stdout == mined.stdout
    document = json.loads(veilset("show", out, "--json", cwd=tmp_path).stdout)
    assert document == vs.Release.load(tmp_path / out).to_dict()


def test_show_lists_the_questions_only_where_that_is_wanted(released: Path) -> None:
    """One line tells the cost otherwise."""
    short, long = veilset("show", released).stdout, veilset("show", released, "--verbose").stdout
    number = len(vs.Release.load(released).trace)
    assert f"spent 1 of epsilon 1, on {number} questions (--verbose lists them)" in short
    assert ("  paid  " in short, "  paid  " in long, "--verbose" in long) == (False, True, False)


def test_show_refuses_what_is_no_release(tmp_path: Path) -> None:
    """One line, exit code 2."""
    (tmp_path / "no.json").write_text("[]")
    for name in ("no.json", "missing.json"):
        run = veilset("show", tmp_path / name)
        assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)


def test_a_comparison_tells_what_is_in_both_and_where_intervals_lie_apart(released: Path) -> None:
    """The order of items within a set does not matter."""
    base = vs.Release.load(released)
    first = with_itemsets(
        base, (("tea",), 800, 790, 810), (("milk", "tea"), 600, 590, 610), (("jam",), 50, 40, 60)
    )
    second = with_itemsets(
        base, (("tea",), 812, 802, 822), (("tea", "milk"), 700, 690, 710), (("milk",), 7, 0, 9)
    )
    compared = Comparison.of(first, second)
    assert [(each.difference, each.overlaps) for each in compared.in_both] == [(12, True), (100, False)]
    assert [each.items for each in compared.only_first] == [("jam",)]
    assert [each.items for each in compared.only_second] == [("milk",)]
    assert compared.apart == 1
    turned = Comparison.of(second, first)
    assert [(each.difference, each.overlaps) for each in turned.in_both] == [(-12, True), (-100, False)]


def test_intervals_that_meet_in_one_support_overlap() -> None:
    """Both ends belong to an interval."""
    release = vs.mine(BASKETS, k=1, epsilon=1, public_items=True, noise=vs.SeededNoise(1))
    ends = ((("tea",), 10, 5, 15), (("tea",), 20, 15, 25)), ((("tea",), 10, 5, 14), (("tea",), 20, 15, 25))
    for (one, other), meets in zip(ends, (True, False), strict=True):
        compared = Comparison.of(with_itemsets(release, one), with_itemsets(release, other))
        assert compared.in_both[0].overlaps == meets


def test_compare_prints_a_table_and_one_json_document(released: Path) -> None:
    """With what it comes to, in words."""
    second = released.with_name("second.json")
    base = vs.Release.load(released)
    with_itemsets(base, (("jam",), 5000, 4990, 5010), (("x\x1b[2J",), 9, 5, 10)).save(second)
    shown = veilset("compare", released, second)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "; x\\x1b[2J (9)" in shown.stdout
    assert "nothing was spent" in shown.stdout.replace("\n", " ")
    document = json.loads(veilset("compare", released, second, "--json").stdout)
    assert {"in_both", "only_first", "only_second", "intervals_apart"} == set(document)
    same = veilset("compare", released, released).stdout.replace("\n", " ")
    assert "0 only in the first, 0 only in the second. The intervals of all those in both overlap" in same
