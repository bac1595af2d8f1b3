"""A plan in a terminal: which epsilon it takes, or what to expect of each method, side by side."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from veilset.render.terminal.streams import plain_text, stdout_console
from veilset.render.terminal.tables import number_column, plain_table
from veilset.wording import counted

if TYPE_CHECKING:
    from veilset.plan import MethodPlan, Plan, Trade

_METHODS_IN_A_ROW = 5
"""As many forecasts fit side by side."""

_BAR_OF_ALL = 16
"""Characters of a bar that stands for everything."""


def print_trade(shown: "Trade") -> None:
    """The epsilon that is needed, and what others buy and cost, with bars."""
    console = stdout_console()
    console.print(plain_text(shown.sentence(), style="bold"))
    console.print(plain_text(shown.reasons()))
    console.print(plain_text(shown.odds()))
    console.print()
    console.print(_trade_table(shown))
    if len(shown.needs) > 1:
        console.print()
        console.print(_needs_table(shown))
    console.print()
    for line in _legend(shown):
        console.print(plain_text(line))


def _legend(shown: "Trade") -> Iterator[str]:
    """What the columns say, and what they rest on."""
    yield f"right: of the true top {shown.k}, the share that is released. mean error: of released supports."
    yield (
        "50:50 becomes: what whoever was not sure whether one person's transaction is in the data can believe at most, "
        "after the release."
    )
    yield f"Assumed: {shown.assumption}. Real data often needs twice as much, sometimes far more: docs/plan.md."
    yield "Nothing was looked at, nothing was spent."


def _trade_table(shown: "Trade") -> Table:
    """One line for each epsilon."""
    from veilset.plan.trade import belief_in_words  # noqa: PLC0415 - nothing is loaded but what prints

    right, error, becomes = (number_column(name) for name in ("right", "mean error", "50:50 becomes"))
    table = plain_table(number_column("epsilon"), right, "", error, "", becomes, "")
    largest = max([*(min(each.error, 1) for each in shown.points), 1e-9])
    for each in shown.points:
        table.add_row(
            f"{each.epsilon:g}",
            f"{each.found:.0%}",
            _bar(each.found),
            f"{each.error:.1%}" if each.error <= 1 else "over 100%",
            _bar(each.error / largest),
            belief_in_words(each.epsilon),
            "<- enough" if each.epsilon == shown.epsilon else "",
        )
    return table


def _bar(share: float) -> Text:
    """A bar for a share; more than all is all."""
    filled = round(_BAR_OF_ALL * min(share, 1))
    return plain_text("█" * filled + "░" * (_BAR_OF_ALL - filled), style="cyan")


def _needs_table(shown: "Trade") -> Table:
    """What every method would need."""
    table = plain_table(
        "method", *map(number_column, ("epsilon needed", "for what is right", "for the error"))
    )
    for need in shown.needs:
        needed = (need.epsilon, need.epsilon_for_found, need.epsilon_for_error)
        table.add_row(need.label(), *map(_epsilon_in_words, needed))
    return table


def print_plan(shown: "Plan") -> None:
    """What to expect of each method, and what it rests on."""
    console = stdout_console()
    for first in range(0, len(shown.methods), _METHODS_IN_A_ROW):
        console.print(_side_by_side(shown, shown.methods[first : first + _METHODS_IN_A_ROW]))
    if shown.left_out:
        console.print(plain_text(f"Left out: {', '.join(shown.left_out)}; --all shows every method."))
    console.print(plain_text(f"Proven: {shown.limits.sentence()}."))
    console.print(plain_text(f"Assumed: {shown.assumption}."))
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
