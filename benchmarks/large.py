"""How long private releases of large data take, next to the exact top 100 of the same run.

    python -m benchmarks.large [ROWS]

Generated baskets, 10 million unless told. Times are those of the processor, on all cores together, and of the clock;
memory is what the process grows by at its largest, beside the arrays of the transactions.
"""

import sys
import time
from collections.abc import Callable
from functools import partial

import polars as pl

import veilset as vs
from benchmarks.page import section
from veilset.datasets import groceries
from veilset.evaluate.shared_memory import peak_growth

MEASURED = ("planned", "truncated-em", "privbasis")
RUNS = 3


def large(rows: int = 10_000_000) -> pl.DataFrame:
    """Private releases of large data: 100 itemsets at epsilon = 1, as multiples of the exact top 100."""
    ways: dict[str, Callable[[vs.Transactions], object]] = {
        "exact": lambda data: vs.mine_exact(data, k=100),
        **{method: partial(_release, method=method) for method in MEASURED},
    }
    for way in ways.values():
        way(groceries(100_000))  # whatever is compiled on first use is not counted
    data = groceries(rows)
    best = {name: _best(way, data) for name, way in ways.items()}
    return pl.DataFrame(
        [
            {
                "what": name,
                "seconds": seconds,
                "seconds / exact": seconds / best["exact"][0],
                "processor (s)": processor,
                "processor / exact": processor / best["exact"][1],
                "memory / arrays": grown / data.nbytes,
            }
            for name, (seconds, processor, grown) in best.items()
        ]
    )


def _release(data: vs.Transactions, *, method: str) -> vs.Release:
    return vs.mine(data, method=method, k=100, epsilon=1)


def _best(way: Callable[[vs.Transactions], object], data: vs.Transactions) -> tuple[float, float, float]:
    """The least seconds, and seconds of the processor, of several runs; and the most bytes: later runs reuse memory."""
    seconds, processor, grown = float("inf"), float("inf"), 0.0
    for _ in range(RUNS):
        start, start_processor = time.perf_counter(), time.process_time()
        with peak_growth() as peak:
            way(data)
        seconds = min(seconds, time.perf_counter() - start)
        processor = min(processor, time.process_time() - start_processor)
        grown = max(grown, float(peak.bytes or 0))
    return seconds, processor, grown


if __name__ == "__main__":
    print(section(large.__doc__ or "", large(*map(int, sys.argv[1:]))))
