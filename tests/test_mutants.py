"""The tools that change the gate: which changes they make, which tests they choose, what they write."""

import ast
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.mutants.changes import PACKAGE, Change, changes_of
from benchmarks.mutants.fault_list import FAULTS, TEN, Fault
from benchmarks.mutants.faults import LOST, LostFaultError, put_in, verdict_of
from benchmarks.mutants.page import tally, write_page
from benchmarks.mutants.reach import Reach
from benchmarks.mutants.results import Now, Result, Store, equivalents
from benchmarks.mutants.tree import ROOT, changed
from benchmarks.mutants.warm import KILLED, SURVIVED, TIMEOUT, Chosen

MODULE = PACKAGE / "gate" / "example.py"


def made(text: str) -> set[str]:
    """The changed lines of a module of a few lines."""
    return {change.after for change in changes_of(MODULE, text)}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return a < b", {"return a <= b", "return a >= b"}),
        ("return (a) * (b >> c)", {"return (a) // (b >> c)", "return a", "return (b >> c)", "return (a) * (b << c)",
                                   "return (a) * (b)"}),
        ("return a * self.unit", {"return a // self.unit", "return a", "return self.unit"}),
        ("return f(a, is_monotone=False)", {"return f(a, is_monotone=True)"}),
        ("return a and b or c", {"return a or b or c", "return a and b and c"}),
        ("return x[a:b]", {"return x[:b]", "return x[a:]"}),
        ("return max(0, a)", {"return min(0, a)", "return 0", "return a", "return max(1, a)", "return max(-1, a)"}),
        ("return a if not b else 100", {"return a if b else 100", "return a if not b else 50"}),
        ('return seek(a, side="right")', {'return seek(a, side="left")', "return seek(a)"}),
        ("a -= b", {"a += b", "pass"}),
        ("check(a)", {"pass"}),
        ('raise BadCall(f"not {a + 1}")', {"pass"}),
        ("return -a", {"return a"}),
    ],
)  # fmt: skip
def test_every_kind_of_change_is_made(line: str, expected: set[str]) -> None:
    """All that one line can become, and nothing else."""
    assert made(f"def f(a):\n    {line}\n") == expected


@pytest.mark.parametrize(
    "text",
    [
        '"""Has 3 < 4 in it."""\n',
        "import a.b\n\n__all__ = ['c']\nAlias = dict[int, int] | None\n",
        "def sentence(self):\n    return 1 + 2\n",
        "def __repr__(self):\n    return 'a' * 3\n",
        "def f(a: int | None) -> int | str:\n    return f'{a + 1}'\n",
        "@lru_cache(maxsize=64)\ndef f(a):\n    return counted(a + 1, 'item')\n",
        "class A:\n    def __init__(self, a):\n        self.a = a\n",
    ],
)
def test_wording_and_types_stay_as_they_are(text: str) -> None:
    """A change there would say nothing about the tests."""
    assert changes_of(MODULE, text) == []


def test_a_default_and_a_constant_are_changed_where_they_stand() -> None:
    """Lines say which tests can notice: those of the function, or of whoever uses the name."""
    found = changes_of(MODULE, "STEPS = 4\n\n\ndef f(a, *, flag=True):\n    b = a\n    return b\n")
    assert [(change.after, change.name, change.lines) for change in found] == [
        ("STEPS = 3", "STEPS", (1, 1)),
        ("STEPS = 5", "STEPS", (1, 1)),
        ("def f(a, *, flag=False):", "", (4, 6)),
    ]


def test_a_change_keeps_its_name_where_lines_come_and_go() -> None:
    """Reasons are given by name, and stay."""
    text = "def f(a):\n    b = a + 1\n    b = a + 1\n    return b\n"
    keys = [change.key for change in changes_of(MODULE, text)]
    assert keys == [change.key for change in changes_of(MODULE, f"# A comment.\n\n{text}")]
    assert len(set(keys)) == len(keys) == 6


@pytest.mark.parametrize("module", ["gate/noise.py", "gate/questions/base.py", "raw/cuts/truncation.py"])
def test_changes_of_the_gate_are_programs_and_differ(module: str) -> None:
    """All of them can be read, and their names are unique."""
    found = changes_of(PACKAGE / module, (ROOT / PACKAGE / module).read_text(encoding="utf-8"))
    assert len({change.key for change in found}) == len(found) > 20
    for change in found:
        ast.parse(change.text)


def test_reasons_are_about_changes_that_there_are() -> None:
    """A reason whose line was rewritten is to be looked at again."""
    reasons = equivalents()
    modules = {key.partition(" | ")[0] for key in reasons}
    keys = {
        change.key
        for module in modules
        for change in changes_of(PACKAGE / module, (ROOT / PACKAGE / module).read_text(encoding="utf-8"))
    }
    assert set(reasons) - keys == set()


def a_change(module: str = "gate/example.py", lines: tuple[int, int] = (1, 1), name: str = "") -> Change:
    """One of no interest."""
    return Change(module, "f", 1, "a < b", "a <= b", "comparison", lines, name, "text")


