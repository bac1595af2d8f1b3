"""Where things are printed: results on stdout; warnings and progress on stderr."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TextIO

from veilset.deferred import Deferred
from veilset.wording import printable, safe_json

if TYPE_CHECKING:
    import rich.console as rich_console
    import rich.progress as rich_progress
    import rich.text as rich_text
    from rich.console import Console
    from rich.text import Text
else:
    rich_console = Deferred("rich.console")
    rich_progress = Deferred("rich.progress")
    rich_text = Deferred("rich.text")

_WIDTH_IN_A_PIPE = 120

_IS_QUIET = ContextVar("_IS_QUIET", default=False)


def stdout_console() -> "Console":
    """A console on stdout; in a pipe it is 120 columns wide and has no colours."""
    console = rich_console.Console
    return console() if sys.stdout.isatty() else console(width=_WIDTH_IN_A_PIPE, color_system=None)


def plain_text(text: str, *, style: str = "") -> "Text":
    """Text that is shown as it is: no markup, and nothing in it that a terminal would take for an order."""
    return rich_text.Text(printable(text), style=style)


@contextmanager
def quietly(is_quiet: bool) -> Iterator[None]:  # noqa: FBT001 - reads as a sentence
    """Where it is so, nobody is told meanwhile what is going on."""
    token = _IS_QUIET.set(is_quiet)
    try:
        yield
    finally:
        _IS_QUIET.reset(token)


@contextmanager
def stage(doing: str) -> Iterator[None]:
    """Tell on a terminal what is going on, and nothing in a pipe; fixed texts, nothing from the data."""
    if _IS_QUIET.get():
        yield
        return
    console = rich_console.Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(doing):
        yield


@contextmanager
def progress(unit: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, nothing in a pipe; hands out what to tell it: how many are done, of how many."""
    console = rich_console.Console(
        file=sys.stderr
    )  # this stream, also while somebody collects what others print
    bar_of = rich_progress
    columns = (
        bar_of.BarColumn(),
        bar_of.MofNCompleteColumn(),
        bar_of.TextColumn(unit),
        bar_of.TimeRemainingColumn(),
    )
    with bar_of.Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(unit, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def warn(text: str) -> None:
    """One line on stderr."""
    print(f"veilset: {printable(text)}", file=sys.stderr)  # noqa: T201


def print_line(text: str) -> None:
    """One line on stdout."""
    print(printable(text))  # noqa: T201


def print_json(values: Any, *, to: TextIO | None = None) -> None:  # noqa: ANN401
    """One JSON document on stdout, or on another stream."""
    print(safe_json(json.dumps(values, ensure_ascii=False, indent=1)), file=to)
