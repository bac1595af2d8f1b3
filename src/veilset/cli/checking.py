"""The command that tells how data is read, for the owner's eyes, before anything is spent."""

from typing import TYPE_CHECKING

import typer

from veilset.cli.decorators import read_options
from veilset.cli.options import AsJsonOption
from veilset.cli.signatures import as_command, keyword_only, parameters_of

if TYPE_CHECKING:
    from collections.abc import Callable

UNREADABLE = 2
"""The exit code where the data cannot be read as it was asked for."""


ON_A_CLUSTER = ("engine", "master")
"""Options for data that never reaches this machine: there is nothing to look at here."""


def _check(as_json: AsJsonOption = False) -> None:
    """How data is read: columns, types, figures, and the command to run next. NOT private, and costs nothing."""


def _with_reading() -> "Callable[..., None]":
    """The command, with the options of every command that reads data here."""
    reading = [each for each in parameters_of(read_options) if each.name not in ON_A_CLUSTER]

    def checked(**options: object) -> None:
        from veilset.checking import NOT_PRIVATE, check  # noqa: PLC0415
        from veilset.render import terminal  # noqa: PLC0415

        as_json, source = options.pop("as_json"), options.pop("data")
        with terminal.stage("reading"):
            found = check(source, **options)  # type: ignore[arg-type]  # `check` looks at them
        terminal.warn(NOT_PRIVATE)
        terminal.print_json(found.to_dict()) if as_json else terminal.print_check(found)
        if found.problem is not None:
            raise typer.Exit(UNREADABLE)

    data, *others = reading
    return as_command(checked, _check, [data, *keyword_only([*others, *parameters_of(_check)])])


check_command = _with_reading()
