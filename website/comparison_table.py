"""The measured table of the comparison page: `python -m website.comparison_table` takes it from the benchmarks."""

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.written_tables import beginning, with_table

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "comparison.md"
SPEED = DOCS / "benchmarks" / "speed.md"
START = beginning("exact mining", "python -m website.comparison_table")
HEADING = "## Exact mining"


def measured_rows() -> list[list[str]]:
    """The cells of the benchmark of exact mining, as its page has them."""
    section = SPEED.read_text(encoding="utf-8").partition(HEADING)[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in row.strip("|").split("|")] for row in re.findall(r"(?m)^\|.*\|$", section)
    ]
    return rows[2:]


def table() -> Iterator[str]:
    """How long others take, as multiples of veilset's time."""
    yield "| dataset | itemsets | veilset (s) | pyfim takes | mlxtend takes |"
    yield "|---|--:|--:|--:|--:|"
    for dataset, itemsets, seconds, _, _, to_pyfim, _, _, to_mlxtend in measured_rows():
        yield f"| {dataset} | {itemsets} | {seconds} | {_times(to_pyfim)} | {_times(to_mlxtend)} |"


def _times(ratio: str) -> str:
    """A ratio the other way round; a dash where the other was stopped."""
    return "stopped" if ratio == "–" else f"{1 / float(ratio):,.1f} times as long"


def written_page() -> str:
    """The page with the table of today's benchmark."""
    return with_table(PAGE.read_text(encoding="utf-8"), START, table())


if __name__ == "__main__":
    PAGE.write_text(written_page(), encoding="utf-8")
