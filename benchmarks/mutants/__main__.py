"""Mutation testing of the gate: `make mutants` writes docs/mutants.md.

    python -m benchmarks.mutants [--only MODULE ...] [--sample N --seed S] [--workers W] [--seconds T]

Stopped runs go on where they were: results are kept in build/mutants/. With --only or --sample the page is not written
but printed in short, unless --page says where to.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from benchmarks.mutants.changes import PACKAGE, Change, all_changes, target_modules
from benchmarks.mutants.page import OPEN, write_page
from benchmarks.mutants.results import Now, Result, Store, digest_of, equivalents
from benchmarks.mutants.run import KEPT, Run, reach_of_tests, run_all
from benchmarks.mutants.tree import ROOT, digest
from benchmarks.mutants.warm import SURVIVED

PAGE = ROOT / "docs" / "mutants.md"


def options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants")
    parser.add_argument(
        "--only", nargs="+", default=[], help="modules, such as gate/noise.py or gate/selection"
    )
    parser.add_argument("--sample", type=int, help="that many changes, drawn at random")
    parser.add_argument("--seed", type=int, default=7, help="of the sample")
    parser.add_argument("--workers", type=int, default=2, help="processes that run tests")
    parser.add_argument(
        "--seconds", type=float, default=20, help="of tests of other modules, for each change"
    )
    parser.add_argument("--trust", action="store_true", help="what other tests killed before stays killed")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--list", action="store_true", help="only print the changes")
    parser.add_argument("--page", type=Path, help="where the page goes")
    return parser.parse_args()


def chosen_changes(
    changes: Sequence[Change], *, only: Sequence[str], sample: int | None, seed: int
) -> list[Change]:
    """The changes of some modules, or a sample of them, in the order in which they stand in the sources."""
    chosen = [each for each in changes if not only or each.module.startswith(tuple(only))]
    if sample is not None and sample < len(chosen):
        places = sorted(random.Random(seed).sample(range(len(chosen)), sample))  # noqa: S311 - repeatable
        chosen = [chosen[place] for place in places]
    return chosen


def main() -> None:
    """Run what is not known yet, and write or print what came out."""
    chosen = options()
    every = all_changes(ROOT)
    changes = chosen_changes(every, only=chosen.only, sample=chosen.sample, seed=chosen.seed)
    if chosen.list:
        print("\n".join(change.key for change in changes))
        return
    texts = {
        path.relative_to(PACKAGE).as_posix(): (ROOT / path).read_text("utf-8")
        for path in target_modules(ROOT)
    }
    digests = {module: digest_of(text) for module, text in texts.items()}
    now = Now(digests, suite=digest(ROOT), allowed=chosen.seconds, trust=chosen.trust)
    if chosen.fresh:
        (KEPT / "results.jsonl").unlink(missing_ok=True)
    store = Store(KEPT / "results.jsonl")
    known = store.known(changes, now)
    missing = [change for change in changes if change.key not in known]
    if missing:
        run = Run(reach_of_tests(), texts, seconds=chosen.seconds)
        run_all(missing, run, store, now, workers=chosen.workers)
    report(every, changes, store.known(changes, now), chosen)


def report(
    every: Sequence[Change], changes: Sequence[Change], results: dict[str, Result], chosen: argparse.Namespace
) -> None:
    """Write the page, and say what its reasons are wrong about."""
    reasons = equivalents()
    partial = len(changes) < len(every)
    page = chosen.page or (KEPT / "trial.md" if partial else PAGE)
    found = write_page(page, changes, results, reasons, total=len(every), allowed=chosen.seconds)
    keys = {change.key for change in every}
    for key in reasons:
        if key not in keys:
            print(f"a reason for a change that there is no more: {key}")
        elif key in results and results[key].outcome != SURVIVED:
            print(f"a reason for a change that is noticed by {results[key].by}: {key}")
    print(
        f"wrote {page.name}: {found.made} mutants, {found.killed} killed, "
        f"{found.timeouts} endless, {found.equivalent} without change of behaviour, {found.still_open} {OPEN}, "
        f"score {100 * found.score:.1f} %"
    )


if __name__ == "__main__":
    main()
