"""Whether the tests, or the audit, see faults that were made by hand: `fault_list` has them.

    python -m benchmarks.mutants.faults --against tests [--all-tests]
    python -m benchmarks.mutants.faults --against audit [--audits questions planned] [--samples N]

Each is put into a private copy of the repository, alone. Against tests: those of the gate and of truncations that run
the function where the fault is, or all tests that do. Against the audit: `veilset audit` of each name given, until one
sees it; a fault is seen where more claims are broken than without it, or the command fails. A fault whose text is not
found, or more than once, is said to be lost. Exits with 1 where any is lost or not seen.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutants.changes import PACKAGE
from benchmarks.mutants.fault_list import FAULTS, Fault
from benchmarks.mutants.reach import SUITE, Reach, is_of_module
from benchmarks.mutants.run import reach_of_tests
from benchmarks.mutants.tree import ROOT, changed, environment, private_copy
from benchmarks.mutants.warm import BROKEN, SURVIVED, Worker

TESTS = ("tests/gate", "tests/raw/cuts", *(str(PACKAGE / folder) for folder in ("gate", "raw/cuts")))
"""The tests of the gate and of truncations."""
SEEN, UNSEEN, LOST = "seen", "NOT SEEN", "LOST"


class LostFaultError(Exception):
    """The text of a fault does not stand where it should, exactly once."""


@dataclass(frozen=True, slots=True)
class Place:
    """A module with a fault in it, and the lines of the function or class where that is."""

    text: str
    lines: range


def put_in(fault: Fault, text: str) -> Place:
    """A module's text with a fault in it."""
    lines = lines_of(fault.inside, ast.parse(text))
    if lines is None:
        raise LostFaultError(f"there is no {fault.inside} in {fault.module}")
    rows = text.splitlines(keepends=True)
    before, within, behind = (
        "".join(rows[: lines.start - 1]),
        "".join(rows[lines.start - 1 : lines.stop - 1]),
        "".join(rows[lines.stop - 1 :]),
    )
    pattern = r"\s+".join(map(re.escape, fault.original.split()))
    found = list(re.finditer(pattern, within))
    if len(found) != 1:
        raise LostFaultError(
            f"the text stands {len(found)} times in {fault.inside} of {fault.module}: {fault.original}"
        )
    start, end = found[0].span()
    faulty = f"{before}{within[:start]}{fault.replacement}{within[end:]}{behind}"
    try:
        ast.parse(faulty)
    except SyntaxError as error:
        raise LostFaultError(
            f"the replacement does not fit in {fault.inside} of {fault.module}: {error}"
        ) from None
    return Place(faulty, lines)


def lines_of(name: str, tree: ast.Module) -> range | None:
    """The lines of a function or class, by its name or by `Class.function`; None where there is none, or several."""
    found = [
        range(node.lineno, (node.end_lineno or node.lineno) + 1)
        for full, node in _definitions(tree)
        if full == name or full.endswith(f".{name}")
    ]
    return found[0] if len(found) == 1 else None


