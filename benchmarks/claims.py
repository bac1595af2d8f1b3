"""What the releases of a study claimed, against the truth: whether intervals hold, whether supports are too high."""

from collections.abc import Iterator
from typing import Any

import polars as pl

CELL_OF_METHOD = ["dataset", "k", "min_support", "max_size", "per_owner", "delta", "method", "epsilon"]

LEAST_COVERAGE, MOST_COVERAGE = 0.93, 0.98
"""Between these, 95 % is what it says."""
FAILING_COVERAGE = 0.85
"""Below this, nobody should rely on it."""


def claims(results: pl.DataFrame) -> pl.DataFrame:
    """One row for each method and epsilon, from the runs of all datasets and targets that measured it.

    The standard error of the mean coverage is over runs: of each cell by itself, then of the mean over cells.
    """
    measured = results.filter(pl.col("coverage").is_not_null())
    coverage = pl.col("coverage")
    cells = measured.group_by(CELL_OF_METHOD).agg(
        coverage.mean(),
        pl.col("bias", "half_width", "mean_error").mean(),
        variance=coverage.var() / coverage.count(),
    )
    return (
        cells.group_by("method", "epsilon")
        .agg(
            pl.len().alias("cells"),
            coverage.mean(),
            coverage.is_between(LEAST_COVERAGE, MOST_COVERAGE).sum().alias("within"),
            coverage.min().alias("lowest"),
            pl.col("bias").mean(),
            pl.col("bias").abs().mean().alias("absolute_bias"),
            (pl.col("half_width") / pl.col("mean_error")).median().alias("half_width_by_error"),
            # One cell of a single run has no variance, and then the mean has no known error.
            pl.when(pl.col("variance").null_count() == 0)
            .then(pl.col("variance").sum().sqrt() / pl.len())
            .alias("standard_error"),
        )
        .sort("method", "epsilon")
    )


def claims_section(results: pl.DataFrame) -> Iterator[str]:
    """The section of a study's page; nothing where no run measured what releases claim."""
    rows = claims(results)
    if rows.is_empty():
        return
    yield "\n## What releases claim"
    yield "Coverage is the share of released itemsets, right or not, whose true support lies in the 95 % interval;"
    yield "± is one standard error over runs. A cell is a dataset and a target; within are those cells with a coverage"
    yield f"of {LEAST_COVERAGE} to {MOST_COVERAGE}. Bias is the mean of (released - true) / true, or / threshold where"
    yield "that is more; its size is the mean over cells of its absolute value. Half width / error is the half width of"
    yield "intervals by the mean error of supports (median over cells): Laplace noise has 3.0, normal noise 2.5.\n"
    yield "| method | ε | coverage | within | lowest cell | bias | its size | half width / error |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for row in rows.iter_rows(named=True):
        yield _row(row)


def _row(row: dict[str, Any]) -> str:
    error = "" if row["standard_error"] is None else f" ± {row['standard_error']:.3f}"
    ratio = row["half_width_by_error"]
    return (
        f"| {row['method']} | {row['epsilon']:g} | {row['coverage']:.3f}{error} | {row['within']} of {row['cells']} | "
        f"{row['lowest']:.3f} | {row['bias']:+.3f} | {row['absolute_bias']:.3f} | "
        f"{'–' if ratio is None else f'{ratio:.1f}'} |"
    )
