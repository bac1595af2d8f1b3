"""The command as a shell would run it."""

import subprocess
import sys
from pathlib import Path


def veilset(
    *arguments: str | Path, stdin: str | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    call = [sys.executable, "-m", "veilset", *map(str, arguments)]
    return subprocess.run(call, input=stdin, capture_output=True, text=True, check=False, cwd=cwd)