def _definitions(tree: ast.AST, above: str = "") -> list[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            full = f"{above}{node.name}"
            found += [(full, node), *_definitions(node, f"{full}.")]
    return found


def tests_of(fault: Fault, lines: range, reach: Reach, *, among: tuple[str, ...]) -> list[str]:
    """The tests in some folders that run the function of a fault; where none does, those of its module."""
    by_line = reach.lines.get(fault.module, {})
    running = {test for line in lines for test in by_line.get(line, ())}
    chosen = running or {test for tests in by_line.values() for test in tests}
    return sorted(
        (test for test in chosen if test.startswith(among)),
        key=lambda test: (not is_of_module(test, fault.module), reach.seconds[test], test),
    )


Look = Callable[[Fault, Place], str]
"""Tells who sees a fault, or nothing."""


@contextmanager
def by_tests(copy: Path, *, among: tuple[str, ...]) -> Iterator[Look]:
    """How tests in some folders look at faults; they are first run without one."""
    reach, worker = reach_of_tests(), Worker(copy)
    control = worker.run("", None, [reach.timed(test for test in reach.seconds if test.startswith(among))])
    if control.outcome != SURVIVED:
        sys.exit(f"without a fault: {control.outcome} by {control.by}; nothing can be said about faults")

    def look(fault: Fault, place: Place) -> str:
        tests = tests_of(fault, place.lines, reach, among=among)
        told = worker.run(str(PACKAGE / fault.module), place.text, [reach.timed(tests)])
        if told.outcome == BROKEN:
            sys.exit(f"{fault.name}: {told.by}; this is a mistake in benchmarks.mutants")
        return "" if told.outcome == SURVIVED else f"{told.outcome} by {told.by}"

    yield look
    worker.close()


@contextmanager
def by_audit(copy: Path, audits: Sequence[str], *, samples: int) -> Iterator[Look]:
    """How the audit looks at faults; it is first run without one, to know what it says then."""

    def run(audit: str) -> tuple[int, int]:
        command = [sys.executable, "-m", "veilset", "audit", audit, "--samples", str(samples), "--json"]
        done = subprocess.run(
            command, cwd=copy, env=environment(copy), capture_output=True, text=True, check=False
        )
        return done.returncode, len(re.findall(r'"verdict":\s*"BROKEN"', done.stdout))

    without = {audit: run(audit) for audit in audits}
    print(f"without a fault: {json.dumps(without)} (exit code, broken claims)", flush=True)

    def look(fault: Fault, place: Place) -> str:
        with changed(copy / PACKAGE / fault.module, place.text):
            for audit in audits:
                code, broken = run(audit)
                if broken > without[audit][1]:
                    return f"veilset audit {audit}: {broken} claims broken"
                if code != without[audit][0]:
                    return f"veilset audit {audit}: exit code {code}"
        return ""

    yield look


@contextmanager
def by_reading() -> Iterator[Look]:
    """Nobody looks; a fault that can be put in counts as seen."""
    yield lambda _fault, _place: "its text is found"


def verdict_of(fault: Fault, look: Look) -> tuple[str, str]:
    """Whether a fault is seen, and by whom."""
    try:
        place = put_in(fault, (ROOT / PACKAGE / fault.module).read_text("utf-8"))
    except (LostFaultError, FileNotFoundError) as error:
        return LOST, str(error)
    seen_by = look(fault, place)
    return (SEEN, seen_by) if seen_by else (UNSEEN, f"would leak: {fault.leak}")


def options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants.faults")
    parser.add_argument(
        "--against",
        choices=["tests", "audit", "nobody"],
        default="tests",
        help="who looks at them; nobody: only whether they are found",
    )
    parser.add_argument("--all-tests", action="store_true", help="not only those of the gate and truncations")
    parser.add_argument("--audits", nargs="+", default=["questions"], help="questions, or methods")
    parser.add_argument("--samples", type=int, default=2000, help="of the audit")
    parser.add_argument("--only", nargs="+", default=[], help="modules, such as gate/noise.py")
    return parser.parse_args()


def main() -> None:
    """Look at all faults and print who sees which."""
    chosen = options()
    faults = [fault for fault in FAULTS if not chosen.only or fault.module.startswith(tuple(chosen.only))]
    verdicts = []
    with private_copy() as copy:
        ways = {
            "tests": lambda: by_tests(copy, among=SUITE if chosen.all_tests else TESTS),
            "audit": lambda: by_audit(copy, chosen.audits, samples=chosen.samples),
            "nobody": by_reading,
        }
        with ways[chosen.against]() as look:
            for fault in faults:
                verdict, why = verdict_of(fault, look)
                verdicts.append(verdict)
                print(f"{verdict}: {fault.name}\n    {why}", flush=True)
    numbers = ", ".join(f"{verdicts.count(each)} {each.lower()}" for each in (SEEN, UNSEEN, LOST))
    print(f"{len(faults)} faults: {numbers}")
    sys.exit(0 if verdicts.count(SEEN) == len(faults) else 1)


if __name__ == "__main__":
    main()
