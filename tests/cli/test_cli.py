"""How the command line ends: exit codes, one line for what went wrong, streams that are closed or narrow."""

import errno
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from unittest.mock import Mock

import pytest

from shell import veilset, veilset_process
from veilset import cli
from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import Curator

FAILURES = {
    "budget refused": (BudgetExceeded("only 1/2 is left"), 3, "only 1/2 is left"),
    "disk full": (
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out.json"),
        2,
        "out.json could not be read or written: No space left on device",
    ),
    "file system without words": (OSError("milk"), 2, "a file could not be read or written: OSError"),
    "no room for a library": (
        OSError("libnumber.so: failed to map segment from shared object"),
        2,
        "this takes more memory than there is; ask for less at once, or allow more",
    ),
    "out of memory": (MemoryError(), 2, "this takes more memory than there is; ask for less at once"),
}


@pytest.fixture
def exit_code_after(monkeypatch: pytest.MonkeyPatch, fimi_file: Path) -> Callable[[BaseException], object]:
    """Ends a command by an error that is raised while it opens the gate, and tells its exit code."""
    call = ["veilset", "mine", str(fimi_file), "--epsilon", "1", "--k", "3", "--public-items"]
    monkeypatch.setattr(sys, "argv", call)

    def exit_code(error: BaseException) -> object:
        monkeypatch.setattr("veilset.api.run_method", Mock(side_effect=error))
        return exit_code_of_main()

    return exit_code


@pytest.fixture
def exit_code_after_paying(monkeypatch: pytest.MonkeyPatch, fimi_file: Path) -> Callable[..., object]:
    """Ends a command by an error that is raised when a question was paid for, and tells its exit code."""

    def exit_code(error: BaseException, *choice: str) -> object:
        def pay_and_fail(_: object, curator: Curator, *__: object, **___: object) -> None:
            curator.ask_number(epsilon=Fraction(1, 4))
            raise error

        monkeypatch.setattr("veilset.methods.Method.run", pay_and_fail)
        monkeypatch.setattr(
            sys, "argv", ["veilset", "mine", str(fimi_file), "--epsilon", "1", "--k", "3", *choice]
        )
        return exit_code_of_main()

    return exit_code


def exit_code_of_main() -> object:
    """What the command line ends with."""
    with pytest.raises(SystemExit) as stopped:
        cli.run_and_exit()
    return stopped.value.code


@pytest.mark.parametrize("name", FAILURES)
def test_what_fails_later_ends_in_one_line_and_an_exit_code_too(
    exit_code_after: Callable[[BaseException], object], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """A refused budget is told apart from the rest."""
    error, code, message = FAILURES[name]
    assert exit_code_after(error) == code
    assert capsys.readouterr().err == f"veilset: {message}\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["exact", "-", "--format", "fimi", "--k", "3"], 0),
        (["info", "-", "--format", "fimi", "--json"], 0),
        (["exact", "-", "--format", "fimi", "--k", "0"], 2),
        (["exact", "-", "--magic"], 2),
    ],
    ids=["a table", "a document", "a bad call", "a bad option"],
)
def test_a_command_ends_within_this_process_as_in_one_of_its_own(
    fimi_file: Path, arguments: list[str], code: int
) -> None:
    """The same exit code and, byte by byte, the same streams: tests may save the start of a process."""
    data = fimi_file.read_text()
    here, there = veilset(*arguments, stdin=data), veilset_process(*arguments, stdin=data)
    assert here.returncode == there.returncode == code
    assert (here.stdout, here.stderr) == (there.stdout, there.stderr)
    assert here.stdout or code
    assert here.stderr


PAID_FAILURES: dict[str, tuple[BaseException, int, str]] = {
    "budget refused": (BudgetExceeded("only 1/2 is left"), 3, "only 1/2 is left"),
    "bad call": (BadCall("give a smaller k"), 2, "give a smaller k"),
    "no room for a library": (
        OSError("libnumber.so: failed to map segment from shared object"),
        2,
        "this takes more memory than there is; ask for less at once, or allow more",
    ),
    "out of memory": (MemoryError(), 2, "this takes more memory than there is; ask for less at once"),
    "interrupted": (KeyboardInterrupt(), 130, "interrupted"),
    "a mistake of ours": (
        KeyError("patient 179"),
        2,
        "KeyError where none should be, which is for veilset to mend",
    ),
}


