"""From a file to a release, against the time that Polars takes to read the file and split it into lists.

    python -m benchmarks.end_to_end

Warm: best of several runs in one process, taking turns. Peak memory is that of a fresh process, less that of
one that mines a tiny file, as a multiple of the arrays that hold the transactions.
"""

import tempfile
from pathlib import Path

import veilset as vs
from benchmarks.measure import best_seconds, datasets, peak_bytes, plain_copy
from benchmarks.reading import split_by_polars
from veilset.datasets import quest, write

LIMIT_OF_TIME, LIMIT_OF_MEMORY = 1.5, 6


def release(path: Path) -> vs.Release:
    """What `veilset mine FILE --method truncated-em --k 100 --epsilon 1` does."""
    return vs.mine(vs.read(path), method="truncated-em", k=100, epsilon=1)


def measure(name: str, path: Path) -> None:
    """One line of the table."""
    best = best_seconds(
        {
            "polars": lambda: split_by_polars(path),
            "read": lambda: vs.read(path),
            "release": lambda: release(path),
        }
    )
    program = "import veilset as vs; vs.mine(vs.read({!r}), method='truncated-em', k=10, epsilon=1)"
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny.dat"
        tiny.write_text("1 2 3\n4 5\n")
        memory = peak_bytes(program.format(str(path))) - peak_bytes(program.format(str(tiny)))
    arrays = vs.read(path).nbytes
    print(
        f"{name:16} polars {best['polars']:6.3f} s   read {best['read']:6.3f} s   "
        f"release {best['release']:6.3f} s   "
        f"ratio {best['release'] / best['polars']:.2f} (limit {LIMIT_OF_TIME})   "
        f"memory {memory / arrays:.1f} x arrays (limit {LIMIT_OF_MEMORY})"
    )


def main() -> None:
    """The table."""
    for name, compressed in datasets(("MSNBC",)):
        with plain_copy(compressed) as path:
            measure(name, path)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quest.dat"
        write(quest(1_000_000), path)
        measure("quest, 1,000,000", path)


if __name__ == "__main__":
    main()
