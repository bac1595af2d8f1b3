"""A public model of how supports fall off: what can be said about itemsets before any look at the data.

Known are about how many transactions there are, the alphabet and the typical length. Assumed are:

* the odds of holding the i-th most popular item fall as 1/i (Zipf's law on odds, so that no share passes 1):
  share_i = c / (i + c), with the c for which the shares add up to the typical length;
* items are held independently of each other, so the share of an itemset is the product over its items.

A guess of one support bends the curve: every share is raised to the power that makes it pass there.
"""

import math
from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray
from veilset.itemsets import Domain

_STEP = 0.005
"""Supports are told apart on a logarithmic grid: half a percent."""

TOLERANCE = 0.01
"""How far the grid moves the support of an itemset of a few items, at the most."""

_ROUNDS = 200


@dataclass(frozen=True, slots=True, eq=False)
class SupportCurve:
    """How many itemsets have which support: classes from the most frequent to those that nobody holds."""

    supports: FloatArray
    ln_numbers: FloatArray

    def at_rank(self, rank: int) -> float:
        """The support of the itemset of that rank."""
        place = int(np.searchsorted(np.cumsum(np.exp(self.ln_numbers[:-1])), rank * (1 - 1e-9)))
        return float(self.supports[place])

    def among_first(self, k: int) -> FloatArray:
        """How many itemsets of each class belong to the k most frequent."""
        numbers = np.exp(
            np.minimum(self.ln_numbers, math.log(k) + 1)
        )  # more than k in a class are as good as k
        within: FloatArray = np.diff(np.minimum(np.cumsum(numbers), k), prepend=0.0)
        return within

    def mean_reciprocal(self, k: int) -> float:
        """The mean of 1 / support over the k most frequent itemsets."""
        return float(self.among_first(k) @ (1 / np.maximum(self.supports, 1.0))) / k


def popularity(*, items: int, length: float) -> FloatArray:
    """The share of transactions that hold each item, most popular first; they add up to the typical length.

    >>> popularity(items=4, length=2).round(2).tolist()
    [0.69, 0.53, 0.43, 0.36]
    """
    ranks = np.arange(1, items + 1, dtype=np.float64)
    low, high = -50.0, 50.0 + math.log(items)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        too_long = float((1 / (1 + ranks * math.exp(-middle))).sum()) > length
        low, high = (low, middle) if too_long else (middle, high)
    shares: FloatArray = 1 / (1 + ranks * math.exp(-high))
    return shares


def bend(shares: FloatArray, *, rows: int, support: float, wanted: float) -> FloatArray:
    """The shares of items for which a support of the curve becomes the one wanted."""
    bent: FloatArray = shares ** (math.log(wanted / rows) / math.log(support / rows))
    return bent


def support_curve(shares: FloatArray, *, rows: int, max_size: int) -> SupportCurve:
    """The supports of all itemsets of up to `max_size` items, held independently.

    Items of the same class of the grid are taken together: j of its g members can be chosen in C(g, j) ways.
    What is expected in less than half a transaction counts as held by nobody.
    """
    domain = Domain(items=range(shares.size), max_size=min(max_size, shares.size))
    last = math.ceil(math.log(2 * rows) / _STEP)
    with np.errstate(divide="ignore"):
        depths = np.minimum(np.rint(-np.log(shares) / _STEP), last + 1).astype(np.int64)
    ways = np.zeros((domain.max_size + 1, last + 1))  # [size, depth]: how many itemsets
    ways[0, 0] = 1
    for depth, members in zip(*np.unique(depths[depths <= last], return_counts=True), strict=True):
        ways = _with_class(ways, depth=int(depth), members=int(members))
    numbers = ways[1:].sum(axis=0)
    held = numbers > 0
    supports = rows * np.exp(-_STEP * np.arange(last + 1)[held])
    unseen = domain.size - round(float(numbers.sum()))
    ln_unseen = math.log(unseen) if unseen > 0 else -math.inf
    return SupportCurve(np.append(supports, 0.0), np.append(np.log(numbers[held]), ln_unseen))


def _with_class(ways: FloatArray, *, depth: int, members: int) -> FloatArray:
    """Every itemset so far, with none, one, two, ... items of one more class."""
    sizes, depths = ways.shape
    most = min(members, sizes - 1, (depths - 1) // depth if depth else members)
    longer = ways.copy()
    for taken in range(1, most + 1):
        shift = taken * depth
        longer[taken:, shift:] += math.comb(members, taken) * ways[: sizes - taken, : depths - shift]
    return longer
