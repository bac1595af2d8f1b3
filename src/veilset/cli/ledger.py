"""The commands about a ledger: what may be spent on datasets, what was, and whether nobody changed it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veilset.cli.options import AsJsonOption, ForceOption, check_can_write
from veilset.cli.paying import LedgerOption, ledger_address
from veilset.errors import BadCall
from veilset.wording import counted

if TYPE_CHECKING:
    from veilset import Ledger
    from veilset.gate import LedgerRecord

LEDGER_CHANGED = 1
"""The exit code where a ledger was changed behind its own back."""

ledger_app = typer.Typer(
    name="ledger",
    help="What may be spent on a dataset, what was; durable across commands, crashes and colleagues.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What its owner calls the dataset.")]
TotalDeltaOption = Annotated[
    str | None,
    typer.Option("--delta", metavar="D", help="The delta that all its releases may cost together."),
]


def _opened(ledger: str | None) -> "Ledger":
    from veilset import Ledger  # noqa: PLC0415

    return Ledger(ledger_address(ledger), must_exist=True)


@ledger_app.command(name="init")
def init_command(ledger: LedgerOption = None) -> None:
    """Make a ledger: a SQLite file, or tables in a PostgreSQL database. One that is there stays as it is."""
    from veilset import Ledger  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    made = Ledger(ledger_address(ledger))
    terminal.print_line(f"{made} is ready. Next: veilset ledger create NAME --epsilon 4")


@ledger_app.command(name="create")
def create_command(
    name: NameArgument,
    epsilon: Annotated[
        str, typer.Option("--epsilon", metavar="E", help="What all its releases may cost together.")
    ],
    delta: TotalDeltaOption = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="U", help="Who is protected: transaction or person; if left out, the first release says."
        ),
    ] = None,
    per_release: Annotated[
        str | None, typer.Option(metavar="E", help="What a release costs that says no --epsilon.")
    ] = None,
    ledger: LedgerOption = None,
) -> None:
    """Say once what may be spent on a dataset, in all."""
    from veilset.render import terminal  # noqa: PLC0415

    made = _opened(ledger).create(name, epsilon=epsilon, delta=delta, unit=unit, per_release=per_release)
    terminal.print_line(
        f"dataset {name!r} may spend {made.total}. Next: veilset mine DATA --dataset {name} --epsilon 1 --k 100 ..."
    )


@ledger_app.command(name="list")
def list_command(ledger: LedgerOption = None, as_json: AsJsonOption = False) -> None:
    """All datasets: what may be spent, what is left."""
    from veilset.render import terminal  # noqa: PLC0415

    balances = list(_opened(ledger).balances().values())
    if as_json:
        terminal.print_json([balance.to_dict() for balance in balances])
    else:
        terminal.print_datasets(balances)


@ledger_app.command(name="show")
def show_command(name: NameArgument, ledger: LedgerOption = None, as_json: AsJsonOption = False) -> None:
    """One dataset: what is left of its budget, and every release: who, when, what for, which file."""
    from veilset.render import terminal  # noqa: PLC0415

    balance = _opened(ledger).dataset(name).balance
    terminal.print_json(balance.to_dict()) if as_json else terminal.print_dataset(balance)


@ledger_app.command(name="raise")
def raise_command(
    name: NameArgument,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it stays in the ledger.")],
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", metavar="E", help="The new total, larger than the old one.")
    ] = None,
    delta: TotalDeltaOption = None,
    ledger: LedgerOption = None,
) -> None:
    """Let more be spent on a dataset than was said first; the people in it then risk more."""
    from veilset.render import terminal  # noqa: PLC0415

    opened = _opened(ledger)
    opened.raise_total(name, epsilon=epsilon, delta=delta, reason=reason)
    terminal.print_line(f"dataset {name!r} may spend {opened.dataset(name).total}")


@ledger_app.command(name="close")
def close_command(
    name: NameArgument,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why; it stays in the ledger.")] = None,
    ledger: LedgerOption = None,
) -> None:
    """Let nothing more be spent on a dataset, for good."""
    from veilset.render import terminal  # noqa: PLC0415

    _opened(ledger).close_dataset(name, reason=reason)
    terminal.print_line(f"dataset {name!r} is closed")


@ledger_app.command(name="export")
def export_command(
    out: Annotated[
        Path | None, typer.Option("--out", metavar="F.json", help="Where to; to the terminal if left out.")
    ] = None,
    ledger: LedgerOption = None,
    force: ForceOption = False,
) -> None:
    """Every entry with its hash, as one JSON document: a copy for whoever checks the ledger later, without digests."""
    from veilset.render import terminal  # noqa: PLC0415
    from veilset.writing import write_whole  # noqa: PLC0415

    check_can_write(out, suffixes=(".json",), replaces=force)
    entries = [entry.to_public_row() for entry in _opened(ledger).entries()]
    if out is None:
        terminal.print_json(entries)
    else:
        write_whole(out, json.dumps(entries, ensure_ascii=False, indent=1) + "\n")


@ledger_app.command(name="verify")
def verify_command(
    releases: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RELEASE]...", help="Releases or an export, which must agree with the ledger."
        ),
    ] = None,
    ledger: LedgerOption = None,
    as_json: AsJsonOption = False,
) -> None:
    """Whether an entry was edited or removed; exit code 1 where one was."""
    from veilset.render import terminal  # noqa: PLC0415

    opened = _opened(ledger)
    flaws = opened.flaws([record for path in releases or [] for record in _records_in(path)])
    number = len(opened.entries())
    if as_json:
        terminal.print_json({"entries": number, "flaws": flaws, "is_sound": not flaws})
    elif flaws:
        for flaw in flaws:
            terminal.print_line(flaw)
    else:
        terminal.print_line(f"{counted(number, 'entry', 'entries', separator=',')}, each as it was written")
    if flaws:
        raise typer.Exit(LEDGER_CHANGED)


def _records_in(path: Path) -> list["LedgerRecord"]:
    """Where a file says that releases stand in the ledger: a release, a published dataset, or an export."""
    from veilset import Release  # noqa: PLC0415
    from veilset.gate import Entry, LedgerRecord  # noqa: PLC0415

    try:
        beside = path if path.suffix == ".json" else path.with_name(path.name + ".json")
        if path.suffix == ".parquet" and not beside.exists():
            return [LedgerRecord.from_dict(Release.load(path).account()["ledger"])]
        document = json.loads(beside.read_text(encoding="utf-8"))
        if isinstance(document, dict):
            return [LedgerRecord.from_dict(document["ledger"])]
        return [LedgerRecord.of(Entry.from_row(row)) for row in document]
    except (OSError, ValueError, KeyError, TypeError):
        raise BadCall(
            f"{path} names no entry of a ledger; give a release or a published dataset that was made with --dataset, "
            "or what `veilset ledger export` wrote"
        ) from None
