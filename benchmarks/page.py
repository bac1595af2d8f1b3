"""Frames as tables that read well on a terminal and are Markdown; a page of them."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import polars as pl

LIBRARIES = ("veilset", "numpy", "numba", "opendp", "polars", "pyfim", "mlxtend", "pyspark")


def section(about: str, frame: pl.DataFrame) -> str:
    """A table under a heading; the heading is the first line of what there is to say about the table."""
    heading, _, text = about.partition("\n\n")
    return "\n".join([f"## {heading.removesuffix('.')}", *([text] if text else []), "", _table(frame)])


def write_page(path: Path, sections: list[str], *, command: str, plot: str) -> None:
    """Write sections as a page that says what it was made with."""
    head = [
        "# Speed and memory",
        f"`{command}` wrote this page, in one run on {os.cpu_count()} cores.",
        made_with(),
        "Times are the best of several, taken in turns; on a shared machine only their ratios mean much.",
        "",
        f"![Times of others as multiples of veilset's, and of methods as multiples of reading]({plot})",
    ]
    path.write_text("\n".join(head) + "\n\n" + "\n\n".join(sections) + "\n", encoding="utf-8")


def made_with() -> str:
    """The versions of Python and of the libraries."""
    libraries = ", ".join(_version_of(name) for name in LIBRARIES)
    return f"Python {platform.python_version()}, {libraries}."


def _table(frame: pl.DataFrame) -> str:
    """A Markdown table with aligned columns."""
    columns = [[name, *map(_cell, frame[name])] for name in frame.columns]
    widths = [max(map(len, column)) for column in columns]
    is_number = [frame[name].dtype.is_numeric() for name in frame.columns]
    lines = [
        " | ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_number, strict=True)
        )
        for row in zip(*columns, strict=True)
    ]
    rule = "|".join(
        "-" * (width + 1) + (":" if right else "-") for width, right in zip(widths, is_number, strict=True)
    )
    header, *rows = [f"| {line} |" for line in lines]
    return "\n".join([header, f"|{rule}|", *rows])


def _cell(value: object) -> str:
    """Three digits of a number; a dash for what was not measured."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _version_of(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return f"no {library}"
