"""Private copies of the repository: changes are written there, and the tests that meet them run there."""

import hashlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = (".*", "build", "dist", "*.egg-info")
"""What no test looks at. Caches beside the sources come along: compiled kernels are not compiled anew."""
IGNORED = ("tests/test_docs.py", "tests/test_house.py", "tests/test_mutants.py", "tests/test_walls.py")
"""Tests of pages, of how the sources are written and of these tools: they do not run what is mutated."""
BEFORE = 10**9
"""A time, in seconds, at which no source was written: bytecode of what was there before is not taken for it."""


@contextmanager
def private_copy(root: Path = ROOT) -> Iterator[Path]:
    """A copy of a checkout that goes away; real datasets stand beside it where they stand beside the checkout.

    It also goes away where somebody ends the process with the signal to terminate.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with tempfile.TemporaryDirectory(prefix="veilset-mutants-") as folder:
        copy = Path(folder) / root.name
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
        data = root.parent / "shared"
        if data.is_dir():
            (Path(folder) / "shared").symlink_to(data, target_is_directory=True)
        yield copy


@contextmanager
def changed(path: Path, text: str) -> Iterator[None]:
    """A file with another text, and as it was afterwards."""
    original, times = path.read_bytes(), path.stat()
    path.write_text(text, encoding="utf-8")
    os.utime(path, (BEFORE, BEFORE))
    try:
        yield
    finally:
        path.write_bytes(original)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def environment(copy: Path) -> dict[str, str]:
    """For processes that work in a copy: they import from it, draw the same examples each time, leave no bytecode."""
    search = [str(copy / "src"), str(copy / "tests"), str(copy)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(search),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "CI": "1",
    }


def digest(root: Path) -> str:
    """A short name for the sources and tests of a checkout: other files, another name."""
    return _digest([sources_digest(root), digests_of_tests(root)])


def sources_digest(root: Path) -> str:
    """The same for what tests run: sources, and what tests have in common."""
    tests = digests_of_tests(root)
    paths = sorted(path for top in ("src", "tests") for path in (root / top).rglob("*.py"))
    content = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    return _digest({name: text for name, text in content.items() if name not in {*tests, *IGNORED}})


def digests_of_tests(root: Path) -> dict[str, str]:
    """The same for each file of tests."""
    names = [path.relative_to(root).as_posix() for path in sorted((root / "tests").rglob("test_*.py"))]
    return {name: _digest((root / name).read_bytes()) for name in names if name not in IGNORED}


def _digest(content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16]
