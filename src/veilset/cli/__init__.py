"""The command line: parse, one library call, show. The only importer of typer.

Heavy modules are imported inside the commands, so that `veilset --version` and `--help` answer at once.
"""

import errno
import gc
import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from veilset.cli.commands import app
from veilset.cli.limited import is_limited, run_watched
from veilset.errors import BudgetExceeded, ChoiceMissing, VeilsetError
from veilset.wording import printable

if TYPE_CHECKING:
    from veilset.audit.command_lines import Finished

DONE, BAD_CALL, REFUSED, INTERRUPTED = 0, 2, 3, 130
"""Exit codes; scripts depend on them."""

OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""200,000 new objects before Python looks for garbage: a command makes most of its objects by importing modules, and
looking through them time and again takes a tenth of a second."""
_LINE = "\n"

_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""A wrong command line. Versions of typer differ in where this class stands; all of them derive this one from it."""


def main() -> None:
    """Run a command in a process of its own, which ends soon: garbage need not be looked for often, or at the end."""
    if is_limited():
        sys.exit(run_watched(sys.argv[1:]))
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    try:
        run_and_exit()
    finally:
        gc.freeze()  # or Python would look through all modules once more before it ends: a tenth of a second


def run_and_exit() -> None:
    """Run a command; whatever is the user's to mend ends in one line on stderr and an exit code."""
    sys.stdout, sys.stderr = _that_takes_all(sys.stdout), _that_takes_all(sys.stderr)
    sys.exit(_exit_code())


def _that_takes_all(stream: TextIO | None) -> TextIO:
    """A stream to print to: what was paid for shall not be lost because a terminal lacks a letter, or is closed."""
    if stream is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    return stream


def run_here(arguments: Sequence[str]) -> "Finished":
    """Run a command in this process, as `main` does, and keep what it prints. Whoever interrupts it interrupts all."""
    from veilset.audit.command_lines import Finished  # noqa: PLC0415

    with redirect_stdout(io.StringIO()) as stdout, redirect_stderr(io.StringIO()) as stderr:
        code = _exit_code(arguments)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return Finished(code, stdout.getvalue(), stderr.getvalue())


def _exit_code(arguments: Sequence[str] | None = None) -> int:
    try:
        code: int | None = app(
            arguments, standalone_mode=False
        )  # typer's own, where a command was interrupted
        sys.stdout.flush()  # a pipe that nobody reads any more fails here, not when Python ends
    except (BrokenPipeError, SystemExit):  # the reader of a pipe had enough: typer exits then
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except (VeilsetError, _UsageError, OSError, MemoryError) as error:
        typer.echo(f"veilset: {printable(_complaint(error), keeps=_LINE)}", err=True)
        return REFUSED if isinstance(error, BudgetExceeded) else BAD_CALL
    except Exception as error:
        if not _notes(error):
            raise
        # What an unexpected error says of itself can be from the data, which was looked at.
        what = f"{type(error).__name__} where none should be, which is for veilset to mend"
        typer.echo(f"veilset: {'; '.join([what, *_notes(error)])}", err=True)
        return BAD_CALL
    return code or DONE


def _complaint(error: Exception) -> str:
    """What went wrong and what it cost, in one line; a choice that was not made is explained in several."""
    if isinstance(error, ChoiceMissing):
        return str(error)
    return " ".join("; ".join([_message(error), *_notes(error)]).split())


def _notes(error: BaseException) -> list[str]:
    """What was spent until then, where anything was."""
    return list(getattr(error, "__notes__", ()))


_NO_ROOM_FOR_A_LIBRARY = re.compile(
    "failed to map segment|cannot allocate memory|could not find/load shared object", re.IGNORECASE
)
"""What is said, without a number of the error, where a library of this package cannot be loaded."""


def _message(error: Exception) -> str:
    """What went wrong, in words; none of them from the data."""
    if isinstance(error, MemoryError) and not isinstance(error, VeilsetError):
        return "this takes more memory than there is; ask for less at once"
    if isinstance(error, OSError):
        if error.errno == errno.ENOMEM or _NO_ROOM_FOR_A_LIBRARY.search(str(error)):
            return "this takes more memory than there is; ask for less at once, or allow more"
        what, why = error.filename or "a file", error.strerror or type(error).__name__
        return f"{what} could not be read or written: {why}"
    return str(getattr(error, "format_message", error.__str__)())
