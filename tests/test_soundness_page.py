"""The page for outside reviewers: no question, method or random decision is missing, and what it names exists."""

import inspect
import re
from pathlib import Path

import pytest

from veilset.gate import Curator, Noise, Partitions, PersonCurator, UnnamedCurator
from veilset.methods import METHODS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "veilset"
PAGE = (ROOT / "docs" / "soundness.md").read_text(encoding="utf-8")
QUOTED = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w./-]+\.(?:py|md)")


def public_methods(of: type) -> list[str]:
    """Everything that can be called from outside."""
    return [name for name, _ in inspect.getmembers(of, inspect.isfunction) if not name.startswith("_")]


def questions() -> list[str]:
    """Every question, as the page writes it: those of a Curator by their names, others with their class."""
    return [
        name if door is Curator else f"{door.__name__}.{name}"
        for door in (Curator, UnnamedCurator, PersonCurator, Partitions)
        for name in public_methods(door)
        if name.startswith("ask_")
    ]


def rows_about(name: str, section: str) -> list[str]:
    """The rows of a section's tables that begin with a name."""
    text = re.search(rf"^## {section}\..*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert text, f"the page has no section {section}"
    return [line for line in text[0].splitlines() if f"`{name}`" in line.split(" | ")[0] and line[0] == "|"]


@pytest.mark.parametrize("name", questions())
def test_every_question_has_one_row(name: str) -> None:
    """With a reason and a test file."""
    (row,) = rows_about(name, "3")
    assert "`tests/" in row


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_one_row(name: str) -> None:
    """That says what it asks."""
    (row,) = rows_about(name, "5")
    assert "ask_" in row or "the same" in row


@pytest.mark.parametrize("name", public_methods(Noise))
def test_every_random_decision_is_listed(name: str) -> None:
    """Nothing is drawn that the page does not know."""
    assert f"`Noise.{name}`" in PAGE


def test_every_question_that_a_method_is_said_to_ask_exists() -> None:
    """A renamed question is renamed here, too."""
    named = {word for word in QUOTED.findall(PAGE) if re.fullmatch(r"(\w+\.)?ask_\w+", word)}
    assert named - {*questions()} == set()


def test_every_file_on_the_page_exists() -> None:
    """Test files, modules and pages, from the top of the repository, of the package or of the docs."""
    named = {word for word in QUOTED.findall(PAGE) if FILE.fullmatch(word)}
    tops = (ROOT, PACKAGE, ROOT / "docs")
    assert {word for word in named if not any((top / word).is_file() for top in tops)} == set()
    assert any(word.startswith("tests/") for word in named)


@pytest.mark.parametrize("page", ["README.md", "docs/privacy-promise.md", "docs/how-it-works.md"])
def test_readers_are_led_to_the_page(page: str) -> None:
    """From where they begin."""
    assert "soundness.md)" in (ROOT / page).read_text(encoding="utf-8")
