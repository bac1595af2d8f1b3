"""The page of the audit knows everything that there is to audit."""

from pathlib import Path

import pytest

from veilset.audit.command_lines import command_lines
from veilset.audit.subjects import of_method, of_questions
from veilset.methods import METHODS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "audit.md"


def rows() -> set[tuple[str, str]]:
    """Subject and case of every row of a table of the page; a case without the pair that it was worst on."""
    lines = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if " | " in line]
    return {(cells[0].removeprefix("| "), cells[1].partition(";")[0]) for cells in lines}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_stands_on_the_page(name: str) -> None:
    """With everything that it is asked for: whoever adds a method runs `make audit`."""
    assert {(name, subject.case) for subject in of_method(name)} - rows() == set()


def test_every_question_stands_on_the_page() -> None:
    """Under each truncation."""
    assert {("questions", subject.case) for subject in of_questions()} - rows() == set()


def test_every_command_stands_on_the_page() -> None:
    """And its control."""
    assert {(line.name, line.case.partition(";")[0]) for line in command_lines()} - rows() == set()
