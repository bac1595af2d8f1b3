"""The documentation site: every page has its place, every public name and command stands in the reference."""

import json
import re
import tomllib
from pathlib import Path

import polars as pl
import pytest
from typer.main import get_command
from website.__main__ import build
from website.command_reference import command_reference
from website.comparison_table import PAGE, written_page
from website.doctest_blocks import with_blocks
from website.method_figures import cells_of
from website.method_figures import pages as written_pages
from website.notebook_pages import notebook_page
from website.pictures import pictures
from website.python_reference import home_of, names_on_pages

import veilset
from veilset.cli.commands import app

ROOT = Path(__file__).resolve().parents[1]


def pages_of(entries: object) -> list[str]:
    """All files that a navigation names."""
    match entries:
        case str():
            return [entries]
        case dict():
            return [page for each in entries.values() for page in pages_of(each)]
        case list():
            return [page for each in entries for page in pages_of(each)]
    return []


def test_every_page_has_one_place_in_the_navigation() -> None:
    """A page that nobody is led to is not read."""
    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    listed = pages_of(settings["project"]["nav"])
    written = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert len(listed) == len(set(listed))
    assert written - set(listed) == set()


def test_every_public_name_has_one_place_in_the_reference() -> None:
    """And where the reference says that its text stands, there is one."""
    assert sorted([*names_on_pages(), "__version__"]) == sorted(veilset.__all__)


@pytest.mark.parametrize("name", names_on_pages())
def test_a_name_of_the_reference_leads_to_what_the_package_hands_out(name: str) -> None:
    """Also where it is called otherwise at home."""
    import pkgutil  # noqa: PLC0415

    assert pkgutil.resolve_name(home_of(name)) is not None


def test_the_reference_has_every_command_and_option() -> None:
    """It is made from them."""
    group = get_command(app)
    page = command_reference()
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        for below in getattr(command, "commands", {"": command}):
            assert f"## {f'veilset {name} {below}'.strip()}\n" in page
        options = [option for each in command.params for option in each.opts if option.startswith("--")]
        assert [option for option in options if f"`{option}`" not in page and option != "--help"] == []


def test_examples_of_docstrings_become_blocks() -> None:
    """From the first line of an example to the line after its last."""
    text = "First.\n\n>>> 1 + 1\n2\n\nThen.\n>>> [3][0]\n3"
    assert with_blocks(text).split("\n") == [
        *("First.", "", "", "```pycon", ">>> 1 + 1", "2", "```", "", "Then."),
        *("", "```pycon", ">>> [3][0]", "3", "```"),
    ]


@pytest.mark.parametrize("link", ["gone.md", "#no-such-heading"])
def test_a_link_that_leads_nowhere_fails_the_build(link: str, tmp_path: Path) -> None:
    """The control of `make docs`: to a page, and to a heading. Without the link, the same page is built."""
    pytest.importorskip("zensical")
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "index.md"
    settings = tmp_path / "zensical.toml"
    settings.write_text('[project]\nsite_name = "a"\n[project.theme]\nfont = false\n', encoding="utf-8")
    page.write_text(f"# A\nSee [that]({link}).\n", encoding="utf-8")
    assert build(settings).returncode != 0
    if link.startswith("#"):
        page.write_text("# A\nSee [that](#a).\n", encoding="utf-8")
        assert build(settings).returncode == 0


def test_no_page_is_a_stub() -> None:
    """Fewer than ten lines tell nobody anything."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    short = [path.name for path in pages if len(re.findall(r"(?m)^.+$", path.read_text("utf-8"))) < 10]
    assert short == []


@pytest.mark.parametrize("label", veilset.METHODS)
def test_the_page_of_a_method_says_what_everybody_asks(label: str) -> None:
    """The problem, the algorithm, questions and prices, what was repaired, how good it is, when to use it."""
    page = (ROOT / "docs" / "methods" / f"{label}.md").read_text(encoding="utf-8")
    assert "**Task.**" in page
    headings = set(re.findall(r"(?m)^## (.*)$", page))
    assert {"The algorithm", "What it asks", "In the study", "When to use it"} <= headings
    assert re.search(r"## The algorithm\n```text\n(.+\n)+```", page)
    is_ours = "ours" in veilset.METHODS[label].paper
    assert is_ours or headings & {"Printed and shipped", "What we could not know, and what is ours"}


def test_figures_on_the_pages_of_methods_are_those_of_the_studies() -> None:
    """What `python -m website.method_figures` would write is what stands there."""
    stale = [path.name for path, text in written_pages().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run python -m website.method_figures"


def test_cells_of_a_study_that_have_more_runs_have_no_more_say() -> None:
    """In the figures on the pages of methods: one run at k = 50 counts as much as three at k = 100."""
    runs = {"method": "planned", "dataset": "d", "epsilon": 1.0, "k": [50, 100, 100, 100]}
    means = cells_of(
        pl.DataFrame({**runs, "f_score": [0.2, 0.5, 0.6, 0.7], "coverage": [0.9, 1.0, 1.0, 1.0]})
    )
    assert means["f_score"].to_numpy().mean() == pytest.approx(0.4)
    assert means["coverage"].to_numpy().mean() == pytest.approx(0.95)


def test_the_pictures_are_those_that_the_program_draws() -> None:
    """Nobody edits them by hand, and dark ones follow light ones."""
    stale = [path.name for path, text in pictures().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run python -m website.pictures"


def test_the_comparison_tells_what_the_benchmark_has() -> None:
    """Its table is that of the page on speed, the other way round."""
    assert PAGE.read_text(encoding="utf-8") == written_page(), "run python -m website.comparison_table"


def test_a_notebook_becomes_a_page_with_its_programs_and_outputs() -> None:
    """Every cell, and no script."""
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        page = notebook_page(path)
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert page.count("```python\n") == sum(cell["cell_type"] == "code" for cell in cells)
        assert page.startswith("# ")
        assert "<script" not in page
