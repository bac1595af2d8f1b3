"""How much memory this process may still take: what is free on the machine, in its container, and within its limits.

What cannot be told (another operating system, a folder that is not there) does not limit anything. While a file is
read, its owner is told how much it takes; once data is held, no number that depends on it is in a message.
"""

import errno
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from veilset.errors import MemoryTooSmall

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

MEGABYTE = 1 << 20
CONTAINER_FILES = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
"""What a container may take and has taken: as newer kernels tell it, and as older ones do."""
CACHE_FILES = ("/sys/fs/cgroup/memory.stat", "/sys/fs/cgroup/memory/memory.stat")


def memory_limit() -> int | None:
    """The most bytes of addresses that this process may have (`ulimit -v`); None where there is no limit."""
    if resource is None:
        return None
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return min((limit for limit in limits if limit != resource.RLIM_INFINITY), default=None)


def memory_free() -> int | None:
    """How many bytes this process can still take; None where nobody tells."""
    return min(_rooms(), default=None)


def _rooms() -> Iterator[int]:
    limit = memory_limit()
    if limit is not None:
        yield max(limit - _number_in("/proc/self/status", "VmSize:", times=1024), 0)
    available = _number_in("/proc/meminfo", "MemAvailable:", times=1024)
    if available:
        yield available
    for most, taken in CONTAINER_FILES:
        with suppress(OSError, ValueError):
            held = int(Path(taken).read_text(encoding="ascii"))
            yield max(int(Path(most).read_text(encoding="ascii")) - held + _cached(), 0)


def _cached() -> int:
    """Bytes of files that a container keeps in memory as long as nobody needs the room."""
    return max(_number_in(path, "inactive_file", times=1) for path in CACHE_FILES)


def _number_in(path: str, name: str, *, times: int) -> int:
    """A number that a file of the kernel tells under a name; 0 where it does not."""
    with suppress(OSError, ValueError):
        for line in Path(path).read_text(encoding="ascii", errors="replace").splitlines():
            words = line.split()
            if words and words[0] == name:
                return int(words[1]) * times
    return 0


WHAT_TO_DO = (
    "free memory or allow more of it; or keep the data as Parquet with a list of items in each row, which is read in "
    "parts; or count on a cluster with --engine spark"
)
ROOM_OF_A_RELEASE = 300 * MEGABYTE
"""300 MB of addresses for what a release loads, compiles and counts with, beside the data."""


def check_room_for_release(data: int) -> None:
    """MemoryTooSmall where a limit leaves too little for a release: before anything is spent on one that would fail."""
    limit, room = memory_limit(), memory_free()
    need = ROOM_OF_A_RELEASE + 2 * data
    if limit is not None and room is not None and room < need:
        raise MemoryTooSmall(
            f"the limit of {in_megabytes(limit)} (ulimit -v) leaves too little for a release of this data; raise the "
            "limit, or count on a cluster with --engine spark. "
            "Nothing was spent"
        )


def check_room_for_values(name: str, values: int) -> None:
    """MemoryTooSmall where the values that a file says it holds cannot fit: each takes 4 bytes at least."""
    room, need = memory_free(), 4 * values
    if room is not None and need > room:
        raise MemoryTooSmall(
            f"{name} holds {values:,} values, which take at least {in_megabytes(need)}, and {in_megabytes(room)} of "
            f"memory are free; {WHAT_TO_DO}"
        )


def no_room_for(name: str, size: int) -> MemoryTooSmall:
    """The error where reading a file of this size ran out of memory."""
    room = memory_free()
    free = "" if room is None else f", of which {in_megabytes(room)} are free,"
    return MemoryTooSmall(
        f"{name} ({in_megabytes(size)}) takes more memory{free} than there is: up to ten times its size; {WHAT_TO_DO}"
    )


def raise_if_memory(error: Exception) -> None:
    """Raise MemoryError where that is what an error of a library means: data that does not fit is not damaged."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM or _SAID in str(error):
        raise MemoryError from None


_SAID = "Cannot allocate memory"


def in_megabytes(size: int) -> str:
    """A number of bytes for people, rounded up.

    >>> in_megabytes(1), in_megabytes(3_000_000_000)
    ('1 MB', '2,862 MB')
    """
    return f"{-(-size // MEGABYTE):,} MB"
