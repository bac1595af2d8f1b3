"""How long the exact miner takes, beside miners that others wrote."""

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from benchmarks.measure import Files, best_seconds, printed_apart
from benchmarks.peers import PYFIM, Baskets, baskets_of, mine_by_pyfim
from veilset import read
from veilset.raw import mining
from veilset.raw.bound import Rows

MEASURED = ("retail", "mushroom", "BMS-WebView-2", "kosarak-70k", "accidents-15k")
NUMBERS_OF_ITEMSETS = (1_000, 100_000)

MLXTEND_LIMIT, SPARK_LIMIT = 12, 60
"""Seconds that a process may take, of which about two are not mining (Spark: ten)."""


def exact_mining(files: Files) -> pl.DataFrame:
    """Exact mining: all itemsets above a count, beside pyfim, mlxtend and Spark.

    All start from data in memory and end with itemsets in memory: veilset from its arrays, pyfim (the fastest
    of its algorithms) from lists, mlxtend (FP-growth) from a sparse one-hot frame, Spark (FP-growth, all
    cores) from a cached table. The time to make mlxtend's frame stands by itself. mlxtend and Spark run in
    processes of their own. A dash: more than ten seconds.
    """
    if find_spec("pyspark") is None:
        print("Spark: pyspark is not installed, left out\n")
    return pl.DataFrame(
        [
            _measured(name, files[name], wanted)
            for name in MEASURED
            if name in files
            for wanted in NUMBERS_OF_ITEMSETS
        ]
    )


def _measured(name: str, path: Path, wanted: int) -> dict[str, object]:
    transactions = read(path)
    rows = Rows(transactions.offsets, transactions.items)
    size = len(transactions.alphabet)
    min_count = int(mining.top(rows, wanted, alphabet_size=size).supports[-1])

    def ours() -> int:
        return mining.frequent(rows, alphabet_size=size, min_count=min_count).supports.size

    itemsets = ours()
    by_pyfim = _two_fastest_of_pyfim(baskets_of(path), min_count, itemsets)
    best = best_seconds({"veilset": ours, **by_pyfim}, runs=7)
    fastest = min(by_pyfim, key=best.__getitem__)
    return {
        "dataset": name,
        "itemsets": itemsets,
        "veilset (s)": best["veilset"],
        "pyfim (s)": best[fastest],
        "fastest of pyfim": fastest,
        "veilset / pyfim": best["veilset"] / best[fastest],
        **_beside_mlxtend(path, min_count, itemsets, best["veilset"]),
        **_beside_spark(path, min_count, itemsets, best["veilset"]),
    }


def _two_fastest_of_pyfim(baskets: Baskets, min_count: int, itemsets: int) -> dict[str, Callable[[], int]]:
    """The algorithms that may be the fastest, by one run after a warm-up: some take far longer."""

    def by(algorithm: str) -> Callable[[], int]:
        return lambda: _checked(
            mine_by_pyfim(baskets, min_count=min_count, algorithm=algorithm), itemsets, algorithm
        )

    ways = {algorithm: by(algorithm) for algorithm in PYFIM}
    seconds = best_seconds(ways, runs=1)
    return {algorithm: ways[algorithm] for algorithm in sorted(ways, key=seconds.__getitem__)[:2]}


def _beside_mlxtend(path: Path, min_count: int, itemsets: int, ours: float) -> dict[str, float | None]:
    timed = _timed_apart("time_mlxtend", path, min_count, limit=MLXTEND_LIMIT)
    encode, mine, found = timed or (None, None, itemsets)
    _checked(found, itemsets, "mlxtend")
    ratio = None if mine is None else ours / mine
    return {"mlxtend encodes (s)": encode, "mlxtend (s)": mine, "veilset / mlxtend": ratio}


def _beside_spark(path: Path, min_count: int, itemsets: int, ours: float) -> dict[str, float | None]:
    if find_spec("pyspark") is None:
        return {}
    timed = _timed_apart("time_spark", path, min_count, limit=SPARK_LIMIT)
    mine, found = timed or (None, itemsets)
    _checked(found, itemsets, "Spark")
    return {"Spark (s)": mine, "veilset / Spark": None if mine is None else ours / mine}


def _timed_apart(function: str, path: Path, min_count: int, *, limit: float) -> list[float] | None:
    """What a function of `benchmarks.peers` returns in a process of its own, if it returns in time."""
    printed = printed_apart(
        "import json, pathlib, benchmarks.peers as peers\n"
        f"print(json.dumps(peers.{function}(pathlib.Path({str(path)!r}), min_count={min_count})))",
        limit=limit,
    )
    return None if printed is None else json.loads(printed)


def _checked(found: float, itemsets: int, peer: str) -> int:
    """The number of itemsets, if it is ours: times of different answers do not compare."""
    if found != itemsets:
        raise RuntimeError(f"{peer} finds {found} itemsets, veilset {itemsets}")
    return itemsets
