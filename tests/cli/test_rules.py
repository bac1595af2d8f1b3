"""`veilset rules`: from a release alone, at no cost, with errors for people."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from shell import veilset, veilset_process
from veilset import Release, SeededNoise, mine

ROWS = [["milk", "bread"]] * 700 + [["milk", "tea"]] * 400 + [["cheese"]] * 100 + [["tea", "cheese"]] * 90


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A saved release with some rules."""
    found = mine(ROWS, epsilon=1, k=8, alphabet=["bread", "cheese", "milk", "tea"], noise=SeededNoise(5))
    found.save(tmp_path / "release.json")
    return tmp_path / "release.json"


def test_rules_are_a_table_with_intervals_that_cost_nothing(release: Path) -> None:
    """Both sides, measures and their intervals, what it cost, and the promise of the release."""
    run = veilset_process("rules", release)
    assert (run.returncode, run.stderr) == (0, "")
    head = run.stdout.splitlines()[0].split()
    assert head[:3] == ["given", "also", "confidence"]
    assert run.stdout.count("95 % interval") == 3
    assert "Nothing was read but the release, and nothing was spent." in run.stdout
    assert "NOT PRIVATE" in run.stdout


def test_the_metric_that_chose_the_rules_comes_first(release: Path) -> None:
    """With what has no end as such."""
    shown = veilset("rules", release, "--metric", "conviction", "--min-threshold", "0").stdout
    assert shown.splitlines()[0].split()[2] == "conviction"
    assert "∞" in shown


def test_rules_json_is_one_document(release: Path) -> None:
    """The columns of the frame, what was asked for, and the promise; without numbers that JSON does not have."""
    call = ("rules", str(release), "--metric", "lift", "--min-threshold", "0", "--json")
    document = json.loads(veilset(*call).stdout, parse_constant=pytest.fail)
    frame = Release.load(release).rules(metric="lift", min_threshold=0)
    assert [list(rule) for rule in document["rules"]] == [frame.columns] * frame.height
    assert (document["metric"], document["min_threshold"], document["surely"]) == ("lift", 0, False)
    assert document["is_private"] is False
    assert "in_words" in document["promise"]


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_rules_are_written_to_files(release: Path, tmp_path: Path, suffix: str) -> None:
    """Every rule with all its columns."""
    out = tmp_path / f"rules.{suffix}"
    assert veilset("rules", release, "--out", out).returncode == 0
    frame = Release.load(release).rules()
    if suffix == "parquet":
        assert pl.read_parquet(out).equals(frame)
    elif suffix == "csv":
        written = pl.read_csv(out)
        assert [json.loads(side) for side in written["antecedents"]] == frame["antecedents"].to_list()
        assert written["lift_high"].to_list() == pytest.approx(frame["lift_high"].to_list())
    else:
        assert [rule["consequents"] for rule in json.loads(out.read_text())] == frame["consequents"].to_list()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_release_is_read_from_every_file_that_holds_one(release: Path, suffix: str) -> None:
    """The same rules."""
    other = release.with_name(f"release.{suffix}")
    Release.load(release).save(other)
    assert veilset("rules", other).stdout == veilset("rules", release).stdout


def test_top_leaves_the_lower_ones_out_and_says_so(release: Path) -> None:
    """Out of the table and out of the document."""
    every = json.loads(veilset("rules", release, "--json").stdout)["rules"]
    some = json.loads(veilset("rules", release, "--top", "1", "--json").stdout)["rules"]
    assert some == every[:1]
    assert f"… and {len(every) - 1} more, left out by --top" in veilset("rules", release, "--top", "1").stdout


def test_surely_asks_the_low_end(release: Path) -> None:
    """Whose rules are fewer."""
    lowest = float(Release.load(release).rules()["confidence"][-1]) - 1e-9
    call = ("rules", str(release), "--min-threshold", str(lowest), "--json")
    some, sure = (json.loads(veilset(*call, *more).stdout)["rules"] for more in ((), ("--surely",)))
    assert len(sure) < len(some)
    assert all(rule["confidence_low"] >= lowest for rule in sure)


def test_where_nothing_reaches_the_threshold_the_highest_is_told(release: Path) -> None:
    """And what to give; a release of items alone needs more itemsets."""
    lifts = ["--metric", "lift", "--min-threshold", "1000"]
    shown = veilset("rules", release, *lifts)
    assert shown.returncode == 0
    every = Release.load(release).rules(metric="lift", min_threshold=0)["lift"]
    assert (
        f"the highest lift of {every.len()} is {every[0]:.4g}. Give a smaller --min-threshold."
        in shown.stdout
    )
    sure = veilset("rules", release, *lifts, "--surely").stdout
    assert "the highest low end of the lift" in sure
    refused = veilset("rules", release, "--min-threshold", "1.5")
    assert (refused.returncode, "it is a share, at most 1" in refused.stderr) == (2, True)
    alone = mine([["a"]] * 100, epsilon=1, k=1, alphabet=["a"], noise=SeededNoise(1))
    alone.save(release)
    assert "a larger --k" in veilset("rules", release).stdout
    assert json.loads(veilset("rules", release, "--json").stdout)["rules"] == []


def test_what_is_no_release_is_refused_in_one_line(release: Path, tmp_path: Path, fimi_file: Path) -> None:
    """A missing file, another file, half of a release, the release itself as output."""
    beside = release.with_name("alone.csv")
    Release.load(release).save(beside)
    shutil.move(f"{beside}.json", tmp_path / "moved.json")
    calls: list[tuple[list[str | Path], str]] = [
        ([tmp_path / "none.json"], "there is no file"),
        ([fimi_file], "is not a release that veilset wrote"),
        ([beside], "alone.csv.json"),
        ([release, "--metric", "luck"], "give one of antecedent support"),
        ([release, "--top", "0"], "give --top 1 or more"),
        ([release, "--out", "rules.xlsx"], "name it .json, .csv, .parquet"),
        ([release, "--out", release], "name another file"),
    ]
    for call, complaint in calls:
        run = veilset("rules", *call)
        assert (run.returncode, run.stdout) == (2, "")
        assert complaint in run.stderr
        assert run.stderr.count("\n") == 1
    assert Release.load(release).itemsets


def test_a_conditional_promise_is_told_first(tmp_path: Path) -> None:
    """As when the release was made."""
    mine(ROWS, epsilon=1, k=8, public_items=True).save(tmp_path / "release.json")
    assert veilset("rules", tmp_path / "release.json").stderr.startswith(
        "veilset: this promise is conditional"
    )
