"""How fast plain FIMI text becomes transactions, beside Polars splitting the same lines into lists.

    python -m benchmarks.reading

On a real file of short rows, if it is there, and on generated files of ten million items. Polars uses all
cores and stops at lists of text; ours uses one and ends with sorted sets of item codes. The peak is what
Python and NumPy allocate at most, as a multiple of the finished arrays.
"""

import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import best_seconds, datasets, plain_copy
from veilset import read


def main() -> None:
    """Measure on each file and print a table."""
    print(f"{'file':10} {'MB':>6} {'ours MB/s':>10} {'Polars MB/s':>12} {'ratio':>6} {'peak':>6}")
    for _, compressed in datasets(("MSNBC",)):
        with plain_copy(compressed) as path:
            report(path)
    with tempfile.TemporaryDirectory() as folder:
        for path in generated(Path(folder)):
            report(path)


def report(path: Path) -> None:
    """Print one row of the table."""
    megabytes = path.stat().st_size / 1e6
    best = best_seconds({"ours": lambda: read(path), "polars": lambda: split_by_polars(path)}, runs=7)
    speeds = f"{megabytes / best['ours']:10.0f} {megabytes / best['polars']:12.0f}"
    ratio = best["polars"] / best["ours"]
    print(f"{path.stem:10} {megabytes:6.1f} {speeds} {ratio:6.2f} {peak_multiple(path):6.2f}")


def split_by_polars(path: Path) -> pl.Series:
    """The lines of a file as lists of text."""
    lines = pl.read_csv(path, has_header=False, separator="\n", infer_schema=False, quote_char=None)
    return lines.to_series().str.split(" ")


def peak_multiple(path: Path) -> float:
    """How much memory reading takes at most, in multiples of what is kept."""
    tracemalloc.start()
    kept = read(path).nbytes
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / kept


def generated(folder: Path) -> Iterator[Path]:
    """A million rows of ten of 20,000 items, the n-th in proportion to 1 / n: sorted, and as drawn."""
    share = 1 / np.arange(1, 20_001)
    drawn = np.random.default_rng(7).choice(20_000, (1_000_000, 10), p=share / share.sum())
    for name, rows in (("sorted", np.sort(drawn, axis=1)), ("unsorted", drawn)):
        np.savetxt(folder / f"{name}.dat", rows, fmt="%d")
        yield folder / f"{name}.dat"


if __name__ == "__main__":
    main()
