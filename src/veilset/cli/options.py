"""The options that several commands share, and the checks of what they were given."""

import os
import secrets
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veilset.errors import BadCall

if TYPE_CHECKING:
    from veilset.request import PerOwner

EpsilonOption = Annotated[
    str,
    typer.Option("--epsilon", metavar="E", help="Privacy budget, such as 0.5 or 1/3; smaller protects more."),
]
ReleaseEpsilonOption = Annotated[
    str | None,
    typer.Option(
        "--epsilon",
        metavar="E",
        help="Privacy budget, such as 0.5 or 1/3; smaller protects more. A ledger may say it.",
    ),
]
KOption = Annotated[int | None, typer.Option("--k", metavar="K", help="How many itemsets.")]
MinSupportOption = Annotated[
    str | None,
    typer.Option(
        "--min-support", metavar="S", help="Only itemsets this frequent: below 1 a share, else a count."
    ),
]
MaxSizeOption = Annotated[
    int | None, typer.Option("--max-size", "--max-len", metavar="N", help="The most items in an itemset.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but warnings, and what --json asks for.")
]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="List every question that was paid for, too.")
]
AsJsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
ReportOption = Annotated[
    Path | None,
    typer.Option("--report", metavar="F.html", help="Write a page with plots that works offline."),
]
METHODS_OF_TASK = {
    "mine": (
        *(
            "planned",
            "truncated-em",
            "privbasis",
            "privsuper",
            "f1m",
            "difffim-naive",
            "difffim",
            "splitsample",
        ),
        *("dpfim", "strawman"),
    ),
    "items": ("planned", "tps-pfm", "tps-em", "tps-recount", "frefirst", "em", "svt"),
    "publish": ("planned", "diffpart", "diffpart-chosen", "basic"),
}
"""What `--method` takes, the default first. Written down here so that help need not load the methods."""


def _method_option(task: str) -> Any:  # noqa: ANN401 - typer has no type for it
    default, *others = METHODS_OF_TASK[task]
    return typer.Option(
        "--method", metavar="M", help=f"One of {default} (default), {', '.join(others)}; see docs/methods."
    )


MineMethodOption = Annotated[str | None, _method_option("mine")]
ItemsMethodOption = Annotated[str | None, _method_option("items")]
PublishMethodOption = Annotated[str | None, _method_option("publish")]
PerOwnerOption = Annotated[
    str | None,
    typer.Option(
        "--per-owner",
        metavar="N|auto",
        help="How many baskets of one owner may count; auto chooses privately.",
    ),
]
PublicNumberOption = Annotated[
    int | None,
    typer.Option(
        "--public-count",
        "--transactions",
        metavar="N",
        help="The number of transactions, if public anyway.",
    ),
]
PublicItemsOption = Annotated[
    bool, typer.Option("--public-items", help="The items of this data are public anyway, as in a catalogue.")
]
DeltaOption = Annotated[
    str | None,
    typer.Option(
        "--delta", metavar="D", help="Find the items privately; the chance to fail at it, such as 1e-9."
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", help="The same seed gives the same figures.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="F", help="Write the release: .json, .csv, .parquet or .xlsx.")
]


def check_can_write(
    path: Path | None,
    *,
    suffixes: tuple[str, ...] = (),
    data: Path | None = None,
    also: Sequence[Path] = (),
    replaces: bool = False,
) -> None:
    """Refuse a file that cannot be written, is there or is the data, before anything is spent on what would go into it.

    `also` are the files that are written beside it.
    """
    if path is None:
        return
    if suffixes and path.suffix not in suffixes:
        raise BadCall(f"cannot write to {path}; name it {', '.join(suffixes)}")
    for file in (path, *also):
        if data is not None and data.exists() and file.exists() and file.samefile(data):
            raise BadCall(f"{file} is the data itself; name another file")
        _check_writable(file)
        if file.is_file() and not replaces:
            raise BadCall(f"{file} is there already; name another file, or give --force to replace it")


def _check_writable(path: Path) -> None:
    """Try it: permissions alone do not tell what a file system allows."""
    folder = path.resolve().parent
    trial = folder / f".{secrets.token_hex(4)}-{path.name}"
    try:
        if path.is_file() or path.is_dir():  # a pipe that nobody reads yet would wait
            os.close(os.open(path, os.O_WRONLY))
        if path.is_file() or not path.exists():
            trial.open("xb").close()
            trial.unlink()
    except OSError as error:
        raise BadCall(
            f"{path} cannot be written ({error.strerror}); name a file in a folder that exists and is yours"
        ) from None


def free_name(path: Path) -> Path:
    """The path, or the next one with a number that is free."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return path if not path.exists() else next(each for each in numbered if not each.exists())


def check_loudness(*, quiet: bool, verbose: bool, is_kept: bool = True) -> None:
    """Refuse to print both less and more, and to pay for a result that is neither printed nor kept."""
    if quiet and verbose:
        raise BadCall("--quiet prints less and --verbose more; give one of them")
    if quiet and not is_kept:
        raise BadCall(
            "--quiet prints nothing, and no file is named: what is paid for would be lost; give --out"
        )


def parts_of(text: str) -> list[str]:
    """What stands between the commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def whole_number(text: str) -> int:
    """A number of itemsets."""
    try:
        return int(text)
    except ValueError:
        raise BadCall(f"{text!r} is not a whole number; give numbers of itemsets, such as 50,100") from None


def limit_of(text: str | None) -> "PerOwner | None":
    """How many baskets of one owner may count, if that was said."""
    return None if text is None else per_owner_of(text)


def per_owner_of(text: str) -> "PerOwner":
    """How many baskets of one owner may count: a number, or to be chosen privately."""
    if text == "auto":
        return "auto"
    try:
        return int(text)
    except ValueError:
        raise BadCall(f"--per-owner {text!r} is no number of baskets; give one from 1 up, or auto") from None
