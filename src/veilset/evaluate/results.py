"""The results of a study: one row for each run, in a Parquet file, in a summary, and as JSON."""

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from veilset.arrow_arrays import whole_parquet
from veilset.errors import BadCall
from veilset.evaluate.metrics import mean_and_sd
from veilset.writing import write_whole

OF_CLAIMS = ("mean_error", "half_width", "coverage", "bias")
"""What is measured of the supports and intervals that a release claims."""
METRICS = (
    "f_score",
    "precision",
    "recall",
    "false_negative_rate",
    "relative_error",
    "fim_utility",
    *OF_CLAIMS,
)

ResultRow = dict[str, Any]


SCHEMA: dict[str, pl.DataType] = {
    **dict.fromkeys(("task", "dataset", "fingerprint", "method", "version"), pl.String()),
    "epsilon": pl.Float64(),
    "k": pl.Int64(),
    "min_support": pl.String(),
    **dict.fromkeys(("max_size", "repeat", "study_seed"), pl.Int64()),
    "per_owner": pl.Int64(),
    "delta": pl.Float64(),
    "seed": pl.Int64(),
    **dict.fromkeys(METRICS, pl.Float64()),
    **dict.fromkeys(("is_complete", "is_sound"), pl.Boolean()),
    "by_size": pl.List(pl.Struct(dict.fromkeys(("size", "released", "right", "wanted"), pl.Int64()))),
    "query_error": pl.List(pl.Float64()),
    "seconds": pl.Float64(),
    "peak_bytes": pl.Int64(),
}
"""The columns of results: one row for each run."""

CHOSEN_PRIVATELY = 0
"""In the column `per_owner`: how many transactions of one person count was chosen privately, in every run."""

LATER_COLUMNS = ("per_owner", "delta")
"""Columns of a run that results of version 0.1 lack: nothing was limited for an owner, and items were public.

They also lack `OF_CLAIMS`, which were not measured.
"""


def frame_of_rows(rows: Iterable[ResultRow]) -> pl.DataFrame:
    """Results with the documented columns."""
    return pl.DataFrame(list(rows), schema=SCHEMA)


def read_results(path: Path | None) -> list[ResultRow]:
    """What a file holds, also one of version 0.1; nothing where there is none."""
    if path is None or not path.exists():
        return []
    try:
        frame = pl.DataFrame(whole_parquet(path).replace_schema_metadata(None))
    except (OSError, pa.ArrowException, pl.exceptions.PolarsError):
        raise BadCall(f"{path} is no Parquet file; name one that an evaluation wrote, or a new one") from None
    frame = with_later_columns(frame)
    if dict(frame.schema) != SCHEMA:
        raise BadCall(f"{path} does not hold results of this version; name a new file")
    return frame.to_dicts()


def with_later_columns(results: pl.DataFrame) -> pl.DataFrame:
    """Results, also of version 0.1, with the columns that came later; in the order of the schema where they have it."""
    missing = [column for column in (*LATER_COLUMNS, *OF_CLAIMS) if column not in results.columns]
    whole = results.with_columns(pl.lit(None, SCHEMA[column]).alias(column) for column in missing)
    return whole.select(list(SCHEMA)) if set(whole.columns) == set(SCHEMA) else whole


def write_results(rows: Iterable[ResultRow], path: Path) -> None:
    """Write all results beside the file, then put them in its place: a crash leaves the old ones.

    Made in memory first: Polars has no error of its own for a full disk, and writes to it are told by Python then.
    """
    held = BytesIO()
    frame_of_rows(rows).write_parquet(held)
    write_whole(path, held.getvalue())


CELL = ["task", "dataset", "method", "epsilon", "k", "min_support", "max_size", *LATER_COLUMNS]
"""What the runs have in common that are repeats of each other."""


def summary(results: pl.DataFrame) -> pl.DataFrame:
    """One row for each cell: mean and standard deviation of the metrics over its repeats, median seconds."""
    spread = [
        statistic(pl.col(metric)).alias(f"{metric}_{name}")
        for metric in METRICS
        for name, statistic in (("mean", pl.Expr.mean), ("sd", pl.Expr.std))
    ]
    return results.group_by(CELL, maintain_order=True).agg(
        pl.len().alias("repeats"),
        *spread,
        pl.col("is_complete").mean().alias("complete_share"),
        pl.col("is_sound").mean().alias("sound_share"),
        (pl.col("is_complete") & pl.col("is_sound")).mean().alias("approximate_share"),
        pl.col("seconds").median().alias("seconds_median"),
        pl.col("peak_bytes").max().alias("peak_bytes_max"),
    )


def documents(results: pl.DataFrame) -> list[dict[str, Any]]:
    """The cells as JSON values: the document that `veilset evaluate --json` prints."""
    cells = []
    for names, runs in results.group_by(CELL, maintain_order=True):
        cell = dict(zip(CELL, names, strict=True))
        if cell["per_owner"] == CHOSEN_PRIVATELY:
            cell["per_owner"] = "auto"
        metrics = {metric: mean_and_sd(runs[metric].drop_nulls().to_list()) for metric in METRICS}
        cells.append(
            {
                **cell,
                "repeats": runs.height,
                **metrics,
                "approximate_share": (runs["is_complete"] & runs["is_sound"]).mean(),
                "query_error": _by_class(runs),
                "by_size": _precision_by_size(runs),
                "seconds": {"median": runs["seconds"].median()},
                "peak_bytes": {"max": runs["peak_bytes"].max()},
                "is_private": False,
            }
        )
    return cells


def _by_class(runs: pl.DataFrame) -> list[float] | None:
    """The mean error of each class of queries; None where nothing was published."""
    errors = runs["query_error"].drop_nulls().to_list()
    return [float(mean) for mean in np.mean(errors, axis=0)] if errors else None


def _precision_by_size(runs: pl.DataFrame) -> list[dict[str, Any]]:
    """Precision and recall for each size of itemsets, over all runs of a cell."""
    sums = runs.select(pl.col("by_size").explode()).unnest("by_size").group_by("size").sum().sort("size")
    return sums.select(
        "size",
        precision=pl.when(pl.col("released") > 0).then(pl.col("right") / pl.col("released")),
        recall=pl.when(pl.col("wanted") > 0).then(
            pl.min_horizontal(pl.lit(1.0), pl.col("right") / pl.col("wanted"))
        ),
    ).to_dicts()
