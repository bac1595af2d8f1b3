"""How long the representations take that `raw.kernels.vertical` chooses from."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import comb
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from benchmarks.measure import MILLION, Files, apart, best_seconds
from veilset import read
from veilset.raw.cuts.row_keys import RowKeys
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.cuts.truncation import KeepAll
from veilset.raw.engines.chunks import ROWS_IN_A_CHUNK
from veilset.raw.engines.local import LocalEngine
from veilset.raw.kernels import supports, vertical
from veilset.raw.transactions import Transactions

MEASURED = ("retail", "kosarak-70k", "mushroom", "accidents-15k", "MSNBC", MILLION)

QUESTIONS = (
    (50, range(1, 4), 10),
    (200, range(2, 4), 10_000),
    (60, range(3, 7), 10_000),
    (1_000, range(2, 4), 50_000),
    (5_000, range(2, 4), 50_000),
)
"""Of how many of the most frequent items, itemsets of which sizes, and how many of these."""

IntArray = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


def counting(files: Files) -> pl.DataFrame:
    """Counting: the representations that the kernels choose from, in milliseconds.

    Supports of itemsets from bitmaps of all items or from lists, on one core; and the same question asked of
    the engine, on all cores.
    """
    rows = [row for name in MEASURED if name in files for row in apart(_measured, name, files[name])]
    columns = ["dataset", "question", *(f"{way} (ms)" for way in ("bitmaps", "lists"))]
    return pl.DataFrame(rows, infer_schema_length=None).select(*columns, "chosen", "engine (ms)")


def _measured(dataset: str, path: Path) -> list[dict[str, object]]:
    """The rows of the table for one dataset; questions that a small alphabet makes equal are asked once."""
    data = read(path)
    item_supports = np.bincount(data.items, minlength=len(data.alphabet))
    by_support = np.argsort(-item_supports, kind="stable").astype(np.int32)
    compared: dict[str, tuple[dict[str, float], str]] = {}
    for pool, sizes, number in QUESTIONS:
        offsets, codes = _random_itemsets(by_support[:pool], sizes, number)
        held = min(pool, by_support.size)
        question = f"{offsets.size - 1:,} itemsets of {sizes[0]}-{sizes[-1]} of {held:,} items"
        if question not in compared:
            compared[question] = _compare_supports(data, offsets, codes)
    return [
        {
            "dataset": dataset,
            "question": question,
            **{f"{way} (ms)": 1000 * seconds for way, seconds in best.items()},
            "chosen": chosen_way,
        }
        for question, (best, chosen_way) in compared.items()
    ]


def _random_itemsets(pool: Codes, sizes: range, number: int) -> tuple[IntArray, Codes]:
    """About `number` different itemsets of some sizes from a pool, in lexicographic order."""
    rng = np.random.default_rng(2)
    drawn = {
        tuple(sorted(rng.choice(pool, size, replace=False).tolist()))
        for size in sizes
        for _ in range(min(number // len(sizes), comb(pool.size, size)))
    }
    ordered = sorted(drawn)
    offsets = np.cumsum([0, *map(len, ordered)], dtype=np.int64)
    return offsets, np.array([code for itemset in ordered for code in itemset], np.int32)


def _chunks(transactions: Transactions) -> Iterator[CompressedRows]:
    """The chunks that the engine counts."""
    edges = [*range(0, len(transactions), ROWS_IN_A_CHUNK), len(transactions)]
    for first, last in pairwise(edges):
        yield CompressedRows(transactions.offsets[first : last + 1], transactions.items)


def _no_keys() -> RowKeys:
    """No truncation here draws any."""
    raise AssertionError


def _compare_supports(
    data: Transactions, set_offsets: IntArray, set_items: Codes
) -> tuple[dict[str, float], str]:
    """Bitmaps of all items against lists with bitmaps of frequent items."""
    chosen, numbered = np.unique(set_items, return_inverse=True)
    places = np.full(len(data.alphabet), chosen.size, np.int32)
    places[chosen] = np.arange(chosen.size)
    numbers = numbered.astype(np.int32)

    def count(turn: Callable[[IntArray, Codes, Codes, int], vertical.Vertical]) -> None:
        totals = np.zeros(set_offsets.size - 1, np.int64)
        for rows in _chunks(data):
            turned = turn(rows.offsets, rows.items, places, chosen.size)
            supports.add_supports(turned, rows.offsets.size - 1, set_offsets, numbers, totals)

    engine = LocalEngine(data)
    best = best_seconds(
        {
            "bitmaps": lambda: count(vertical.turn_to_bitmaps),
            "lists": lambda: count(vertical.turn_to_lists),
            "engine": lambda: engine.supports(set_offsets, set_items, KeepAll(), _no_keys),
        },
        runs=3,
    )
    fit = vertical.bitmaps_fit(min(len(data), ROWS_IN_A_CHUNK), chosen.size)
    return best, "bitmaps" if fit else "lists"
