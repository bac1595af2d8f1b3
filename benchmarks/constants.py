"""How much the settings of `planned` matter, on generated data that nobody tuned them to.

    python -m benchmarks.constants [--repeats N]

Prints a table: the mean F-score of `planned` as it is, and with one field of its `Settings` changed at a time. Data:
generated groceries, Quest baskets, and records of a census, whose attributes depend on each other through hidden
classes.
"""

import argparse
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import islice
from multiprocessing import get_context
from types import MappingProxyType
from typing import Any

import numpy as np

from veilset import SeededNoise, mine_exact, open_curator, read
from veilset.datasets import groceries, quest
from veilset.methods.planned import planned
from veilset.methods.planned.settings import DEFAULT, Settings
from veilset.raw.transactions import Transactions
from veilset.request import Request

CHANGES: Mapping[str, tuple[Any, ...]] = {
    "share_for_rank": (Fraction(3, 100), Fraction(1, 10)),
    "noise_of_a_draw": (3.0, 12.0),
    "spare_items": (1, 5),
    "crowded": (0.5, 1.2),
    "marginal_growth": (0.6, 1.0),
    "marginal_flip": (0.02, 0.1),
    "share_for_items": (Fraction(3, 10), Fraction(1, 2)),
    "good_enough": (0.1, 0.5),
    "expected_total_within": (0.5, 2.0),
    "unevenness": (0.25, 0.7),
    "surprising_share": (0.02, 0.1),
}
"""Fields of the settings, and the values that they get in place of their own."""
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
    possible = sorted({value for column in columns for value in column})
    return read(list(map(list, zip(*columns, strict=True))), alphabet=possible)


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


def mean_f_score(settings: Settings, *, repeats: int) -> float:
    """Over all data sets, numbers of itemsets and epsilons; ties with the k-th support count as found."""
    scores = [
        f_score(data, settings, right, k=k, epsilon=Fraction(epsilon), seed=seed)
        for data in generated().values()
        for k in KS
        for right in [with_ties(data, k)]
        for epsilon in EPSILONS
        for seed in range(repeats)
    ]
    return float(np.mean(scores))


def with_ties(data: Transactions, k: int) -> set[tuple[object, ...]]:
    """The k most frequent itemsets, and all that tie with the last of them."""
    exact = mine_exact(data, k=k + 50)
    least = sorted(exact.supports)[-k]
    return {items for items, support in zip(exact.itemsets, exact.supports, strict=True) if support >= least}


def f_score(
    data: Transactions,
    settings: Settings,
    right: set[tuple[object, ...]],
    *,
    k: int,
    epsilon: Fraction,
    seed: int,
) -> float:
    """The share of the k that one seeded release finds."""
    curator = open_curator(data, epsilon=epsilon, noise=SeededNoise(seed))
    release = planned(curator, Request.of(k=k), epsilon=epsilon, settings=settings)
    return sum(found.items in right for found in release.itemsets) / k


def row(field: str, scores: list[float]) -> str:
    """One row of the table: the values that a field gets, and what is found with each."""
    values = ", or ".join(_number(value) for value in CHANGES[field])
    found = ", ".join(f"{score:.3f}" for score in scores)
    return f"| `{field}` {values}, instead of {_number(getattr(DEFAULT, field))} | {found} |"


def _number(value: float | Fraction) -> str:
    return str(value) if isinstance(value, Fraction) else f"{value:g}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.constants")
    parser.add_argument("--repeats", type=int, default=6, help="runs of every setting")
    measure = partial(mean_f_score, repeats=parser.parse_args().repeats)
    changed = [replace(DEFAULT, **{field: value}) for field, values in CHANGES.items() for value in values]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        scores = pool.map(measure, [DEFAULT, *changed])
        print(f"| change | found of the top k |\n|---|--:|\n| none | {next(scores):.3f} |", flush=True)
        for field, values in CHANGES.items():
            print(row(field, list(islice(scores, len(values)))), flush=True)


if __name__ == "__main__":
    main()
