"""The full audit: `make audit` writes docs/audit.md, in less than an hour on two cores.

    python -m benchmarks.audit [--samples N] [--question-samples N]

Every method of the registry, every question of the gate and the command line on every pair of neighbours, every
printed form that leaks, and the self-test of the noise. As many cases run at a time as there are cores. Ends with exit
code 1 where a claim of ours is broken, where a control is not, or where samples are too few to refute a claim.
"""

import argparse
import datetime as dt
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from string import Template

from benchmarks.mutants.fault_list import FAULTS, TEN, Fault
from benchmarks.mutants.faults import SEEN, by_audit, verdict_of
from benchmarks.mutants.tree import private_copy
from veilset import METHODS, SecureNoise
from veilset.audit.runner import cases, printed_cases
from veilset.audit.self_test import check_noise
from veilset.audit.verdicts import CANNOT_REFUTE, Verdict, is_failed, worst_by_case
from veilset.cli import run_here

PAGE = Path(__file__).resolve().parents[1] / "docs" / "audit.md"
SEED = 7
METHOD_EPSILON = 2
"""At 1 the stages of a method hide each other; at 2 a stage that leaks would stand out, and samples can show it."""
METHOD_SAMPLES = 3000
QUESTION_SAMPLES = 3000
"""Ceilings of more than twice the claim."""
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Part:
    """Cases that share their error."""

    name: str
    epsilon: int
    samples: int

    def run_case(self, number: int) -> Verdict:
        """One case, by its number: cases themselves do not travel between processes."""
        planned = cases(self.name, epsilon=self.epsilon, samples=self.samples, seed=SEED, shell=run_here)
        return planned[number]()

    def number(self) -> int:
        """How many cases there are."""
        return len(cases(self.name, epsilon=self.epsilon, samples=self.samples, seed=SEED, shell=run_here))


class Clock:
    """Tells what is done and how long it took."""

    def __init__(self) -> None:
        self.start = time.perf_counter()

    @property
    def minutes(self) -> float:
        """Since the start."""
        return (time.perf_counter() - self.start) / 60

    def tell(self, what: str, found: Sequence[Verdict]) -> None:
        """A line for a part."""
        seconds = sum(verdict.seconds for verdict in found)
        broken = sum(verdict.is_broken and not verdict.is_control for verdict in found)
        print(
            f"{self.minutes:5.1f} min  {what}: {len(found)} cases, {seconds:.0f} s, {broken} broken",
            flush=True,
        )


def run_part(part: Part, pool: Executor, clock: Clock) -> list[Verdict]:
    """All cases of a part, shared between processes."""
    found = list(pool.map(part.run_case, range(part.number())))
    clock.tell(f"{part.name} at epsilon {part.epsilon}", found)
    return found


def main() -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit")
    parser.add_argument(
        "--samples",
        type=int,
        default=METHOD_SAMPLES,
        help="runs of each method on each database; 0 for what can be computed alone",
    )
    parser.add_argument(
        "--question-samples", type=int, default=QUESTION_SAMPLES, help="the same for questions and commands"
    )
    parser.add_argument(
        "--faults", action="store_true", help="make the table of faults anew, and nothing else"
    )
    asked = parser.parse_args()
    if asked.faults:
        _renew_faults()
        return
    os.environ |= dict.fromkeys(ONE_THREAD, "1")  # every process has a core
    clock = Clock()
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        run = partial(run_part, pool=pool, clock=clock)
        questions = run(Part("questions", 1, asked.question_samples))
        commands = run(Part("commands", 1, asked.question_samples))
        parts = [Part(name, METHOD_EPSILON, asked.samples) for name in METHODS]
        methods = [verdict for part in parts for verdict in run(part)]
    printed = [case() for case in printed_cases("all", epsilon=1, samples=asked.question_samples, seed=SEED)]
    clock.tell("printed forms", printed)
    faults = _faults()
    print(f"{clock.minutes:5.1f} min  {len(faults)} faults", flush=True)
    page = _page(methods, questions, commands, printed, faults, clock.minutes, samples=asked.samples)
    PAGE.write_text(page, encoding="utf-8")
    sys.exit(_summed_up([*methods, *questions, *commands]))


