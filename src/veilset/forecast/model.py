"""What methods would learn of the model, where their questions are followed without noise.

Items of the model are numbered from the most popular one. They are held independently, but for lengths: one transaction
takes more of everything than another, as its activity is (`World.unevenness`). Items that are held independently would
make lengths far more alike than those of baskets are, which are nearly geometric.
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

RARELY_HELD = 0.01
"""Items that less than 1 % of transactions hold are taken together."""

PART_ENDS = np.append(np.linspace(0, 0.875, 8), 1 - 2.0 ** -np.arange(4, 12))
"""The exponential law in 16 parts: 7 of 1/8, then each half as likely as the one before."""

PART_CHANCES = np.diff(np.append(PART_ENDS, 1.0))

MOST_TAKEN, HALVINGS = 1e4, 60
"""No item is taken more than 10,000 times; 60 halvings find how often."""


def _means_of_parts() -> FloatArray:
    """The mean of the exponential law of mean 1 in each part: beyond a level, the law has mean level + 1."""
    levels = -np.log1p(-PART_ENDS)
    beyond = (1 - PART_ENDS) * (levels + 1)
    means: FloatArray = -np.diff(np.append(beyond, 0.0)) / PART_CHANCES
    return means


EXPONENTIAL_PARTS = _means_of_parts()


def model_lengths(world: World, items: int, *, epsilon: Fraction) -> NoisyHistogram:
    """How many transactions have which length, where only the first `items` of the most popular items count."""
    values = np.rint(world.rows * _length_shares(world, items)).astype(np.int64)
    return NoisyHistogram(values, DiscreteLaplace(1, epsilon))


@lru_cache(maxsize=64)  # a search over epsilon comes by the same numbers of items again and again
def _length_shares(world: World, items: int) -> FloatArray:
    """The share of transactions of each length; the last stands for all longer ones.

    One popular item after another, each held with the chance that a transaction's activity gives it; rare items
    together, as a Poisson law.
    """
    activities = 1 + world.unevenness * (EXPONENTIAL_PARTS - 1)
    shares = world.shares[:items]
    popular = shares[shares >= RARELY_HELD]
    chances = 1 - np.exp(-np.outer(activities, _rates(popular, activities)))
    chances *= world.shortened
    lengths = _poisson_lengths(activities * float(world.shortened * shares[popular.size :].sum()))
    for held in chances.T[:, :, None]:
        moved = held * lengths[:, :-1]
        lengths[:, :-1] -= moved
        lengths[:, 1:] += moved
    means: FloatArray = PART_CHANCES @ lengths
    return means


def _rates(shares: FloatArray, activities: FloatArray) -> FloatArray:
    """How often a transaction of activity 1 takes each item, so that these shares of all hold it at all."""
    low, high = np.zeros(shares.size), np.full(shares.size, MOST_TAKEN)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_more = 1 - PART_CHANCES @ np.exp(-np.outer(activities, middle)) > shares
        low, high = np.where(is_more, low, middle), np.where(is_more, middle, high)
    return high


def _poisson_lengths(means: FloatArray) -> FloatArray:
    """The shares of numbers up to the longest length, for each mean; the last stands for all larger ones."""
    numbers = np.arange(_LONGEST_LENGTH)
    ln_factorials = np.cumsum(np.log(np.maximum(numbers, 1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(numbers == 0, 0.0, numbers * np.log(means[:, None]))
    shares = np.exp(logs - means[:, None] - ln_factorials)
    return np.column_stack([shares, np.maximum(0.0, 1 - shares.sum(axis=1))])


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
