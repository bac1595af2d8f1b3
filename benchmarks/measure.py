"""What the benchmarks share: the files they measure, best of interleaved runs, and processes of their own."""

import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from veilset.datasets import quest, write

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Real datasets beside the repository, where they are at hand."""

NAMES = (
    "retail",
    "mushroom",
    "BMS-WebView-2",
    "kosarak-70k",
    "accidents-15k",
    "MSNBC",
    "BMS-WebView-1",
    "Groceries",
    "T10I4D100K",
    "TaFeng",
    "chess",
    "pumsb_star-de",
)
"""The real datasets that are measured."""

MILLION = "quest-1M"
"""A million synthetic baskets."""

Result = TypeVar("Result")

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
        _write_generated(files)
        yield {name: path for name, path in files.items() if path.exists()}


def _write_generated(files: Files) -> None:
    """A million baskets, and a million rows of ten of 20,000 items, the n-th in proportion to 1 / n."""
    write(quest(1_000_000), files[MILLION])
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


def apart(function: Callable[..., Result], *arguments: object, limit: float | None = None) -> Result:
    """What a function returns in a fresh process, where no earlier run has left memory ready for use."""
    with multiprocessing.get_context("spawn").Pool(1) as process:  # leaving ends the process
        return process.apply_async(function, arguments).get(limit)


def within(seconds: float, function: Callable[..., Result], *arguments: object) -> Result | None:
    """What a function of others returns in a fresh process, or None if it takes longer than `seconds`, or fails."""
    try:
        return apart(function, *arguments, limit=seconds)
    except multiprocessing.TimeoutError:
        return None
    except Exception as failure:  # noqa: BLE001 - a program of others may fail in any way, and we go on
        print(f"{function.__name__} failed: {type(failure).__name__}", flush=True)
        return None
