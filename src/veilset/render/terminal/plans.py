"""A plan in a terminal: what to expect of each method, side by side."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from veilset.render.terminal.streams import stdout_console
from veilset.render.terminal.tables import plain_table
from veilset.wording import counted

if TYPE_CHECKING:
    from veilset.plan import MethodPlan, Plan

_METHODS_IN_A_ROW = 5
"""As many forecasts fit side by side."""


def print_plan(shown: "Plan") -> None:
    """What to expect of each method, and what it rests on."""
    console = stdout_console()
    for first in range(0, len(shown.methods), _METHODS_IN_A_ROW):
        console.print(_side_by_side(shown, shown.methods[first : first + _METHODS_IN_A_ROW]))
    console.print(Text(f"Proven: {shown.limits.sentence()}."))
    console.print(Text(f"Assumed: {shown.assumption}."))
    console.print("Nothing was looked at, nothing was spent.")


def _side_by_side(shown: "Plan", methods: Sequence["MethodPlan"]) -> Table:
    """A table with a column for each method."""
    table = plain_table(Column())
    for each in methods:
        table.add_column(each.forecast.method, justify="right")
    for name, values in (*_accuracy(shown, methods), *_noise_scales(methods), *_sizes(methods)):
        table.add_row(name, *values)
    return table


def _accuracy(shown: "Plan", methods: Sequence["MethodPlan"]) -> Iterator[tuple[str, list[str]]]:
    """How much of the top k is found, how exactly, and which epsilon it would take."""
    forecasts = [each.forecast for each in methods]

    def support(count: int) -> str:
        return f"{count:,} ({count / shown.facts.rows:.2%})"

    yield f"share of the top {shown.k} found", [f"{each.found:.0%}" for each in forecasts]
    yield "95 % half width of a support", [f"± {each.half_width:,}" for each in forecasts]
    yield "  relative to the k-th support", [f"± {each.error_at_kth:.1%}" for each in forecasts]
    yield "mean error of a support", [f"{each.relative_error:.1%}" for each in forecasts]
    yield "support of the k-th itemset", [support(each.kth_support) for each in forecasts]
    yield "support that is chosen over noise", [support(each.chosen_from) for each in forecasts]
    yield "support that is told from 0", [support(each.above_zero_from) for each in forecasts]
    yield "epsilon for the k-th to be chosen", [_epsilon_in_words(each.epsilon_for_kth) for each in methods]
    for_error = [_epsilon_in_words(each.epsilon_for_error) for each in methods]
    yield f"epsilon for ± {shown.error:.0%} at the k-th", for_error


def _epsilon_in_words(epsilon: float | None) -> str:
    return "more than 10,000" if epsilon is None else f"{epsilon:g}"


def _noise_scales(methods: Sequence["MethodPlan"]) -> Iterator[tuple[str, list[str]]]:
    """The noise of each stage, for the methods that have it."""
    by_method = [
        {stage.name: _in_three_digits(stage.scale) for stage in each.forecast.stages} for each in methods
    ]
    for name in dict.fromkeys(name for scales in by_method for name in scales):
        yield f"noise scale, {name}", [scales.get(name, "") for scales in by_method]


def _sizes(methods: Sequence["MethodPlan"]) -> Iterator[tuple[str, list[str]]]:
    yield "itemsets of up to", [counted(each.forecast.max_size, "item") for each in methods]


def _in_three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
