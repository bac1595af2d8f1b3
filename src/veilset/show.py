"""How results look in a terminal: the only importer of rich. Results go to stdout, the rest to stderr."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from veilset.exact import ExactResult
from veilset.release import Release

_BAR = 24
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
    for charge in shown.trace:
        console.print(Text(f"  paid  {charge.sentence()}"))
    console.print(Text(f"  spent {shown.spent} of epsilon {shown.epsilon}"))
    for note in shown.notes:
        console.print(Text(note))
    console.print(Text(str(shown.promise)))


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


def facts(values: Mapping[str, float]) -> None:
    """Names and numbers, one line each."""
    table = Table.grid(Column(), Column(justify="right"), padding=(0, 2))
    for name, value in values.items():
        table.add_row(name.replace("_", " "), f"{value:,}" if isinstance(value, int) else f"{value:,.4g}")
    _console().print(table)


def _console() -> Console:
    return Console() if sys.stdout.isatty() else Console(width=_WIDTH_IN_A_PIPE, color_system=None)


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        is_number = column in {"support", "95 % interval", "share"}
        table.add_column(column, justify="right" if is_number else "left", no_wrap=is_number)
    return table


def _names(items: Sequence[object]) -> Text:
    return Text(", ".join(str(item) for item in items))


def _error_bar(low: int, value: int, high: int, largest: int) -> Text:
    """A bar up to the support, with the interval around its end."""
    start, end, far = (round(_BAR * number / max(largest, 1)) for number in (low, value, high))
    return Text("█" * start + "▓" * (end - start) + "░" * (far - end), style="cyan")
