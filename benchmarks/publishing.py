"""How good and how fast publishing a dataset is: `make publishing`.

    python -m benchmarks.publishing

Writes `docs/benchmarks/publishing.md` with its plot. The accuracy runs are seeded and land in a Parquet file
beside it, so that a study that was stopped goes on where it was.
"""

import inspect
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import veilset as vs
from benchmarks.measure import DATA, apart
from benchmarks.page import made_with, section
from benchmarks.publishing_plot import write_plot
from veilset.datasets import quest
from veilset.evaluate import Study, evaluate
from veilset.methods import DEFAULTS

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
SEED = 7
REPEATS = 5
"""5 runs of each cell; the texts of the tables say so."""
DATASETS = ("MSNBC", "BMS-WebView-1", "BMS-WebView-2", "retail", "Groceries", "TaFeng", "mushroom")
METHODS_TIMED = (DEFAULTS["publish"], "diffpart")
METHODS = [method.name for method in vs.METHODS.values() if method.task == "publish"]
ITEMS_OF_BASIC = 20
CLASSES = ("20 %", "40 %", "60 %", "80 %", "100 %")
CELL = ["dataset", "k", "method"]

RECORDS = range(200_000, 1_200_001, 200_000)
ITEMS = (200, 400, 600, 800, 1012)
RECORDS_OF_ITEMS = 800_000
RECORDS_TO_LIMIT = 2_000_000
LENGTH = 4.82
"""Those of the paper's scalability study: its data had 1,012 items, 4.82 of them in a record."""


def accuracy(results: Path) -> pl.DataFrame:
    """All runs on the datasets at hand; `basic` only where it can count all records."""
    files = [DATA / f"{name}.dat.zst" for name in DATASETS]
    frames = []
    for path in [path for path in files if path.exists()]:
        held = vs.read(path)
        is_small = len(held.alphabet) <= ITEMS_OF_BASIC
        study = Study.of(
            task="publish",
            methods=[method for method in METHODS if method != "basic" or is_small],
            epsilons=["0.5", "0.75", "1", "1.25"],
            ks=[20, 100],
            repeats=REPEATS,
            seed=SEED,
        )
        name = path.name.removesuffix(".dat.zst")
        frames.append(evaluate({name: held}, study, workers=os.cpu_count() or 1, results=results))
    return pl.concat(frames)


def utility(runs: pl.DataFrame) -> pl.DataFrame:
    """Top-K utility (Appendix E of the paper).

    1 less the mean relative change of the supports of the true top k itemsets, when they are mined from the
    published dataset in place of the data; one that is not among its top k counts as lost. Mean of five runs.
    """
    means = runs.group_by(*CELL, "epsilon").agg(pl.col("fim_utility").mean()).sort("epsilon")
    wide = means.pivot("epsilon", index=CELL, values="fim_utility")
    return wide.rename({name: f"ε = {name}" for name in wide.columns[3:]}).sort(
        *CELL, descending=[True, False, False]
    )


def found(runs: pl.DataFrame) -> pl.DataFrame:
    """F-score of the top k.

    Of the k itemsets that are most frequent in the published dataset, how many are among those of the data. Mean of
    five runs.
    """
    means = runs.group_by(*CELL, "epsilon").agg(pl.col("f_score").mean()).sort("epsilon")
    wide = means.pivot("epsilon", index=CELL, values="f_score")
    return wide.rename({name: f"ε = {name}" for name in wide.columns[3:]}).sort(
        *CELL, descending=[True, False, False]
    )


def errors(runs: pl.DataFrame) -> pl.DataFrame:
    """Relative error of counting queries (Sec. 5.1 of the paper).

    50,000 random itemsets of lengths up to a share of the longest record, sanity bound 0.1 % of the records.
    Mean of five runs.
    """
    one_target = runs.filter(pl.col("k") == pl.col("k").max())
    return (
        one_target.group_by("dataset", "method", "epsilon")
        .agg(
            pl.col("query_error").list.get(place).mean().alias(f"up to {share}")
            for place, share in enumerate(CLASSES)
        )
        .sort("dataset", "method", "epsilon", descending=[True, False, False])
    )


