"""Files of blocks on an executor: in a folder that Spark gives to its Python processes and removes when it ends.

That is the first of SPARK_LOCAL_DIRS, where Spark itself keeps what does not fit in memory. Files are as private as the
data, and only their owner may open them. They may be removed at any time: whoever misses one is sent the rows.
"""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from veilset.raw.disk_arrays import write_private_file

SHARE_OF_DISK = 4
"""Blocks take at most 1 / 4 of the disk: those that were written first are removed for others."""

FOLDER_OF_SPARK = "blockmgr-"
"""How the folders begin that Spark removes when an executor ends."""


@cache
def folder_of_blocks() -> Path | None:
    """Where processes of this executor keep blocks; None where Spark has named no folder that it removes."""
    given = Path(os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0])
    if not given.name.startswith(FOLDER_OF_SPARK):
        return None
    folder = given / "veilset"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return None
    return folder


def write_block(folder: Path, name: str, parts: Sequence[Any]) -> bool:
    """Keep a block, in whatever parts; whether there was room."""
    _remove_oldest(folder)
    return write_private_file(folder / name, parts)


def _remove_oldest(folder: Path) -> None:
    """Until there is room; who has mapped a file keeps it."""
    with suppress(OSError):  # others may remove the same
        files = sorted((each.stat().st_mtime_ns, each.stat().st_size, each) for each in folder.iterdir())
        room = shutil.disk_usage(folder).total // SHARE_OF_DISK - sum(size for _, size, _ in files)
        for _, size, path in files:
            if room >= 0:
                break
            path.unlink()
            room += size
