"""How long the exact miner takes, beside miners that others wrote."""

import os
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from benchmarks.measure import NAMES, Files, apart, best_seconds, within
from benchmarks.peers import PYFIM, Baskets, baskets_of, mine_by_pyfim, time_mlxtend, time_spark
from veilset import read
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.engines import mining
from veilset.raw.engines.itemset_filter import ItemsetFilter

BESIDE_ALL = ("retail", "mushroom", "BMS-WebView-2", "kosarak-70k", "accidents-15k")
"""The datasets on which mlxtend and Spark are measured, too."""

NUMBERS_OF_ITEMSETS = (1_000, 100_000)

RUNS = 12
"""The best of them counts: each takes a few hundredths of a second."""

MLXTEND_LIMIT, SPARK_LIMIT = 25, 40
"""Seconds that a process may take; the text above the table names them."""


def exact_mining(files: Files) -> pl.DataFrame:
    """Exact mining: all itemsets above a count, beside pyfim, mlxtend and Spark.

    All start from data in memory and end with itemsets in memory: veilset from its arrays, on all cores and on
    one, pyfim (the fastest of its algorithms that find all itemsets; it knows one core) from lists, mlxtend
    (FP-growth) from a sparse one-hot frame, Spark (FP-growth, all cores) from a cached table. The time to make
    mlxtend's frame stands by itself. A dash: stopped after 25 seconds, or 40 for Spark, or failed; on the
    last seven datasets only pyfim is measured.
    """
    if find_spec("pyspark") is None:
        print("Spark: pyspark is not installed, left out\n")
    return pl.DataFrame(
        [
            _compared(name, files[name], wanted)
            for name in NAMES
            if name in files
            for wanted in NUMBERS_OF_ITEMSETS
        ]
    )


def _compared(name: str, path: Path, wanted: int) -> dict[str, object]:
    """A row of the table."""
    itemsets, min_count, best = apart(_time_ours_and_pyfim, path, wanted)
    ours, alone = best.pop("veilset"), best.pop("one core")
    fastest = min(best, key=best.__getitem__)
    row: dict[str, object] = {
        "dataset": name,
        "itemsets": itemsets,
        "veilset (s)": ours,
        "one core (s)": alone,
        "pyfim (s)": best[fastest],
        "fastest of pyfim": fastest,
        "veilset / pyfim": ours / best[fastest],
    }
    encode, mine, found = None, None, itemsets
    if name in BESIDE_ALL:
        encode, mine, found = within(MLXTEND_LIMIT, time_mlxtend, path, min_count) or (None, None, itemsets)
    _check_found(found, itemsets, "mlxtend")
    row |= {"mlxtend encodes (s)": encode, "mlxtend (s)": mine, "veilset / mlxtend": mine and ours / mine}
    if find_spec("pyspark") is not None and name in BESIDE_ALL:
        mine, found = within(SPARK_LIMIT, time_spark, path, min_count) or (None, itemsets)
        _check_found(found, itemsets, "Spark")
        row |= {"Spark (s)": mine, "veilset / Spark": mine and ours / mine}
    return row


def _time_ours_and_pyfim(path: Path, wanted: int) -> tuple[int, int, dict[str, float]]:
    """How many itemsets there are, above which count, and the seconds of veilset and algorithms of pyfim."""
    transactions = read(path)
    rows = CompressedRows(transactions.offsets, transactions.items)
    size = len(transactions.alphabet)
    min_count = int(mining.top(rows, wanted, ItemsetFilter(max_size=None), alphabet_size=size).supports[-1])
    which = ItemsetFilter(min_count=min_count, max_size=None)
    ours = partial(mining.frequent, rows, which, alphabet_size=size, threads=os.cpu_count() or 1)
    alone = partial(mining.frequent, rows, which, alphabet_size=size)
    itemsets = ours().supports.size
    peers = _promising(baskets_of(path), min_count, itemsets)
    best = best_seconds({"veilset": ours, "one core": alone, **peers}, runs=RUNS)
    return itemsets, min_count, best


def _promising(baskets: Baskets, min_count: int, itemsets: int) -> dict[str, Callable[[], int]]:
    """The two algorithms of pyfim to race, by one run of each: some take a hundred times as long as others.

    Only those that find all itemsets take part: some leave an item out that every basket holds.
    """
    ways = {algorithm: partial(mine_by_pyfim, baskets, min_count, algorithm) for algorithm in PYFIM}
    complete = {algorithm: way for algorithm, way in ways.items() if way() == itemsets}
    seconds = best_seconds(complete, runs=1)
    return {algorithm: ways[algorithm] for algorithm in sorted(complete, key=seconds.__getitem__)[:2]}


def _check_found(found: int, itemsets: int, peer: str) -> None:
    """Refuse to compare the times of different answers."""
    if found != itemsets:
        raise RuntimeError(f"{peer} finds {found} itemsets, veilset {itemsets}")