def speed() -> pl.DataFrame:
    """Speed, from parsed data to a written file.

    At epsilon = 1, `diffpart` with a fan-out of 10, on all cores, warm; the best of five. Processor seconds
    are those of all threads together; on a busy machine they say more.
    """
    files = [DATA / f"{name}.dat.zst" for name in DATASETS]
    return pl.DataFrame(
        [apart(_speed_on, path, method) for path in files if path.exists() for method in METHODS_TIMED]
    )


def scaling() -> pl.DataFrame:
    """Growth with the records and with the items.

    Synthetic baskets of 4.82 items on average (`veilset generate --quest --length 4.82`), from parsed data to
    a written file, by `diffpart` at epsilon = 1 and a fan-out of 10; the best of five. For fewer items, as in
    the paper, the others are taken out of the records and 800,000 that are not empty are kept. The paper needs
    35 s for 1.2 million records of 1,012 items.
    """
    return pl.DataFrame([*apart(_growing_records), *apart(_growing_items)])


def _speed_on(path: Path, method: str) -> dict[str, object]:
    held = vs.read(path)
    return {
        "dataset": path.name.removesuffix(".dat.zst"),
        "records": len(held),
        "items": len(held.alphabet),
        "method": method,
        **_best(held, method, runs=5),
    }


def _growing_records() -> list[dict[str, object]]:
    return [
        _scaling_on("records", quest(records, items=ITEMS[-1], length=LENGTH, seed=SEED))
        for records in RECORDS
    ]


def _growing_items() -> list[dict[str, object]]:
    full = quest(RECORDS_TO_LIMIT, items=ITEMS[-1], length=LENGTH, seed=SEED)
    return [_scaling_on("items", _limited(full, items)) for items in ITEMS]


def _scaling_on(varied: str, held: vs.Transactions) -> dict[str, object]:
    return {
        "varied": varied,
        "records": len(held),
        "items": len(held.alphabet),
        **_best(held, "diffpart", runs=5),
    }


def _limited(full: vs.Transactions, items: int) -> vs.Transactions:
    """The first records that hold any of the first items, without all others."""
    is_kept = full.items < items
    _, rows = np.unique(np.repeat(np.arange(len(full)), full.lengths)[is_kept], return_inverse=True)
    end = int(np.searchsorted(rows, RECORDS_OF_ITEMS))
    offsets = np.append(0, np.cumsum(np.bincount(rows[:end])))
    return vs.Transactions(offsets, full.items[is_kept][:end], vs.Alphabet(range(items), is_given=True))


def _best(held: vs.Transactions, method: str, *, runs: int) -> dict[str, object]:
    """The best times after a warm-up, and how many records were published."""
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for _ in range(runs + 1):
            start, busy = time.perf_counter(), time.process_time()
            published = vs.publish(held, epsilon=1, method=method, public_items=not held.alphabet.is_given)
            published.write(Path(folder) / "published.dat")
            times.append((time.perf_counter() - start, time.process_time() - busy))
    return {
        "seconds": min(seconds for seconds, _ in times[1:]),
        "processor seconds": min(seconds for _, seconds in times[1:]),
        "published records": len(published),
        "different": len(published.records),
    }


def main() -> None:
    """Measure, then write the page and its plot."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    runs = accuracy(FOLDER / "publishing.parquet")
    frames = {
        found: found(runs),
        utility: utility(runs),
        errors: errors(runs),
        speed: speed(),
        scaling: scaling(),
    }
    write_plot(FOLDER / "publishing.png", errors=frames[errors], scaling=frames[scaling])
    head = [
        "# Publishing a dataset",
        "Measured on public data; the accuracy with repeatable noise. These figures are not private.",
        "",
        f"`make publishing` writes this page and its plot. Seed {SEED}. {made_with()}",
        "",
        "![Error of queries on MSNBC, and seconds against records and items](publishing.png)",
    ]
    sections = [section(inspect.getdoc(measured) or "", frame) for measured, frame in frames.items()]
    (FOLDER / "publishing.md").write_text("\n\n".join(["\n".join(head), *sections]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
