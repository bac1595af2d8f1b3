"""A public model of how supports fall off: what can be said about itemsets before any look at the data.

Known are about how many transactions there are, the alphabet and the typical length. Assumed are:

* the odds of holding the i-th most popular item fall as 1/i (Zipf's law on odds, so that no share passes 1):
  share_i = c / (i + c), with the c for which the shares add up to the typical length;
* items are held independently of each other, so the share of an itemset is the product over its items.

A guess of one support bends the curve, in one of two ways:

* the odds fall as 1/i^s, with the s nearest to 1 for which the curve passes there and shares still add up to the
  typical length, which is known, too. So it is where fewer hold the k-th itemset than odds of 1/i make expect
  (popularity is flatter), and where many hold it (popularity is steeper, for no share can grow much that is near 1);
* every share is raised to the power that makes the curve pass there, and the length gives way. So it is where a rare
  itemset is more frequent than expected: items that are held together make it so, and larger itemsets gain more. And
  so it is with what is left where no s reaches the guess.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray
from veilset.itemsets import Domain

_STEP = 0.005
"""Supports are told apart on a logarithmic grid: half a percent."""

TOLERANCE = 0.01
"""How far the grid moves the support of an itemset of a few items, at the most."""

_ROUNDS = 200

_COARSE_STEP = 0.02
"""Where only the right exponent is looked for, supports are told apart by 2 %."""

_LARGER = 1.15
"""Exponents are tried in steps of 15 %, until the curve passes the guess or turns away from it."""

_LEAST_EXPONENT, _LARGEST_EXPONENT = 0.1, 10.0

_RARE = 0.25
"""An itemset that less than a quarter of the transactions hold may owe much to items that are held together."""

_HALVINGS = 6
"""6 halvings make 15 % a quarter of a percent."""


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


def popularity(*, items: int, length: float, exponent: float = 1.0) -> FloatArray:
    """The share of transactions that hold each item, most popular first; they add up to the typical length.

    >>> popularity(items=4, length=2).round(2).tolist()
    [0.69, 0.53, 0.43, 0.36]
    """
    powers = np.arange(1, items + 1, dtype=np.float64) ** exponent
    low, high = -50.0, 50.0 + exponent * math.log(items)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        too_long = float((1 / (1 + powers * math.exp(-middle))).sum()) > length
        low, high = (low, middle) if too_long else (middle, high)
    shares: FloatArray = 1 / (1 + powers * math.exp(-high))
    return shares


def popularity_through(
    wanted: float, *, k: int, rows: int, items: int, length: float, max_size: int
) -> FloatArray:
    """The shares of items for which the k-th of all itemsets of up to `max_size` items has the support wanted.

    Where odds fall as 1/i as they stand, the k-th support must be above 0 and below all rows.
    """

    def kth_support(exponent: float) -> float:
        shares = popularity(items=items, length=length, exponent=exponent)
        # Itemsets with rarer items do not reach the support, so the k-th is above it without them or not at all.
        few = shares[: max(1, int(np.count_nonzero(rows * shares >= wanted / 2)))]
        return support_curve(few, rows=rows, max_size=max_size, step=_COARSE_STEP).at_rank(k)

    is_from_company = kth_support(1.0) < wanted < _RARE * rows
    exponent = 1.0 if is_from_company else _exponent_through(wanted, kth_support)
    shares = popularity(items=items, length=length, exponent=exponent)
    support = support_curve(shares, rows=rows, max_size=max_size).at_rank(k)
    return _bend(shares, rows=rows, support=min(max(support, 0.5), rows - 0.5), wanted=wanted)


def _exponent_through(wanted: float, kth_support: Callable[[float], float]) -> float:
    """The exponent nearest to 1 at which the k-th support is the one wanted, or comes nearest to it.

    The steeper the odds, the more itemsets of the first items are frequent; but very steep odds leave few items.
    """
    exponent, support = 1.0, kth_support(1.0)
    is_below = support < wanted
    flatter, steeper = kth_support(1 / _LARGER), kth_support(_LARGER)
    factor = _LARGER if (steeper > flatter) == is_below else 1 / _LARGER
    while _LEAST_EXPONENT < exponent < _LARGEST_EXPONENT:
        following = kth_support(exponent * factor)
        if (following < wanted) != is_below:
            return _halved(exponent, exponent * factor, lambda at: (kth_support(at) < wanted) == is_below)
        if (following > support) != is_below:
            break
        exponent, support = exponent * factor, following
    return exponent


def _halved(near: float, far: float, is_near: Callable[[float], bool]) -> float:
    """Between two exponents, where the one side begins."""
    for _ in range(_HALVINGS):
        middle = math.sqrt(near * far)
        near, far = (middle, far) if is_near(middle) else (near, middle)
    return near


def _bend(shares: FloatArray, *, rows: int, support: float, wanted: float) -> FloatArray:
    """The shares of items for which a support of the curve becomes the one wanted."""
    bent: FloatArray = shares ** (math.log(wanted / rows) / math.log(support / rows))
    return bent


def support_curve(shares: FloatArray, *, rows: int, max_size: int, step: float = _STEP) -> SupportCurve:
    """The supports of all itemsets of up to `max_size` items, held independently.

    Items of the same class of the grid are taken together: j of its g members can be chosen in C(g, j) ways.
    What is expected in less than half a transaction counts as held by nobody.
    """
    domain = Domain(items=range(shares.size), max_size=min(max_size, shares.size))
    last = math.ceil(math.log(2 * rows) / step)
    with np.errstate(divide="ignore"):
        depths = np.minimum(np.rint(-np.log(shares) / step), last + 1).astype(np.int64)
    ways = np.zeros((domain.max_size + 1, last + 1))  # [size, depth]: how many itemsets
    ways[0, 0] = 1
    for depth, members in zip(*np.unique(depths[depths <= last], return_counts=True), strict=True):
        ways = _with_class(ways, depth=int(depth), members=int(members))
    numbers = ways[1:].sum(axis=0)
    held = numbers > 0
    supports = rows * np.exp(-step * np.arange(last + 1)[held])
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
