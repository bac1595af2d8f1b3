"""The measured table of the comparison page: `python -m website.comparison_table` takes it from the benchmarks."""

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.exact_mining import BESIDE_ALL
from benchmarks.plot import PEERS
from benchmarks.written_tables import beginning, with_table

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "comparison.md"
SPEED = DOCS / "benchmarks" / "speed.md"
START = beginning("exact mining", "python -m website.comparison_table")
HEADING = "## Exact mining"


def measured_rows() -> list[dict[str, str]]:
    """The rows of the benchmark of exact mining, as its page has them."""
    section = SPEED.read_text(encoding="utf-8").partition(HEADING)[2].partition("\n## ")[0]
    head, _, *rows = [
        [cell.strip() for cell in row.strip("|").split("|")] for row in re.findall(r"(?m)^\|.*\|$", section)
    ]
    return [dict(zip(head, row, strict=True)) for row in rows]


def table() -> Iterator[str]:
    """How long others take, as multiples of veilset's time, on the datasets on which all are measured."""
    yield "| dataset | itemsets | veilset (s) | pyfim takes | mlxtend takes | Spark takes |"
    yield "|---|--:|--:|--:|--:|--:|"
    for row in measured_rows():
        if row["dataset"] in BESIDE_ALL:
            times = [_times(row.get(f"veilset / {peer}", "–")) for peer in PEERS]
            cells = [row["dataset"], row["itemsets"], row["veilset (s)"], *times]
            yield f"| {' | '.join(cells)} |"


def _times(ratio: str) -> str:
    """A ratio the other way round; what else there is where the other was stopped."""
    return "stopped or failed" if ratio == "–" else f"{1 / float(ratio):,.1f} times as long"


def written_page() -> str:
    """The page with the table of today's benchmark."""
    return with_table(PAGE.read_text(encoding="utf-8"), START, table())


if __name__ == "__main__":
    PAGE.write_text(written_page(), encoding="utf-8")
