"""What the benchmarks share: the files they measure, best of interleaved runs, and processes of their own."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from veilset.datasets import quest, write

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Real datasets beside the repository, where they are at hand."""

NAMES = ("retail", "mushroom", "BMS-WebView-2", "kosarak-70k", "accidents-15k", "T10I4D100K", "MSNBC")
"""The real datasets that are measured."""

MILLION = "quest-1M"
"""A million synthetic baskets."""

Files = Mapping[str, Path]
"""Plain FIMI text by name of dataset; what is not at hand is missing."""


@contextmanager
def plain_files() -> Iterator[Files]:
    """All files that benchmarks read, in a folder that goes away; prints which datasets are missing."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / f"{name}.dat" for name in (*NAMES, MILLION, "sorted", "unsorted")}
        for name in NAMES:
            compressed = DATA / f"{name}.dat.zst"
            if compressed.exists():
                with pa.input_stream(str(compressed), compression="zstd") as stream:
                    files[name].write_bytes(stream.read())
            else:
                print(f"{name}: not at hand, left out")
        write(quest(1_000_000), files[MILLION])
        _write_random_rows(files)
        yield {name: path for name, path in files.items() if path.exists()}


def _write_random_rows(files: Files) -> None:
    """A million rows of ten of 20,000 items, the n-th in proportion to 1 / n: sorted, and as drawn."""
    share = 1 / np.arange(1, 20_001)
    drawn = np.random.default_rng(7).choice(20_000, (1_000_000, 10), p=share / share.sum())
    for name, rows in (("sorted", np.sort(drawn, axis=1)), ("unsorted", drawn)):
        np.savetxt(files[name], rows, fmt="%d")


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


def printed_apart(program: str, *, limit: float) -> str | None:
    """The last line that a program prints in a fresh process; None if it takes more than `limit` seconds."""
    try:
        run = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return None
    return run.stdout.splitlines()[-1]


def peak_bytes(program: str, *, limit: float) -> int | None:
    """The peak memory of a program in a fresh process (Linux); None if it takes more than `limit` seconds."""
    # Not getrusage: its peak starts with that of the process that forked this one.
    report = "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    kilobytes = printed_apart(f"{program}\n{report}", limit=limit)
    return None if kilobytes is None else int(kilobytes) * 1024
