"""The page that `make mutants` writes: how many changes tests notice, and every one that they do not."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from benchmarks.mutants.changes import Change
from benchmarks.mutants.results import Result
from benchmarks.mutants.warm import KILLED, SURVIVED, TIMEOUT

OPEN = "open"


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of changes of a module or of all."""

    made: int
    killed: int
    timeouts: int
    equivalent: int
    still_open: int

    @property
    def score(self) -> float:
        """The part that tests notice of the changes that could be noticed."""
        return (self.killed + self.timeouts) / max(1, self.made - self.equivalent)

    def row(self, name: str) -> str:
        """The numbers as a row of a table."""
        return (
            f"| {name} | {self.made:,} | {self.killed:,} | {self.timeouts} | {self.equivalent} | {self.still_open} "
            f"| {100 * self.score:.1f} % |"
        )


def tally(changes: Sequence[Change], results: Mapping[str, Result], reasons: Mapping[str, str]) -> Tally:
    """Count; a change that has a reason and was noticed all the same counts as killed."""
    outcomes = [results[change.key].outcome for change in changes]
    survivors = [change for change in changes if results[change.key].outcome == SURVIVED]
    excused = sum(change.key in reasons for change in survivors)
    return Tally(
        len(changes), outcomes.count(KILLED), outcomes.count(TIMEOUT), excused, len(survivors) - excused
    )


def write_page(
    path: Path,
    changes: Sequence[Change],
    results: Mapping[str, Result],
    reasons: Mapping[str, str],
    *,
    total: int,
    allowed: float,
) -> Tally:
    """Write the page for the changes that were run, of `total` that there are."""
    by_module: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        by_module[change.module].append(change)
    everything = tally(changes, results, reasons)
    rows = [tally(each, results, reasons).row(f"`{module}`") for module, each in sorted(by_module.items())]
    text = Template(TEXT).substitute(
        date=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        extent=_extent(len(changes), total),
        made=f"{everything.made:,}",
        killed=f"{everything.killed:,}",
        timeouts=everything.timeouts,
        equivalent=everything.equivalent,
        still_open=everything.still_open,
        score=f"{100 * everything.score:.1f}",
        allowed=f"{allowed:g}",
        hours=f"{sum(results[change.key].seconds for change in changes) / 3600:.1f}",
        rows="\n".join([*rows, everything.row("**all**")]),
        open=_survivors(by_module, results, reasons, excused=False),
        excused=_survivors(by_module, results, reasons, excused=True),
    )
    path.write_text(text, encoding="utf-8")
    return everything


def _extent(number: int, total: int) -> str:
    return (
        "every change that the rules below allow" if number == total else f"{number:,} of {total:,} changes"
    )


def _survivors(
    by_module: Mapping[str, Sequence[Change]],
    results: Mapping[str, Result],
    reasons: Mapping[str, str],
    *,
    excused: bool,
) -> str:
    """The survivors with or without a reason, by module."""
    parts = []
    for module, changes in sorted(by_module.items()):
        lines = [
            _line(change, results[change.key], reasons)
            for change in changes
            if results[change.key].outcome == SURVIVED and (change.key in reasons) == excused
        ]
        if lines:
            parts.append("\n".join([f"**`{module}`**", "", *lines, ""]))
    return "\n".join(parts) or "None.\n"


def _line(change: Change, result: Result, reasons: Mapping[str, str]) -> str:
    reason = reasons.get(change.key) or ("no test runs this" if result.tests == 0 else OPEN)
    scope = change.scope.replace("_", "\\_")
    return f"* {change.line}, {scope}: `{change.before}` → `{change.after or ' '}`: {reason}"


TEXT = """# Mutants of the gate
Written by `make mutants` on $date: $extent.

A mutant is the gate with one small change: a boundary moved by one, a factor left out, a check removed. Tests that
notice the change kill it. One that survives changes nothing that anybody could see, for a reason given below, or it
shows where a test is missing. **Of $made mutants, tests killed $killed and $timeouts made a test run without end;
$equivalent change no behaviour, $still_open are open. Score: $score %**, which is killed and endless ones over all but
those that change no behaviour.

## How it is done
Mutated are `gate/` and `raw/cuts/`, one place at a time, in a private copy of the repository:

* comparisons: the boundary (`<` for `<=`) and the opposite; `and` for `or`; a condition or a sign turned round;
* arithmetic: another operator, one factor or term left out;
* integers up to 16 one up and one down, larger ones halved, floats doubled, flags flipped;
* `min` for `max` and other opposites, a bound left out, a function that returns its argument;
* a slice without its beginning or end, an argument not passed on, so that the default holds;
* a statement left out: `raise`, a call for its effect, an assignment to an attribute or a place in an array.

Left out by rule, because a change there says nothing: docstrings, texts of messages and questions, annotations and
names of types, decorators, imports, first values of attributes, and functions that put something in words
(`__repr__`, `sentence`, `after_reshaping`, `on_chosen_items`, `counted`). Kernels in `raw/kernels/` are compiled and
not mutated: each has a slow twin in the tests.

A mutant meets the tests of the gate and of truncations that run its line: those of its own module first, all of them,
then others, quick ones first, for up to $allowed seconds. Tests that start another process count where they run the
line in their own. Hypothesis draws the same examples in every run. A test may take five seconds and five times as long
as without the change; then it counts as endless. All mutants together took $hours hours of one core.

| module | mutants | killed | endless | no change of behaviour | open | score |
|---|--:|--:|--:|--:|--:|--:|
$rows

## Open
Line and function, the change, and what is known.

$open
## Survivors that change no behaviour
Reasons stand in `benchmarks/mutants/equivalent.toml`.

$excused"""
