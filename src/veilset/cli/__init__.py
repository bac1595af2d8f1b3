"""The command line: parse, one library call, show. The only importer of typer.

Heavy modules are imported inside the commands, so that `veilset --version` and `--help` answer at once.
"""

import os
import sys

import typer

from veilset.cli.commands import app
from veilset.errors import BudgetExceeded, VeilsetError

DONE, BAD_CALL, REFUSED, INTERRUPTED = 0, 2, 3, 130
"""Exit codes; scripts depend on them."""

_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""A wrong command line. Versions of typer differ in where this class stands; all of them derive this one from it."""


def main() -> None:
    """Run a command; whatever is the user's to mend ends in one line on stderr and an exit code."""
    sys.exit(_exit_code())


def _exit_code() -> int:
    try:
        app(standalone_mode=False)
    except BudgetExceeded as error:
        return _fail(error, REFUSED)
    except (VeilsetError, _UsageError) as error:
        return _fail(error, BAD_CALL)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        what, why = error.filename or "a file", error.strerror or type(error).__name__
        return _fail(f"{what} could not be read or written: {why}", BAD_CALL)
    except MemoryError:
        return _fail("this takes more memory than there is; ask for less at once", BAD_CALL)
    return DONE


def _fail(problem: Exception | str, code: int) -> int:
    message = getattr(problem, "format_message", problem.__str__)()
    typer.echo(f"veilset: {' '.join(message.split())}", err=True)
    return code
