"""How results look in a terminal: the only importer of rich. Results go to stdout, the rest to stderr."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from veilset.audit.self_test import NoiseTest
from veilset.audit.verdicts import BROKEN, HOLDS, Verdict
from veilset.exact import ExactResult
from veilset.gate import Charge
from veilset.plan import Plan
from veilset.results.published import Published
from veilset.results.release import Release

_BAR = 24
_METHODS_IN_A_ROW = 5
"""As many forecasts fit side by side."""
_WIDTH_IN_A_PIPE = 120


@contextmanager
def stage(doing: str) -> Iterator[None]:
    """Tell on a terminal what is going on, and nothing in a pipe; fixed texts, nothing from the data."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(doing):
        yield


@contextmanager
def progress(unit: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, nothing in a pipe; hands out what to tell it: how many are done, of how many."""
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(unit, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def warn(text: str) -> None:
    """One line on stderr."""
    print(f"veilset: {text}", file=sys.stderr)  # noqa: T201


def line(text: str) -> None:
    """One line on stdout."""
    print(text)  # noqa: T201


def document(values: Any) -> None:  # noqa: ANN401
    """One JSON document on stdout."""
    print(json.dumps(values, ensure_ascii=False, indent=1))  # noqa: T201


def release(shown: Release, *, most: int = 50) -> None:
    """A release as a table with error bars, what it cost, and the promise."""
    console = _console()
    table = _table("itemset", "support", "95 % interval", "share", "")
    largest = max((found.high for found in shown.itemsets), default=1)
    for found in shown.itemsets[:most]:
        total = shown.transactions.value
        table.add_row(
            _names(found.items),
            f"{found.support:,}",
            f"{found.low:,} – {found.high:,}",
            f"{found.support / total:.1%}" if total else "",
            _error_bar(found.low, found.support, found.high, largest),
        )
    console.print(table)
    if len(shown) > most:
        console.print(f"… and {len(shown) - most:,} more, in what --out and --report write")
    about = "" if shown.transactions.is_public else "about "
    console.print(
        f"{len(shown):,} itemsets from {about}{shown.transactions.value:,} transactions, by {shown.method}"
    )
    _cost_and_promise(shown)


def published(shown: Published, path: Path, *, most: int = 20) -> None:
    """The most frequent records of a published dataset, where it lies, what it cost, and the promise."""
    console = _console()
    table = _table("record", "copies")
    by_copies = shown.to_frame().sort("multiplicity", descending=True, maintain_order=True)
    for items, copies in by_copies.head(most).rows():
        table.add_row(_names(items), f"{copies:,}")
    console.print(table)
    if by_copies.height > most:
        console.print(f"… and {by_copies.height - most:,} more")
    console.print(
        f"{len(shown):,} records, {by_copies.height:,} of them different, by {shown.method}; in {path}, "
        f"with the promise in {path.name}.json"
    )
    if len(shown) == 0:
        console.print(
            "No record was common enough to be told from noise: give more epsilon, or another method"
        )
    _cost_and_promise(shown)


def _cost_and_promise(shown: Release | Published) -> None:
    console = _console()
    for paid in _paid(shown.trace):
        console.print(Text(f"  paid  {paid}"))
    console.print(Text(f"  spent {shown.spent} of epsilon {shown.epsilon}"))
    for note in shown.notes:
        console.print(Text(note))
    console.print(Text(str(shown.promise)))


def _paid(trace: Sequence[Charge]) -> Iterator[str]:
    """The rows of a trace in words; many of one kind in a row are told together."""
    for _, group in groupby(trace, key=lambda charge: re.sub(r"\d+", "", charge.question)):
        charges = list(group)
        if len(charges) < 3:
            yield from (charge.sentence() for charge in charges)
        else:
            total = sum(charge.mechanism.epsilon for charge in charges)
            yield f"{len(charges)} times {charges[0].sentence()}; together {total}"


def exact(shown: ExactResult, *, most: int = 50) -> None:
    """Exact itemsets as a table."""
    console = _console()
    table = _table("itemset", "support")
    for items, support in list(zip(shown.itemsets, shown.supports, strict=True))[:most]:
        table.add_row(_names(items), f"{support:,}")
    console.print(table)
    if len(shown) > most:
        console.print(f"… and {len(shown) - most:,} more; --json prints them all")
    for note in shown.notes:
        console.print(Text(note))


def evaluation(cells: pl.DataFrame) -> None:
    """A study as a table: one line for each dataset, target, epsilon and method."""
    of_task = _OF_PUBLISHED if (cells["task"] == "publish").all() else _OF_RELEASES
    columns = ["dataset", "target", "epsilon", "method", *of_task]
    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for cell in cells.sort("dataset", "k", "min_support", "epsilon", "method").iter_rows(named=True):
        table.add_row(
            Text(cell["dataset"]),
            f"k = {cell['k']}" if cell["k"] is not None else f"support {cell['min_support']}",
            f"{cell['epsilon']:g}",
            cell["method"],
            *(_number(cell[column], how) for column, how in of_task.values()),
        )
    _console().print(table)


_OF_RELEASES = {
    "F-score": ("f_score_mean", ".3f"),
    "sd": ("f_score_sd", ".3f"),
    "relative error": ("relative_error_mean", ".2%"),
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
"""The columns of an evaluation: the name, the column of the summary, and how its numbers are written."""


def _number(value: float | None, how: str) -> str:
    return "" if value is None else format(value, how)


def verdicts(found: Sequence[Verdict]) -> None:
    """An audit as a table, and what it comes to."""
    table = Table(
        "subject",
        "case",
        Column("claim", justify="right"),
        Column("bound", justify="right"),
        "verdict",
        "event",
        box=None,
        header_style="bold",
        pad_edge=False,
    )
    for verdict in found:
        table.add_row(
            verdict.method,
            Text(verdict.case),
            f"{verdict.claim:g}",
            f"{verdict.bound:.3f}",
            verdict.verdict,
            Text(verdict.event),
        )
    _console().print(table)
    broken = sum(verdict.verdict == BROKEN for verdict in found)
    line(f"{len(found)} cases, {broken} with a bound above the claim. A bound below it proves nothing.")


def noise_tests(found: Sequence[NoiseTest]) -> None:
    """The self-test of the noise, a line for each scale."""
    for test in found:
        verdict = HOLDS if test.is_fine else BROKEN
        line(f"discrete Laplace, scale {test.scale}: {test.draws:,} draws, p = {test.p_value:.3g}, {verdict}")


def facts(values: Mapping[str, float]) -> None:
    """Names and numbers, one line each."""
    table = Table.grid(Column(), Column(justify="right"), padding=(0, 2))
    for name, value in values.items():
        table.add_row(name.replace("_", " "), f"{value:,}" if isinstance(value, int) else f"{value:,.4g}")
    _console().print(table)


def plan(shown: Plan) -> None:
    """What to expect of each method, side by side, and what it rests on."""
    console = _console()
    for first in range(0, len(shown.methods), _METHODS_IN_A_ROW):
        console.print(_plan_table(replace(shown, methods=shown.methods[first : first + _METHODS_IN_A_ROW])))
    console.print(Text(f"Proven: {shown.limits.sentence()}."))
    console.print(Text(f"Assumed: {shown.assumption}."))
    console.print("Nothing was looked at, nothing was spent.")


def _plan_table(shown: Plan) -> Table:
    """What to expect of some methods side by side."""
    table = Table(Column(), box=None, header_style="bold", pad_edge=False)
    for each in shown.methods:
        table.add_column(each.forecast.method, justify="right")
    for name, values in _plan_rows(shown):
        table.add_row(name, *values)
    return table


def _plan_rows(shown: Plan) -> Iterator[tuple[str, list[str]]]:
    """The lines of the table: what, and its value for each method."""
    forecasts = [each.forecast for each in shown.methods]
    scales = [{stage.name: _in_three_digits(stage.scale) for stage in each.stages} for each in forecasts]

    def support(count: int) -> str:
        return f"{count:,} ({count / shown.facts.rows:.2%})"

    def needed(epsilon: float | None) -> str:
        return "more than 10,000" if epsilon is None else f"{epsilon:g}"

    yield f"share of the top {shown.k} found", [f"{each.found:.0%}" for each in forecasts]
    yield "95 % half width of a support", [f"± {each.half_width:,}" for each in forecasts]
    yield "  relative to the k-th support", [f"± {each.error_at_kth:.1%}" for each in forecasts]
    yield "support of the k-th itemset", [support(each.kth_support) for each in forecasts]
    yield "support that is chosen over noise", [support(each.chosen_from) for each in forecasts]
    yield "support that is told from 0", [support(each.above_zero_from) for each in forecasts]
    yield "epsilon for the k-th to be chosen", [needed(each.epsilon_for_kth) for each in shown.methods]
    yield (
        f"epsilon for ± {shown.error:.0%} at the k-th",
        [needed(each.epsilon_for_error) for each in shown.methods],
    )
    for name in dict.fromkeys(stage.name for each in forecasts for stage in each.stages):
        yield f"noise scale, {name}", [each.get(name, "") for each in scales]
    yield "itemsets of up to", [f"{each.max_size} items" for each in forecasts]


def _in_three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _console() -> Console:
    return Console() if sys.stdout.isatty() else Console(width=_WIDTH_IN_A_PIPE, color_system=None)


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        is_number = column in {"support", "95 % interval", "share", "copies"}
        table.add_column(column, justify="right" if is_number else "left", no_wrap=is_number)
    return table


def _names(items: Sequence[object]) -> Text:
    return Text(", ".join(str(item) for item in items))


def _error_bar(low: int, value: int, high: int, largest: int) -> Text:
    """A bar up to the support, with the interval around its end."""
    start, end, far = (round(_BAR * number / max(largest, 1)) for number in (low, value, high))
    return Text("█" * start + "▓" * (end - start) + "░" * (far - end), style="cyan")
