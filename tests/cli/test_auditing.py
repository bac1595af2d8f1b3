"""The audit as scripts call it: what it prints, and its exit code."""

import json
import re
from fractions import Fraction

import pytest

from shell import veilset
from veilset.arrays import Int64Array
from veilset.audit import runner
from veilset.audit.neighbours import PAIRS
from veilset.gate import SeededNoise
from veilset.raw.counts import ExactCounts


class NoNoise(SeededNoise):
    """Answers that are exact."""

    def __init__(self, seed: int = 1) -> None:
        super().__init__(seed)

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:  # noqa: ARG002
        """As they are."""
        return counts.values


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one pair."""
    monkeypatch.setattr(runner.cases, "__kwdefaults__", {"pairs": PAIRS[:1], "shell": None})


def test_an_audit_that_breaks_nothing_ends_with_0_and_one_document() -> None:
    """Its default settings can refute the claim, and do so for the control."""
    run = veilset("audit", "svt", "--json")
    rows = json.loads(run.stdout)
    assert run.returncode == 0
    assert [row["verdict"] for row in rows] == ["BROKEN", "holds", "BROKEN", "holds"]
    assert [row["method"] for row in rows] == ["control", "svt", "control", "svt"]
    assert "must be refuted" in rows[0]["case"]
    assert [row["ceiling"] for row in rows[:2]] == [None, None]
    assert all(row["ceiling"] > 4 * row["claim"] and row["seconds"] >= 0 for row in rows[2:])


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_audit_that_breaks_something_of_ours_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, form: list[str]
) -> None:
    """A method without noise."""
    monkeypatch.setattr("veilset.audit.runner.SeededNoise", NoNoise)
    run = veilset("audit", "frefirst", "--samples", "60", *form)
    assert run.returncode == 1
    assert run.stdout.count("BROKEN") == 3  # and two controls


def test_an_audit_whose_control_is_not_refuted_ends_with_1() -> None:
    """It says how many samples could refute the claim; with just as many they do, and it ends with 0."""
    few = veilset("audit", "em", "--epsilon", "3", "--samples", "100")
    assert few.returncode == 1
    assert few.stdout.count("cannot refute") == 3  # two rows and the sentence
    assert few.stdout.count("holds") == 1  # what was computed
    assert "1 of 2 controls refuted" in few.stdout
    told = re.search(r"--samples \d+", few.stdout)
    assert told is not None
    enough = veilset("audit", "em", "--epsilon", "3", *told.group().split())
    assert enough.returncode == 0
    assert "cannot refute" not in enough.stdout


def test_printed_forms_end_with_1_because_their_claims_are_broken() -> None:
    """One rule for all: a broken claim was found."""
    run = veilset("audit", "splitsample", "--printed", "--samples", "400", "--json")
    assert run.returncode == 1
    assert {row["verdict"] for row in json.loads(run.stdout)} == {"BROKEN"}


@pytest.mark.parametrize(("noise", "code"), [(SeededNoise, 0), (NoNoise, 1)])
def test_noise_without_its_law_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, noise: type[SeededNoise], code: int
) -> None:
    """And noise that has it with 0."""
    monkeypatch.setattr("veilset.audit.verb.SecureNoise", lambda: noise(1))
    for form in ([], ["--json"]):
        run = veilset("audit", "noise", *form)
        assert (run.returncode, "BROKEN" in run.stdout) == (code, bool(code))


def test_help_tells_the_exit_code() -> None:
    """Also of printed forms."""
    text = " ".join(veilset("audit", "--help").stdout.split())
    assert "Exit code 1 where a claim is BROKEN, as those of printed forms are" in text


def test_what_cannot_be_audited_is_refused_in_one_line() -> None:
    """With what can."""
    run = veilset("audit", "magic")
    assert (run.returncode, run.stdout) == (2, "")
    assert "give all, questions, commands, noise or one of" in run.stderr


@pytest.mark.parametrize("what", [["commands"], ["splitsample", "--printed"]], ids=" ".join)
def test_an_audit_that_would_look_at_nothing_is_refused(what: list[str]) -> None:
    """Without samples nothing of these is left, and nothing could fail."""
    run = veilset("audit", *what, "--samples", "0")
    assert (run.returncode, run.stdout) == (2, "")
    assert "give samples, at least 20" in run.stderr
