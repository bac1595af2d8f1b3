"""Who holds an item: how much likelier a transaction holds it the longer it is. Works on noisy answers; no data.

A transaction holds an item once. So where an item is in most transactions, long ones cannot hold it much more often
than short ones; what they hold more is rarer items. How much that makes of it follows from all supports together and
the lengths, where items are taken independently as far as the lengths allow (conditional Poisson sampling): the odds
that a transaction holds an item are a weight of the item times one of the length. Weights are found in turns, so that
supports and lengths come out right.
"""

from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray, Int64Array

SUPPORT_CLASSES = 40
"""Items of nearly equal supports are one class, of 40 on a logarithmic scale."""
WEIGHT_TURNS, BISECTIONS = 12, 30
"""Weights of items and of lengths are found in 12 turns; each of the second by 30 steps of bisection."""
NO_CHANCE = -300.0
"""The logarithm of a chance that counts as none."""
LEAST_OF_CLEAR = 0.1
"""Items that are not clear have at least a tenth of what is clear, on average."""
LEAST_TILT, MOST_TILT = 0.0, 2.0
"""The power of the length by which an item is likelier held is within 0 and 2."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemClasses:
    """Supports of classes of items, ascending, and how many items are in each."""

    supports: FloatArray
    numbers: FloatArray

    @classmethod
    def of(cls, supports: FloatArray, *, clear: float, total: float) -> "ItemClasses":
        """Of noisy supports: those that are clear as they are, and all others alike, so that all add up to the total.

        >>> found = ItemClasses.of(np.array([90.0, -7.0, 7.0]), clear=20, total=100)
        >>> found.supports.round(1).tolist(), found.numbers.tolist()
        ([5.0, 90.0], [2.0, 1.0])
        """
        is_clear = supports > max(clear, 1e-6)
        others = int(np.count_nonzero(~is_clear))
        rest = (total - float(supports[is_clear].sum())) / max(others, 1)
        # Lucky noise among the clear ones leaves nothing for the others, who are not nothing for that.
        seen = float(supports[~is_clear].mean()) if others else 0.0
        least = max(min(max(rest, seen, LEAST_OF_CLEAR * clear), clear), 1e-6)
        logs = np.log(supports[is_clear])
        places = np.unique(np.rint(logs * SUPPORT_CLASSES / 8) / (SUPPORT_CLASSES / 8), return_inverse=True)[
            1
        ]
        numbers = np.bincount(places, minlength=1).astype(np.float64) if logs.size else np.zeros(0)
        means = np.exp(np.bincount(places, weights=logs) / numbers) if logs.size else np.zeros(0)
        if others:
            means, numbers = np.append(least, means), np.append(float(others), numbers)
        return cls(means, numbers)


@dataclass(frozen=True, slots=True, eq=False)
class Holding:
    """By how much a longer transaction likelier holds an item: for items of some supports, ascending.

    `logs` are the logarithms of the chances at each length (the last axis), `powers` about the powers of the length
    that they grow by.
    """

    supports: FloatArray
    logs: FloatArray
    powers: FloatArray

    @classmethod
    def of(cls, classes: ItemClasses, lengths: FloatArray, numbers: FloatArray) -> "Holding":
        """The chances with which supports and lengths come out right; `numbers` of transactions have each length.

        None is longer than there are items, whatever noise says.
        """
        items, at_least_1 = float(classes.numbers.sum()), np.maximum(lengths, 1.0)
        is_possible = (lengths >= 1) & (lengths <= items)
        numbers = np.where(is_possible, np.maximum(numbers, 1e-6), 0.0)
        wanted = np.minimum(at_least_1, 0.98 * items)
        supports = classes.supports * float(wanted @ numbers) / float(classes.supports @ classes.numbers)
        supports = np.minimum(supports, 0.98 * numbers.sum())
        weights = np.log(supports / numbers.sum())
        chances = np.ones((weights.size, lengths.size))
        for _ in range(WEIGHT_TURNS):
            chances = _chances(weights, _length_weights(weights, classes.numbers, wanted))
            weights = weights + np.clip(np.log(supports / (chances @ numbers)), -1.0, 1.0)
        logs = np.where(is_possible, np.log(chances), NO_CHANCE)
        return cls(classes.supports, logs, _powers(chances, at_least_1, numbers))

    def classes_of(self, supports: FloatArray) -> Int64Array:
        """The class of each item, by its support."""
        middles = (self.supports[1:] + self.supports[:-1]) / 2
        found: Int64Array = np.searchsorted(middles, supports).astype(np.int64)
        return found

    def shares_kept(self, kept: FloatArray, numbers: FloatArray) -> FloatArray:
        """What is kept of the support of each class, where of a transaction of each length that is `kept`.

        Where nobody holds anything, nothing is lost.
        """
        holders = np.exp(self.logs) * numbers
        everywhere = holders.sum(axis=1)
        shares: FloatArray = np.divide(
            holders @ kept, everywhere, out=np.ones(everywhere.size), where=everywhere > 0
        )
        return shares

    def logs_together(self, classes: Int64Array) -> FloatArray:
        """The logarithm of the chance to hold all items at each length, where none has to do with another."""
        numbers = np.bincount(classes.ravel(), minlength=self.supports.size)
        together: FloatArray = numbers @ self.logs / len(classes)
        return together


def _chances(weights: FloatArray, of_lengths: FloatArray) -> FloatArray:
    """That a transaction of each length (the last axis) holds an item of each weight."""
    chances: FloatArray = 1 / (1 + np.exp(-np.clip(weights[:, None] + of_lengths, -60, 60)))
    return chances


def _length_weights(weights: FloatArray, numbers: FloatArray, wanted: FloatArray) -> FloatArray:
    """The weights of lengths for which transactions hold as many items as they are long."""
    low, high = np.full(wanted.size, -60.0), np.full(wanted.size, 60.0)
    for _ in range(BISECTIONS):
        half = (low + high) / 2
        is_low = numbers @ _chances(weights, half) < wanted
        low, high = np.where(is_low, half, low), np.where(is_low, high, half)
    middle: FloatArray = (low + high) / 2
    return middle


def _powers(chances: FloatArray, lengths: FloatArray, numbers: FloatArray) -> FloatArray:
    """The slope of the logarithm of chances over that of lengths, by least squares weighted by holders."""
    holders = chances * numbers
    share = holders / holders.sum(axis=1, keepdims=True)
    logs, log_chances = np.log(lengths), np.log(chances)
    apart = logs - share @ logs[:, None]
    spread = (share * apart**2).sum(axis=1)
    slopes = (share * apart * log_chances).sum(axis=1) / np.maximum(spread, 1e-9)
    powers: FloatArray = np.clip(np.where(spread < 1e-6, 1.0, slopes), LEAST_TILT, MOST_TILT)
    return powers
