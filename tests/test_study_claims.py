"""What the pages say of `planned` in the study is what its runs say."""

from pathlib import Path

import polars as pl
import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
CELL = ["dataset", "k", "epsilon"]


@pytest.fixture(scope="module")
def cells() -> pl.DataFrame:
    """The mean of each measure over the runs of a method in a cell."""
    measures = ["coverage", "bias", "half_width", "mean_error", "relative_error", "f_score"]
    runs = pl.read_parquet(DOCS / "benchmarks" / "accuracy.parquet")
    return runs.group_by("method", *CELL).agg(pl.col(measures).mean())


@pytest.fixture(scope="module")
def planned(cells: pl.DataFrame) -> pl.DataFrame:
    """The cells of `planned`, each with the best of all other methods."""
    others = cells.filter(pl.col("method") != "planned").sort("f_score", descending=True)
    best = others.group_by(CELL, maintain_order=True).first()
    return cells.filter(pl.col("method") == "planned").join(best, on=CELL, suffix="_of_best")


@pytest.fixture(scope="module")
def page() -> str:
    """The page of the method."""
    return (DOCS / "methods" / "planned.md").read_text(encoding="utf-8")


def in_words(values: pl.Series, digits: int) -> str:
    """Four numbers as a sentence has them.

    >>> in_words(pl.Series([0.31, 0.7, 0.52, 0.5]), 1)
    '0.3, 0.7, 0.5 and 0.5'
    """
    *first, last = [f"{value:.{digits}f}" for value in values]
    return f"{', '.join(first)} and {last}"


def test_bias_and_coverage_are_those_of_the_runs(planned: pl.DataFrame, page: str) -> None:
    """By epsilon: how much too high supports are, and how many intervals hold the truth."""
    by_epsilon = planned.group_by("epsilon").agg(pl.col("bias", "coverage").mean() * 100).sort("epsilon")
    assert f"Supports are too high by {in_words(by_epsilon['bias'], 1)} %" in page
    assert f"Of all released itemsets, {in_words(by_epsilon['coverage'], 0)} %" in page


def test_widths_are_those_of_the_runs(planned: pl.DataFrame, page: str) -> None:
    """Half widths against errors, over all cells."""
    ratio = float(planned["half_width"].sum()) / float(planned["mean_error"].sum())
    assert f"half widths are {ratio:.1f} times the mean error" in page


def test_cells_with_calibrated_intervals_are_counted(planned: pl.DataFrame, page: str) -> None:
    """How many are in the band, how many are far below, and which is lowest."""
    coverage = planned["coverage"]
    in_band = 100 * coverage.is_between(0.93, 0.98).sum() / len(planned)
    assert f"in {in_band:.0f} % of {len(planned)} cells" in page
    assert f"below 85 % in {(coverage < 0.85).sum() or 'none'}." in page
    lowest = planned.sort("coverage").row(0, named=True)
    cell = f"{lowest['dataset']} (k = {lowest['k']}, epsilon {lowest['epsilon']:g}"
    assert f"It is lowest on {cell}: {lowest['coverage'] * 100:.1f} %)" in page


@pytest.mark.parametrize("name", ["methods/planned.md", "choosing.md"])
def test_cells_are_compared_with_the_best_other_method(planned: pl.DataFrame, name: str) -> None:
    """How many cells are no more than 0.02 behind in F, and how many have no larger error."""
    page = (DOCS / name).read_text(encoding="utf-8")
    near = (planned["f_score"] >= planned["f_score_of_best"] - 0.02).sum()
    no_worse = (planned["relative_error"] <= planned["relative_error_of_best"]).sum()
    assert f"in {near} of {len(planned)} cells" in page
    assert f"no worse in {no_worse} of {len(planned)} cells" in page
    assert f"it is {100 * planned['relative_error'].sum() / len(planned):.1f} % for `planned`" in page


def test_f_scores_are_those_of_the_runs(cells: pl.DataFrame, page: str) -> None:
    """The table by method and epsilon."""
    for (method,), own in cells.group_by("method"):
        by_epsilon = own.group_by("epsilon").agg(pl.col("f_score").mean()).sort("epsilon")["f_score"]
        figures = " | ".join(f"{value:.3f}" for value in [*by_epsilon, own["f_score"].sum() / len(own)])
        assert f"| `{method}` | {figures} |" in page
