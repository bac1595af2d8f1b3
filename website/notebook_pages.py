"""Notebooks as pages of the site: their texts, programs and outputs, as they are stored."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def notebook_page(path: Path) -> str:
    """A notebook as Markdown; figures that need a script are left out, and the page says so."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = [part for cell in cells for part in _cell(cell)]
    note = f"This page is a notebook, `docs/notebooks/{path.name}`, with the output that is stored in it."
    first, *rest = parts
    return "\n\n".join([first, note, *rest]) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell.get("outputs", []):
        yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[str]:
    data = output.get("data", {})
    if "text/html" in data:
        lines = "".join(data["text/html"]).splitlines()
        yield "<div>\n" + "\n".join(line.strip() for line in lines if line.strip()) + "\n</div>"
    elif "text/plain" in data or "text" in output:
        yield "```text\n" + "".join(data.get("text/plain", output.get("text", ""))).rstrip() + "\n```"
    else:
        yield "*(A plot, which the notebook draws.)*"
