"""Arrays on the disk: for rows that may not fit in memory.

They lie in a nameless file of the system's folder for temporary files (TMPDIR), which nobody else can open and which
vanishes with the last array over it, whatever happens. The system keeps in memory what is looked at, and no more than
there is room for. They are as private as the data that they hold.
"""

import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import numpy as np
import numpy.typing as npt

from veilset.errors import BadCall

Stored = TypeVar("Stored", bound=np.generic)


SHARE_LEFT_FREE = 10
"""1 / 10 of a disk is left free: what would leave less is not written."""


class DiskArray(Generic[Stored]):
    """Numbers that are appended to a file, part by part, and then looked at as one array.

    >>> with DiskArray(np.int32) as numbers:
    ...     numbers.append(np.array([1, 2]))
    ...     numbers.append(np.array([3]))
    ...     array = numbers.whole()
    >>> array.tolist()
    [1, 2, 3]
    """

    def __init__(self, kind: type[Stored]) -> None:
        self._kind = np.dtype(kind)
        with _room_on_disk():
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `__exit__`
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        with suppress(OSError):  # what could not be written is told already
            self._file.close()

    def __len__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        return "DiskArray(private)"

    def append(self, values: npt.NDArray[Any]) -> None:
        """Add some numbers."""
        with _room_on_disk():
            self._file.write(np.ascontiguousarray(values, dtype=self._kind).data)
        self._number += values.size

    def whole(self) -> npt.NDArray[Stored]:
        """All numbers there are by now, as an array that can be changed."""
        if not self._number:
            return np.empty(0, dtype=self._kind)
        with _room_on_disk():
            self._file.flush()
            memory = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_WRITE)
        return np.frombuffer(memory, dtype=self._kind)


@contextmanager
def _room_on_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadCall(
            f"the folder for temporary files cannot hold the rows ({error.strerror}); "
            f"set TMPDIR to one of yours with as much room as the data takes"
        ) from None


def write_private_file(path: Path, parts: Sequence[Any]) -> bool:
    """Write a file that only its owner may open, whole or not at all; whether there was room.

    Somebody else may write the same at the same time: whoever reads it sees one of the two.
    """
    own = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        disk = shutil.disk_usage(path.parent)
        if disk.free - sum(memoryview(part).nbytes for part in parts) < disk.total // SHARE_LEFT_FREE:
            return False
        with open(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123
            file.writelines(memoryview(part).cast("B") for part in parts)
        own.replace(path)
    except OSError:
        own.unlink(missing_ok=True)
        return False
    return True


def mapped_file(path: Path) -> mmap.mmap | None:
    """The bytes of a file, which the system reads as they are looked at; None where there is no such file.

    They can be changed, as arrays in memory can, and the file stays as it is: compiled code meets one type of array.
    """
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError):  # of an empty file there is nothing to map
        return None
