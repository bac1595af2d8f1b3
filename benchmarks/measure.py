"""What the benchmarks share: where data is, best of interleaved runs, peak memory of a fresh process."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Real datasets beside the repository, where they are at hand."""


def best_seconds(ways: Mapping[str, Callable[[], object]], *, runs: int = 5) -> dict[str, float]:
    """The best time of each way after a warm-up; the ways take turns, so that all meet the same noise."""
    best = dict.fromkeys(ways, float("inf"))
    for run in range(runs + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            if run > 0:
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def datasets(names: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """The datasets of these names that are at hand; a line for those that are not."""
    for name in names:
        path = DATA / f"{name}.dat.zst"
        if path.exists():
            yield name, path
        else:
            print(f"{name}: not at hand, left out")


@contextmanager
def plain_copy(path: Path) -> Iterator[Path]:
    """A decompressed copy of a file, in a folder that goes away."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.stem
        with pa.input_stream(str(path), compression="zstd") as stream:
            copy.write_bytes(stream.read())
        yield copy


def peak_bytes(program: str) -> int:
    """The peak memory of a program in a process of its own (Linux)."""
    # Not getrusage: its peak starts with that of the process that forked this one.
    report = "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    run = subprocess.run(
        [sys.executable, "-c", f"{program}\n{report}"], capture_output=True, text=True, check=True
    )
    return int(run.stdout.splitlines()[-1]) * 1024
