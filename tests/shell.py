"""The command as a shell would run it, and as a function call that costs no start of a process."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from typing import IO
from unittest.mock import patch

import pytest

from veilset import cli

STREAMS = {"stdin": 0, "stdout": 1, "stderr": 2}
"""The streams of a process, by number."""


def veilset_process(
    *arguments: str | Path, stdin: str | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    call = [sys.executable, "-m", "veilset", *map(str, arguments)]
    return subprocess.run(call, input=stdin, capture_output=True, text=True, check=False, cwd=cwd)


def veilset(
    *arguments: str | Path, stdin: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, which saves the second that a new one needs to import everything.

    It has the arguments, the folder and the three streams of a process of its own, down to their numbers: what
    compiled code prints is caught too. An error that would end in a traceback there is raised here.
    """
    call = ["veilset", *map(str, arguments)]
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in STREAMS]
        files[0].write(stdin.encode())
        files[0].seek(0)
        with _running(call, files, cwd or Path.cwd()), pytest.raises(SystemExit) as ended:
            cli.run_and_exit()
        stdout, stderr = map(_text, files[1:])
    assert isinstance(ended.value.code, int)
    return subprocess.CompletedProcess(call, ended.value.code, stdout, stderr)


@contextmanager
def _running(call: Sequence[str], files: Sequence[IO[bytes]], cwd: Path) -> Iterator[None]:
    """Arguments, a folder and streams for a while."""
    with ExitStack() as stack:
        stack.enter_context(chdir(cwd))
        stack.enter_context(patch.object(sys, "argv", list(call)))
        for (name, number), file in zip(STREAMS.items(), files, strict=True):
            stack.enter_context(_leading_to(file, number))
            mode = "r" if name == "stdin" else "w"
            stream = stack.enter_context(open(number, mode, encoding="utf-8", closefd=False))
            stack.enter_context(patch.object(sys, name, stream))
        yield


@contextmanager
def _leading_to(file: IO[bytes], number: int) -> Iterator[None]:
    """What is read from or written to the stream of this number goes to a file."""
    kept = os.dup(number)
    os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        os.dup2(kept, number)
        os.close(kept)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
