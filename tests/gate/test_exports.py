"""What the gate offers: a complete, sorted list, and enough for everybody outside."""

import ast
from collections.abc import Iterator
from pathlib import Path

import veilset
from veilset import gate

PACKAGE = Path(veilset.__file__).parent
METHODS_AND_RESULTS = ("methods", "results", "plan", "forecast", "render", "cli")


def imported_from_inside() -> Iterator[str]:
    """What rooms outside import from modules of the gate, by name."""
    for room in METHODS_AND_RESULTS:
        for source in (PACKAGE / room).rglob("*.py"):
            for node in ast.walk(ast.parse(source.read_text())):
                if isinstance(node, ast.ImportFrom) and str(node.module).startswith("veilset.gate"):
                    yield from (alias.name for alias in node.names)


def test_the_list_of_exports_is_complete_and_sorted() -> None:
    """Constants, classes, functions, each in order; every name is there, and nothing is imported beside them."""
    constants = sorted(name for name in gate.__all__ if name.isupper())
    classes = sorted(name for name in gate.__all__ if name[0].isupper() and not name.isupper())
    functions = sorted(name for name in gate.__all__ if name[0].islower())
    assert gate.__all__ == [*constants, *classes, *functions]
    tree = ast.parse(Path(gate.__file__).read_text())
    imported = [alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted(imported) == sorted(gate.__all__)


def test_nobody_outside_needs_more_than_the_list() -> None:
    """Whatever they import from a module of the gate, they could import from the gate itself."""
    assert set(imported_from_inside()) <= set(gate.__all__)
