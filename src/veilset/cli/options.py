"""What commands are told: the options that several of them share, and what becomes of them before a command runs."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veilset.errors import BadCall

if TYPE_CHECKING:
    from veilset import Transactions

Epsilon = Annotated[
    str,
    typer.Option("--epsilon", metavar="E", help="Privacy budget, such as 0.5 or 1/3; smaller protects more."),
]
K = Annotated[int | None, typer.Option("--k", metavar="K", help="How many itemsets.")]
MinSupport = Annotated[
    str | None,
    typer.Option(
        "--min-support", metavar="S", help="Only itemsets this frequent: below 1 a share, else a count."
    ),
]
MaxSize = Annotated[int | None, typer.Option("--max-size", metavar="N", help="The most items in an itemset.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="F.html", help="Write a page with plots that works offline."),
]
Method = Annotated[str | None, typer.Option("--method", metavar="M", help="How; see docs/methods.")]
PerOwner = Annotated[
    int | None, typer.Option("--per-owner", metavar="N", help="How many baskets of one owner may count.")
]
PublicNumber = Annotated[
    int | None,
    typer.Option("--transactions", metavar="N", help="The number of transactions, if public anyway."),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="The same seed gives the same figures.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="F", help="Write the release: .json, .csv or .parquet.")
]


def _read(
    data: Annotated[str, typer.Argument(metavar="DATA", help="A file, or - for standard input.")],
    *,
    format: Annotated[
        str | None, typer.Option(metavar="F", help="fimi, spmf, basket, long, list, table or onehot.")
    ] = None,
    owner: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Whose items: the person protected.")
    ] = None,
    basket: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Which of the owner's baskets.")
    ] = None,
    item: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The item, or the list of items.")
    ] = None,
    header: Annotated[bool | None, typer.Option(help="Whether a CSV file starts with column names.")] = None,
    separator: Annotated[
        str | None, typer.Option(metavar="C", help="What parts the cells of a CSV file.")
    ] = None,
    alphabet: Annotated[
        str | None, typer.Option(metavar="FILE", help="The public list of possible items, one a line.")
    ] = None,
) -> "Transactions":
    """The options of every command that reads data."""
    from veilset import read  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    with terminal.stage("reading"):
        return read(
            data,
            format=format,  # type: ignore[arg-type]  # read checks it
            owner=owner,
            basket=basket,
            item=item,
            header=header,
            separator=separator,
            alphabet=alphabet,
        )


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `_read`; what they read is its first argument, its path the second."""
    reading = list(inspect.signature(_read).parameters.values())
    own = list(inspect.signature(command).parameters.values())[2:]

    @wraps(command)
    def with_data(**options: object) -> None:
        given = {parameter.name: options.pop(parameter.name) for parameter in reading}
        command(_read(**given), Path(str(given["data"])), **options)  # type: ignore[arg-type]

    keyword_only = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in [*own, *reading[1:]]
    ]
    with_data.__signature__ = inspect.Signature([reading[0], *keyword_only])  # type: ignore[attr-defined]
    with_data.__annotations__ = {parameter.name: parameter.annotation for parameter in [*reading, *own]}
    return with_data


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
