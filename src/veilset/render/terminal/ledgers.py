"""A ledger in a terminal: what is left of budgets, as bars; every release of a dataset."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Column

from veilset.render.terminal.streams import plain_text, stdout_console
from veilset.render.terminal.tables import plain_table
from veilset.wording import counted

if TYPE_CHECKING:
    from veilset.gate import Amount, Booked, DatasetBalance

_BAR = 40
"""Letters in a bar of what is left."""


def print_datasets(balances: Sequence["DatasetBalance"]) -> None:
    """All datasets of a ledger, a row each."""
    console = stdout_console()
    if not balances:
        console.print("The ledger has no dataset yet: veilset ledger create NAME --epsilon 4")
        return
    numbers = [Column(name, justify="right") for name in ("total", "spent", "left", "releases")]
    table = plain_table(Column("dataset"), Column("protects"), *numbers, Column("epsilon left"))
    for each in balances:
        table.add_row(
            plain_text(each.name + (" (closed)" if each.is_closed else "")),
            f"one {each.unit}" if each.unit else "not said yet",
            _short(each.total),
            _short(each.spent),
            _short(each.left),
            str(len(each.booked)),
            _bar(each, 20),
        )
    console.print(table)


def print_dataset(balance: "DatasetBalance") -> None:
    """One dataset: what is left, and every release."""
    console = stdout_console()
    closed = ", closed" if balance.is_closed else ""
    who = f", protects one {balance.unit}" if balance.unit else ""
    console.print(plain_text(f"{balance.name}{who}{closed}"))
    console.print(plain_text(f"{_bar(balance, _BAR)}  {balance.left} left of {balance.total}"))
    for name, spent in balance.partitions.items():
        if name:
            console.print(plain_text(f"  partition {name}: {spent} spent"))
    for each in balance.linked:
        console.print(plain_text(f"  {each.name}, which has people of it: {each.spent} spent"))
    if not balance.booked:
        console.print("No release yet.")
        return
    columns = ("entry", "date", "who", "what", "spent", "of", "state", "file")
    table = plain_table(*(Column(name, overflow="fold") for name in columns))
    for booked in balance.booked.values():
        table.add_row(*(plain_text(cell) for cell in _row(booked)))
    console.print(table)


def _row(booked: "Booked") -> tuple[str, ...]:
    """A release in the words of a table."""
    entry, told = booked.reservation, booked.reservation.told
    files = ", ".join(f"{file.told['name']} ({file.told['sha256'][:8]})" for file in booked.files)
    partition = f", {entry.partition}" if entry.partition else ""
    not_private = "" if told.get("is_private", True) else ", NOT private"
    return (
        str(entry.number),
        entry.at[:16].replace("T", " "),
        entry.who,
        f"{_asked(told.get('task'), told.get('request') or {})}{partition}{not_private}",
        _short(booked.price),
        str(entry.epsilon),
        booked.state,
        files,
    )


def _asked(task: object, request: dict[str, object]) -> str:
    """What a release was for."""
    if task == "publish":
        return "a dataset"
    what = "item" if task == "items" else "itemset"
    k, support = request.get("k"), request.get("min_support")
    top = f"top {counted(k, what)}" if isinstance(k, int) else f"{what}s"
    return top + (f" from support {support}" if support else "")


def _bar(balance: "DatasetBalance", letters: int) -> str:
    """What is left of epsilon, as a bar."""
    share = max(float(balance.left.epsilon / balance.total.epsilon), 0.0)
    full = round(share * letters)
    return "█" * full + "░" * (letters - full)


def _short(price: "Amount") -> str:
    return str(price).removeprefix("epsilon ")
