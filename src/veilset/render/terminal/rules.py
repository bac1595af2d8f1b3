"""Association rules in a terminal."""

import math
from typing import TYPE_CHECKING, Any

from veilset.render.terminal.results import print_noise_warning
from veilset.render.terminal.streams import plain_text, stdout_console
from veilset.render.terminal.tables import number_column, plain_table
from veilset.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from veilset.results.release import Release

_ALWAYS_SHOWN = ("confidence", "lift", "support")

_FORMATS = {
    **dict.fromkeys(("antecedent support", "consequent support", "support"), ".2%"),
    "confidence": ".1%",
    "leverage": ".4f",
}
"""How a metric is written; others with two decimals."""


def print_rules(
    rules: "pl.DataFrame", release: "Release", *, metric: str, number: int, most: int = 50
) -> None:
    """Rules as a table with intervals, the metric that chose them first; `number` of them were chosen."""
    metrics = dict.fromkeys((metric, *_ALWAYS_SHOWN))
    columns = [number_column(name) for each in metrics for name in (each, "95 % interval")]
    table = plain_table("given", "also", *columns)
    for rule in rules.head(most).iter_rows(named=True):
        sides = (plain_text(", ".join(map(str, rule[side]))) for side in ("antecedents", "consequents"))
        table.add_row(*sides, *(text for each in metrics for text in _with_interval(rule, each)))
    console = stdout_console()
    print_noise_warning(release)
    console.print(table)
    shown = min(rules.height, most)
    if shown < number:
        rest = "in what --out writes" if rules.height == number else "left out by --top"
        console.print(f"… and {number - shown:,} more, {rest}")
    console.print(
        f"{counted(number, 'rule', separator=',')} from {counted(len(release), 'itemset', separator=',')}, by "
        f"{release.method}. Nothing was read but the release, and nothing was spent."
    )
    console.print(plain_text(str(release.promise)))


def _with_interval(rule: dict[str, Any], metric: str) -> tuple[str, str]:
    """A measure and its interval, in words that fit a column."""
    value, low, high = (_written(rule[f"{metric}{end}"], metric) for end in ("", "_low", "_high"))
    return value, f"{low} – {high}"


def _written(value: float, metric: str) -> str:
    return "∞" if math.isinf(value) else format(value, _FORMATS.get(metric, ".2f"))
