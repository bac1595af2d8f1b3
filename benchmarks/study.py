"""How accurate all methods are, on all datasets at hand, over privacy budgets: `make study`.

    python -m benchmarks.study [--quick]

Runs are seeded and land in a Parquet file, so that a study that was stopped goes on where it was. Where the runs of a
cell leave in doubt whether intervals hold as often as they say, because all itemsets of a run err together, there are
more of them. At the end it writes tables, plots and an interactive page to `docs/benchmarks`, and the tables of
`docs/choosing.md`. With `--quick`, a small study goes to `build/study`, to see whether all works.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

import veilset as vs
from benchmarks import default_method
from benchmarks.choosing import methods_table
from benchmarks.claims import FAILING_COVERAGE, LEAST_COVERAGE, MOST_COVERAGE
from benchmarks.measure import DATA
from benchmarks.study_pages import write_pages
from benchmarks.written_tables import beginning, write_table
from veilset.datasets import groceries, quest
from veilset.evaluate import Study, evaluate
from veilset.render.study_report import write_study_report

ROOT = Path(__file__).resolve().parents[1]
CHOOSING, METHODS_PAGES = ROOT / "docs" / "choosing.md", ROOT / "docs" / "methods"
PLANNED, PLANNED_ITEMS = METHODS_PAGES / "planned.md", METHODS_PAGES / "planned-items.md"
SEED = 7

Datasets = Mapping[str, vs.Transactions]

METHODS = [
    method.name for method in vs.METHODS.values() if method.task == "mine" and method.name != "strawman"
]
"""The strawman refuses most of the datasets: it lists all itemsets of the alphabet."""
FULL = Study.of(
    methods=METHODS,
    ks=[50, 100, 200],
    epsilons=["0.1", "0.25", "0.5", "1"],
    seed=SEED,
    repeats=20,
)
QUICK = Study.of(methods=METHODS, ks=[50], epsilons=["0.1", "0.5", "2"], repeats=2, seed=SEED)
QUICK_DATASETS = ("Groceries", "mushroom")
ERRORS_FROM_EDGE = 2.0
"""2 standard errors or less from an edge of the right coverages, or from one of a failure, that of a cell is in doubt,
and it has more runs."""
MOST_RUNS, MOST_RUNS_OF_ITEMS = 100, 40
"""100 runs of a cell of itemsets that is in doubt, and 40 of one of items."""
SLOW = ("difffim", "difffim-naive")
"""Their runs take longest: their cells have no more of them, also where they are in doubt."""

ITEM_METHODS = [method.name for method in vs.METHODS.values() if method.task == "items"]
ITEMS_FULL = [
    Study.of(
        task="items", methods=ITEM_METHODS, ks=[k], epsilons=["0.05", "0.1", "0.25", "0.5", "1"], seed=SEED
    )
    for k in (100, 150, 200)
]
ITEMS_QUICK = [
    Study.of(task="items", methods=ITEM_METHODS, ks=[50], epsilons=["0.1", "1"], repeats=2, seed=SEED)
]
"""One study for each k: a dataset takes part where it has more items than that, and a half more."""


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
    held = datasets(is_quick=is_quick)
    run = runs if is_quick else measured_closely
    itemsets = _study("accuracy", "Accuracy of the methods", held, [QUICK if is_quick else FULL], folder, run)
    items = _study(
        "items", "Accuracy of top-k items", held, ITEMS_QUICK if is_quick else ITEMS_FULL, folder, run
    )
    if not is_quick:
        write_table(CHOOSING, beginning("itemsets"), methods_table(itemsets))
        write_table(CHOOSING, beginning("comparison"), default_method.comparison(itemsets))
        write_table(CHOOSING, beginning("supports"), default_method.supports(itemsets))
        write_table(PLANNED, beginning("figures"), default_method.figures(itemsets))
        write_table(CHOOSING, beginning("items"), methods_table(items))
        write_table(PLANNED_ITEMS, beginning("figures"), default_method.item_figures(items))


def _study(
    name: str,
    title: str,
    held: Datasets,
    studies: Sequence[Study],
    folder: Path,
    run: Callable[[Datasets, Study, Path], pl.DataFrame],
) -> pl.DataFrame:
    """Run what is missing of some studies, then write their pages; all runs."""
    results = pl.concat(
        run(
            {each: data for each, data in held.items() if _is_wide_enough(data, study)},
            study,
            folder / f"{name}.parquet",
        )
        for study in studies
    )
    write_pages(results, folder, name=name, title=title, command="make study")
    write_study_report(results, folder / f"{name}.html")
    print(f"wrote {name}.md, its plots and {name}.html to {folder.relative_to(ROOT)}")
    return results


def measured_closely(held: Datasets, study: Study, file: Path) -> pl.DataFrame:
    """All runs of a study, and more of the cells whose coverage these leave in doubt."""
    measured = [runs(held, study, file)]
    in_doubt = cells_in_doubt(measured[0]).filter(~pl.col("method").is_in(SLOW))
    most = MOST_RUNS_OF_ITEMS if study.task == "items" else MOST_RUNS
    for (dataset, method, k), cells in in_doubt.group_by("dataset", "method", "k"):
        epsilons = cells.get_column("epsilon").sort().to_list()
        more = Study.of(
            task=study.task,
            methods=[str(method)],
            ks=[int(str(k))],
            epsilons=epsilons,
            repeats=most,
            seed=study.seed,
        )
        measured.append(runs({str(dataset): held[str(dataset)]}, more, file))
    return pl.concat(measured).unique(["dataset", "method", "k", "epsilon", "seed"], maintain_order=True)


def cells_in_doubt(results: pl.DataFrame) -> pl.DataFrame:
    """The cells of a study whose runs leave open on which side of an edge of coverages their mean is."""
    coverage = pl.col("coverage")
    edges = [(coverage.mean() - edge).abs() for edge in (FAILING_COVERAGE, LEAST_COVERAGE, MOST_COVERAGE)]
    in_doubt = pl.min_horizontal(edges) <= ERRORS_FROM_EDGE * coverage.std() / coverage.count().sqrt()
    cells = results.group_by("dataset", "method", "k", "epsilon", maintain_order=True)
    return cells.agg(in_doubt.alias("is_in_doubt")).filter("is_in_doubt")


def runs(held: Datasets, study: Study, file: Path) -> pl.DataFrame:
    """The runs of a study, those that the file does not have yet on all cores."""
    return evaluate(held, study, workers=os.cpu_count() or 1, results=file, progress=show_progress)


def _is_wide_enough(data: vs.Transactions, study: Study) -> bool:
    """Whether choosing k items is a choice; itemsets there are always enough."""
    most = max(request.k or 0 for request in study.targets)
    return study.task != "items" or 2 * len(data.alphabet) > 3 * most


if __name__ == "__main__":
    main()
