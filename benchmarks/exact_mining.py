"""How long the exact miner takes, as a share of the time of pyfim's fastest algorithm for the same itemsets.

    python -m benchmarks.exact_mining

Both start from data in memory (ours from compressed rows, pyfim from a list of lists) and end with itemsets
in memory. Every time is the best of several, taken in turns, so that a busy machine slows both.
"""

from collections.abc import Callable

import fim
import numpy as np

from benchmarks.measure import best_seconds, datasets
from veilset import read
from veilset.raw import mining
from veilset.raw.bound import Rows

DATASETS = ("retail", "mushroom", "BMS-WebView-2", "kosarak-70k", "accidents-15k")
LIMITS = {1_000: 0.5, 100_000: 0.9}
"""The ratio to reach where about so many itemsets result."""

PEERS = ("relim", "sam", "eclat", "fpgrowth", "apriori")


def main() -> None:
    """Print one line for each dataset and number of itemsets."""
    columns = f"{'itemsets':>10}{'ours (s)':>10}{'pyfim (s)':>20}{'ratio':>7}{'limit':>7}"
    print(f"{'dataset':<15}{'min_count':>10}{columns}")
    for name, path in datasets(DATASETS):
        transactions = read(path)
        rows = Rows(transactions.offsets, transactions.items)
        alphabet_size = len(transactions.alphabet)
        lists = [codes.tolist() for codes in np.split(rows.items, rows.offsets[1:-1])]
        for wanted, limit in LIMITS.items():
            min_count = int(mining.top(rows, wanted, alphabet_size=alphabet_size).supports[-1])
            line = compared(lists, rows, alphabet_size, min_count)
            print(f"{name:<15}{min_count:>10}{line}{limit:>7}", flush=True)


def compared(lists: list[list[int]], rows: Rows, alphabet_size: int, min_count: int) -> str:
    """A part of a line of the table: itemsets, our time, pyfim's, which of its algorithms, the ratio."""

    def ours() -> int:
        return mining.frequent(rows, alphabet_size=alphabet_size, min_count=min_count).supports.size

    def theirs(peer: str) -> Callable[[], int]:
        return lambda: len(getattr(fim, peer)(lists, target="s", supp=-min_count, zmin=1))

    times = best_seconds({"ours": ours} | {peer: theirs(peer) for peer in PEERS}, runs=7)
    fastest = min(PEERS, key=times.__getitem__)
    ratio = times["ours"] / times[fastest]
    return f"{ours():>10}{times['ours']:>10.4f}{fastest:>12}{times[fastest]:>8.4f}{ratio:>7.2f}"


if __name__ == "__main__":
    main()
