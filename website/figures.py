"""Every figure of the documentation, the command that makes it, and whether the code it describes has changed since.

python -m website.figures               says what is missing, unlisted or stale; exit code 1 where anything is
python -m website.figures --made NAME   writes down that NAME was made again, from the code of today
"""

import argparse
import ast
import datetime as dt
import hashlib
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "docs" / "figures.toml"
OF_FIGURES = re.compile(r"(?m)^\|[-|: ]*--:")
"""A table that has a column of numbers."""
PICTURES = {".png", ".svg", ".parquet"}


@dataclass(frozen=True, slots=True)
class Figure:
    """One entry of the list: its files, what makes them, the code they describe, and that code when they were made."""

    name: str
    files: tuple[str, ...]
    command: str
    describes: tuple[str, ...]
    code: str
    made: str

    @classmethod
    def of(cls, name: str, entry: dict[str, Any]) -> "Figure":
        """As it stands in the list."""
        return cls(
            name,
            tuple(entry["files"]),
            entry["command"],
            tuple(entry["describes"]),
            entry["code"],
            entry["made"],
        )

    def paths(self) -> list[Path]:
        """The files that there are."""
        return sorted(path for pattern in self.files for path in ROOT.glob(pattern))

    def digest(self) -> str:
        """A digest of the code that it describes, as it is now."""
        return digest_of(sources(self.describes))


def figures() -> list[Figure]:
    """All entries of the list."""
    entries = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return [Figure.of(name, entry) for name, entry in entries.items()]


def sources(describes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names and texts of the modules in some files and folders."""
    for place in describes:
        path = ROOT / place
        if not path.exists():
            raise FileNotFoundError(f"docs/figures.toml names {place}, which is not there")
        for module in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            yield str(module.relative_to(ROOT)), module.read_text(encoding="utf-8")


def digest_of(modules: Iterator[tuple[str, str]]) -> str:
    """Twelve hexadecimal digits that change with the code, not with its comments, docstrings and line breaks."""
    digest = hashlib.sha256()
    for name, text in modules:
        digest.update(f"{name}\n{without_docstrings(text)}\n".encode())
    return digest.hexdigest()[:12]


def without_docstrings(text: str) -> str:
    """What a program does: without comments, texts that stand by themselves, and its own line breaks."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and any(_is_text(each) for each in body):
            node.body = [each for each in body if not _is_text(each)] or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def problems() -> list[str]:
    """What is listed and not there, there and not listed, or older than the code that it describes."""
    listed = figures()
    known = {path for figure in listed for path in figure.paths()}
    missing = [
        f"{figure.name}: {pattern} matches no file"
        for figure in listed
        for pattern in figure.files
        if not list(ROOT.glob(pattern))
    ]
    unlisted = [
        f"{path.relative_to(ROOT)} is in no entry of docs/figures.toml"
        for path in figured_files()
        if path not in known
    ]
    return [*missing, *unlisted, *(f"stale: {name}" for name in stale(listed))]


def stale(listed: Sequence[Figure]) -> list[str]:
    """Figures whose code has changed since they were made, and what to run."""
    return [
        f"{figure.name} ({figure.made or 'no date'}): run {figure.command}"
        for figure in listed
        if figure.digest() != figure.code
    ]


def figured_files() -> list[Path]:
    """Pictures, tables for programs, and pages with a column of numbers."""
    docs = ROOT / "docs"
    files = [path for path in docs.rglob("*") if path.suffix in PICTURES]
    pages = [path for path in docs.rglob("*.md") if OF_FIGURES.search(path.read_text(encoding="utf-8"))]
    return sorted([*files, *pages])


def write_down(name: str, *, code: str, made: str) -> None:
    """Put the code and the date of today's figure into the list."""
    text = LIST.read_text(encoding="utf-8")
    pattern = re.compile(rf'(?s)(\n\[{re.escape(name)}\]\n.*?\ncode = ")[^"]*("\nmade = ")[^"]*(")')
    written, count = pattern.subn(rf"\g<1>{code}\g<2>{made}\g<3>", text)
    if count != 1:
        raise ValueError(f"docs/figures.toml has no entry {name!r}")
    LIST.write_text(written, encoding="utf-8")


def main() -> int:
    """Say what is wrong, or write down what was made."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--made", metavar="NAME", nargs="+", default=[])
    parser.add_argument("--list", action="store_true", help="every figure with its command")
    chosen = parser.parse_args()
    if chosen.list:
        print(
            "\n".join(
                f"{figure.name}: {', '.join(figure.files)}\n    {figure.command}" for figure in figures()
            )
        )
        return 0
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    for figure in figures():
        if figure.name in chosen.made:
            write_down(figure.name, code=figure.digest(), made=today)
    if chosen.made:
        print(f"written down: {', '.join(chosen.made)}")
        return 0
    found = problems()
    print("\n".join(found) or f"{len(figures())} figures, none of them stale")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
