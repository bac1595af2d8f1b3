"""How long the exact miner takes, as a share of the time of pyfim's fastest algorithm for the same itemsets.

Run with `python benchmarks/exact_mining.py`. Both start from data in memory (ours from compressed rows, pyfim
from a list of lists) and end with itemsets in memory. Every time is the best of several, taken in turns, so
that a busy machine slows both.
"""

import time
from collections.abc import Callable
from pathlib import Path

import fim
import numpy as np

from veilset.raw import mining
from veilset.raw.bound import Rows
from veilset.raw.read import read

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
DATASETS = ("retail", "mushroom", "BMS-WebView-2", "kosarak-70k", "accidents-15k")
ITEMSETS = (1_000, 100_000)
PEERS = ("relim", "sam", "eclat", "fpgrowth", "apriori")
REPEATS = 7


def main() -> None:
    """Print one line for each dataset and number of itemsets."""
    if not DATA.is_dir():
        print(f"There is no folder {DATA.parent.name}/{DATA.name} beside the repository: nothing to measure.")
        return
    print(f"{'dataset':<15}{'min_count':>10}{'itemsets':>10}{'ours (s)':>10}{'pyfim (s)':>20}{'ratio':>7}")
    for name in DATASETS:
        transactions = read(DATA / f"{name}.dat.zst")
        rows = Rows(transactions.offsets, transactions.items)
        alphabet_size = len(transactions.alphabet)
        lists = [codes.tolist() for codes in np.split(rows.items, rows.offsets[1:-1])]
        for wanted in ITEMSETS:
            min_count = int(mining.top(rows, wanted, alphabet_size=alphabet_size).supports[-1])
            print(f"{name:<15}{min_count:>10}{compared(lists, rows, alphabet_size, min_count)}", flush=True)


def compared(lists: list[list[int]], rows: Rows, alphabet_size: int, min_count: int) -> str:
    """The rest of a line of the table: itemsets, our time, pyfim's, which of its algorithms, the ratio."""

    def ours() -> int:
        return mining.frequent(rows, alphabet_size=alphabet_size, min_count=min_count).supports.size

    def theirs(peer: str) -> Callable[[], int]:
        return lambda: len(getattr(fim, peer)(lists, target="s", supp=-min_count, zmin=1))

    contestants = {"ours": ours} | {peer: theirs(peer) for peer in PEERS}
    times = dict.fromkeys(contestants, float("inf"))
    for _ in range(REPEATS):
        for contestant, run in contestants.items():
            times[contestant] = min(times[contestant], seconds(run))
    fastest = min(PEERS, key=times.__getitem__)
    ratio = times["ours"] / times[fastest]
    return f"{ours():>10}{times['ours']:>10.4f}{fastest:>12}{times[fastest]:>8.4f}{ratio:>7.2f}"


def seconds(run: Callable[[], int]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
