"""Examples of docstrings as blocks of code: griffe takes `>>>` outside of a section for a quotation."""

from collections.abc import Iterator
from typing import Any

import griffe


def with_blocks(text: str) -> str:
    """A docstring whose runs of examples, from `>>>` to the next empty line, stand between fences."""
    return "\n".join(_fenced(text.splitlines()))


def _fenced(lines: list[str]) -> Iterator[str]:
    is_within = False
    for line in lines:
        starts, ends = line.startswith(">>> ") and not is_within, is_within and not line.strip()
        if starts:
            yield from ("", "```pycon")
        if ends:
            yield "```"
        is_within = starts or (is_within and not ends)
        yield line
    if is_within:
        yield "```"


class DoctestBlocks(griffe.Extension):
    """Changes the docstrings that the build collects, not those of the sources."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:  # noqa: ANN401 - whatever griffe tells beside it
        """Called for every module, class, function and attribute."""
        if obj.docstring is not None and ">>> " in obj.docstring.value:
            obj.docstring.value = with_blocks(obj.docstring.value)
