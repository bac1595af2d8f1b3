"""The table of docs/reliability.md: one row for each fault that was tried, from the command that tried it."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
HEAD = "| fault | tried | held | lost at worst | command |"


@dataclass(frozen=True, slots=True)
class Row:
    """How often a fault was tried, how often all that was promised held, and what is lost at worst."""

    fault: str
    tried: int
    held: int
    worst: str
    command: str

    def __str__(self) -> str:
        return f"| {self.fault} | {self.tried:,} | {self.held:,} | {self.worst} | `{self.command}` |"


def with_rows(text: str, rows: Sequence[Row]) -> str:
    """The page with these rows in its table: in the place of those of the same fault, or at the end."""
    lines = text.splitlines()
    start = lines.index(HEAD) + 2
    end = next(place for place in range(start, len(lines) + 1) if place == len(lines) or not lines[place])
    table = {line.split(" | ")[0]: line for line in lines[start:end]}
    table |= {str(row).split(" | ")[0]: str(row) for row in rows}
    return "\n".join([*lines[:start], *table.values(), *lines[end:]]) + "\n"


def write_rows(rows: Sequence[Row]) -> None:
    """Put rows on the page."""
    PAGE.write_text(with_rows(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")


def machine() -> str:
    """What the figures were made on, in words."""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
