"""The documentation: what it shows runs, what it links exists, what there is has its page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import veilset
from veilset.methods import METHODS

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])
LINK = re.compile(r"\]\(([^)#]+)\)")
BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """The code of a page, with its language, in order."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_what_a_page_shows_runs(page: Path, tmp_path: Path) -> None:
    """Commands and programs of a page, one after another in an empty folder."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    for language, code in blocks(page):
        if language == "python":
            calls = [[sys.executable, "-c", code]]
        else:
            calls = [line[2:].split() for line in code.splitlines() if line.startswith("$ veilset ")]
        for call in calls:
            run = subprocess.run(
                call, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_links_exists(page: Path) -> None:
    """Links between files lead somewhere."""
    links = [
        link for link in LINK.findall(page.read_text(encoding="utf-8")) if not link.startswith("https://")
    ]
    assert [link for link in links if not (page.parent / link).exists()] == []


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


def test_the_changelog_knows_the_version_or_says_unreleased() -> None:
    """A release without an entry does not happen by accident."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {veilset.__version__}" in text or "## Unreleased" in text
