"""One picture of the benchmarks: how much longer others take, and what privacy costs on top of reading."""

from pathlib import Path

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

PEERS = ("pyfim", "mlxtend", "Spark")
FEW_ITEMSETS = 10_000
"""Between the two numbers of itemsets that are mined."""


def write_plot(path: Path, *, exact: pl.DataFrame, methods: pl.DataFrame) -> None:
    """Write the picture as PNG."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    _plot_exact(left, exact)
    _plot_methods(right, methods)
    figure.savefig(path, dpi=100)


def _plot_exact(axes: Axes, exact: pl.DataFrame) -> None:
    """A row for each dataset; hollow for about 1,000 itemsets, filled for about 100,000."""
    for number, peer in enumerate(PEERS):
        if f"veilset / {peer}" in exact.columns:
            compared = exact.drop_nulls(f"veilset / {peer}")
            is_many = compared["itemsets"] > FEW_ITEMSETS
            for part, many in ((compared.filter(~is_many), False), (compared.filter(is_many), True)):
                axes.plot(
                    1 / part[f"veilset / {peer}"],
                    part["dataset"],
                    "o",
                    color=f"C{number}",
                    fillstyle="full" if many else "none",
                    label=f"{peer}, {'100,000' if many else '1,000'} itemsets",
                )
    axes.set_xscale("log")
    axes.set_title("Exact mining: time of others / time of veilset", fontsize=10)
    _finish(axes)


def _plot_methods(axes: Axes, methods: pl.DataFrame) -> None:
    for (method,), part in methods.group_by("method", maintain_order=True):
        axes.plot(part["from file / Polars"], part["dataset"], "o", label=str(method))
    axes.set_xscale("log")
    axes.set_title("File to private release: time / time of Polars to read", fontsize=10)
    _finish(axes)


def _finish(axes: Axes) -> None:
    """What both halves share: a line where both are as fast, the first dataset on top, a legend that hides nothing."""
    axes.axvline(1, color="grey", linewidth=1)
    axes.invert_yaxis()
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3, frameon=False)
