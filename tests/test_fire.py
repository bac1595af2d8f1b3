"""The campaigns see what they look for: each judge is shown something that is broken, and something that is whole."""

import random
from pathlib import Path

import numpy as np
import pytest
from benchmarks.fire import __main__ as fire
from benchmarks.fire import fuzz, soak
from benchmarks.fire.formats import CANARY, FORMATS
from benchmarks.fire.mutations import mutated, mutated_words
from benchmarks.fire.page import HEAD, PAGE, Row, with_rows
from benchmarks.fire.side_channels import rank_test

import veilset
from veilset.audit.command_lines import Finished

ROW = Row("rain", 10, 9, "a hat", "python -m benchmarks.fire rain")


@pytest.fixture
def bench(tmp_path: Path) -> fuzz.Bench:
    """A folder for one format: lines of numbers."""
    ground = fuzz.Bench(tmp_path)
    FORMATS[0].make(ground.wholes[FORMATS[0].name])
    return ground


def faults(bench: fuzz.Bench, monkeypatch: pytest.MonkeyPatch, ended: object) -> list[str]:
    """What the judge says of a command that ends like this."""

    def run(arguments: list[str]) -> Finished:
        if isinstance(ended, BaseException):
            raise ended
        if ended == "leaves a part":
            Path(arguments[-1]).with_name(".part").write_text("", encoding="ascii")
            return Finished(0, "", "")
        assert isinstance(ended, Finished)
        return ended

    monkeypatch.setattr("veilset.cli.run_here", run)
    return fuzz.faults_of(bench, FORMATS[0], b"1 2\n", list(FORMATS[0].commands[1]))


@pytest.mark.parametrize(
    ("ended", "fault"),
    [
        (ValueError("no"), "ValueError came through"),
        (Finished(1, "", "veilset: no\n"), "exit code 1"),
        (Finished(2, "", "veilset: no\nand more\n"), "2 lines"),
        (Finished(2, "", ""), "0 lines"),
        (Finished(2, "", f"veilset: bad item {CANARY}\n"), "the data is told"),
        ("leaves a part", "left behind"),
    ],
    ids=["traceback", "code", "two lines", "no word", "data", "part"],
)
def test_what_does_not_hold_is_seen(
    bench: fuzz.Bench, monkeypatch: pytest.MonkeyPatch, ended: object, fault: str
) -> None:
    """Each rule of the campaign, broken once."""
    assert fault in " ".join(faults(bench, monkeypatch, ended))


@pytest.mark.parametrize(
    "ended", [Finished(0, "{}", ""), Finished(2, "", "veilset: no\n"), Finished(3, "", "veilset: no\n")]
)
def test_a_good_end_is_no_fault(bench: fuzz.Bench, monkeypatch: pytest.MonkeyPatch, ended: Finished) -> None:
    """The control."""
    assert faults(bench, monkeypatch, ended) == []


def test_some_mutated_files_and_calls_of_each_format_hold(tmp_path: Path) -> None:
    """A hundredth of the campaign, in this process."""
    ground = fuzz.Bench(tmp_path)
    ground.prepare()
    for number in range(len(FORMATS)):
        for kind in ("files", "calls"):
            case = ground.case(7, number, kind)
            found = [
                each for each in fuzz.faults_of(ground, *case) if "memory" not in each
            ]  # of libraries, here
            assert found == [], case


def test_mutations_change_bytes_and_words_in_the_same_way_each_time() -> None:
    """By the seed alone."""
    data, words = b"1 2 3\n" * 20, ("mine", "FILE", "--k", "3")
    files = {mutated(data, random.Random(seed)) for seed in range(200)}
    assert len(files) > 150
    assert mutated(data, random.Random(5)) == mutated(data, random.Random(5))
    assert all(mutated_words(words, random.Random(seed))[0] == "mine" for seed in range(200))


def test_a_rank_test_tells_a_shift_from_none() -> None:
    """A shift of one standard deviation is seen in 60 runs; no shift, and constants, are not."""
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=60), rng.normal(size=60)
    assert rank_test(first.tolist(), (second + 1).tolist())[1] < 0.001
    assert rank_test(first.tolist(), second.tolist())[1] > 0.01
    assert rank_test([1.0] * 60, [1.0] * 60) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("coverage", "ratio", "held"),
    [
        (0.95, 1.1, 100),
        (0.92, 1.1, 0),
        (0.995, 1.1, 0),
        (0.95, 2.5, 0),
        (0.95, 0.4, 0),
        (float("nan"), 1.1, 0),
    ],
    ids=["as promised", "too narrow", "too wide", "forecast too large", "forecast too small", "no interval"],
)
def test_the_soak_fails_where_intervals_or_forecasts_are_not_as_promised(
    coverage: float, ratio: float, held: int
) -> None:
    """One method that is off is enough."""
    row = soak.judged(100, {"planned": 0.95, "privbasis": coverage}, ratio, "python -m benchmarks.fire soak")
    assert row.held == held
    assert row.worst.startswith("nothing") == (held == 100)


@pytest.mark.parametrize("held", [10, 9])
def test_a_campaign_in_which_something_did_not_hold_ends_with_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    """So that `make soak` can fail."""
    monkeypatch.setattr(
        soak, "campaign", lambda _: [Row("rain", 10, held, "a hat", "python -m benchmarks.x")]
    )
    if held == 10:
        fire.main(["soak"])
    else:
        with pytest.raises(SystemExit) as ended:
            fire.main(["soak"])
        assert ended.value.code == 1


def test_a_row_takes_the_place_of_that_of_the_same_fault() -> None:
    """Or stands at the end."""
    page = f"# Title\n\n{HEAD}\n|---|--:|--:|---|---|\n| snow | 1 | 1 | nothing | `x` |\n\nMore.\n"
    once = with_rows(page, [ROW])
    assert once == with_rows(once, [ROW])
    assert once.splitlines()[4:6] == ["| snow | 1 | 1 | nothing | `x` |", str(ROW)]
    assert once.endswith("\nMore.\n")


def test_every_row_of_the_page_held_or_says_what_is_lost_and_has_its_command() -> None:
    """Where something did not hold, nothing is not what is lost."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines[lines.index(HEAD) + 2 :] if line.startswith("| ")]
    assert len(rows) >= 10
    for _, tried, held, worst, command in rows:
        assert tried == held or not worst.startswith("nothing")
        assert command.startswith("`python -m benchmarks.")
    assert veilset.__version__
