"""Tables that a program writes into pages that people write.

A table stands between two comments, which stay: what is written by hand around them is left alone.
"""

from collections.abc import Iterable
from pathlib import Path

END = "<!-- end of the table -->"


def beginning(name: str, command: str = "make study") -> str:
    """The comment before a table."""
    return f"<!-- {name}: {command} writes this table -->"


def with_table(page: str, start: str, lines: Iterable[str]) -> str:
    """A page with a table in its place, behind the comment that it starts with."""
    before, found, after = page.partition(start)
    _, end, rest = after.partition(END)
    if not found or not end:
        raise ValueError(f"no place for a table: put {start} and {END} into the page")
    return "\n".join([before + found, *lines, end + rest])


def write_table(path: Path, start: str, lines: Iterable[str]) -> None:
    """Write a table into a page."""
    path.write_text(with_table(path.read_text(encoding="utf-8"), start, lines), encoding="utf-8")
