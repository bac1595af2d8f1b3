"""The commands that show what was released, one release or two side by side: no data is read, nothing is spent."""

from pathlib import Path
from typing import Annotated

import typer

from veilset.cli.decorators import warn_if_conditional
from veilset.cli.options import AsJsonOption, VerboseOption

ReleaseArgument = Annotated[
    Path,
    typer.Argument(metavar="RELEASE", help="What --out of mine or items wrote: .json, .csv or .parquet."),
]
SecondArgument = Annotated[Path, typer.Argument(metavar="RELEASE", help="Another one.")]


def show_release_command(
    path: ReleaseArgument, as_json: AsJsonOption = False, verbose: VerboseOption = False
) -> None:
    """A saved release, as `mine` printed it. Costs nothing: no data is read."""
    from veilset import Release  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    found = Release.load(path)
    warn_if_conditional(found)
    if as_json:
        terminal.print_json(found.to_dict())
    else:
        terminal.print_release(found, lists_questions=verbose)


def compare_command(first: ReleaseArgument, second: SecondArgument, as_json: AsJsonOption = False) -> None:
    """Two releases: itemsets in both and only in one, and where supports differ by more than noise. Costs nothing."""
    from veilset import compare  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    compared = compare(first, second)
    if as_json:
        terminal.print_json(compared.to_dict())
    else:
        terminal.print_comparison(compared, (first.name, second.name))
