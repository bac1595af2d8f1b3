"""One picture of publishing: the error of queries by their length, and how time grows with the data."""

from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

DATASET, METHOD = "MSNBC", "diffpart"


def write_plot(path: Path, *, errors: pl.DataFrame, scaling: pl.DataFrame) -> None:
    """Write the picture as PNG."""
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    _plot_errors(left, errors.filter(dataset=DATASET, method=METHOD))
    _plot_seconds(middle, scaling.filter(varied="records"), against="records")
    _plot_seconds(right, scaling.filter(varied="items"), against="items")
    figure.savefig(path, dpi=100)


def _plot_errors(axes: Axes, errors: pl.DataFrame) -> None:
    classes = [name for name in errors.columns if name.startswith("up to ")]
    for row in errors.sort("epsilon").iter_rows(named=True):
        axes.plot(classes, [row[name] for name in classes], "o-", label=f"ε = {row['epsilon']:g}")
    axes.set(title=f"Relative error of queries, {DATASET}, {METHOD}", xlabel="length, of the longest record")
    axes.tick_params("x", labelsize=8)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)


def _plot_seconds(axes: Axes, scaling: pl.DataFrame, *, against: str) -> None:
    other, fixed = next((name, scaling.item(0, name)) for name in ("records", "items") if name != against)
    axes.plot(scaling[against], scaling["processor seconds"], "o-")
    axes.set(title=f"Processor seconds, {fixed:,} {other}", xlabel=against)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
