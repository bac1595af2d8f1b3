"""How long private releases of large data take, next to the exact top 100 of the same run.

    python -m benchmarks.large [ROWS] [--only itemsets|datasets]

And how long it takes to publish a whole dataset of it, by each method. Generated baskets, 10 million unless told. Times
are those of the processor, on all cores together, and of the clock; memory is what the process grows by at its largest,
beside the arrays of the transactions.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import polars as pl

import veilset as vs
from benchmarks.page import section
from veilset.datasets import groceries
from veilset.evaluate.shared_memory import peak_growth

MEASURED = ("planned", "truncated-em", "privbasis")
PUBLISHING = ("planned", "diffpart", "diffpart-chosen")
RUNS = 3


def large(data: vs.Transactions) -> pl.DataFrame:
    """Private releases of large data: 100 itemsets at epsilon = 1, as multiples of the exact top 100."""
    ways: dict[str, Callable[[vs.Transactions], object]] = {
        "exact": lambda data: vs.mine_exact(data, k=100),
        **{method: partial(_release, method=method) for method in MEASURED},
    }
    for way in ways.values():
        way(groceries(100_000))  # whatever is compiled on first use is not counted
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


def large_datasets(data: vs.Transactions) -> pl.DataFrame:
    """Datasets published of large data: at epsilon = 1, from transactions in memory to records in memory."""
    rows = []
    for method in PUBLISHING:
        publish = partial(vs.publish, method=method, epsilon=1)
        publish(groceries(200_000))  # as above
        seconds, processor, grown = _best(publish, data)
        rows.append(
            {
                "method": method,
                "seconds": seconds,
                "processor (s)": processor,
                "memory / arrays": grown / data.nbytes,
            }
        )
    return pl.DataFrame(rows)


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


def main() -> None:
    """Measure what was asked for, and print it."""
    tables = {"itemsets": large, "datasets": large_datasets}
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large")
    parser.add_argument("rows", type=int, nargs="?", default=10_000_000)
    parser.add_argument("--only", choices=tables)
    chosen = parser.parse_args()
    data = groceries(chosen.rows)
    for name, measured in tables.items():
        if chosen.only in (None, name):
            print(section(measured.__doc__ or "", measured(data)))


if __name__ == "__main__":
    main()
