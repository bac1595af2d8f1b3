"""What methods would learn of the model, where their questions are followed without noise.

Items of the model are held independently and numbered from the most popular one.
"""

import math
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray
from veilset.forecast import World
from veilset.gate import DiscreteLaplace, NoisyHistogram
from veilset.itemsets import Itemset

_LONGEST_LENGTH = 64
"""Transactions of 64 items and longer are one class, as in the histograms that methods ask for."""


def model_lengths(world: World, items: int, *, epsilon: Fraction) -> NoisyHistogram:
    """How many transactions have which length, where only the first `items` of the most popular items count."""
    values = np.rint(world.rows * _length_shares(world, items)).astype(np.int64)
    return NoisyHistogram(values, DiscreteLaplace(1, epsilon))


@lru_cache(maxsize=64)  # a search over epsilon comes by the same numbers of items again and again
def _length_shares(world: World, items: int) -> FloatArray:
    """The share of transactions of each length, one item after another; the last stands for all longer ones."""
    shares = np.zeros(_LONGEST_LENGTH + 1)
    shares[0] = 1
    for share in world.shares[:items]:
        moved = share * shares[:-1]
        shares[:-1] -= moved
        shares[1:] += moved
    return shares


def expected_rank(world: World, k: int, *, rate: float) -> int:
    """The expected answer to how many items are as frequent as the itemset of rank k, drawn at that rate."""
    most = min(k, world.shares.size)
    distances = np.abs(world.rows * world.shares[:most] - world.curve.at_rank(k))
    weights = np.exp(-rate * (distances - distances.min()))
    return max(1, round(float((np.arange(1, most + 1) * weights).sum() / weights.sum())))


def chance_to_be_reached(itemset: Itemset, chances: dict[Itemset, float]) -> float:
    """That all items are chosen, and the least likely pair: those of one itemset come or go together.

    A pair that nothing is chosen by has no say.
    """
    items = math.prod(chances[item,] for item in itemset)
    return items * min((chances.get(pair, 1.0) for pair in combinations(itemset, 2)), default=1.0)
