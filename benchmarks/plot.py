"""One picture of the benchmarks: how much longer others take, and what privacy costs on top of reading."""

from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

PEERS = ("pyfim", "mlxtend", "Spark")


def write_plot(path: Path, *, exact: pl.DataFrame, methods: pl.DataFrame) -> None:
    """Write the picture as PNG."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    _plot_exact(left, exact)
    _plot_methods(right, methods)
    figure.savefig(path, dpi=100)


def _plot_exact(axes: Axes, exact: pl.DataFrame) -> None:
    labels = [f"{name}\n{itemsets:,}" for name, itemsets in exact.select("dataset", "itemsets").rows()]
    for peer in PEERS:
        if f"veilset / {peer}" in exact.columns:
            axes.plot(labels, 1 / exact[f"veilset / {peer}"], "o", label=peer)
    axes.set(yscale="log", title="Exact mining: time of others / time of veilset", xlabel="dataset, itemsets")
    _finish(axes)


def _plot_methods(axes: Axes, methods: pl.DataFrame) -> None:
    for (method,), part in methods.group_by("method", maintain_order=True):
        axes.plot(part["dataset"], part["from file / Polars"], "o", label=str(method))
    axes.set(yscale="log", title="File to private release: time / time of Polars to read", xlabel="dataset")
    _finish(axes)


def _finish(axes: Axes) -> None:
    """What both halves share: a line where both are as fast, readable labels, a legend."""
    axes.axhline(1, color="grey", linewidth=1)
    axes.tick_params("x", labelrotation=45, labelsize=8)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=8)
