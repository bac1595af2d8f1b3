"""An accuracy study as one HTML page that works offline: which method finds what, at which epsilon.

Python condenses the runs into cells, one for each setting, method and epsilon; the page draws the cells. A
setting is a task on a dataset with a target, such as the 100 most frequent itemsets of one dataset.
"""

from dataclasses import asdict, dataclass
from html import escape
from math import isfinite
from pathlib import Path
from typing import Any

import polars as pl

from veilset.errors import BadCall
from veilset.evaluate.results import CHOSEN_PRIVATELY, with_later_columns
from veilset.render import page
from veilset.wording import counted
from veilset.writing import write_whole

SETTING_COLUMNS = ("task", "dataset", "k", "min_support", "max_size", "per_owner", "delta")
CELL_COLUMNS = (*SETTING_COLUMNS, "method", "epsilon")


@dataclass(frozen=True, slots=True)
class Metric:
    """A column of the results that the page can show.

    `best` is what it should be, where neither more nor less is better.
    """

    column: str
    name: str
    meaning: str
    is_share: bool = True
    is_better_high: bool = True
    is_signed: bool = False
    best: float | None = None


SHOWN_METRICS = (
    Metric("f_score", "F-score", "the harmonic mean of precision and recall"),
    Metric("precision", "precision", "the share of what was released that is truly frequent"),
    Metric("recall", "recall", "the share of what is truly frequent that was released"),
    Metric(
        "false_negative_rate",
        "false negative rate",
        "the share of what is truly frequent that was missed",
        is_better_high=False,
    ),
    Metric(
        "relative_error",
        "relative error",
        "how far a support is from the true one, as a share of it; the median over itemsets that are right",
        is_share=False,
        is_better_high=False,
    ),
    Metric(
        "coverage",
        "coverage",
        "the share of all released itemsets whose true support lies in the 95 % interval; 0.95 is promised, and more "
        "means that intervals are wider than they need be",
        best=0.95,
    ),
    Metric(
        "half_width",
        "half width",
        "half of the 95 % interval, as a share of the true support; the mean over itemsets that are right",
        is_share=False,
        is_better_high=False,
    ),
    Metric(
        "bias",
        "bias",
        "by how much released supports are too high (or too low, below 0) on average over all that was released, as a "
        "share of the true support, or of the threshold where that is more",
        is_share=False,
        is_signed=True,
        best=0.0,
    ),
    Metric(
        "is_complete",
        "complete",
        "the share of runs that released all with more than 1.2 times the threshold",
    ),
    Metric(
        "is_sound", "sound", "the share of runs that released none with less than 0.8 times the threshold"
    ),
    Metric(
        "fim_utility", "mining utility", "1 less the mean relative change of the true top itemsets' supports"
    ),
    Metric(
        "query_error",
        "query error",
        "the mean relative error of counting queries on the published data",
        is_share=False,
        is_better_high=False,
    ),
    Metric("seconds", "seconds", "how long a run took", is_share=False, is_better_high=False),
)


def write_study_report(results: pl.DataFrame, path: str | Path) -> None:
    """Write a self-contained page about a study; it needs no network and no other file."""
    write_whole(path, study_report_html(results))


def study_report_html(results: pl.DataFrame) -> str:
    """The page that `write_study_report` writes, from what `evaluate` returns: one row for each run."""
    results = with_later_columns(results)
    _check_results(results)
    cells = condense(results)
    return page.filled_page(
        "study_report.html",
        title="Accuracy study",
        summary=escape(_study_summary(results)),
        facts=page.definitions(_study_facts(results)),
        data={
            "methods": _distinct(results, "method"),
            "epsilons": _distinct(results, "epsilon"),
            "metrics": [asdict(metric) for metric in SHOWN_METRICS],
            "settings": _settings(cells),
        },
    )


def condense(results: pl.DataFrame) -> pl.DataFrame:
    """One row for each cell: mean and standard deviation of each metric, itemsets of each size, repeats.

    The standard deviation of a single run is null, and so is the mean of a metric that no run has.
    """
    # A query error is a list, one for each class of lengths; the mean of a yes or no is a share.
    runs = results.with_columns(pl.col("query_error").list.mean()).with_columns(
        pl.col([metric.column for metric in SHOWN_METRICS]).cast(pl.Float64).fill_nan(None)
    )
    means = runs.group_by(CELL_COLUMNS).agg(
        *(pl.col(metric.column).mean().alias(f"{metric.column}_mean") for metric in SHOWN_METRICS),
        *(pl.col(metric.column).std().alias(f"{metric.column}_sd") for metric in SHOWN_METRICS),
        repeats=pl.len(),
    )
    sizes = (
        results.select(*CELL_COLUMNS, "by_size")
        .explode("by_size")
        .drop_nulls("by_size")
        .unnest("by_size")
        .group_by(*CELL_COLUMNS, "size")
        .agg(pl.col("released", "right", "wanted").sum())
        .sort("size")
        .group_by(CELL_COLUMNS, maintain_order=True)
        .agg(by_size=pl.struct("size", "released", "right", "wanted"))
    )
    return means.join(sizes, on=CELL_COLUMNS, how="left", nulls_equal=True).sort(
        CELL_COLUMNS, nulls_last=True
    )


