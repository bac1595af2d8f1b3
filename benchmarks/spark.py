"""A private release on Spark, next to the same release on one machine and to Spark's own FP-growth.

    python -m benchmarks.spark [ROWS [MASTER]]

Generated baskets, a million unless told, in a Parquet file; MASTER is local[*] unless told, and may be sc:// of a Spark
Connect server, where there is no FP-growth to compare with. FP-growth mines at the support of the exact 100th itemset.
Seconds are those of the clock, once everything is compiled; the driver's memory is the largest that its process had.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import veilset as vs
from benchmarks.page import section
from veilset.datasets import groceries
from veilset.raw.read.spark_tables import session_at

if TYPE_CHECKING:
    from collections.abc import Callable

K = 100
WARM_UP = 20_000


def spark(rows: int = 1_000_000, master: str = "local[*]") -> pl.DataFrame:
    """100 itemsets at epsilon = 1: on this machine, on Spark, and by FP-growth of Spark at the same support."""
    session = session_at(master)
    with tempfile.TemporaryDirectory() as folder:
        small, large = (_written(Path(folder), number) for number in (WARM_UP, rows))
        here = {name: vs.read(path) for name, path in (("small", small), ("large", large))}
        support = vs.mine_exact(here["large"], k=K).supports[-1] / rows
        ways: dict[str, Callable[[str, Path], object]] = {
            "one machine": lambda size, _: _release(here[size]),
            "Spark engine": lambda _, path: _release(vs.read(session.read.parquet(str(path)))),
        }
        if not master.startswith("sc://"):
            ways["FP-growth of Spark"] = lambda _, path: _fp_growth(session, path, support)
        measured = []
        for name, way in ways.items():
            way("small", small)
            started = time.perf_counter()
            way("large", large)
            measured.append((name, time.perf_counter() - started))
    ours = dict(measured)["Spark engine"]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return pl.DataFrame(
        [
            {
                "what": name,
                "rows": rows,
                "seconds": seconds,
                "seconds / Spark engine": seconds / ours,
                "driver (GB)": memory,
            }
            for name, seconds in measured
        ]
    )


def _written(folder: Path, rows: int) -> Path:
    """Generated baskets as a Parquet file with a list column."""
    data = groceries(rows)
    codes = pl.Series(data.items).cast(pl.Int64)
    lists = pl.DataFrame(
        {"row": pl.Series(range(rows)).repeat_by(pl.Series(data.lengths)).explode(), "items": codes}
    )
    path = folder / f"{rows}.parquet"
    lists.group_by("row", maintain_order=True).agg("items").select("items").write_parquet(
        path, row_group_size=max(1, rows // 8)
    )
    return path


def _release(data: Any) -> vs.Release:  # noqa: ANN401
    return vs.mine(data, k=K, epsilon=1, public_items=True)


def _fp_growth(session: Any, path: Path, support: float) -> int:  # noqa: ANN401
    from pyspark.ml.fpm import FPGrowth  # noqa: PLC0415

    model = FPGrowth(itemsCol="items", minSupport=support).fit(session.read.parquet(str(path)))
    return int(model.freqItemsets.count())


if __name__ == "__main__":
    given = sys.argv[1:]
    print(section(spark.__doc__ or "", spark(*(int(given[0]),) if given else (), *given[1:])))
