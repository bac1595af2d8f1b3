"""How long the representations take that `raw.kernels.vertical` and `raw.kernels.pairs` choose from.

    python benchmarks/counting.py [FOLDER OF .dat.zst FILES]

One thread, best of several interleaved runs, in milliseconds; the chosen representation has a star. The last
column is the same question asked of the engine, on all cores.
"""

import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from math import comb
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from veilset.raw.bound import KeepAll, Keys, Rows
from veilset.raw.engines.local import ROWS_IN_A_CHUNK, LocalEngine
from veilset.raw.kernels import pairs, supports, vertical
from veilset.raw.transactions import Alphabet, Transactions

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
NAMES = ("retail", "kosarak-70k", "T10I4D100K", "mushroom", "accidents-15k", "MSNBC")
RUNS = 5

IntArray = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


def load(path: Path) -> Transactions:
    """A FIMI file, its items numbered by name."""
    with pa.input_stream(str(path), compression="zstd") as stream:
        text = stream.read()
    lengths = [len(line.split()) for line in text.splitlines()]
    names, items = np.unique(np.array(text.split(), dtype=np.int64), return_inverse=True)
    return transactions_of(lengths, items.astype(np.int32), names.size)


def million_rows() -> Transactions:
    """A million synthetic rows of ten of 5,000 items, the n-th of which comes up in proportion to 1 / n."""
    rng = np.random.default_rng(1)
    share = 1 / np.arange(1, 5_001)
    drawn = np.sort(rng.choice(5_000, (1_000_000, 10), p=share / share.sum()), axis=1)
    is_first = np.diff(drawn, axis=1, prepend=-1) > 0
    return transactions_of(is_first.sum(axis=1).tolist(), drawn[is_first].astype(np.int32), 5_000)


def transactions_of(lengths: list[int], items: Codes, alphabet_size: int) -> Transactions:
    """Transactions over a numbered alphabet."""
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    return Transactions(offsets, items, Alphabet(range(alphabet_size), is_given=True))


def random_itemsets(pool: Codes, sizes: range, number: int) -> tuple[IntArray, Codes]:
    """About so many different itemsets of some sizes from a pool, in lexicographic order."""
    rng = np.random.default_rng(2)
    drawn = {
        tuple(sorted(rng.choice(pool, size, replace=False).tolist()))
        for size in sizes
        for _ in range(min(number // len(sizes), comb(pool.size, size)))
    }
    ordered = sorted(drawn)
    offsets = np.cumsum([0, *map(len, ordered)], dtype=np.int64)
    return offsets, np.array([code for itemset in ordered for code in itemset], np.int32)


def chunks(transactions: Transactions) -> Iterator[Rows]:
    """The chunks that the engine counts."""
    edges = [*range(0, len(transactions), ROWS_IN_A_CHUNK), len(transactions)]
    for first, last in pairwise(edges):
        yield Rows(transactions.offsets[first : last + 1], transactions.items)


def milliseconds(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The best time of each way; the ways take turns."""
    best = dict.fromkeys(ways, float("inf"))
    for run in range(RUNS + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            if run > 0:  # the first may compile
                best[name] = min(best[name], 1000 * (time.perf_counter() - start))
    return best


def no_keys(number: int) -> Keys:
    """No cut here draws any."""
    return np.empty(number, np.uint32)


def compare_supports(
    data: Transactions, set_offsets: IntArray, set_items: Codes
) -> tuple[dict[str, float], str]:
    """Bitmaps of all items against lists with bitmaps of frequent items."""
    chosen, numbered = np.unique(set_items, return_inverse=True)
    places = np.full(len(data.alphabet), chosen.size, np.int32)
    places[chosen] = np.arange(chosen.size)
    numbers = numbered.astype(np.int32)

    def count(turn: Callable[[IntArray, Codes, Codes, int], vertical.Vertical]) -> None:
        totals = np.zeros(set_offsets.size - 1, np.int64)
        for rows in chunks(data):
            turned = turn(rows.offsets, rows.items, places, chosen.size)
            supports.add_supports(turned, rows.offsets.size - 1, set_offsets, numbers, totals)

    engine = LocalEngine(data)
    best = milliseconds(
        {
            "bitmaps": lambda: count(vertical.turn_to_bitmaps),
            "lists": lambda: count(vertical.turn_to_lists),
            "engine": lambda: engine.supports(set_offsets, set_items, KeepAll(), no_keys),
        }
    )
    fit = vertical.bitmaps_fit(min(len(data), ROWS_IN_A_CHUNK), chosen.size)
    return best, "bitmaps" if fit else "lists"


def compare_pairs(data: Transactions, chosen: Codes) -> tuple[dict[str, float], str]:
    """Bitmaps of all items against a visit to each pair within each row."""
    places = np.full(len(data.alphabet), chosen.size, np.int32)
    places[chosen] = np.arange(chosen.size)

    def by_bitmaps() -> None:
        totals = np.zeros(comb(chosen.size, 2), np.int64)
        for rows in chunks(data):
            turned = vertical.turn_to_bitmaps(rows.offsets, rows.items, places, chosen.size)
            pairs.add_pairs_of_bitmaps(turned.bitmaps, chosen.size, totals)

    def by_visits() -> None:
        totals = np.zeros(comb(chosen.size, 2), np.int64)
        for rows in chunks(data):
            pairs.add_pairs_within_rows(rows.offsets, rows.items, places, chosen.size, totals)

    engine = LocalEngine(data)
    best = milliseconds(
        {
            "bitmaps": by_bitmaps,
            "visits": by_visits,
            "engine": lambda: engine.pair_supports(chosen, KeepAll(), no_keys),
        }
    )
    first = next(chunks(data))
    pay = pairs.bitmaps_pay(first.offsets, first.items, places, chosen.size)
    return best, "bitmaps" if pay else "visits"


def show(dataset: str, question: str, best: dict[str, float], chosen: str) -> None:
    """One row of the table."""
    cells = [f"{name} {value:.2f}{'*' if name == chosen else ''}" for name, value in best.items()]
    print(f"{dataset:14} {question:36}" + "".join(f"{cell:20}" for cell in cells), flush=True)


def measure(dataset: str, data: Transactions) -> None:
    """The rows of the table for one dataset."""
    item_supports = np.bincount(data.items, minlength=len(data.alphabet))
    by_support = np.argsort(-item_supports, kind="stable").astype(np.int32)
    for pool, sizes, number in (
        (50, range(1, 4), 10),
        (200, range(2, 4), 10_000),
        (60, range(3, 7), 10_000),
        (1_000, range(2, 4), 50_000),
        (5_000, range(2, 4), 50_000),
    ):
        itemsets = random_itemsets(by_support[:pool], sizes, number)
        held = min(pool, by_support.size)
        question = f"{itemsets[0].size - 1} itemsets of {sizes[0]}-{sizes[-1]} of {held} items"
        show(dataset, question, *compare_supports(data, *itemsets))
    for number in (16, 50, 200, 1_000):
        chosen = np.sort(by_support[:number])
        show(dataset, f"all pairs of {chosen.size} items", *compare_pairs(data, chosen))


def main() -> None:
    """Measure all datasets that the folder holds, and a synthetic one."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    for name in NAMES:
        path = folder / f"{name}.dat.zst"
        if path.exists():
            measure(name, load(path))
    measure("million rows", million_rows())


if __name__ == "__main__":
    main()
