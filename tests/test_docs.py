"""The documentation: what it shows runs, what it links and names exists, what there is has its page."""

import ast
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from website.__main__ import MADE_BY_THE_BUILD

import shell
import veilset
from veilset.methods import METHODS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "veilset"
SOURCES = sorted(PACKAGE.rglob("*.py"))
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])
LINK = re.compile(r"\]\(([^)#]+)\)")
BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)
QUOTED = re.compile(r"`([^`\n]+)`")
FULL_NAME = re.compile(r"\bveilset(?:\.\w+)+")
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
FILE = re.compile(r"\.(cff|csv|dat|gz|html|json|md|parquet|py|toml|tsv|zst)$")
PATH = re.compile(r"[\w-][\w./-]*(/|\.py)")
WORD = re.compile(r"[A-Za-z_]\w*")


def blocks(page: Path) -> list[tuple[str, str]]:
    """The code of a page, with its language, in order."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_what_a_page_shows_runs(page: Path, tmp_path: Path) -> None:
    """Commands and programs of a page, one after another in an empty folder; programs in processes of their own."""
    for language, code in blocks(page):
        if language == "python":
            call = [sys.executable, "-c", code]
            done = [subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)]
        else:
            lines = [line.split()[2:] for line in code.splitlines() if line.startswith("$ veilset ")]
            done = [shell.veilset(*arguments, cwd=tmp_path) for arguments in lines]
        assert [run.stderr for run in done if run.returncode != 0] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_links_exists(page: Path) -> None:
    """Links between files lead somewhere; those to pages that `make docs` makes are followed by its strict build."""
    links = [
        link
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if not link.startswith("https://") and not link.removeprefix("../").startswith(MADE_BY_THE_BUILD)
    ]
    assert [link for link in links if not (page.parent / link).exists()] == []


@cache
def defined_words() -> frozenset[str]:
    """Names of modules, classes, functions, parameters, fields and constants of the sources."""
    return frozenset(word for path in SOURCES for word in _words_of(path))


def _words_of(path: Path) -> Iterator[str]:
    yield path.parent.name if path.stem == "__init__" else path.stem
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name


@cache
def homes_of_classes() -> dict[str, str]:
    """In which module a class of the sources stands; public ones stand in one only."""
    return {
        node.name: ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for path in SOURCES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    }


def is_there(name: str) -> bool:
    """Whether a full name leads to a module, or to what stands in one."""
    *most, last = name.split(".")
    try:
        pkgutil.resolve_name(name)
    except (AttributeError, ImportError):
        try:
            return last in getattr(pkgutil.resolve_name(".".join(most)), "__annotations__", {})
        except (AttributeError, ImportError):
            return False
    return True


def full_names(name: str, text: str) -> Iterator[str]:
    """What a dotted name on a page can be short for: of the package, of a folder that the page names, of a class."""
    yield name if name.startswith("veilset.") else f"veilset.{name}"
    yield from (f"{home}.{name}" for home in FULL_NAME.findall(text))
    first, _, rest = name.partition(".")
    if first in homes_of_classes():
        yield f"{homes_of_classes()[first]}.{first}.{rest}"


def unknown_names(text: str) -> set[str]:
    """Names of modules, functions, classes and questions in a text that do not exist."""
    quoted = QUOTED.findall(text)
    dotted = {word for word in quoted if DOTTED.fullmatch(word) and not FILE.search(word)}
    questions = {word for word in quoted if re.fullmatch(r"ask_\w+", word)}
    return {
        *(name for name in FULL_NAME.findall(text) if not FILE.search(name) and not is_there(name)),
        *(name for name in dotted if not any(map(is_there, full_names(name, text)))),
        *(questions - defined_words()),
    }


def unknown_paths(text: str) -> set[str]:
    """Paths in a text, from the top of the repository or of the package, that lead nowhere."""
    paths = {word for word in QUOTED.findall(text) if PATH.fullmatch(word)}
    return {path for path in paths if not any((top / path).exists() for top in (ROOT, PACKAGE))}


def unknown_symbols(text: str) -> set[str]:
    """What a table of symbols says stands in the code, and does not."""
    tables = re.findall(r"^\|[^|\n]*\| in the code .*\n((?:\|.*\n)+)", text, re.MULTILINE)
    cells = [row.split("|")[2] for table in tables for row in table.splitlines()]
    words = {word for cell in cells for word in QUOTED.findall(cell) if WORD.fullmatch(word)}
    return words - defined_words()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_exists(page: Path) -> None:
    """Modules, functions, classes, questions and files: whoever looks for one finds it."""
    text = page.read_text(encoding="utf-8")
    assert unknown_names(text) | unknown_paths(text) | unknown_symbols(text) == set()


def test_a_name_that_is_gone_is_noticed() -> None:
    """Each kind of them, beside one that exists."""
    text = (
        "`veilset.choose`, `veilset.results.release`; `gate.asker.Asker`, `gate.questions.base.Questions`; `ask_held`,"
        " `ask_containment`; `Curator.ask_joint`, `Curator.ask_marginal`; `raw/read.py`, `raw/read/`, `published.dat`\n"
        "| symbol | in the code (`veilset.methods.tps`) |\n|---|---|\n| a | `dpsense.LIMITS` |\n| b | `old_name` |\n"
    )
    assert unknown_names(text) == {"veilset.choose", "gate.asker.Asker", "ask_held", "Curator.ask_joint"}
    assert unknown_paths(text) == {"raw/read.py"}
    assert unknown_symbols(text) == {"old_name"}


def test_the_picture_shows_every_room() -> None:
    """Every folder of the package, and every one in the two rooms with thick walls: texts are comments of the file."""
    rooms = {
        path.name for top in (PACKAGE, PACKAGE / "raw", PACKAGE / "gate") for path in top.glob("[a-z]*/")
    }
    picture = (ROOT / "docs" / "house.svg").read_text(encoding="utf-8")
    shown = {word for text in re.findall(r"<!-- (.*?) -->", picture) for word in re.findall(r"\w+", text)}
    assert rooms - shown == set()


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_page_and_stands_in_the_readme(name: str) -> None:
    """A method that nobody can look up does not exist."""
    assert (ROOT / "docs" / "methods" / f"{name}.md").exists()
    assert f"`{name}`" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_shows_a_result_before_line_30() -> None:
    """Itemsets with their intervals, and the promise."""
    head = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:30])
    assert "95 % interval" in head
    assert "Protected: one transaction" in head


def test_the_changelog_knows_the_version() -> None:
    """A release without an entry does not happen by accident."""
    assert f"## {veilset.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_readme_tells_the_lead_that_the_study_has() -> None:
    """Mean F-score over all cells, of the default and of the next best method."""
    runs = pl.read_parquet(ROOT / "docs" / "benchmarks" / "accuracy.parquet")
    cells = runs.group_by("method", "dataset", "epsilon", "k").agg(pl.col("f_score").mean())
    means = dict(cells.group_by("method").agg(pl.col("f_score").mean()).iter_rows())
    lead = means.pop("planned") - max(means.values())
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"its mean F-score is {lead:.2f} above that of the next best method" in readme
