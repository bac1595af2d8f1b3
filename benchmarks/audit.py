"""The full audit: `make audit` writes docs/audit.md.

    python -m benchmarks.audit [--samples N]

Every question of the gate and every method of the registry on every pair of neighbours, every printed form
that leaks, and the self-test of the noise. Two cases run at a time.
"""

import argparse
import datetime as dt
import math
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from string import Template

from veilset import METHODS, SecureNoise
from veilset.audit.runner import cases, printed_cases
from veilset.audit.self_test import check_noise
from veilset.audit.verdicts import BROKEN, Verdict

PAGE = Path(__file__).resolve().parents[1] / "docs" / "audit.md"
SEED = 7
METHOD_EPSILONS = (1, 6)
"""At 1 the stages of a method hide each other; at 6 a stage that leaks would stand out."""


def run_case(number: int, *, name: str, epsilon: int, samples: int) -> Verdict:
    """One case, by its number: cases themselves do not travel between processes."""
    return cases(name, epsilon=epsilon, samples=samples, seed=SEED)[number]()


def run_all(name: str, *, epsilon: int, samples: int) -> list[Verdict]:
    """All cases of a subject, shared between processes."""
    number = len(cases(name, epsilon=epsilon, samples=samples, seed=SEED))
    run = partial(run_case, name=name, epsilon=epsilon, samples=samples)
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        return list(pool.map(run, range(number)))


def main() -> None:
    """Run everything and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit")
    parser.add_argument("--samples", type=int, default=4000, help="runs on each database")
    samples = parser.parse_args().samples
    methods = [
        verdict
        for name in METHODS
        for epsilon in METHOD_EPSILONS
        for verdict in run_all(name, epsilon=epsilon, samples=samples)
    ]
    questions = run_all("questions", epsilon=1, samples=samples)
    printed = [case() for case in printed_cases("all", epsilon=1, samples=samples, seed=SEED)]
    noise = check_noise(SecureNoise())
    text = Template(PAGE_TEXT).substitute(
        date=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        samples=f"{samples:,}",
        seed=SEED,
        ceiling=f"{math.log(samples / 2 / 3.7):.1f}",
        methods=_table(_worst(methods)),
        questions=_table(_worst(questions)),
        printed=_table(printed),
        noise="\n".join(f"| {test.law} | {test.draws:,} | {test.p_value:.3g} |" for test in noise),
    )
    PAGE.write_text(text, encoding="utf-8")
    broken = [verdict for verdict in (*methods, *questions) if verdict.verdict == BROKEN]
    print(
        f"wrote {PAGE.name}: {len(methods) + len(questions)} cases of ours, {len(broken)} above their claim"
    )


PAGE_TEXT = """# The audit
Written by `make audit` on $date: $samples runs on each of two neighbouring databases, seed $seed, 95 % confidence.

Pure epsilon-differential privacy bounds the ratio of any event's probabilities on two neighbouring databases by
e^epsilon. The audit looks for an event that refutes the claim: chosen on one half of the runs, measured on the
other, with exact (Clopper-Pearson) intervals. A bound above the claim refutes it. Where an output is a choice
among few, its law is computed on both databases and compared exactly. `veilset audit` runs any part of this.
Where items are found privately the claim is epsilon and a delta of 1/1,000, which is taken off the likelier side.

## What an audit cannot show
A bound below the claim proves nothing: it says that these events on these pairs show no more. By sampling, no more
than about $ceiling can be shown, and less where noise is split over several answers. Side channels are not looked
at. The argument of each method is in its module; the audit tries to refute it, and properties in the tests check
each sensitivity on random neighbours.

## Methods
The largest bound over all pairs of neighbours.

$methods

## Questions of the gate
The largest bound over all pairs of neighbours, each question at epsilon 1.

$questions

## Printed forms that leak
Steps as the papers print them, each alone, at the epsilon that is claimed for it. The library ships the repaired
form; on the same databases its bound stays under the claim (`tests/audit/printed/`).

$printed

## Noise
Chi-square of draws of the noise that ships; below one in a million would be an alarm.

| law | draws | p |
|---|--:|--:|
$noise
"""


def _worst(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The largest bound of each case at each claim, over the pairs."""
    worst: dict[tuple[str, str, float], Verdict] = {}
    for verdict in verdicts:
        key = verdict.method, verdict.case.partition(";")[0], verdict.claim
        if key not in worst or verdict.bound > worst[key].bound:
            worst[key] = verdict
    return list(worst.values())


def _table(verdicts: Sequence[Verdict]) -> str:
    lines = [
        "| subject | case | claim | bound | samples | event | verdict |",
        "|---|---|--:|--:|--:|---|---|",
    ]
    for each in verdicts:
        number = f"{each.samples:,}" if each.samples else "exact"
        cells = [
            each.method,
            each.case,
            f"{each.claim:g}",
            f"{each.bound:.3f}",
            number,
            each.event,
            each.verdict,
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
