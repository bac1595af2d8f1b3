"""Basis sets for PrivBasis: small groups of items that cover given items and pairs at little error.

Everything here works on items and pairs that were paid for; no data.

The count of an itemset X within a basis b is a sum of 2^(|b| - |X|) noisy cells of its marginal, and with w bases
the noise of each cell has a variance in proportion to w^2. Over all bases that hold X, weighted by inverse
variance, the variance of X is w^2 / sum of 2^(|X| - |b|). The error of a basis set is the mean of that over
the given items and pairs (EV in the paper).
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from veilset.arrays import BoolArray, FloatArray, Int64Array
from veilset.itemsets import Itemset

Basis = tuple[int, ...]

ORPHANS_IN_A_GROUP = 3
"""Groups of 3 give single items the least error: 2^(l - 1) / l^2 is smallest at l = 3."""


def basis_set(items: Sequence[int], pairs: Sequence[Itemset], *, largest: int) -> list[Basis]:
    """Bases that hold every item and every pair, merged while that lowers the mean error (Alg. 2).

    >>> basis_set([1, 2, 3, 4, 5], [(1, 2), (2, 3), (1, 3)], largest=12)
    [(1, 2, 3), (4, 5)]
    """
    if not pairs and len(items) <= largest:
        return [tuple(items)]
    cliques = [part for clique in maximal_cliques(pairs) for part in split_clique(clique, largest)]
    covered = {item for clique in cliques for item in clique}
    orphans = [item for item in items if item not in covered]
    groups = [tuple(orphans[i : i + ORPHANS_IN_A_GROUP]) for i in range(0, len(orphans), ORPHANS_IN_A_GROUP)]
    return merged([*cliques, *groups], items, pairs, largest=largest)


def maximal_cliques(pairs: Sequence[Itemset]) -> Iterator[Basis]:
    """The maximal sets of items all of whose pairs are given (Bron and Kerbosch 1973, with pivots).

    >>> sorted(maximal_cliques([(1, 2), (2, 3), (1, 3), (3, 4)]))
    [(1, 2, 3), (3, 4)]
    """
    neighbours: dict[int, set[int]] = {}
    for a, b in pairs:
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)

    def extended(clique: Basis, candidates: set[int], excluded: set[int]) -> Iterator[Basis]:
        if not candidates and not excluded:
            yield tuple(sorted(clique))
            return
        pivot = max(sorted(candidates | excluded), key=lambda item: len(neighbours[item] & candidates))
        for item in sorted(candidates - neighbours[pivot]):
            yield from extended((*clique, item), candidates & neighbours[item], excluded & neighbours[item])
            candidates = candidates - {item}
            excluded = excluded | {item}

    if neighbours:
        yield from extended((), set(neighbours), set())


def split_clique(clique: Basis, largest: int) -> list[Basis]:
    """A clique that is too large as overlapping parts that together hold all its pairs.

    >>> [len(part) for part in split_clique(tuple(range(20)), 12)]
    [10, 10, 10, 10, 10, 10]
    """
    if len(clique) <= largest:
        return [clique]
    number = math.ceil(len(clique) / (largest // 2))
    blocks = [clique[i::number] for i in range(number)]
    return [tuple(sorted(a + b)) for a, b in combinations(blocks, 2)]


def merged(
    bases: Sequence[Basis], items: Sequence[int], pairs: Sequence[Itemset], *, largest: int
) -> list[Basis]:
    """Merge two bases at a time, the two that lower the mean error most, until none do."""
    queries = np.array([(item, item) for item in items] + [tuple(pair) for pair in pairs])
    codes, places = np.unique(queries, return_inverse=True)
    left, right = places.reshape(queries.shape).T
    sizes = np.where(left == right, 1, 2)
    holds = np.array([np.isin(codes, basis) for basis in bases]).T  # items x bases
    while holds.shape[1] > 1:
        now = mean_error(_precision(holds, left, right, sizes).sum(axis=1), holds.shape[1])
        first, second, error = _best_merge(holds, left, right, sizes, largest=largest)
        if error >= now:
            break
        union = holds[:, first] | holds[:, second]
        holds = np.column_stack([np.delete(holds, [first, second], axis=1), union])
    return [tuple(codes[column].tolist()) for column in holds.T]


def mean_error(precision: FloatArray, width: int) -> float:
    """The mean variance over all given items and pairs, in units of one cell's at width 1."""
    return float(width**2 * (1 / precision).mean())


def _precision(holds: BoolArray, left: Int64Array, right: Int64Array, sizes: Int64Array) -> FloatArray:
    """What each basis (column) adds to the precision of each query (row): 2^(|X| - |b|), or 0."""
    weight = 2.0 ** (sizes[:, None] - holds.sum(axis=0)[None, :])
    precision: FloatArray = np.where(holds[left] & holds[right], weight, 0.0)
    return precision


def _best_merge(
    holds: BoolArray,
    left: Int64Array,
    right: Int64Array,
    sizes: Int64Array,
    *,
    largest: int,
) -> tuple[int, int, float]:
    """The two bases whose merger leaves the least error, and that error; infinite where none may merge."""
    first, second = np.triu_indices(holds.shape[1], 1)
    unions = holds[:, first] | holds[:, second]
    allowed = np.flatnonzero(unions.sum(axis=0) <= largest)
    if allowed.size == 0:
        return 0, 0, math.inf
    first, second, unions = first[allowed], second[allowed], unions[:, allowed]
    each = _precision(holds, left, right, sizes)
    after = each.sum(axis=1)[:, None] - each[:, first] - each[:, second]
    after += _precision(unions, left, right, sizes)
    errors = (holds.shape[1] - 1) ** 2 * (1 / after).mean(axis=0)
    best = int(errors.argmin())
    return int(first[best]), int(second[best]), float(errors[best])