def target_label(
    k: int | None,
    min_support: str | None,
    max_size: int | None,
    per_owner: int | None = None,
    delta: float | None = None,
) -> str:
    """What a run was to find, in words, and what it had to protect or to find out first.

    >>> target_label(100, None, None), target_label(None, "0.01", 3)
    ('k = 100', 'support ≥ 0.01, at most 3 items')
    >>> target_label(100, None, None, 5, 1e-9)
    'k = 100, at most 5 transactions of one person, delta = 1e-09'
    >>> target_label(100, None, None, CHOSEN_PRIVATELY)
    'k = 100, transactions of one person chosen privately'
    """
    parts = [
        f"k = {k}" if k is not None else "",
        f"support ≥ {min_support}" if min_support is not None else "",
        f"at most {counted(max_size, 'item')}" if max_size is not None else "",
        "" if per_owner is None else _limit_label(per_owner),
        f"delta = {delta:g}" if delta is not None else "",
    ]
    return ", ".join(part for part in parts if part) or "all of it"


def _limit_label(per_owner: int) -> str:
    if per_owner == CHOSEN_PRIVATELY:
        return "transactions of one person chosen privately"
    return f"at most {counted(per_owner, 'transaction')} of one person"


def _check_results(results: pl.DataFrame) -> None:
    needed = [*CELL_COLUMNS, "version", "study_seed", "by_size", *(metric.column for metric in SHOWN_METRICS)]
    missing = [column for column in needed if column not in results.columns]
    if missing:
        raise BadCall(f"the results lack the columns {', '.join(missing)}; hand in what evaluate returns")
    if results.is_empty():
        raise BadCall("the results hold no run, so there is nothing to show; evaluate at least one method")


def _settings(cells: pl.DataFrame) -> list[dict[str, Any]]:
    """The cells under their settings, in the order of the table."""
    settings: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in cells.iter_rows(named=True):
        key = tuple(cell[column] for column in SETTING_COLUMNS)
        task, dataset, *target = key
        setting = settings.setdefault(
            key, {"task": task, "dataset": dataset, "target": target_label(*target), "cells": []}
        )
        setting["cells"].append(_cell(cell))
    return list(settings.values())


def _cell(cell: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of a cell; six digits are more than it writes out."""
    return {
        "method": cell["method"],
        "epsilon": cell["epsilon"],
        "repeats": cell["repeats"],
        "mean": {metric.column: _rounded(cell[f"{metric.column}_mean"]) for metric in SHOWN_METRICS},
        "sd": {metric.column: _rounded(cell[f"{metric.column}_sd"]) for metric in SHOWN_METRICS},
        "sizes": cell["by_size"] or [],
    }


def _rounded(value: float | None) -> float | None:
    return float(f"{value:.6g}") if value is not None and isfinite(value) else None


def _study_summary(results: pl.DataFrame) -> str:
    counts = [
        counted(results.get_column(column).n_unique(), noun, separator=",")
        for column, noun in (("method", "method"), ("dataset", "dataset"), ("epsilon", "privacy budget"))
    ]
    return f"{', '.join(counts)}: {counted(results.height, 'run', separator=',')}, compared with the exact answer."


def _study_facts(results: pl.DataFrame) -> list[tuple[str, str]]:
    methods = results.select("method", "version").unique().sort("method", "version").iter_rows()
    runs = results.group_by(CELL_COLUMNS).len().get_column("len")
    return [
        ("methods", ", ".join(f"{method} ({version})" for method, version in methods)),
        ("datasets", ", ".join(_distinct(results, "dataset"))),
        ("epsilons", ", ".join(f"{epsilon:g}" for epsilon in _distinct(results, "epsilon"))),
        ("runs of a cell", _span(runs)),
        ("seed of the study", _span(results.get_column("study_seed"))),
    ]


def _distinct(results: pl.DataFrame, column: str) -> list[Any]:
    return results.get_column(column).unique().sort().to_list()


def _span(values: pl.Series) -> str:
    low, high = values.min(), values.max()
    return str(low) if low == high else f"{low!s} to {high!s}"
