"""Help: examples that hold, the methods of each task, completion by shells, a manual page that is up to date."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from shell import veilset
from veilset.cli.man import manual_page
from veilset.cli.options import METHODS_OF_TASK
from veilset.methods import DEFAULTS, EVERY_METHOD

ROOT = Path(__file__).resolve().parents[2]
WITH_EXAMPLES = ["mine", "items", "publish", "show", "compare", "rules", "evaluate", "exact", "generate"]


def test_help_lists_the_methods_that_there_are() -> None:
    """It need not load them to know them; the default comes first."""
    for task, names in METHODS_OF_TASK.items():
        assert set(names) == {method.name for method in EVERY_METHOD if method.task == task}
        assert names[0] == DEFAULTS[task]


@pytest.mark.parametrize("task", METHODS_OF_TASK)
def test_every_method_of_a_task_stands_in_its_help(task: str) -> None:
    """And none of another one."""
    text = " ".join(veilset(task, "--help").stdout.split()).replace("- ", "-")
    said = re.search(r"One of (.*?); see docs/methods", text)
    assert said is not None
    assert tuple(said[1].replace(" (default)", "").split(", ")) == METHODS_OF_TASK[task]


@pytest.mark.parametrize("command", WITH_EXAMPLES)
def test_examples_name_options_that_the_command_has(command: str) -> None:
    """Each stands on a line of its own."""
    text = veilset(command, "--help").stdout
    head, _, examples = text.partition("Examples:\n")
    calls = [shlex.split(line) for line in examples.splitlines() if line.strip()]
    assert calls
    for call in calls:
        assert call[:2] == ["veilset", command]
        assert [word for word in call if word.startswith("--") and word not in head] == []


def test_a_shell_completes_commands() -> None:
    """As it asks: by variables of the environment."""
    program = "import sys; sys.argv = ['veilset']; from veilset.cli import main; main()"
    asked = {"_VEILSET_COMPLETE": "complete_bash", "COMP_WORDS": "veilset mi", "COMP_CWORD": "1"}
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout.split()) == (0, ["mine"])


def test_the_manual_page_is_up_to_date() -> None:
    """`make man` writes it."""
    assert (ROOT / "docs" / "veilset.1").read_text(encoding="utf-8") == manual_page()


def test_the_manual_page_tells_every_command_and_its_options() -> None:
    """No line starts by accident with an order to troff."""
    page = manual_page()
    for command in (*WITH_EXAMPLES, "demo", "info", "plan", "audit", "ledger create"):
        assert f'.SS "veilset {command}' in page
    assert "\\-\\-epsilon" in page
    orders = {line.split()[0] for line in page.splitlines() if line.startswith(".")}
    assert orders <= {".TH", ".SH", ".SS", ".TP", ".B", ".I", ".PP", ".nf", ".fi"}
    assert page.count(".nf") == page.count(".fi") > 0
