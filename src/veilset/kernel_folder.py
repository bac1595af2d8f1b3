"""Where compiled kernels are kept when neither the package nor the user's home can be written: a hardened container.

What is kept there is loaded and run later. So it is a folder that nobody else can write to or have put there: made with
mode 0700, and refused where it is a link, somebody else's, or open to others. Where there is no such folder, nothing is
kept, and every process compiles what it needs.
"""

import os
import stat
import tempfile
from functools import cache
from pathlib import Path


@cache
def private_kernel_folder() -> Path | None:
    """A folder of this user among the temporary files; None where there can be none. Looked for once in a process."""
    try:
        folder = Path(tempfile.gettempdir()) / f"veilset-kernels-{_user()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder if _is_private(folder) else None
    except OSError:
        return None


def about_kernel_folder() -> str | None:
    """Where compiled kernels are kept, in words, if that is not the usual place; None if it is."""
    if private_kernel_folder.cache_info().currsize == 0:  # nobody had to look for one
        return None
    why = "neither the package nor the home folder can be written"
    if private_kernel_folder() is None:
        return f"{why}: compiled kernels are not kept, and each run compiles anew; set NUMBA_CACHE_DIR to keep them"
    return f"{why}: compiled kernels are kept in {private_kernel_folder()}; set NUMBA_CACHE_DIR to keep them elsewhere"


def _is_private(folder: Path) -> bool:
    """Whether this is a folder, not a link to one, of this user, which nobody else can read or write."""
    found = folder.lstat()
    is_closed = stat.S_IMODE(found.st_mode) & (stat.S_IRWXG | stat.S_IRWXO) == 0
    return stat.S_ISDIR(found.st_mode) and (os.name == "nt" or (found.st_uid == _user() and is_closed))


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
