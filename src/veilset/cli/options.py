"""The options that several commands share, and the checks of what they were given."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    int | None, typer.Option("--max-size", metavar="N", help="The most items in an itemset.")
]
AsJsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
ReportOption = Annotated[
    Path | None,
    typer.Option("--report", metavar="F.html", help="Write a page with plots that works offline."),
]
MethodOption = Annotated[
    str | None, typer.Option("--method", metavar="M", help="Which method; see docs/methods.")
]
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
    typer.Option("--transactions", metavar="N", help="The number of transactions, if public anyway."),
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
    Path | None, typer.Option("--out", metavar="F", help="Write the release: .json, .csv or .parquet.")
]


def check_can_write(path: Path | None, *, suffixes: tuple[str, ...] = (), data: Path | None = None) -> None:
    """Refuse a file that cannot be written, or is the data, before anything is spent on what would go into it."""
    if path is None:
        return
    if suffixes and path.suffix not in suffixes:
        raise BadCall(f"cannot write to {path}; name it {', '.join(suffixes)}")
    is_new = not path.exists()
    if data is not None and data.exists() and not is_new and path.samefile(data):
        raise BadCall(f"{path} is the data itself; name another file")
    try:
        path.open("ab").close()  # permissions alone do not tell what a file system allows
    except OSError as error:
        raise BadCall(
            f"{path} cannot be written ({error.strerror}); name a file in a folder that exists and is yours"
        ) from None
    if is_new:
        path.unlink()


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
