"""What others do with the same files: Polars splits lines; pyfim, mlxtend and Spark mine itemsets.

Miners return how many itemsets they find, since a fast wrong answer is none.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import fim
import polars as pl

PYFIM = ("relim", "sam", "eclat", "fpgrowth", "apriori")
"""The algorithms of pyfim that find all frequent itemsets."""

Baskets = list[list[int]]
Result = TypeVar("Result")


def split_by_polars(path: Path) -> pl.Series:
    """The lines of a file as lists of text."""
    lines = pl.read_csv(path, has_header=False, separator="\n", infer_schema=False, quote_char=None)
    return lines.to_series().str.split(" ")


def baskets_of(path: Path) -> Baskets:
    """The rows of a file as Python lists, the form that the miners start from."""
    with path.open(encoding="ascii") as lines:
        return [[int(word) for word in line.split()] for line in lines]


def mine_by_pyfim(baskets: Baskets, min_count: int, algorithm: str) -> int:
    """Mine by one of pyfim's algorithms."""
    return len(getattr(fim, algorithm)(baskets, target="s", supp=-min_count, zmin=1))


def time_mlxtend(path: Path, min_count: int) -> tuple[float, float, int]:
    """Seconds to encode baskets as a one-hot frame, seconds of FP-growth on it, and itemsets found.

    The frame is sparse: on data of many items, a dense one takes ten times as long.
    """
    import pandas as pd  # noqa: PLC0415 - a slow import, for processes that use it
    from mlxtend.frequent_patterns import fpgrowth  # noqa: PLC0415
    from mlxtend.preprocessing import TransactionEncoder  # noqa: PLC0415

    baskets = baskets_of(path)
    from_matrix = pd.DataFrame.sparse.from_spmatrix  # type: ignore[attr-defined] # the stubs lack it

    def encode() -> pd.DataFrame:
        encoder = TransactionEncoder().fit(baskets)
        names = [str(item) for item in encoder.columns_]
        return cast("pd.DataFrame", from_matrix(encoder.transform(baskets, sparse=True), columns=names))

    encoding, frame = _best_run(encode)
    mining, found = _best_run(lambda: fpgrowth(frame, min_support=_share(min_count, len(baskets))))
    return encoding, mining, len(found)


def time_spark(path: Path, min_count: int) -> tuple[float, int]:
    """Seconds of Spark's FP-growth on all cores and a cached table, and itemsets found."""
    from pyspark.ml.fpm import FPGrowth  # noqa: PLC0415 - not always installed
    from pyspark.sql import SparkSession  # noqa: PLC0415

    session = SparkSession.builder.master("local[*]").getOrCreate()
    table = session.read.text(str(path)).selectExpr("split(value, ' ') AS items").cache()
    miner = FPGrowth(minSupport=_share(min_count, table.count()))
    return _best_run(lambda: int(miner.fit(table).freqItemsets.count()))


def _best_run(way: Callable[[], Result]) -> tuple[float, Result]:
    """The seconds and the result of the best of three runs, or of one that takes more than three seconds."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        result = way()
        best = min(best, time.perf_counter() - start)
        if best > 3:
            break
    return best, result


def _share(min_count: int, baskets: int) -> float:
    """A share that rounding cannot bring to the other side of a count."""
    return (min_count - 0.5) / baskets