def test_tests_of_the_module_go_first_and_slow_ones_last() -> None:
    """And of other modules' tests only those that fit."""
    own, quick, slow = "tests/gate/test_example.py::a", "tests/test_x.py::quick", "tests/test_x.py::slow"
    reach = Reach({"gate/example.py": {1: (slow, quick), 2: (own, slow)}}, {own: 5.0, quick: 0.1, slow: 3.0})
    tests = reach.tests_for(a_change(lines=(1, 2)), {})
    assert tests == [own, quick, slow]
    assert reach.within(tests, "gate/example.py", seconds=1) == [own, quick]
    by_name = reach.tests_for(a_change(name="STEPS"), {"gate/example.py": "x = STEPS\ny = 1\n"})
    assert by_name == [quick, slow]


def test_results_are_taken_up_again_and_survivors_meet_more_tests(tmp_path: Path) -> None:
    """What was killed stays killed on the same sources and tests; with trust also under other tests."""
    change = a_change()
    told = ("by", 1.0, 20.0, 3, "m", "s")
    now = Now({change.module: "m"}, suite="s", allowed=20.0, trust=False)
    Store(tmp_path / "r").add(Result(change.key, KILLED, *told))
    store = Store(tmp_path / "r")
    assert set(store.known([change], now)) == {change.key}
    assert store.known([change], replace(now, suite="other")) == {}
    assert set(store.known([change], replace(now, suite="other", trust=True))) == {change.key}
    store.add(Result(change.key, SURVIVED, *told))
    assert set(store.known([change], now)) == {change.key}
    assert store.known([change], replace(now, allowed=60.0)) == {}


def test_the_page_tells_survivors_and_the_score(tmp_path: Path) -> None:
    """Those with a reason do not count, those without are open."""
    outcomes = [KILLED, TIMEOUT, SURVIVED, SURVIVED]
    changes = [a_change(f"gate/{place}.py") for place in range(4)]
    results = {
        change.key: Result(change.key, outcome, "", 1.0, 20.0, 1, "m", "s")
        for change, outcome in zip(changes, outcomes, strict=True)
    }
    reasons = {changes[3].key: "only performance"}
    found = tally(changes, results, reasons)
    assert (found.made, found.equivalent, found.still_open) == (4, 1, 1)
    assert found.score == pytest.approx(2 / 3)
    write_page(tmp_path / "page.md", changes, results, reasons, total=4, allowed=20)
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "Score: 66.7 %" in text
    assert "* 1, f: `a < b` → `a <= b`: open" in text
    assert "only performance" in text


def test_a_file_is_as_it_was_after_a_change(tmp_path: Path) -> None:
    """And as old as it was."""
    path = tmp_path / "module.py"
    path.write_text("one\n", encoding="utf-8")
    before = path.stat().st_mtime_ns
    with changed(path, "two\n"):
        assert path.read_text(encoding="utf-8") == "two\n"
    assert (path.read_text(encoding="utf-8"), path.stat().st_mtime_ns) == ("one\n", before)


def test_a_test_that_does_not_end_is_told() -> None:
    """By the signal of its time, with its name."""
    told: list[tuple[str, str]] = []
    plugin = Chosen({}, lambda *answer: told.append(answer))  # type: ignore[arg-type]
    before = signal.signal(signal.SIGPROF, plugin.ran_out)
    os.kill(os.getpid(), signal.SIGPROF)
    time.sleep(0)
    signal.signal(signal.SIGPROF, before)
    assert told == [(TIMEOUT, "collecting tests")]


def test_faults_are_found_in_the_sources() -> None:
    """At least 43, all different, and each where it says: a text that has moved is to be looked for."""
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 43
    lost = []
    for fault in FAULTS:
        try:
            put_in(fault, (ROOT / PACKAGE / fault.module).read_text(encoding="utf-8"))
        except LostFaultError as error:
            lost.append(str(error))
    assert lost == []


def test_a_fault_that_is_lost_says_so() -> None:
    """Where the function is gone, the text is gone or stands twice, or what takes its place does not fit."""
    text = "def f(a):\n    return a + 1 + a + 1\n\n\ndef g(a):\n    return a *\\\n        3\n"
    assert put_in(Fault("m", "g", "a *\\ 3", "a", "x"), text).text.endswith("return a\n")
    for inside, original in (("h", "a"), ("f", "b"), ("f", "a + 1")):
        with pytest.raises(LostFaultError):
            put_in(Fault("m", inside, original, "a", "x"), text)
    with pytest.raises(LostFaultError):
        put_in(Fault("m", "g", "3", "(", "x"), text)
    assert verdict_of(Fault("gate/no_such_module.py", "f", "a", "b", "x"), lambda *_: "")[0] == LOST


def test_there_are_ten_faults_of_different_kinds() -> None:
    """They stand on the page of the audit."""
    assert len(TEN) == len({fault.inside for fault in TEN}) == 10
