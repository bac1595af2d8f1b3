"""The figures on the pages of methods, from the studies: `python -m website.method_figures` writes them.

Studies are the Parquet files of docs/benchmarks, which `make study` and `make publishing` write. Methods that are in
none of them are measured by `python -m website.method_figures --measure FOLDER`, which writes another such file.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from benchmarks.written_tables import beginning, with_table

import veilset as vs
from veilset.evaluate import Study, evaluate

DOCS = Path(__file__).resolve().parents[1] / "docs"
COMMAND = "python -m website.method_figures"
START = beginning("in the study", COMMAND)
FAMILIES = {"tps": ("tps-pfm", "tps-em", "tps-recount", "frefirst", "em", "svt")}
"""Pages that speak of several methods."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the runs of a method are, and what is told of them."""

    file: str
    score: str
    is_about: str
    page: str
    k: int | None = None


ITEMSETS = Source("accuracy", "f_score", "F-score of the k itemsets", "accuracy.md")
ITEMS = Source("items", "f_score", "F-score of the k items", "items.md")
DATASETS = Source(
    "publishing", "fim_utility", "Utility of the top 100 of the published dataset", "publishing.md", k=100
)
MEASURED = Source("methods", "f_score", "F-score of the k itemsets", "")
MEASURED_DATASETS = Source(
    "methods", "fim_utility", "Utility of the top 100 of the published dataset", "", k=100
)


def source_of(label: str) -> Source:
    """Which study knows a method."""
    match vs.METHODS[label].task, label:
        case "items", _:
            return ITEMS
        case "publish", "planned-dataset":
            return MEASURED_DATASETS
        case "publish", _:
            return DATASETS
        case _, "strawman":
            return MEASURED
    return ITEMSETS


def runs_of(label: str) -> pl.DataFrame:
    """All runs of a method that are told of."""
    source, method = source_of(label), vs.METHODS[label]
    runs = pl.read_parquet(DOCS / "benchmarks" / f"{source.file}.parquet")
    runs = runs.filter(method=method.name, task=method.task)
    return runs if source.k is None else runs.filter(k=source.k)


def cells_of(runs: pl.DataFrame) -> pl.DataFrame:
    """The means of each cell: some have more runs than others, and no more say for that."""
    numbers = [name for name in ("f_score", "fim_utility", "coverage") if name in runs.columns]
    return runs.group_by("method", "dataset", "epsilon", "k").agg(pl.col(numbers).mean())


def study_table(label: str) -> Iterator[str]:
    """What the study says of a method: a row for each dataset, a column for each epsilon."""
    source, runs = source_of(label), runs_of(label)
    means = cells_of(runs)
    epsilons = runs.get_column("epsilon").unique().sort().to_list()
    scores = means.group_by("dataset", "epsilon").agg(pl.col(source.score).mean()).sort("dataset")
    cells = {(dataset, epsilon): score for dataset, epsilon, score in scores.iter_rows()}
    yield _sentence(source, runs)
    yield ""
    yield "| dataset | " + " | ".join(f"ε = {epsilon:g}" for epsilon in epsilons) + " |"
    yield "|---|" + "--:|" * len(epsilons)
    for dataset in sorted({dataset for dataset, _ in cells}, key=str.lower):
        yield _row(dataset, [cells.get((dataset, epsilon)) for epsilon in epsilons])
    yield _row("**mean**", [_mean(cells, epsilon) for epsilon in epsilons])
    if "coverage" in means.columns and means.get_column("coverage").is_not_null().any():
        covered = dict(means.group_by("epsilon").agg(pl.col("coverage").mean()).iter_rows())
        yield _row("intervals that hold the exact support", [covered.get(epsilon) for epsilon in epsilons])


def _sentence(source: Source, runs: pl.DataFrame) -> str:
    ks = runs.get_column("k").drop_nulls().unique().sort().to_list()
    repeats = runs.group_by("dataset", "epsilon", "k").len().get_column("len")
    numbers = [str(number) for number in repeats.unique().sort().to_list()]
    number = " to ".join(dict.fromkeys([numbers[0], numbers[-1]]))
    over = f"over k = {', '.join(map(str, ks))} and " if len(ks) > 1 else "over "
    where = f"[the study](../benchmarks/{source.page})" if source.page else f"`{COMMAND} --measure FOLDER`"
    return f"{source.is_about}, mean {over}{number} runs of each cell ({where}):"


def _mean(cells: dict[tuple[str, float], float], epsilon: float) -> float | None:
    values = [score for (_, each), score in cells.items() if each == epsilon and score is not None]
    return sum(values) / len(values) if values else None


def _row(name: str, values: list[float | None]) -> str:
    # Sums over threads differ in their last bits, which decide how a figure in the middle is rounded.
    texts = ["–" if value is None else f"{round(value, 9):.2f}" for value in values]
    return f"| {name} | " + " | ".join(texts) + " |"


def family_table(labels: tuple[str, ...]) -> Iterator[str]:
    """The means of several methods beside each other."""
    tables = {label: runs_of(label) for label in labels}
    epsilons = tables[labels[0]].get_column("epsilon").unique().sort().to_list()
    yield _sentence(source_of(labels[0]), tables[labels[0]])
    yield ""
    yield "| method | " + " | ".join(f"ε = {epsilon:g}" for epsilon in epsilons) + " |"
    yield "|---|" + "--:|" * len(epsilons)
    for label, runs in tables.items():
        per_set = cells_of(runs).group_by("dataset", "epsilon").agg(pl.col("f_score").mean())
        means = dict(per_set.group_by("epsilon").agg(pl.col("f_score").mean()).iter_rows())
        yield _row(f"`{label}`", [means.get(epsilon) for epsilon in epsilons])


def pages() -> dict[Path, str]:
    """Every page of a method as it should be: its text, with the figures of today's studies."""
    names = {**{label: (label,) for label in vs.METHODS}, **FAMILIES}
    written = {}
    for name, labels in names.items():
        path = DOCS / "methods" / f"{name}.md"
        lines = study_table(labels[0]) if len(labels) == 1 else family_table(labels)
        written[path] = with_table(path.read_text(encoding="utf-8"), START, lines)
    return written


def measure(data: Path) -> None:
    """Run the methods that are in no study, on datasets small enough for them."""
    results = DOCS / "benchmarks" / "methods.parquet"
    epsilons = ["0.1", "0.25", "0.5", "1"]
    for names, study in (
        (
            ("chess", "mushroom", "Groceries", "pumsb_star-de"),
            {"methods": ["strawman"], "ks": [50, 100, 200]},
        ),
        (
            ("Groceries", "mushroom", "BMS-WebView-1", "retail", "MSNBC"),
            {"methods": ["planned"], "ks": [100], "task": "publish"},
        ),
    ):
        for name in names:
            held = vs.read(data / f"{name}.dat.zst")
            asked = Study.of(**{"epsilons": epsilons, "repeats": 4, "seed": 7, **study})  # type: ignore[arg-type]
            evaluate({name: held}, asked, workers=1, results=results)


def main() -> None:
    """Measure what no study has, where asked to; write the tables."""
    if "--measure" in sys.argv:
        measure(Path(sys.argv[sys.argv.index("--measure") + 1]))
        return
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
