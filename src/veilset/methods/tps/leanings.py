"""Which items lean to long transactions: the power of the length by which a longer one likelier holds an item.

Post-processing: everything here follows from noisy answers.

All items together have a power of 1, because a transaction holds as many items as it is long. Popular items have less:
who holds nothing else holds them, and where most transactions hold an item, long ones cannot hold it much more often.
Where supports differ much, so do the powers.
"""

from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.methods.shared.noisy_values import KeptShares
from veilset.methods.tps.lengths import LengthLaws

WITHIN_BY_RANGE, LEAST_LEANING, MOST_LEANING = 0.085, 0.12, 0.5
"""0.085 for each factor of e between the largest normalised support and the least of those chosen: by how much powers
deviate from what is expected. Measured: 0.12 (T10I4D100K, range e^1.6) to 0.5 (kosarak-70k, e^5.7)."""
SLOPE_BY_WITHIN, MOST_POWER = 0.37, 1.35
"""0.37 of that is what an item e times as popular has less; rare ones have no more than 1.35. Measured: 0 to 0.24."""
BELOW_CHOSEN = 1.0
"""1: items that were not chosen are less popular than the least popular chosen one by about e, as they are counted."""
MOST_HELD = 0.95
"""No item counts as held by more than 95 % of the transactions."""
AWAY = np.array([-3.8, -2.8, -1.8, -0.97, -0.3, 0.2, 0.7, 1.2, 1.87])
"""9 places that powers are at, in deviations from what is expected: items that are held alone are far below."""
CHANCES_AWAY = np.array([0.015, 0.03, 0.06, 0.13, 0.19, 0.215, 0.19, 0.12, 0.05])
"""How likely each of these is."""
LEAST_UNEVEN, ALL_UNEVEN = 0.018, 0.1
"""0.018: the scale by which logarithms of shares differ at the least where 0.1 or more is lost; 0.035 as a standard
deviation was measured where rows are records of one length (accidents-15k, pumsb_star-de)."""
SUPPORT_FACTOR, CLASSES_OF_SUPPORTS = 0.7, 8
"""Items within a factor of e^0.7 = 2 have one power; 8 such classes, the last of which has all rarer ones."""
TOGETHER = (0.025, 0.5, 0.975)
"""95 % of what all shares together may be."""


@dataclass(frozen=True, slots=True, eq=False)
class Leanings:
    """The powers of chosen items, and the standard deviation of powers around them."""

    powers: FloatArray
    within: float

    @classmethod
    def of(cls, normalised: FloatArray, *, others: float, held: FloatArray) -> "Leanings":
        """Of normalised supports, with the sum of all others, and the part of the transactions that hold each.

        >>> found = Leanings.of(np.array([4000.0, 500.0, 50.0]), others=3000.0, held=np.array([0.6, 0.05, 0.01]))
        >>> found.powers.round(2).tolist(), round(found.within, 2)
        ([0.42, 0.94, 1.28], 0.37)
        """
        logs, total = np.log(normalised), float(normalised.sum()) + others
        within = WITHIN_BY_RANGE * float(np.ptp(logs))
        within = min(max(within, LEAST_LEANING), MOST_LEANING)
        middle = (float(normalised @ logs) + others * (float(logs.min()) - BELOW_CHOSEN)) / total
        free = np.minimum(1 - SLOPE_BY_WITHIN * within * (logs - middle), MOST_POWER)
        return cls(free * saturated(held), within)

    def kept_at(self, power: float, laws: LengthLaws) -> KeptShares:
        """The law of the shares of items of that power."""
        low, middle, high = laws.quantiles_at(power, TOGETHER)
        shares = np.minimum(np.exp(middle + laws.around(power, power + self.within * AWAY)), 1.0)
        least = LEAST_UNEVEN * min(1.0, (1 - np.exp(middle)) / ALL_UNEVEN)
        gaps = np.hypot(np.abs(np.gradient(np.log(shares))) / 2, least)
        return KeptShares(shares, CHANCES_AWAY, gaps, (high - middle, middle - low))


def saturated(held: FloatArray) -> FloatArray:
    """What is left of a power of 1 where that part of the transactions holds an item, each item of one being a try.

    >>> saturated(np.array([0.001, 0.3, 0.6])).round(2).tolist()
    [1.0, 0.83, 0.61]
    """
    parts = np.clip(held, 1e-9, MOST_HELD)
    left: FloatArray = -np.log1p(-parts) * (1 - parts) / parts
    return left


def support_classes(values: FloatArray, largest: float) -> Int64Array:
    """The class of each value: 0 for those within a factor of the largest, then down."""
    steps = np.log(largest / np.maximum(values, 1e-9)) / SUPPORT_FACTOR
    classes: Int64Array = np.clip(np.floor(steps), 0, CLASSES_OF_SUPPORTS - 1).astype(np.int64)
    return classes
