"""All cells of a study together: the mean of each method, and how far one is from the best of the others."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure
from PIL import Image

CELL = ["dataset", "k", "min_support", "max_size", "epsilon"]
NEAR = 0.02
"""A method keeps up where its mean F-score is no further than this behind the best of the others."""


def means(cells: pl.DataFrame) -> pl.DataFrame:
    """The mean F-score and relative error of each method over all datasets and targets, for each epsilon."""
    return cells.group_by("method", "epsilon").agg(
        pl.col("f_score_mean").mean().alias("f_score"),
        pl.col("relative_error_mean").median().alias("relative_error"),
    )


def overview(cells: pl.DataFrame) -> Iterator[str]:
    """Tables: the means, and for each method in how many cells it keeps up with the best of all others."""
    per_method = means(cells)
    epsilons = per_method.get_column("epsilon").unique().sort().to_list()
    order = per_method.group_by("method").agg(pl.col("f_score").mean()).sort("f_score", descending=True)
    yield "\n## All datasets and targets together"
    yield "Mean F-score, and in how many cells a method is no more than 0.02 behind the best of all others.\n"
    yield "| method | " + " | ".join(f"ε = {epsilon:g}" for epsilon in epsilons) + " | all | keeps up in |"
    yield "|---|" + "--:|" * (len(epsilons) + 2)
    known = {(method, epsilon): score for method, epsilon, score, _ in per_method.iter_rows()}
    for method, mean in order.iter_rows():
        scores = " | ".join(f"{known[method, epsilon]:.3f}" for epsilon in epsilons)
        yield f"| {method} | {scores} | {mean:.3f} | {_keeps_up(cells, method)} |"
    yield "\nMedian over the cells of the relative error of supports:\n"
    yield "| method | " + " | ".join(f"ε = {epsilon:g}" for epsilon in epsilons) + " |"
    yield "|---|" + "--:|" * len(epsilons)
    errors = {(method, epsilon): error for method, epsilon, _, error in per_method.iter_rows()}
    for method in order.get_column("method"):
        shown = [errors[method, epsilon] for epsilon in epsilons]
        yield (
            f"| {method} | " + " | ".join("–" if error is None else f"{error:.1%}" for error in shown) + " |"
        )


def against_the_best(cells: pl.DataFrame, method: str) -> pl.DataFrame:
    """For each cell the mean F-score of a method, and the best of all others with its name."""
    own = cells.filter(pl.col("method") == method).select(*CELL, pl.col("f_score_mean").alias("own"))
    others = (
        cells.filter(pl.col("method") != method)
        .sort("f_score_mean", descending=True)
        .group_by(CELL, maintain_order=True)
        .agg(pl.col("f_score_mean").first().alias("best"), pl.col("method").first().alias("by"))
    )
    return own.join(others, on=CELL, nulls_equal=True)


def _keeps_up(cells: pl.DataFrame, method: str) -> str:
    compared = against_the_best(cells, method)
    near = compared.filter(pl.col("own") >= pl.col("best") - NEAR).height
    return f"{near} of {compared.height}"


def plot_overview(cells: pl.DataFrame, path: Path) -> None:
    """Mean F-score over all datasets and targets against epsilon, one line for each method."""
    per_method = means(cells).sort("epsilon")
    figure = Figure(figsize=(7.0, 3.8), layout="constrained")
    panel = figure.subplots()
    order = per_method.group_by("method").agg(pl.col("f_score").mean()).sort("f_score", descending=True)
    for place, method in enumerate(order.get_column("method")):
        line = per_method.filter(pl.col("method") == method)
        panel.plot(
            line["epsilon"],
            line["f_score"],
            marker="o",
            linewidth=3 if place == 0 else 1.5,
            color=mpl.color_sequences["tab10"][place % 10],
            label=method,
        )
    ticks = per_method.get_column("epsilon").unique().sort().to_list()
    panel.set_xscale("log")
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.minorticks_off()
    panel.set_ylim(0, 1)
    panel.set_xlabel("epsilon")
    panel.set_ylabel("mean F-score")
    panel.grid(visible=True, alpha=0.3)
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    Image.open(picture).convert("RGB").quantize(128).save(path, optimize=True)
