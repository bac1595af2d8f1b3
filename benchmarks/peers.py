"""What others do with the same files: Polars splits lines; pyfim, mlxtend and Spark mine itemsets.

Miners return how many itemsets they find, since a fast wrong answer is none.
"""

import time
from pathlib import Path

import fim
import polars as pl

PYFIM = ("relim", "sam", "eclat", "fpgrowth", "apriori")
"""The algorithms of pyfim that find all frequent itemsets."""

Baskets = list[list[int]]


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
    start = time.perf_counter()
    encoder = TransactionEncoder().fit(baskets)
    one_hot = encoder.transform(baskets, sparse=True)
    from_matrix = pd.DataFrame.sparse.from_spmatrix  # type: ignore[attr-defined] # the stubs lack it
    frame = from_matrix(one_hot, columns=[str(item) for item in encoder.columns_])
    encoded = time.perf_counter()
    found = fpgrowth(frame, min_support=_share(min_count, len(baskets)))
    return encoded - start, time.perf_counter() - encoded, len(found)


def time_spark(path: Path, min_count: int) -> tuple[float, int]:
    """Seconds of Spark's FP-growth on all cores, best of two on a cached table, and itemsets found."""
    from pyspark.ml.fpm import FPGrowth  # noqa: PLC0415 - not always installed
    from pyspark.sql import SparkSession  # noqa: PLC0415

    session = SparkSession.builder.master("local[*]").getOrCreate()
    table = session.read.text(str(path)).selectExpr("split(value, ' ') AS items").cache()
    miner = FPGrowth(minSupport=_share(min_count, table.count()))
    best, found = float("inf"), 0
    for _ in range(2):
        start = time.perf_counter()
        found = miner.fit(table).freqItemsets.count()
        best = min(best, time.perf_counter() - start)
    return best, found


def _share(min_count: int, baskets: int) -> float:
    """A share that rounding cannot bring to the other side of a count."""
    return (min_count - 0.5) / baskets
