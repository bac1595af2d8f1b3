"""Baskets, scouting results and posteriors for the tests of `planned` and its parts."""

import math
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from strategies import transactions_of
from veilset.arrays import FloatArray
from veilset.gate import NoisyCount
from veilset.itemsets import Domain, Itemset
from veilset.methods.planned.histogram_laws import MOST
from veilset.methods.planned.measurements import TILTS, Measurement
from veilset.methods.planned.overlap import Overlap
from veilset.methods.planned.posterior import Posterior, grid_to
from veilset.methods.planned.scouting import DenseScouting, SparseScouting
from veilset.methods.planned.settings import DEFAULT
from veilset.methods.shared.preliminaries import Preliminaries
from veilset.raw.transactions import Transactions


def drawn(rows: int, shares: npt.NDArray[np.floating[Any]], *, busy: float = 1.0) -> Transactions:
    """Baskets, of which those that are busy hold each item independently with its share."""
    random = np.random.default_rng(0)
    is_held = random.random((rows, shares.size)) < shares
    is_held &= random.random((rows, 1)) < busy
    return transactions_of([frozenset(np.flatnonzero(row).tolist()) for row in is_held], shares.size)


DENSE = drawn(2000, np.linspace(0.9, 0.3, 12))
"""Few items, of which transactions hold most."""
SPARSE = drawn(3000, 0.3 / np.arange(1, 301) ** 0.7)
"""Many items, of which transactions hold a few."""
FEW = drawn(2000, np.linspace(0.4, 0.24, 8))
"""Few items, of which transactions hold two or three."""
TOGETHER = drawn(3000, np.full(8, 0.65), busy=0.1)
"""Few items that go together: most transactions hold none, the others most of them."""


def sparse_scouting(
    *,
    k: int,
    threshold: int,
    number: int = 10_000,
    items: int = 40,
    max_size: int = 12,
    epsilon: Fraction = Fraction(1),
) -> SparseScouting:
    """What is looked for, with all of epsilon remaining."""
    return SparseScouting(
        preliminaries=Preliminaries(NoisyCount(number, None), k, 0, epsilon, ()),
        domain=Domain(items=range(items), max_size=max_size),
        settings=DEFAULT,
        unit_transactions=1,
        threshold=threshold,
        floor=threshold,
        is_given=False,
        epsilon=epsilon,
        remaining=epsilon,
    )


def dense_scouting(*, rank: int, **known: Any) -> DenseScouting:  # noqa: ANN401 - as `sparse_scouting` has them
    """The same where about `rank` items carry the answer."""
    sparse = sparse_scouting(**known)
    return DenseScouting(**{field.name: getattr(sparse, field.name) for field in fields(sparse)}, rank=rank)


def overlap_over(transactions: dict[int, float]) -> Overlap:
    """For each number of itemsets, how many transactions contain that many."""
    contained = np.zeros(MOST)
    for number, of_them in transactions.items():
        contained[number - 1] = of_them
    return Overlap.known(contained, DEFAULT)


ONE_EACH = overlap_over({1: 1000})
"""A thousand transactions that contain one itemset each: the noise of a count is all its error."""


def sharp_posterior(supports: dict[Itemset, float], number: int, *, blur: int = 1) -> Posterior:
    """After answers with hardly any noise; the larger the blur, the less certain."""
    grid = grid_to(number)
    return Posterior.measured(list(supports), measured(list(supports.values()), grid, scale=blur), grid)


def measured(
    values: Sequence[float] | FloatArray, grid: FloatArray, *, scale: float, unevenness: float = 0.0
) -> Measurement:
    """Supports that lack nothing, with Laplace noise of a scale."""
    counted = np.tile(grid, (1, len(TILTS), 1))
    return Measurement(np.array(values, np.float64), np.array([math.sqrt(2) * scale]), counted, unevenness)
