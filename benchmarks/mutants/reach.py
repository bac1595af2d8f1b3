"""Which tests run which lines of the targets, and how long each takes: found out once, by running all of them.

    python -m benchmarks.mutants.reach FILE [TESTS ...]

writes it to a file, from the root of the copy in which it runs.
"""

import functools
import json
import os
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from benchmarks.mutants.changes import PACKAGE, Change, target_modules
from benchmarks.mutants.tree import IGNORED

SUITE = (
    "tests/gate",
    "tests/raw/cuts",
    "tests/audit/transcripts",
    "tests/test_itemsets.py",
    "tests/test_taxonomy.py",
    "src/veilset/gate",
    "src/veilset/raw/cuts",
)
"""The tests of the gate and of truncations, the oracles among them, and their examples in docstrings.

Tests of methods would notice more, but a line of the gate should be guarded where it stands.
"""
OPTIONS = ("-q", "-p", "no:cacheprovider", "--assert=plain", *(f"--ignore={path}" for path in IGNORED))


@dataclass(frozen=True, slots=True)
class Reach:
    """`lines[module][line]` are the tests that run a line, `seconds[test]` are those of a core that it takes."""

    lines: dict[str, dict[int, tuple[str, ...]]]
    seconds: dict[str, float]

    @classmethod
    def of(cls, stored: dict[str, Any]) -> "Reach":
        """From the JSON values that `main` writes."""
        lines: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        for test, modules in stored["lines"].items():
            for module, numbers in modules.items():
                for number in numbers:
                    lines[module][number].append(test)
        found = {
            module: {number: tuple(tests) for number, tests in by_line.items()}
            for module, by_line in lines.items()
        }
        return cls(found, stored["seconds"])

    def tests_for(self, change: Change, texts: dict[str, str]) -> list[str]:
        """The tests that can notice a change: those of its module first, and quick ones before slow ones."""
        lines = _lines_of(change) if not change.name else _lines_with(change.name, texts)
        tests = {test for module, number in lines for test in self.lines.get(module, {}).get(number, ())}
        return sorted(
            tests, key=lambda test: (not is_of_module(test, change.module), self.seconds[test], test)
        )

    def timed(self, tests: Iterable[str]) -> dict[str, float]:
        """Tests with the seconds that each takes."""
        return {test: self.seconds[test] for test in tests}

    def within(self, tests: Iterable[str], module: str, *, seconds: float) -> list[str]:
        """All tests of the module itself, and of the others those that can be run in that time."""
        chosen, spent = [], 0.0
        for test in tests:
            if is_of_module(test, module):
                chosen.append(test)
                continue
            spent += self.seconds[test]
            if spent > seconds:
                break
            chosen.append(test)
        return chosen


def outdated(known: dict[str, Any], now: dict[str, Any]) -> list[str] | None:
    """The files of tests that must be run anew to know which lines they run; None where all must."""
    if not known or known["sources"] != now["sources"]:
        return None
    return [file for file, digest in now["files"].items() if known["files"].get(file) != digest]


def merged(known: dict[str, Any], found: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """What was known of tests that are as they were, with what was found out about all others."""
    kept = {
        test
        for test in known.get("lines", {})
        if (file := test.partition("::")[0]).startswith("src/")
        or known["files"].get(file) == now["files"].get(file, "gone")
    }
    return {
        **now,
        **{
            part: {**{test: known[part][test] for test in sorted(kept)}, **found[part]}
            for part in ("lines", "seconds")
        },
    }


def is_of_module(test: str, module: str) -> bool:
    """Whether a test stands in the file of tests of a module, or in its docstrings."""
    file = Path(test.partition("::")[0])
    return file.stem == f"test_{Path(module).stem}" or file == PACKAGE / module


def _lines_of(change: Change) -> Iterator[tuple[str, int]]:
    return ((change.module, number) for number in range(change.lines[0], change.lines[1] + 1))


def _lines_with(name: str, texts: dict[str, str]) -> Iterator[tuple[str, int]]:
    """All lines of the targets where a name stands, and those of what is defined under it."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for module, text in texts.items():
        inside = False
        for number, line in enumerate(text.splitlines(), start=1):
            if line and not line[0].isspace() and not line.startswith((")", "#")):
                inside = bool(re.match(rf"class {re.escape(name)}\b", line))
            if inside or word.search(line):
                yield module, number


class Tracer:
    """A plugin of pytest that notes which lines of the targets every test runs.

    What fixtures run when they are set up counts for all tests of the file, which may share them.
    """

    def __init__(self, root: Path) -> None:
        self._modules = {
            str(root / path): path.relative_to(PACKAGE).as_posix() for path in target_modules(root)
        }
        self._now: dict[str, set[int]] = {}
        self.called: dict[str, dict[str, set[int]]] = {}
        self.set_up: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    def _trace(self, frame: FrameType, _event: str, _value: object) -> object:
        module = self._modules.get(frame.f_code.co_filename)
        if module is None:
            return None
        lines = self._now.setdefault(module, set())

        def trace_line(frame: FrameType, event: str, _value: object) -> object:
            if event == "line":
                lines.add(frame.f_lineno)
            return trace_line

        return trace_line

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Note the lines of fixtures."""
        forget_answers()
        yield from self._watched(item)
        for module, lines in self._now.items():
            self.set_up[item.nodeid.partition("::")[0]][module] |= lines

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Note the lines of the test, and its seconds."""
        start = sum(os.times()[:4])
        yield from self._watched(item)
        self.seconds[item.nodeid] = sum(os.times()[:4]) - start
        self.called[item.nodeid] = self._now

    def _watched(self, _item: pytest.Item) -> Iterator[None]:
        self._now = {}
        threading.settrace(self._trace)  # type: ignore[arg-type]
        sys.settrace(self._trace)  # type: ignore[arg-type]
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what fails without any change."""
        if report.failed:
            self.failed.append(report.nodeid)

    def found(self) -> dict[str, object]:
        """Everything as JSON values."""
        lines: dict[str, dict[str, list[int]]] = {}
        for test, called in self.called.items():
            shared = self.set_up.get(test.partition("::")[0], {})
            modules = sorted({*called, *shared})
            lines[test] = {
                each: sorted(called.get(each, set()) | shared.get(each, set())) for each in modules
            }
        return {"lines": lines, "seconds": {test: round(spent, 4) for test, spent in self.seconds.items()}}


def forget_answers() -> None:
    """Empty all caches of functions: a test that is answered from one would not be seen to run the lines behind it."""
    for name, module in list(sys.modules.items()):
        if name.startswith("veilset"):
            for value in list(vars(module).values()):
                if isinstance(value, functools._lru_cache_wrapper):  # noqa: SLF001 - its only name
                    value.cache_clear()


def main() -> None:
    """Run everything and write the file; exits with 1 where a test fails without any change."""
    tracer = Tracer(Path.cwd())
    code = pytest.main([*OPTIONS, *(sys.argv[2:] or SUITE)], plugins=[tracer])
    for test in tracer.failed:
        print(f"fails without any change: {test}", file=sys.stderr)
    if code != pytest.ExitCode.OK:
        sys.exit(1)
    Path(sys.argv[1]).write_text(json.dumps(tracer.found()), encoding="utf-8")


if __name__ == "__main__":
    main()
