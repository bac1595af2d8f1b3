"""The command as a shell would run it, and as a function call that costs no start of a process."""

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from veilset import cli


def veilset(
    *arguments: str | Path, stdin: str | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    call = [sys.executable, "-m", "veilset", *map(str, arguments)]
    return subprocess.run(call, input=stdin, capture_output=True, text=True, check=False, cwd=cwd)


def veilset_here(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, from its `main` on."""
    call = ["veilset", *map(str, arguments)]
    code: object = None
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as error:
        try:
            with patch.object(sys, "argv", call):
                cli.main()
        except SystemExit as stopped:
            code = stopped.code
    return subprocess.CompletedProcess(call, int(str(code)), out.getvalue(), error.getvalue())
