"""Which items lean to long transactions: the power of the length by which a longer one likelier holds an item.

Post-processing: everything here follows from noisy answers.

All items together have a power of 1, because a transaction holds as many items as it is long. Popular items have less:
who holds nothing else holds them, and where most transactions hold an item, long ones cannot hold it much more often.
How much less, and whether those that were chosen lean as all do, is drawn: what explains the noisy sum of their
supports is likelier (`tps.supports`). How far single items depart from that is told by `tps.unlikeness`.
"""

from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray, Int64Array

OFF, SLOPE, SLOPE_WITHIN = 0.1, 0.1, 0.1
"""0.1 is how far the power of all chosen items is from 1, and an item e times as popular has 0.1 less, within
0.1: 0.2 in retail and kosarak-70k, 0 in BMS-WebView-2 and T10I4D100K."""
BELOW_CHOSEN = 1.0
"""1: items that were not chosen are less popular than the least popular chosen one by about e, as they are counted."""
MOST_HELD = 0.95
"""No item counts as held by more than 95 % of the transactions."""
SUPPORT_FACTOR, CLASSES_OF_SUPPORTS = 0.7, 8
"""Items within a factor of e^0.7 = 2 have one power; 8 such classes, the last of which has all rarer ones."""
LINE_PLACES = np.array([-1.7, -0.85, 0.0, 0.85, 1.7])
"""5 places of a normal law that stand for all others."""
LINE_CHANCES = np.exp(-(LINE_PLACES**2) / 2) / np.exp(-(LINE_PLACES**2) / 2).sum()
OFFSET_PLACES = np.array([-9.0, -5.0, -1.7, -0.85, 0.0, 0.85, 1.7, 5.0, 9.0])
OFFSET_CHANCES = np.append(np.append([0.002, 0.004], 0.988 * LINE_CHANCES), [0.004, 0.002])
"""The same for all chosen items together, and 1.2 % for what no other data had: a clear sum of supports finds it."""
OFFSETS, SLOPES = (
    each.ravel()
    for each in np.meshgrid(OFF * OFFSET_PLACES, SLOPE + SLOPE_WITHIN * LINE_PLACES, indexing="ij")
)
CHANCES_OF_LINES = np.outer(OFFSET_CHANCES, LINE_CHANCES).ravel()
"""45 lines that powers may be on, and how likely each is at first."""
DEGREES_OF_POWERS = 5.0
"""Powers of items have the tails of Student's t with 5 degrees of freedom around their line."""


@dataclass(frozen=True, slots=True, eq=False)
class SupportClasses:
    """Classes of chosen items of about equal normalised supports, from the largest down.

    `members` tells the class of each chosen item, `everywhere` that of every measured one: of those in a class of
    which none was chosen it is that of the next rarer ones, or the rarest.
    """

    members: Int64Array
    everywhere: Int64Array
    counted: FloatArray
    sizes: FloatArray
    logs: FloatArray
    middle: float

    @classmethod
    def of(cls, values: FloatArray, places: Int64Array) -> "SupportClasses":
        """Of all normalised supports, those of the chosen ones calm, and the places of these.

        >>> found = SupportClasses.of(np.array([4000.0, 3000.0, 500.0, 400.0, 1.0]), np.array([0, 1, 3]))
        >>> found.members.tolist(), found.everywhere.tolist(), found.counted.tolist()
        ([0, 0, 1], [0, 0, 1, 1, 1], [7000.0, 400.0])
        """
        chosen = values[places]
        classes = support_classes(values, float(chosen.max()))
        some, members = np.unique(classes[places], return_inverse=True)
        everywhere = np.minimum(np.searchsorted(some, classes), some.size - 1)
        counted: FloatArray = np.bincount(members, weights=chosen).astype(np.float64)
        sizes = np.bincount(members).astype(np.float64)
        logs = np.bincount(members, weights=np.log(chosen)) / sizes
        others = max(float(values.sum() - chosen.sum()), 0.0)
        rarer = float(np.log(chosen).min()) - BELOW_CHOSEN
        middle = (float(chosen @ np.log(chosen)) + others * rarer) / (float(chosen.sum()) + others)
        return cls(members.ravel(), everywhere, counted, sizes, logs, middle)

    def powers(self, held: FloatArray) -> FloatArray:
        """The power of each class (the last axis), on each of CHANCES_OF_LINES.

        `held` is the part of the transactions that hold an item of each class.
        """
        powers = 1 + OFFSETS[:, None] - SLOPES[:, None] * (self.logs - self.middle)
        found: FloatArray = powers * saturated(held)
        return found


def student(deviations: FloatArray) -> FloatArray:
    """The density of powers around their line, up to a factor."""
    density: FloatArray = (1 + deviations**2 / DEGREES_OF_POWERS) ** (-(DEGREES_OF_POWERS + 1) / 2)
    return density


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
