"""Baskets and beliefs for the tests of `planned` and its parts."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from strategies import transactions_of
from veilset.gate import NoisyCount
from veilset.itemsets import Domain, Itemset
from veilset.methods.planned.posterior import Posterior, grid_to, measured
from veilset.methods.planned.scouting import Aim
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


def aim_of(
    *,
    k: int,
    about: int,
    rank: int | None = None,
    number: int = 10_000,
    items: int = 40,
    max_size: int = 12,
    epsilon: Fraction = Fraction(1),
) -> Aim:
    """What is looked for, with all of epsilon left."""
    return Aim(
        Preliminaries(NoisyCount(number, None), k, 0, epsilon, ()),
        Domain(items=range(items), max_size=max_size),
        k,
        number,
        about,
        floor=about,
        is_given=False,
        rank=rank,
        epsilon=epsilon,
        left=epsilon,
    )


def sure_of(supports: dict[Itemset, float], number: int) -> Posterior:
    """Beliefs after answers with hardly any noise."""
    grid = grid_to(number)
    values = np.array(list(supports.values()), np.float64)
    return Posterior.of(list(supports), measured(values, grid, scale=1.0, uneven=0.0), grid)
