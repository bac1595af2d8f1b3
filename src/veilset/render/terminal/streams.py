"""Where things are printed: results on stdout; warnings and progress on stderr."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

_WIDTH_IN_A_PIPE = 120


def stdout_console() -> Console:
    """A console on stdout; in a pipe it is 120 columns wide and has no colours."""
    return Console() if sys.stdout.isatty() else Console(width=_WIDTH_IN_A_PIPE, color_system=None)


@contextmanager
def stage(doing: str) -> Iterator[None]:
    """Tell on a terminal what is going on, and nothing in a pipe; fixed texts, nothing from the data."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(doing):
        yield


@contextmanager
def progress(unit: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, nothing in a pipe; hands out what to tell it: how many are done, of how many."""
    console = Console(file=sys.stderr)  # this stream, also while somebody collects what others print
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(unit, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def warn(text: str) -> None:
    """One line on stderr."""
    print(f"veilset: {text}", file=sys.stderr)  # noqa: T201


def print_line(text: str) -> None:
    """One line on stdout."""
    print(text)  # noqa: T201


def print_json(values: Any) -> None:  # noqa: ANN401
    """One JSON document on stdout."""
    print(json.dumps(values, ensure_ascii=False, indent=1))  # noqa: T201
