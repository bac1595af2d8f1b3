"""Tables of names and numbers: what tables of results share, figures of the data, the cells of a study."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Column, Table

from veilset.render.terminal.streams import plain_text, stdout_console

if TYPE_CHECKING:
    import polars as pl


def plain_table(*columns: str | Column) -> Table:
    """A table without lines, its column names in bold."""
    return Table(*columns, box=None, header_style="bold", pad_edge=False)


def number_column(name: str) -> Column:
    """A column of numbers: flush right, on one line."""
    return Column(name, justify="right", no_wrap=True)


def print_facts(values: Mapping[str, float]) -> None:
    """Names and numbers, one line each."""
    table = Table.grid(Column(), Column(justify="right"), padding=(0, 2))
    for name, value in values.items():
        table.add_row(name.replace("_", " "), f"{value:,}" if isinstance(value, int) else f"{value:,.4g}")
    stdout_console().print(table)


def print_study(cells: "pl.DataFrame") -> None:
    """A study as a table: one line for each dataset, target, epsilon and method."""
    metrics = _OF_PUBLISHED if (cells["task"] == "publish").all() else _OF_RELEASES
    table = plain_table("dataset", "target", "epsilon", "method", *metrics)
    for cell in cells.sort("dataset", "k", "min_support", "epsilon", "per_owner", "method").iter_rows(
        named=True
    ):
        table.add_row(
            plain_text(cell["dataset"]),
            _target(cell),
            f"{cell['epsilon']:g}",
            cell["method"],
            *(_formatted(cell[column], how) for column, how in metrics.values()),
        )
    stdout_console().print(table)


def _target(cell: dict[str, Any]) -> str:
    """What was asked for, and how many transactions of one owner counted, where they have several."""
    from veilset.evaluate.results import CHOSEN_PRIVATELY  # noqa: PLC0415

    wanted = f"k = {cell['k']}" if cell["k"] is not None else f"support {cell['min_support']}"
    limit = cell["per_owner"]
    if limit is None:
        return wanted
    return f"{wanted}, {'auto' if limit == CHOSEN_PRIVATELY else limit} per owner"


_OF_RELEASES = {
    "F-score": ("f_score_mean", ".3f"),
    "sd": ("f_score_sd", ".3f"),
    "relative error": ("relative_error_mean", ".2%"),
    "coverage": ("coverage_mean", ".1%"),
    "bias": ("bias_mean", "+.1%"),
    "approximate": ("approximate_share", ".0%"),
    "seconds": ("seconds_median", ".3f"),
}
_OF_PUBLISHED = {
    "utility": ("fim_utility_mean", ".3f"),
    "sd": ("fim_utility_sd", ".3f"),
    "F-score": ("f_score_mean", ".3f"),
    "query error": ("relative_error_mean", ".2%"),
    "seconds": ("seconds_median", ".3f"),
}
"""The columns of a study: the name, the column of the summary, and how its numbers are written."""


def _formatted(value: float | None, how: str) -> str:
    return "" if value is None else format(value, how)
