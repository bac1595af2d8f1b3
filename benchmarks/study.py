"""How accurate all methods are, on all datasets at hand, over privacy budgets: `make study`.

    python -m benchmarks.study [--quick]

Runs are seeded and land in a Parquet file, so that a study that was stopped goes on where it was. At the end
it writes tables, plots and an interactive page to `docs/benchmarks`. With `--quick`, a small study goes to
`build/study`, to see whether all works.
"""

import argparse
import os
import sys
from pathlib import Path

import veilset as vs
from benchmarks.measure import DATA
from benchmarks.study_pages import write_pages
from veilset.datasets import groceries, quest
from veilset.evaluate import Study, evaluate
from veilset.study_report import write_study_report

ROOT = Path(__file__).resolve().parents[1]
SEED = 7

METHODS = [
    method.name for method in vs.METHODS.values() if method.task == "mine" and method.name != "strawman"
]
"""The strawman refuses most of the datasets: it lists all itemsets of the alphabet."""
FULL = Study.of(
    methods=METHODS,
    ks=[50, 100, 200],
    epsilons=["0.05", "0.1", "0.25", "0.5", "1", "2"],
    seed=SEED,
    repeats=5,
)
QUICK = Study.of(methods=METHODS, ks=[50], epsilons=["0.1", "0.5", "2"], repeats=2, seed=SEED)
QUICK_DATASETS = ("Groceries", "mushroom")


def datasets(*, is_quick: bool) -> dict[str, vs.Transactions]:
    """The real datasets beside the repository, or synthetic ones where there are none."""
    files = {path.name.removesuffix(".dat.zst"): path for path in sorted(DATA.glob("*.dat.zst"))}
    if not files:
        print("no datasets at hand: the study runs on synthetic baskets")
        return {"synthetic groceries": groceries(20_000), "synthetic quest": quest(20_000)}
    return {name: vs.read(path) for name, path in files.items() if not is_quick or name in QUICK_DATASETS}


def show_progress(done: int, planned: int) -> None:
    """One line on a terminal that is written over."""
    if sys.stderr.isatty():
        end = "\n" if done == planned else ""
        print(f"\r{done:,} of {planned:,} runs", end=end, file=sys.stderr, flush=True)


def main() -> None:
    """Run what is missing, then write all pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study")
    parser.add_argument("--quick", action="store_true", help="two datasets, two repeats, to build/study")
    is_quick = parser.parse_args().quick
    folder = ROOT / ("build/study" if is_quick else "docs/benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    results = evaluate(
        datasets(is_quick=is_quick),
        QUICK if is_quick else FULL,
        workers=os.cpu_count() or 1,
        results=folder / "accuracy.parquet",
        progress=show_progress,
    )
    write_pages(results, folder, command="make study")
    write_study_report(results, folder / "accuracy.html")
    print(f"wrote accuracy.md, its plots and accuracy.html to {folder.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
