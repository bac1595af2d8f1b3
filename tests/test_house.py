"""The house in figures: short functions, one name for one thing, plain English. Each of them can fail."""

import ast
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src" / "veilset").rglob("*.py"))

REPEATED = {
    "__all__": "a word of Python",
    "NAME": "what a method is called in its releases, and a vocabulary in its file",
    "main": "where a program starts",
    "forecast": "every method's own, beside it and read through the registry",
    "largest_size": "the same",
}
"""Public names that may stand in several modules, and why."""

LONGEST_BODY = 40
"""Lines of a function without its docstring; kernels are loops over arrays and may be longer."""

OLD_DIALECT = {
    "so many": r"\bso many\b",
    "so much": r"\bso much\b",
    "so few": r"\bso few\b",
    "give or take": r"\bgive or take\b",
    "a number glued to -th": r"\}-th\b|\b\d+-th\b",
    "joint pattern": r"\bjoint[ _]patterns?\b",
    "1 items": r"\b1 (items|itemsets|transactions|records)\b",
}
"""What readers stumbled over: say the number or its name, and what the field says."""


@dataclass(frozen=True, slots=True)
class Body:
    """A function, and how many lines it has without its docstring."""

    path: Path
    name: str
    lines: int

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}: {self.name} has {self.lines} lines"


def bodies() -> list[Body]:
    """All functions of the sources."""
    return [
        Body(path, node.name, _lines_of(node))
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """From the first statement that is no docstring to the last line."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def public_names(path: Path) -> Iterator[str]:
    """Classes, functions and constants of a module, less those that an underscore marks as its own."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names = [name]
            case ast.Assign(targets=targets):
                names = [part.id for each in targets for part in ast.walk(each) if isinstance(part, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name)):
                names = [name]
            case _:
                names = []
        yield from (name for name in names if name == "__all__" or not name.startswith("_"))


def homonyms() -> dict[str, list[str]]:
    """Public names that stand in several modules, without those that may."""
    places: dict[str, set[str]] = defaultdict(set)
    for path in SOURCES:
        for name in public_names(path):
            places[name].add(str(path.relative_to(ROOT / "src" / "veilset")))
    return {name: sorted(where) for name, where in places.items() if len(where) > 1 and name not in REPEATED}


def test_a_name_stands_for_one_thing() -> None:
    """A reader who searches for a public name finds one definition."""
    assert homonyms() == {}


def test_no_body_is_longer_than_a_screen() -> None:
    """Outside of kernels."""
    too_long = [
        str(body) for body in bodies() if body.lines > LONGEST_BODY and "kernels" not in body.path.parts
    ]
    assert too_long == []


def test_most_bodies_are_short() -> None:
    """Half of them have at most 5 lines, nine in ten at most 15."""
    lines = sorted(body.lines for body in bodies())
    assert statistics.median(lines) <= 5
    assert lines[int(0.9 * len(lines))] <= 15


@pytest.mark.parametrize("phrase", OLD_DIALECT)
def test_the_old_dialect_is_gone(phrase: str) -> None:
    """Neither in texts nor in comments."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(OLD_DIALECT[phrase], line, flags=re.IGNORECASE)
    ]
    assert found == []


def test_every_test_stands_where_its_module_does() -> None:
    """A folder of tests has the name of a folder of the sources."""
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    rooms = {path.parent.relative_to(ROOT / "src" / "veilset") for path in SOURCES}
    assert folders - rooms == set()