@pytest.mark.parametrize("name", PAID_FAILURES)
def test_what_fails_after_paying_says_how_much_was_spent(
    exit_code_after_paying: Callable[..., object], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """In the same one line, whatever failed; nothing that an unexpected error says reaches the terminal."""
    error, code, message = PAID_FAILURES[name]
    assert exit_code_after_paying(error, "--public-items") == code
    assert capsys.readouterr() == ("", f"veilset: {message}; epsilon 1/4 was spent\n")


def test_what_finding_items_cost_is_spent_too(
    exit_code_after_paying: Callable[..., object], capsys: pytest.CaptureFixture[str]
) -> None:
    """Epsilon for the names and for the number, and the half of delta that names cost."""
    assert exit_code_after_paying(BadCall("no"), "--delta", "1e-9") == 2
    told = re.fullmatch(r"veilset: no; epsilon (\S+) and delta 5e-10 were spent\n", capsys.readouterr().err)
    assert told is not None
    assert Fraction(1, 4) < Fraction(told[1]) < 1


def test_a_release_that_cannot_be_written_was_paid_for(
    monkeypatch: pytest.MonkeyPatch, fimi_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A disk can be full when the release is there."""
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out.json")
    monkeypatch.setattr("veilset.results.release.Release.save", Mock(side_effect=full))
    call = ["mine", str(fimi_file), "--epsilon", "1", "--k", "3", "--public-items"]
    monkeypatch.setattr(sys, "argv", ["veilset", *call, "--out", str(tmp_path / "out.json")])
    assert exit_code_of_main() == 2
    assert "No space left on device; epsilon 1 was spent" in capsys.readouterr().err


def test_a_mistake_of_ours_before_anything_was_paid_shows_where_it_is(
    exit_code_after: Callable[[BaseException], object],
) -> None:
    """Nothing was looked at by then, and whoever mends it needs the place."""
    with pytest.raises(KeyError):
        exit_code_after(KeyError("column"))


def test_no_command_shows_the_help() -> None:
    """In lines, as a newcomer needs it."""
    run = veilset_process()
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == veilset_process("--help").stdout


def test_an_interrupted_command_says_nothing_and_ends_in_130(
    exit_code_after: Callable[[BaseException], object], capsys: pytest.CaptureFixture[str]
) -> None:
    """As shells expect of it."""
    assert exit_code_after(KeyboardInterrupt()) == 130
    assert capsys.readouterr() == ("", "")


def test_a_pipe_that_nobody_reads_is_no_error() -> None:
    """`veilset ... | head` ends in silence."""
    reader, writer = os.pipe()
    os.close(reader)
    call = [sys.executable, "-m", "veilset", "--version"]
    run = subprocess.run(call, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (run.returncode, run.stderr) == (0, b"")


def test_a_terminal_without_a_letter_shows_the_result_all_the_same(tmp_path: Path) -> None:
    """What was paid for is not lost: output is UTF-8 whatever the terminal is set to."""
    (tmp_path / "data.csv").write_text("käse\n", encoding="utf-8")
    call = [sys.executable, "-m", "veilset", "exact", str(tmp_path / "data.csv"), "--k", "1"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run(call, env=environment, capture_output=True, check=False)
    assert run.returncode == 0
    assert "käse" in run.stdout.decode()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams_end_in_no_traceback(closed: str) -> None:
    """Input that is closed is a bad call; output that is closed is not wanted."""
    call = f"exec {shlex.quote(sys.executable)} -m veilset info - --format fimi {closed}"
    run = subprocess.run(["/bin/sh", "-c", call], input=b"1 2\n", capture_output=True, check=False)
    assert b"Traceback" not in run.stderr
    assert run.returncode == (2 if closed == "<&-" else 0)
