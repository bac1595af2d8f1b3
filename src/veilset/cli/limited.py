"""Commands under a limit on memory (`ulimit -v`): with few threads, and watched, so that they end in one line.

A limit on addresses hits libraries before it hits data: each thread reserves some, and those of Arrow, Polars and LLVM
end the process where they get none, with a signal or a page of text instead of an exception. So where there is a limit,
a command runs in a process of its own that starts as few threads as it can, and this one tells how it ended.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import FrameType
from typing import IO

from veilset.memory_room import in_megabytes, memory_limit

WATCHED = "VEILSET_WATCHED"
"""Set in the process that is watched: it does not start another."""

FEW_THREADS = {
    **dict.fromkeys(
        (
            "ARROW_IO_THREADS",
            "MALLOC_ARENA_MAX",
            "NUMBA_NUM_THREADS",
            "OMP_NUM_THREADS",
            "OMP_THREAD_LIMIT",
            "OPENBLAS_NUM_THREADS",
            "POLARS_MAX_THREADS",
            "RAYON_NUM_THREADS",
        ),
        "1",
    ),
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "_RJEM_MALLOC_CONF": "background_thread:false",
}
"""One thread of each library, and no memory that is kept ahead: a command then needs half the addresses."""

ENDS = (0, 2, 3, 130)
"""The exit codes of a command, and of an audit also 1; any other, or a traceback, is an end that it did not choose."""
TRACEBACK = "Traceback (most recent call last)"
BASE_NEED = 1400 << 20
"""1,400 MB of addresses for Python and the libraries, before any data: measured on two cores, text and tables alike."""
OWN_LINES = "veilset: "


def is_limited() -> bool:
    """Whether this process has a limit on memory and nobody watches it."""
    return memory_limit() is not None and WATCHED not in os.environ


def run_watched(arguments: Sequence[str]) -> int:
    """Run a command in a process of its own; the exit code, which is a command's, whatever happens there."""
    call = [sys.executable, "-m", "veilset", *arguments]
    environment = {**FEW_THREADS, **os.environ, WATCHED: "1"}
    with subprocess.Popen(call, env=environment, stderr=subprocess.PIPE) as process:  # noqa: S603 - this command
        _pass_on_signals(process)
        held_back = _relay(process.stderr)
        code = process.wait()
    if (code in ENDS or (code == 1 and list(arguments[:1]) == ["audit"])) and TRACEBACK not in held_back:
        sys.stderr.write(held_back)
        return code
    if code in {-signal.SIGTERM, -signal.SIGHUP}:  # somebody's wish, no failure
        return 128 - code
    sys.stderr.write(f"{OWN_LINES}{_what_happened(code, arguments)}\n")
    return 2


def _pass_on_signals(process: "subprocess.Popen[bytes]") -> None:
    """Whoever ends this process means the other one; an interrupt from a keyboard reaches both."""

    def pass_on(number: int, _: FrameType | None) -> None:
        process.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _relay(stream: IO[bytes] | None) -> str:
    """Pass on what the command says, as it says it; what else is printed is held back until the end is known."""
    held_back = []
    for line in stream or ():
        text = line.decode("utf-8", "backslashreplace")
        if text.startswith(OWN_LINES):
            sys.stderr.write(text)
            sys.stderr.flush()
        else:
            held_back.append(text)
    return "".join(held_back)


def _what_happened(code: int, arguments: Sequence[str]) -> str:
    limit = memory_limit() or 0
    paid = (
        "; the ledger says what was spent"
        if "--ledger" in arguments or "VEILSET_LEDGER" in os.environ
        else ""
    )
    ended = f"signal {-code}" if code < 0 else "an error of a library"
    return (
        f"this took more memory than the {in_megabytes(limit)} that are allowed here (ulimit -v), and ended with "
        f"{ended}; allow at least {in_megabytes(BASE_NEED)} and ten times the data's size, or count on a cluster "
        f"with --engine spark{paid}"
    )
