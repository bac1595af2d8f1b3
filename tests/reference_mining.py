"""The miner's slow twins: loops over Python sets, and pyfim."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

import fim

Itemset = tuple[int, ...]
Supported = tuple[Itemset, int]


def frequent(
    rows: Iterable[Sequence[int]],
    *,
    min_count: int,
    min_size: int = 1,
    max_size: int | None = None,
    items: Collection[int] | None = None,
) -> list[Supported]:
    """Count every subset of every row, keep the frequent ones."""
    counts: Counter[Itemset] = Counter()
    for row in rows:
        kept = sorted(item for item in set(row) if items is None or item in items)
        largest = len(kept) if max_size is None else min(len(kept), max_size)
        for size in range(min_size, largest + 1):
            counts.update(combinations(kept, size))
    return in_order((itemset, count) for itemset, count in counts.items() if count >= min_count)


def maximal(itemsets: list[Supported]) -> list[Supported]:
    """Compare every itemset with every other."""
    return [
        (itemset, count) for itemset, count in itemsets if not any(set(itemset) < set(x) for x, _ in itemsets)
    ]


def by_pyfim(rows: list[list[int]], *, min_count: int, target: str = "s") -> list[Supported]:
    """What pyfim finds; relim, because some of its other algorithms lose itemsets that every row holds."""
    found = fim.relim(rows, target=target, supp=-min_count, zmin=1, report="a")
    return in_order((tuple(sorted(itemset)), count) for itemset, count in found)


def in_order(itemsets: Iterable[Supported]) -> list[Supported]:
    """Largest support first; ties by size, then by items."""
    return sorted(itemsets, key=lambda one: (-one[1], len(one[0]), one[0]))