def _renew_faults() -> None:
    """Put a new section about faults into the page as it is."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(FAULTS_HEAD)
    _, head, behind = rest.partition(METHODS_HEAD)
    section = Template(FAULTS_TEXT).substitute(_about_faults(_faults()))
    PAGE.write_text(f"{before}{FAULTS_HEAD}{section}{head}{behind}", encoding="utf-8")


def _about_faults(faults: Sequence[tuple[Fault, str, str]]) -> dict[str, object]:
    seen = sum(verdict == SEEN for _, verdict, _ in faults)
    return {"faults": _fault_table(faults), "seen": seen, "every": len(FAULTS)}


def _summed_up(found: Sequence[Verdict]) -> int:
    """What it comes to, and the exit code."""
    powerless = sum(verdict.verdict == CANNOT_REFUTE for verdict in found)
    broken = sum(verdict.is_broken and not verdict.is_control for verdict in found)
    print(
        f"wrote {PAGE.name}: {len(found)} cases of ours, {broken} above their claim, {powerless} cannot refute"
    )
    return int(is_failed(found) or powerless > 0)


def _page(
    methods: Sequence[Verdict],
    questions: Sequence[Verdict],
    commands: Sequence[Verdict],
    printed: Sequence[Verdict],
    faults: Sequence[tuple[Fault, str, str]],
    minutes: float,
    *,
    samples: int,
) -> str:
    noise = check_noise(SecureNoise())
    ours = [*methods, *questions, *commands]
    controls = [verdict for verdict in ours if verdict.is_control]
    return Template(PAGE_TEXT).substitute(
        date=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        minutes=f"{minutes:.0f}",
        cores=os.cpu_count(),
        seed=SEED,
        sampled=f"Methods were sampled {samples:,} times." if samples else ONLY_COMPUTED,
        cases=f"{len(ours) - len(controls):,}",
        broken=sum(verdict.is_broken for verdict in ours) - sum(verdict.is_broken for verdict in controls),
        controls=len(controls),
        refuted=sum(verdict.is_broken for verdict in controls),
        least=f"{min(verdict.ceiling / verdict.claim for verdict in ours if verdict.ceiling is not None):.1f}",
        methods=_table(worst_by_case(methods)),
        questions=_table(worst_by_case(questions)),
        commands=_table(worst_by_case(commands)),
        printed=_table(printed),
        faults=Template(FAULTS_TEXT).substitute(_about_faults(faults)),
        noise="\n".join(f"| {test.law} | {test.draws:,} | {test.p_value:.3g} |" for test in noise),
    )


def _faults() -> list[tuple[Fault, str, str]]:
    """Ten faults, put into a copy of the sources one by one, and what `veilset audit` says of each."""
    with private_copy() as copy, by_audit(copy, ("questions", "noise"), samples=0) as look:
        return [(fault, *verdict_of(fault, look)) for fault in TEN]


def _fault_table(faults: Sequence[tuple[Fault, str, str]]) -> str:
    lines = ["| where | what becomes what | what would leak | verdict | by |", "|---|---|---|---|---|"]
    for fault, verdict, by in faults:
        change = f"<code>{fault.original}</code> becomes <code>{fault.replacement or 'nothing'}</code>"
        lines.append(f"| {fault.module}, {fault.inside} | {change} | {fault.leak} | {verdict} | {by} |")
    return "\n".join(lines)


ONLY_COMPUTED = "In this run methods were computed alone, and not sampled; questions and commands were."
FAULTS_HEAD, METHODS_HEAD = "## Ten faults\n", "## Methods\n"

FAULTS_TEXT = """Would the audit notice? Each of these was put into the gate alone, and then
`veilset audit questions --samples 0` and `veilset audit noise` were run: $seen of 10 were seen. There are $every in
`benchmarks/mutants/fault_list.py`; `python -m benchmarks.mutants.faults --against audit` tries them all.

