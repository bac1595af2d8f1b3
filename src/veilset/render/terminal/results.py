"""Releases, published datasets and exact itemsets in a terminal."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from veilset.render.terminal.streams import plain_text, stdout_console
from veilset.render.terminal.tables import number_column, plain_table
from veilset.wording import counted

if TYPE_CHECKING:
    from veilset.exact import ExactResult
    from veilset.gate import Charge
    from veilset.results.published import Published
    from veilset.results.release import Release

_BAR = 24
"""Characters of the longest bar."""

_FEWEST_TOLD_TOGETHER = 3
"""From 3 questions of one kind in a row, one line tells them all."""


def print_release(shown: "Release", *, most: int = 50, lists_questions: bool = False) -> None:
    """A release as a table with error bars, what it cost, and the promise; every question, if that is wanted."""
    support, interval, share = (number_column(name) for name in ("support", "95 % interval", "share"))
    table = plain_table("itemset", support, interval, share, "")
    total = shown.transactions.value
    largest = max((found.high for found in shown.itemsets), default=1)
    for found in shown.itemsets[:most]:
        table.add_row(
            _names(found.items),
            f"{found.support:,}",
            f"{found.low:,} – {found.high:,}",
            f"{found.support / total:.1%}" if total else "",
            _error_bar(found.low, found.support, found.high, largest),
        )
    console = stdout_console()
    print_noise_warning(shown)
    console.print(table)
    if len(shown) > most:
        console.print(f"… and {len(shown) - most:,} more, in what --out and --report write")
    about = "" if shown.transactions.is_public else "about "
    itemsets = counted(len(shown), "itemset", separator=",")
    transactions = counted(total, "transaction", separator=",")
    console.print(f"{itemsets} from {about}{transactions}, by {shown.method}")
    _print_cost_and_promise(shown, lists_questions=lists_questions)


def print_noise_warning(shown: "Release") -> None:
    """The first line, where nothing that follows can be told from noise."""
    if shown.noise_warning is not None:
        warning = f"{shown.noise_warning[0].upper()}{shown.noise_warning[1:]}."
        stdout_console().print(plain_text(warning, style="bold yellow"))


def print_published(shown: "Published", path: Path, *, most: int = 20, lists_questions: bool = False) -> None:
    """The most frequent records of a published dataset, where it lies, what it cost, and the promise."""
    table = plain_table("record", number_column("copies"))
    for items, copies in shown.most_copied(most):
        table.add_row(_names(items), f"{copies:,}")
    console = stdout_console()
    console.print(table)
    different = len(shown.records)
    if different > most:
        console.print(f"… and {different - most:,} more")
    records = counted(len(shown), "record", separator=",")
    where = f"in {path}, with the promise in {path.name}.json"
    console.print(plain_text(f"{records}, {different:,} of them different, by {shown.method}; {where}"))
    if len(shown) == 0:
        console.print(
            "No record was common enough to be told from noise: give more epsilon, or another method"
        )
    _print_cost_and_promise(shown, lists_questions=lists_questions)


def print_exact(shown: "ExactResult", *, most: int = 50) -> None:
    """Exact itemsets as a table."""
    table = plain_table("itemset", number_column("support"))
    for items, support in list(zip(shown.itemsets, shown.supports, strict=True))[:most]:
        table.add_row(_names(items), f"{support:,}")
    console = stdout_console()
    console.print(table)
    if len(shown) > most:
        console.print(f"… and {len(shown) - most:,} more; --json prints them all")
    for note in shown.notes:
        console.print(plain_text(note))


def _print_cost_and_promise(shown: "Release | Published", *, lists_questions: bool) -> None:
    console = stdout_console()
    if lists_questions:
        for paid in _paid(shown.trace):
            console.print(plain_text(f"  paid  {paid}"))
    delta = f", and delta {float(shown.delta):g}" if shown.delta > 0 else ""
    questions = counted(len(shown.trace), "question")
    on = (
        ""
        if lists_questions or not shown.trace
        else f", on {questions} (--verbose lists {_them(shown.trace)})"
    )
    console.print(plain_text(f"  spent {shown.spent} of epsilon {shown.epsilon}{delta}{on}"))
    if shown.ledger is not None:
        console.print(plain_text(f"  paid by {shown.ledger.sentence()}"))
    for note in shown.notes:
        console.print(plain_text(note))
    console.print(plain_text(str(shown.promise)))


def _them(trace: Sequence["Charge"]) -> str:
    return "it" if len(trace) == 1 else "them"


def _paid(trace: Sequence["Charge"]) -> Iterator[str]:
    """The rows of a trace in words; three or more of one kind in a row are told together."""
    for _, group in groupby(trace, key=lambda charge: re.sub(r"\d+", "", charge.question)):
        charges = list(group)
        if len(charges) < _FEWEST_TOLD_TOGETHER:
            yield from (charge.sentence() for charge in charges)
        else:
            total = sum(charge.mechanism.epsilon for charge in charges)
            yield f"{len(charges)} times {charges[0].sentence()}; together {total}"


def _names(items: Sequence[object]) -> Text:
    return plain_text(", ".join(str(item) for item in items))


def _error_bar(low: int, value: int, high: int, largest: int) -> Text:
    """A bar up to the support, with the interval around its end."""
    start, end, far = (round(_BAR * number / max(largest, 1)) for number in (low, value, high))
    return plain_text("█" * start + "▓" * (end - start) + "░" * (far - end), style="cyan")
