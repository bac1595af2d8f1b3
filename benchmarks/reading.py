"""How fast plain FIMI text becomes transactions, beside Polars splitting the same lines into lists.

    python benchmarks/reading.py

Best of several interleaved runs, on a real file of short rows (if it is there) and on generated files of ten
million items. Polars uses all cores and stops at lists of text; ours uses one and ends with sorted sets of
item codes. The peak is what Python and NumPy allocate at most, as a multiple of the finished arrays.
"""

import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from veilset.raw.read import read

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
RUNS = 7


def main() -> None:
    """Measure on each file and print a table."""
    print(f"{'file':10} {'MB':>6} {'ours MB/s':>10} {'Polars MB/s':>12} {'ratio':>6} {'peak':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for path in (*unpacked(Path(folder), "MSNBC"), *generated(Path(folder))):
            report(path)


def report(path: Path) -> None:
    """Print one row of the table."""
    megabytes = path.stat().st_size / 1e6
    ours, polars = best_seconds(lambda: read(path), lambda: split_by_polars(path))
    print(
        f"{path.stem:10} {megabytes:6.1f} {megabytes / ours:10.0f} {megabytes / polars:12.0f} "
        f"{polars / ours:6.2f} {peak_multiple(path):6.2f}"
    )


def best_seconds(*tasks: Callable[[], object]) -> list[float]:
    """The shortest time of each task; they take turns, so that a busy machine slows all of them."""
    best = [float("inf")] * len(tasks)
    for _ in range(RUNS):
        for number, task in enumerate(tasks):
            start = time.perf_counter()
            task()
            best[number] = min(best[number], time.perf_counter() - start)
    return best


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


def unpacked(folder: Path, name: str) -> list[Path]:
    """A real dataset as plain text, if it is there."""
    source = DATA / f"{name}.dat.zst"
    if not source.exists():
        return []
    with pa.input_stream(str(source), compression="zstd") as stream:
        (folder / f"{name}.dat").write_bytes(stream.read())
    return [folder / f"{name}.dat"]


def generated(folder: Path) -> list[Path]:
    """A million rows of ten of 20,000 items, the n-th in proportion to 1 / n: sorted, and as drawn."""
    share = 1 / np.arange(1, 20_001)
    drawn = np.random.default_rng(7).choice(20_000, (1_000_000, 10), p=share / share.sum())
    np.savetxt(folder / "sorted.dat", np.sort(drawn, axis=1), fmt="%d")
    np.savetxt(folder / "unsorted.dat", drawn, fmt="%d")
    return [folder / "sorted.dat", folder / "unsorted.dat"]


if __name__ == "__main__":
    main()
