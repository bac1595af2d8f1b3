"""How much memory reading, mining and every method take."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl

import veilset as vs
from benchmarks.measure import MILLION, Files, within
from benchmarks.methods import METHODS, release_of
from benchmarks.peers import baskets_of, encode_for_mlxtend, mine_by_mlxtend, mine_by_pyfim, split_by_polars
from veilset.evaluate.shared_memory import peak_growth

MEASURED = ("retail", MILLION)

LIMIT = 20
"""Seconds that a process may take; the text above the table names them."""

Way = Callable[[Path, int], object]
"""From a file, and the support of its 100th itemset, to what is measured."""


def _release_by(method: str) -> Way:
    return lambda path, _: release_of(path, method)


WAYS: dict[str, Way] = {
    "Polars reads lists": lambda path, _: split_by_polars(path),
    "veilset reads": lambda path, _: vs.read(path),
    "veilset, exact": lambda path, _: vs.mine_exact(path, k=100),
    "pyfim, FP-growth": lambda path, min_count: mine_by_pyfim(baskets_of(path), min_count, "fpgrowth"),
    "mlxtend, FP-growth": lambda path, min_count: mine_by_mlxtend(
        encode_for_mlxtend(baskets_of(path)), min_count
    ),
    **{method: _release_by(method) for method in METHODS},
}


def memory(files: Files) -> pl.DataFrame:
    """Peak memory, from a file to its top 100 itemsets.

    What a process needs at most, beyond what it holds after doing the same with a tiny file; also as a
    multiple of the arrays that hold the transactions. A dash: stopped after 20 seconds.
    """
    return pl.DataFrame([row for name in MEASURED if name in files for row in _measured(name, files[name])])


def _measured(name: str, path: Path) -> list[dict[str, object]]:
    transactions = vs.read(path)
    min_count = vs.mine_exact(transactions, k=100).supports[-1]
    peaks = {way: within(LIMIT, _peak_bytes, way, path, min_count) for way in WAYS}
    return [
        {
            "dataset": name,
            "what": way,
            "MB": peak and peak / 1e6,
            "multiple of the arrays": peak and peak / transactions.nbytes,
        }
        for way, peak in peaks.items()
    ]


def _peak_bytes(way: str, path: Path, min_count: int) -> int | None:
    """By how much the memory of this process grows at its largest."""
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny.dat"
        tiny.write_text("0 1 2 3 4 5 6 7 8 9\n", encoding="ascii")
        WAYS[way](tiny, 1)  # whatever is imported and compiled on first use is not counted
    with peak_growth() as peak:
        WAYS[way](path, min_count)
    return peak.bytes
