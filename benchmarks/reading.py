"""How fast plain text becomes transactions."""

import tracemalloc
from pathlib import Path

import polars as pl

from benchmarks.measure import MILLION, NAMES, Files, apart, best_seconds
from benchmarks.peers import split_by_polars
from veilset import read

MEASURED = (*NAMES, MILLION, "sorted", "unsorted")


def reading(files: Files) -> pl.DataFrame:
    """Reading, beside Polars that splits the lines of the same plain FIMI text into lists.

    Both use all cores; Polars stops at lists of text, veilset ends with sorted sets of item codes. The best of
    several runs may find memory in place that the first one has to wait for. The peak is what Python and NumPy
    allocate at most, as a multiple of the finished arrays. The last two files are a million rows of ten of 20,000
    items.
    """
    return pl.DataFrame([apart(_measured, name, files[name]) for name in MEASURED if name in files])


def _measured(name: str, path: Path) -> dict[str, object]:
    megabytes = path.stat().st_size / 1e6
    best = best_seconds({"veilset": lambda: read(path), "Polars": lambda: split_by_polars(path)}, runs=7)
    return {
        "file": name,
        "MB": megabytes,
        "veilset (MB/s)": megabytes / best["veilset"],
        "Polars (MB/s)": megabytes / best["Polars"],
        "veilset / Polars (time)": best["veilset"] / best["Polars"],
        "peak / arrays": _peak_multiple(path),
    }


def _peak_multiple(path: Path) -> float:
    """How much memory reading takes at most, in multiples of what is kept."""
    tracemalloc.start()
    kept = read(path).nbytes
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / kept
