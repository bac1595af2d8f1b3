"""An accuracy study as Markdown tables and PNG plots; the same results give the same files."""

import platform
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from benchmarks.claims import claims_section
from benchmarks.overview import overview, plot_overview
from veilset.evaluate import summary
from veilset.render.study_report import target_label

COLUMNS_OF_PANELS = 4
COLOURS_OF_A_PLOT = 128
TARGET = ["k", "min_support", "max_size", "per_owner", "delta"]

Cell = dict[str, Any]


def write_pages(results: pl.DataFrame, folder: Path, *, name: str, title: str, command: str) -> None:
    """Write `NAME.md`, one `NAME-*.png` for each target, and one for all of them together."""
    cells = summary(results).sort(*TARGET, "dataset", "method", "epsilon", nulls_last=True)
    plots = {}
    for request, part in cells.group_by(TARGET, maintain_order=True):
        label = target_label(*request)
        plots[label] = f"{name}-{_slug(label)}.png"
        _plot(part, label, folder / plots[label])
    head = [f"# {title}", *_introduction(results, f"{name}.html", command)]
    plot_overview(cells, folder / f"{name}-all.png")
    together = [*overview(cells), f"\n![Mean F-score of all methods against epsilon]({name}-all.png)"]
    lines = [*head, *together, *claims_section(results), *_plot_links(plots), *_tables(cells)]
    (folder / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _introduction(results: pl.DataFrame, page: str, command: str) -> Iterator[str]:
    methods = results.get_column("method").unique().sort()
    seeds = results.get_column("study_seed").unique().sort()
    versions = results.get_column("version").unique().sort()
    runs = summary(results).get_column("repeats").to_list()
    repeats = f"{runs[0]}" if len(set(runs)) == 1 else f"{min(runs)} to {max(runs)}"
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "opendp", "polars"))
    yield "Measured on public data with repeatable noise; these figures are not private."
    yield ""
    yield f"`{command}` writes this page, its plots, and `{page}`, where one can look at every cell."
    yield f"{repeats} runs of each cell, seed {', '.join(map(str, seeds))}; methods: {', '.join(methods)}."
    yield f"veilset {', '.join(versions)}, Python {platform.python_version()}, {libraries}."
    yield ""
    yield "A released itemset is right if its true support reaches that of the k-th, or the threshold asked"
    yield "for. The F-score is the harmonic mean of precision and recall; the relative error is the median"
    yield "of |noisy - true| / true over the released itemsets that are right. The best of a column is bold."


def _plot_links(plots: dict[str, str]) -> Iterator[str]:
    for label, name in plots.items():
        yield f"\n## F-score, {label}"
        yield f"![F-score against epsilon for each dataset, {label}]({name})"


def _tables(cells: pl.DataFrame) -> Iterator[str]:
    for metric, title, best in (
        ("f_score", "F-score: mean ± standard deviation", max),
        ("relative_error", "Relative error of supports: mean ± standard deviation", min),
    ):
        yield f"\n## {title}"
        for (dataset, *request), part in cells.group_by(["dataset", *TARGET], maintain_order=True):
            yield f"\n**{dataset}, {target_label(*request)}**\n"
            yield from _table(part.to_dicts(), metric, best)


def _table(cells: Sequence[Cell], metric: str, best: Callable[[list[float]], float]) -> Iterator[str]:
    """One row for each method, one column for each epsilon."""
    epsilons = sorted({cell["epsilon"] for cell in cells})
    known = {(cell["method"], cell["epsilon"]): cell for cell in cells if cell[f"{metric}_mean"] is not None}
    methods = sorted({cell["method"] for cell in cells})
    winners = {
        epsilon: best([cell[f"{metric}_mean"] for (_, at), cell in known.items() if at == epsilon] or [0.0])
        for epsilon in epsilons
    }
    yield "| method | " + " | ".join(f"ε = {epsilon:g}" for epsilon in epsilons) + " |"
    yield "|---|" + "--:|" * len(epsilons)
    for method in methods:
        texts = [_text(known.get((method, epsilon)), metric, winners[epsilon]) for epsilon in epsilons]
        yield f"| {method} | " + " | ".join(texts) + " |"


def _text(cell: Cell | None, metric: str, winner: float) -> str:
    if cell is None:
        return "–"
    mean, deviation = cell[f"{metric}_mean"], cell[f"{metric}_sd"]
    text = f"{mean:.3f}" if deviation is None else f"{mean:.3f} ± {deviation:.3f}"
    return f"**{text}**" if mean == winner else text


def _plot(cells: pl.DataFrame, label: str, path: Path) -> None:
    """Small multiples: one panel for each dataset, one line for each method."""
    methods = cells.get_column("method").unique().sort().to_list()
    colours = {method: mpl.color_sequences["tab10"][place % 10] for place, method in enumerate(methods)}
    groups = cells.partition_by("dataset", maintain_order=True)
    columns = min(COLUMNS_OF_PANELS, len(groups))
    rows = -(-len(groups) // columns)
    figure = Figure(figsize=(3.0 * columns, 2.3 * rows + 0.7), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for panel, group in zip(panels[: len(groups)], groups, strict=True):
        _plot_panel(panel, group, colours)
    for panel in panels[len(groups) :]:
        panel.set_visible(False)
    figure.supxlabel("epsilon")
    figure.supylabel(f"F-score, {label}")
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=min(5, len(names)), frameon=False)
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=100)
    # A palette makes the file four times smaller, and without a date the same results give the same bytes.
    Image.open(picture).convert("RGB").quantize(COLOURS_OF_A_PLOT).save(path, optimize=True)


def _plot_panel(panel: Axes, cells: pl.DataFrame, colours: dict[str, Any]) -> None:
    for (method,), line in cells.sort("method", "epsilon").group_by("method", maintain_order=True):
        epsilons, means = line["epsilon"].to_numpy(), line["f_score_mean"].to_numpy()
        spread = line["f_score_sd"].fill_null(0).to_numpy()
        colour = colours[str(method)]
        panel.plot(epsilons, means, color=colour, marker="o", markersize=3, linewidth=1.5, label=str(method))
        panel.fill_between(epsilons, means - spread, means + spread, color=colour, alpha=0.15, linewidth=0)
    ticks = cells.get_column("epsilon").unique().sort().to_list()
    panel.set_xscale("log")
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=7)
    panel.minorticks_off()
    panel.set_ylim(0, 1.02)
    panel.set_title(cells.item(0, "dataset"), fontsize=9)
    panel.grid(visible=True, alpha=0.3)


def _slug(label: str) -> str:
    """A label as part of a file's name."""
    return "".join(mark for mark in label if mark.isalnum())