$faults

"""

PAGE_TEXT = """# The audit
Written by `make audit` on $date, in $minutes minutes on $cores cores, with seed $seed: $cases cases, $broken of them
above their claim; $refuted of $controls controls refuted, as all must be. $sampled

Pure epsilon-differential privacy bounds the ratio of any event's probabilities on two neighbouring databases by
e^epsilon. The audit looks for events that refute a claim, in two ways. `veilset audit` runs any part of this, and ends
with exit code 1 where a claim is broken.

**Computed.** Whatever leaves the gate was decided by a draw from exact values. The audit runs a method, or a question,
on both databases at once and stands where these draws are made: it writes down the law of each on both databases,
chooses one outcome for both, the one that tells most, and goes on to the end. The bound is the log of the ratio of the
two probabilities of that transcript: exact, and as large as a proof allows if it is tight. Since both databases were
answered alike, all that is published must then be the same to the last byte: itemsets, supports, intervals, trace and
notes. What differs has come past the gate, and the bound is infinite. Questions are also asked once more than their
budget allows, and must be refused. That draws have their laws is tested by themselves (`veilset audit noise`, below).
Where noise is Gaussian the bound is what rho and delta add up to.

**Sampled.** The same things are run many times, as they ship, and looked at from outside, for either unit on the pair
of databases where what is computed tells most. An event is chosen on one half of the runs and measured on the other,
with exact (Clopper-Pearson) intervals. This trusts nothing, and shows less.

The unit is a transaction, or a person of whom 3 transactions may count. Where items are found privately the claim is
epsilon and a delta of 1/1,000. The 5 % by which sampled bounds may be too high are shared by all sampled cases of a
method, and of the questions.

## What an audit can show
Samples show only as much as there are of them: "could show" is the bound that they would give for a mechanism that
publishes the raw data. Where it is not above the claim, the verdict is "cannot refute" and not "holds"; here it is
at least $least times the claim. A control, which publishes a raw count, stands among the cases and must be refuted.

A bound below the claim proves nothing: it says that these events on these pairs show no more, and sampled ones show
less where noise is split over several answers. Side channels such as time are not looked at. The arguments are in
[soundness](soundness.md); [all small databases](prove.md) are tried by `make prove`.

## Ten faults
$faults## Methods
The largest bound over all pairs of neighbours, computed ("exact") and sampled; seconds are those of this pair.

$methods

## Questions of the gate
The largest bound over all pairs of neighbours, each question at epsilon 1.

$questions

## The command line
Files with a canary and without, through `veilset mine`, `items` and `publish`, with the noise that ships: all that is
printed on either stream, all that is written, and the exit code. `veilset exact` is the control.

$commands

## Printed forms that leak
Steps as the papers print them, each alone, at the epsilon that is claimed for it. The library ships the repaired
form; on the same databases its bound stays under the claim (`tests/audit/printed/`).

$printed

## Noise
Chi-square of draws that ship, against the laws with which the computed cases reckon; below one in a million would be an
alarm.

| law | draws | p |
|---|--:|--:|
$noise
"""


def _table(verdicts: Sequence[Verdict]) -> str:
    lines = [
        "| subject | case | claim | bound | could show | samples | seconds | verdict | event |",
        "|---|---|--:|--:|--:|--:|--:|---|---|",
    ]
    for each in verdicts:
        cells = [
            each.method,
            each.case,
            f"{each.claim:g}",
            f"{each.bound:.3f}",
            "anything" if each.ceiling is None else f"{each.ceiling:.2f}",
            f"{each.samples:,}" if each.samples else "exact",
            f"{each.seconds:.1f}",
            each.verdict,
            each.event,
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
