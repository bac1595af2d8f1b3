"""How much the constants of `planned` matter, on generated data that nobody tuned them to.

    python -m benchmarks.constants [--repeats N]

Prints a table: the mean F-score of `planned` as it is, and with one constant changed at a time. Data: generated
groceries, Quest baskets, and records of a census, whose attributes depend on each other through hidden classes.
"""

import argparse
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from types import MappingProxyType

import numpy as np

from veilset import SeededNoise, mine, mine_exact, read
from veilset.datasets import groceries, quest
from veilset.raw.transactions import Transactions

Change = tuple[str, float | Fraction]

CHANGES: tuple[Change, ...] = (
    ("aim.SHARE_FOR_RANK", Fraction(3, 100)),
    ("aim.SHARE_FOR_RANK", Fraction(1, 10)),
    ("choosing_items.NOISE_OF_A_DRAW", 3.0),
    ("choosing_items.NOISE_OF_A_DRAW", 12.0),
    ("choosing_items.ROOM", 1),
    ("choosing_items.ROOM", 5),
    ("choosing_items.CROWDED", 0.5),
    ("choosing_items.CROWDED", 1.2),
    ("patterns.GROWTH", 0.6),
    ("patterns.GROWTH", 1.0),
    ("patterns.FLIPPED", 0.02),
    ("patterns.FLIPPED", 0.1),
    ("by_size.SHARE_FOR_ITEMS", Fraction(3, 10)),
    ("by_size.SHARE_FOR_ITEMS", Fraction(1, 2)),
    ("by_size.GOOD_ENOUGH", 0.1),
    ("by_size.GOOD_ENOUGH", 0.5),
    ("by_size.TOTAL_WITHIN", 0.5),
    ("by_size.TOTAL_WITHIN", 2.0),
    ("again.PRECISE", 0.005),
    ("again.PRECISE", 0.02),
    ("spread.UNEVEN", 0.25),
    ("spread.UNEVEN", 0.7),
)
MODULES = ("aim", "choosing_items", "few_items", "patterns", "by_size", "again", "spread", "shared")
KS, EPSILONS = (50, 100), ("0.1", "0.25", "1")


def census(rows: int, attributes: int, classes: int, *, skew: float, seed: int) -> Transactions:
    """Records with one value for each attribute; how often a value occurs depends on a hidden class of the record."""
    random = np.random.default_rng(seed)
    hidden = random.choice(classes, rows, p=random.dirichlet(np.full(classes, 2.0)))
    columns = []
    for attribute in range(attributes):
        usual = np.sort(random.dirichlet(np.full(random.integers(2, 9), skew)))[::-1]
        by_class = np.array([random.dirichlet(6 * usual + 0.05) for _ in range(classes)])
        values = (by_class[hidden].cumsum(axis=1) < random.random((rows, 1))).sum(axis=1)
        columns.append([f"{attribute}={min(value, usual.size - 1)}" for value in values.tolist()])
    return read(list(map(list, zip(*columns, strict=True))))


@cache
def generated() -> Mapping[str, Transactions]:
    """All data sets, made once in every process."""
    return MappingProxyType(
        {
            "groceries": groceries(30_000, seed=3),
            "few groceries": groceries(8_000, seed=5),
            "quest": quest(30_000, seed=3),
            "census, 16 attributes": census(8_000, 16, 5, skew=0.5, seed=1),
            "census, 25 attributes": census(20_000, 25, 8, skew=0.3, seed=2),
            "census, 30 attributes": census(3_000, 30, 3, skew=0.2, seed=3),
            "census, 12 attributes": census(40_000, 12, 6, skew=1.0, seed=4),
        }
    )


@contextmanager
def changed(change: Change | None) -> Iterator[None]:
    """With one constant changed, in its own module and wherever it was imported."""
    if change is None:
        yield
        return
    name = change[0].partition(".")[2]
    users = [import_module(f"veilset.methods.{module}") for module in MODULES]
    old = {user: getattr(user, name) for user in users if hasattr(user, name)}
    owner = getattr(import_module(f"veilset.methods.{change[0].partition('.')[0]}"), name)
    same = [user for user, value in old.items() if value == owner]
    for user in same:
        setattr(user, name, change[1])
    try:
        yield
    finally:
        for user in same:
            setattr(user, name, old[user])


def mean_f_score(change: Change | None, *, repeats: int) -> float:
    """Over all data sets, numbers of itemsets and epsilons; ties with the k-th support count as found."""
    scores = []
    with changed(change):
        for data in generated().values():
            for k in KS:
                exact = mine_exact(data, k=k + 50)
                least = sorted(exact.supports)[-k]
                right = {
                    items
                    for items, support in zip(exact.itemsets, exact.supports, strict=True)
                    if support >= least
                }
                scores += [
                    sum(
                        found.items in right
                        for found in mine(data, epsilon=epsilon, k=k, noise=SeededNoise(seed)).itemsets
                    )
                    / k
                    for epsilon in EPSILONS
                    for seed in range(repeats)
                ]
    return float(np.mean(scores))


def run(change: Change | None, repeats: int) -> str:
    """One row of the table."""
    score = mean_f_score(change, repeats=repeats)
    return f"| {'none' if change is None else f'`{change[0]}` {change[1]}'} | {score:.3f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.constants")
    parser.add_argument("--repeats", type=int, default=6, help="runs of every setting")
    repeats = parser.parse_args().repeats
    changes = (None, *CHANGES)
    print("| change | found of the top k |\n|---|--:|")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for row in pool.map(run, changes, [repeats] * len(changes)):
            print(row, flush=True)


if __name__ == "__main__":
    main()
