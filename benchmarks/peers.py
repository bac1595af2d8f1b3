"""What others do with the same files: Polars splits lines; pyfim, mlxtend and Spark mine itemsets.

Miners return how many itemsets they find, since a fast wrong answer is none.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import fim
import polars as pl

if TYPE_CHECKING:
    import pandas as pd

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


def encode_for_mlxtend(baskets: Baskets) -> "pd.DataFrame":
    """A one-hot frame, sparse: on data of many items, mlxtend takes ten times as long with a dense one."""
    import pandas as pd  # noqa: PLC0415 - a slow import, for processes that use it
    from mlxtend.preprocessing import TransactionEncoder  # noqa: PLC0415

    encoder = TransactionEncoder().fit(baskets)
    names = [str(item) for item in encoder.columns_]
    from_matrix = pd.DataFrame.sparse.from_spmatrix  # type: ignore[attr-defined] # the stubs lack it
    return cast("pd.DataFrame", from_matrix(encoder.transform(baskets, sparse=True), columns=names))


def mine_by_mlxtend(frame: "pd.DataFrame", min_count: int) -> int:
    """Mine by mlxtend's FP-growth."""
    from mlxtend.frequent_patterns import fpgrowth  # noqa: PLC0415

    return len(fpgrowth(frame, min_support=_share(min_count, len(frame))))


def time_mlxtend(path: Path, min_count: int) -> tuple[float, float, int]:
    """Seconds to encode baskets, seconds to mine them, and itemsets found."""
    baskets = baskets_of(path)
    encoding, frame = _best_run(lambda: encode_for_mlxtend(baskets))
    mining, found = _best_run(lambda: mine_by_mlxtend(frame, min_count))
    return encoding, mining, found


def time_spark(path: Path, min_count: int) -> tuple[float, int]:
    """Seconds of Spark's FP-growth on all cores and a cached table, and itemsets found."""
    from pyspark.ml.fpm import FPGrowth  # noqa: PLC0415 - not always installed
    from pyspark.sql import SparkSession  # noqa: PLC0415

    with_memory = SparkSession.builder.master("local[*]").config("spark.driver.memory", "8g")
    session = with_memory.config("spark.ui.enabled", "false").getOrCreate()
    table = session.read.text(str(path)).selectExpr("split(value, ' ') AS items").cache()
    miner = FPGrowth(minSupport=_share(min_count, table.count()))
    return _best_run(lambda: int(miner.fit(table).freqItemsets.count()))


def _best_run(way: Callable[[], Result]) -> tuple[float, Result]:
    """The seconds of the best of three runs, or of two where they are slow, and the result."""
    seconds: list[float] = []
    while len(seconds) < 2 or (len(seconds) < 3 and sum(seconds) < 6):
        start = time.perf_counter()
        result = way()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def _share(min_count: int, baskets: int) -> float:
    """A share that rounding cannot bring to the other side of a count."""
    return (min_count - 0.5) / baskets
