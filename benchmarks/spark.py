"""A private release on Spark, next to the same release on one machine and to Spark's own FP-growth: from a file on.

    python -m benchmarks.spark [ROWS ...] [--items N] [--master local[2]] [--without-fp-growth] [--folder FOLDER]

Generated baskets in Parquet, 100,000, a million and 10 million unless told. The master may be sc:// of a Spark Connect
server, whose processes are not seen and where FP-growth is left out. Every way begins with the file and ends with 100
itemsets, once it was done with 100,000 rows, so that all is compiled and started; FP-growth mines at the support of
the exact 100th itemset. Seconds are those of the clock; those of the processor are of the driver, the JVM and all
Python processes together. What is measured replaces what docs/benchmarks/spark.parquet has of it, and the plot beside.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from matplotlib.figure import Figure

import veilset as vs
from benchmarks.page import section
from veilset.datasets import groceries
from veilset.raw.read.spark_tables import session_at

K = 100
ROWS = (100_000, 1_000_000, 10_000_000)
WARM_UP = 100_000
ROWS_AT_ONCE = 1_000_000
RESULTS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "spark.parquet"
OURS, HERE, THEIRS = "Spark engine", "one machine", "FP-growth of Spark"
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Measured:
    """One way from a file to 100 itemsets, and what it took."""

    way: str
    master: str
    rows: int
    items: int
    seconds: float
    processor: float
    driver: float
    """The most memory that this process had so far, in MB."""
    java: float
    """The same of the JVM that it started, in which executors are on a master called local."""


def measured(
    rows: Sequence[int], items: int | None, master: str, folder: Path, *, fp_growth: bool
) -> Iterator[Measured]:
    """Each way at each number of rows, warm."""
    small = file_of(WARM_UP, items, folder)
    session = session_at(master)
    ways: dict[str, Callable[[Path], object]] = {
        HERE: lambda path: _release(vs.read(path)),
        OURS: lambda path: _release(vs.read(session.read.parquet(str(path)))),
    }
    if fp_growth and not master.startswith("sc://"):
        ways[THEIRS] = lambda path: _fp_growth(session, path)
    for name, way in ways.items():
        way(small)
        for number in rows:
            path = file_of(number, items, folder)
            if name == THEIRS:
                _support_of_last(path)  # which is no part of what is measured
            seconds, processor = time.perf_counter(), _processor()
            way(path)
            found = Measured(
                name,
                master,
                number,
                items or len(groceries(1).alphabet),
                time.perf_counter() - seconds,
                _processor() - processor,
                _megabytes(os.getpid()),
                max((_megabytes(each) for each in _family() if _name(each) == "java"), default=0.0),
            )
            print(found, flush=True)
            yield found


def file_of(rows: int, items: int | None, folder: Path) -> Path:
    """Baskets as lists of integers in a Parquet file; made where it is missing."""
    path = folder / f"{rows}-{items or 'groceries'}.parquet"
    if not path.exists():
        schema = pa.schema({"items": pa.list_(pa.int64())})
        with pq.ParquetWriter(path, schema) as writer:
            for seed, start in enumerate(range(0, rows, ROWS_AT_ONCE)):
                offsets, codes = _baskets(min(ROWS_AT_ONCE, rows - start), items, seed)
                lists = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(codes.astype(np.int64)))
                writer.write_table(pa.table({"items": lists.cast(pa.list_(pa.int64()))}, schema))
    return path


def _baskets(rows: int, items: int | None, seed: int) -> tuple[Any, Any]:
    """Groceries; or up to ten of that many items, the n-th in proportion to 1 / n."""
    if items is None:
        baskets = groceries(rows, seed=7 + seed)
        return baskets.offsets, baskets.items
    edges = np.cumsum(1 / np.arange(1, items + 1))
    drawn = np.searchsorted(edges, np.random.default_rng(7 + seed).random((rows, 10)) * edges[-1])
    drawn.sort(axis=1)
    is_first = np.diff(drawn, axis=1, prepend=-1) > 0
    return np.append(0, np.cumsum(is_first.sum(axis=1))), drawn[is_first]


def _release(data: Any) -> vs.Release:  # noqa: ANN401
    return vs.mine(data, k=K, epsilon=1, public_items=True)


def _fp_growth(session: Any, path: Path) -> int:  # noqa: ANN401
    from pyspark.ml.fpm import FPGrowth  # noqa: PLC0415

    model = FPGrowth(itemsCol="items", minSupport=_support_of_last(path)).fit(session.read.parquet(str(path)))
    return int(model.freqItemsets.count())


@cache
def _support_of_last(path: Path) -> float:
    """The share of rows that hold the exact 100th itemset, or just below it."""
    exact = vs.read(path)
    return float(vs.mine_exact(exact, k=K).supports[-1] - 0.5) / len(exact)


def _family() -> list[int]:
    """This process and all that it has started, or what these have."""
    parents = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            parents[int(folder.name)] = int(_stat(int(folder.name))[1])
    found = [os.getpid()]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def _stat(process: int) -> list[str]:
    """What Linux tells of a process, from its state on."""
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()


def _name(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip()
    return ""


def _processor() -> float:
    """The seconds of the processor of this process, of all that it has started, and of those of them that ended."""
    total = 0
    for process in _family():
        with suppress(OSError):
            total += sum(map(int, _stat(process)[11:15]))
    return total / TICK


def _megabytes(process: int) -> float:
    with suppress(OSError):
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)
    return 0.0


def table(results: pl.DataFrame) -> pl.DataFrame:
    """What docs/spark.md shows."""
    ours = results.filter(pl.col("way") == OURS).select(
        "rows", "items", "master", pl.col("seconds").alias("ours")
    )
    return results.join(ours, on=["rows", "items", "master"], how="left").select(
        pl.col("way").alias("what"),
        "rows",
        "items",
        "seconds",
        (pl.col("seconds") / pl.col("ours")).alias("seconds / Spark engine"),
        pl.col("processor").alias("processor (s)"),
    )


def write_plot(path: Path, results: pl.DataFrame) -> None:
    """Seconds against rows, of each way; a line in grey grows as the rows do."""
    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    panel = figure.subplots()
    for (way,), line in results.sort("rows").group_by("way", maintain_order=True):
        panel.plot(line["rows"], line["seconds"], marker="o", label=str(way))
    largest = results.filter(pl.col("way") == OURS).sort("rows")
    rows, last = largest["rows"].to_numpy(), largest["seconds"][-1]
    panel.plot(rows, last * rows / rows[-1], color="grey", linewidth=1, label="in proportion to rows")
    panel.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds, from file to release")
    panel.grid(visible=True, alpha=0.3)
    panel.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Measure, and keep it beside what was measured of other ways, rows and items."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark")
    parser.add_argument(
        "rows", nargs="*", type=int, help="how many rows; 100,000, a million and 10 million if not given"
    )
    parser.add_argument("--items", type=int, help="how many items; those of groceries if not given")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--without-fp-growth", action="store_true")
    parser.add_argument("--folder", type=Path, help="where files of rows are, or will be kept")
    chosen = parser.parse_args()
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 8g pyspark-shell")  # FP-growth needs it
    results = pl.read_parquet(RESULTS) if RESULTS.exists() else pl.DataFrame()
    keys = ["way", "master", "rows", "items"]
    with tempfile.TemporaryDirectory() as temporary:
        for each in measured(
            chosen.rows or ROWS,
            chosen.items,
            chosen.master,
            chosen.folder or Path(temporary),
            fp_growth=not chosen.without_fp_growth,
        ):
            found = pl.DataFrame([asdict(each)])
            others = results.join(found, on=keys, how="anti") if results.height else results
            results = pl.concat([others, found], how="diagonal").sort(["items", "rows", "way"])
            results.write_parquet(RESULTS)
    compared = results.filter(pl.col("items") == len(groceries(1).alphabet), pl.col("master") == "local[2]")
    if OURS in compared["way"]:
        write_plot(RESULTS.with_suffix(".png"), compared)
    about = "100 itemsets at epsilon = 1, from a Parquet file\n\nOn this machine, on Spark, and by FP-growth of Spark."
    print(section(about, table(results)))


if __name__ == "__main__":
    main()
