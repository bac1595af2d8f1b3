"""A process that has loaded all that is never changed, and forks a child for every change.

    python -m benchmarks.mutants.warm

reads requests and writes answers, one JSON value a line; it runs in a private copy, and `Worker` talks to it. Loading
numpy, numba, polars, opendp and the compiled kernels takes seconds, a fork takes none: a child imports the changed
package anew and runs the tests that it is told to.
"""

import importlib
import json
import os
import pkgutil
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import IO, Any, NoReturn, cast

import pytest

from benchmarks.mutants.reach import OPTIONS
from benchmarks.mutants.tree import changed, environment

LIBRARIES = (
    "hypothesis",
    "numba",
    "numpy",
    "opendp.measurements",
    "pandas",
    "polars",
    "pyarrow",
    "scipy.stats",
    "typer.testing",
)
KEPT = "veilset.raw.kernels"
MOST_MEMORY = 6 << 30
"""In bytes, for a child: a change may make a loop that fills all there is."""
PATIENCE = 5
"""A test may take five seconds of a core and five times what it takes without a change; then it does not end."""

Timed = Mapping[str, float]
"""Tests in the order in which they run, each with the seconds of a core that it takes without a change."""

KILLED, TIMEOUT, SURVIVED, BROKEN = "killed", "timeout", "survived", "broken"


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a change, the test that noticed it, and how many seconds of a core that took."""

    outcome: str
    by: str
    seconds: float


class Worker:
    """A warm process in a private copy."""

    def __init__(self, copy: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.mutants.warm"],
            cwd=copy,
            env=environment(copy),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # whoever stops the run stops it; this process ends when nobody asks any more
        )

    def run(self, path: str, text: str | None, groups: Sequence[Timed]) -> Answer:
        """Run groups of tests, one after another, on the tree with another text in one file, or as it is."""
        request = json.dumps({"path": path, "text": text, "groups": groups})
        to_it, from_it = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)
        to_it.write(f"{request}\n")
        to_it.flush()
        line = from_it.readline()
        if not line:
            raise RuntimeError("the process that runs tests has ended; its error stands above")
        return Answer(**json.loads(line))

    def close(self) -> None:
        """End the process."""
        cast("IO[str]", self._process.stdin).close()
        self._process.wait()


class Chosen:
    """A plugin of pytest: these tests and no others, in this order; stops at the first that fails or does not end."""

    def __init__(self, limits: dict[str, float], tell: Callable[[str, str], NoReturn]) -> None:
        self._limits, self._tell = limits, tell
        self._now = "collecting tests"

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose and order."""
        by_name = {item.nodeid: item for item in items}
        missing = [test for test in self._limits if test not in by_name]
        if missing:  # a change decides which tests there are
            self._tell(KILLED, f"collecting tests: {missing[0]} is gone")
        items[:] = [by_name[test] for test in self._limits]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Give each test its time."""
        self._now = item.nodeid
        signal.setitimer(signal.ITIMER_PROF, self._limits[item.nodeid])
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails is an answer."""
        if report.failed:
            self._tell(KILLED, report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """So is a file of tests that cannot be imported any more."""
        if report.failed:
            self._tell(KILLED, f"collecting {report.nodeid}")

    def ran_out(self, _signal: int, _frame: FrameType | None) -> None:
        """A test has had its time."""
        self._tell(TIMEOUT, self._now)


def load() -> None:
    """Load libraries and kernels, and forget the package but for its kernels, which are never changed."""
    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)
    kernels = importlib.import_module(KEPT)
    for found in pkgutil.iter_modules(kernels.__path__):
        for value in vars(importlib.import_module(f"{KEPT}.{found.name}")).values():
            stored = getattr(getattr(value, "_cache", None), "_cache_file", None)
            for key in stored._load_index() if stored is not None else ():  # noqa: SLF001 - numba has no other way
                value.compile(key[0])
    for name in [
        name for name in sys.modules if name.split(".")[0] == "veilset" and not name.startswith(KEPT)
    ]:
        del sys.modules[name]


def run_forked(tests: Timed) -> Answer:
    """Run tests in a child, and wait until it answers, ends or is out of time."""
    limits = {test: PATIENCE * (1 + seconds) for test, seconds in tests.items()}
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _run_tests(limits, writer)
    os.close(writer)
    ready = select.select([reader], [], [], 2 * PATIENCE * (PATIENCE + sum(tests.values())))[0]
    said = os.read(reader, 1 << 16).decode() if ready else ""
    os.close(reader)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    used = os.wait4(child, 0)[2]
    crashed = (KILLED, "the process crashed") if ready else (TIMEOUT, "waiting for nothing")
    outcome, by = json.loads(said) if said else crashed
    return Answer(outcome, by, used.ru_utime + used.ru_stime)


def _run_tests(limits: dict[str, float], writer: int) -> NoReturn:
    """What a child does; it never returns."""

    def tell(outcome: str, by: str) -> NoReturn:
        os.write(writer, json.dumps([outcome, by[:4000]]).encode())
        os._exit(0)

    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    sys.dont_write_bytecode = True
    plugin = Chosen(limits, tell)
    signal.signal(signal.SIGPROF, plugin.ran_out)
    try:
        raw = importlib.import_module("veilset.raw")
    except BaseException as error:  # noqa: BLE001 - whatever it is, no user could miss it
        tell(KILLED, f"importing the package: {type(error).__name__}")
    raw.__dict__["kernels"] = sys.modules[KEPT]
    files = sorted({test.partition("::")[0] for test in limits})
    code = pytest.main([*OPTIONS, "-x", *files], plugins=[plugin])
    tell(SURVIVED if code == pytest.ExitCode.OK else BROKEN, f"pytest ended with {code}")


def answer(request: dict[str, Any]) -> Answer:
    """Write a change, run its tests group by group until one notices, take it back."""
    path, text = Path(request["path"]), request["text"]
    told, seconds = Answer(SURVIVED, "", 0.0), 0.0
    with nullcontext() if text is None else changed(path, text):
        for group in request["groups"]:
            told = run_forked(group)
            seconds += told.seconds
            if told.outcome != SURVIVED:
                break
    return replace(told, seconds=round(seconds, 2))


def main() -> None:
    """Answer until nobody asks any more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    load()
    for line in sys.stdin:
        told = answer(json.loads(line))
        answers.write(json.dumps(asdict(told)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
