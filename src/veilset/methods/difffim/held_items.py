"""Who holds itemsets: whoever holds all their items by chance, and whoever takes them as one. No data here.

Where items have nothing to do with each other, long transactions hold two of them far more often than short ones do.
Items that belong together are taken as if they were one item, and long transactions then hold them no more often than
they hold an item of that support. Which it is shows in the support itself: what it is above what chance would make of
the supports of the items and the lengths, is of those who take the items as one.
"""

from dataclasses import dataclass, replace

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.methods.shared.holders import NO_CHANCE, Holding
from veilset.methods.shared.truncation import HeldBy, TiltLaw, ways_to_hold

POWER_CLASSES, AS_ONE_CLASSES = 8, 8
"""Itemsets are told apart by how much likelier a longer transaction holds them, in steps of 1/8 of a power, and by how
many of their holders take them as one, in steps of 1/8."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldItems:
    """How longer transactions likelier hold some itemsets: by the `classes` of the items of each, a row.

    A part `as_one` of the holders of each takes it as one item, of the class `whole`. `tilts` are around that.
    """

    holding: Holding
    lengths: FloatArray
    numbers: FloatArray
    classes: Int64Array
    as_one: FloatArray
    whole: Int64Array
    tilts: TiltLaw

    @classmethod
    def independent(
        cls, holding: Holding, lengths: FloatArray, numbers: FloatArray, classes: Int64Array, tilts: TiltLaw
    ) -> "HeldItems":
        """Items that have nothing to do with each other."""
        none = np.zeros(len(classes))
        return cls(holding, lengths, numbers, classes, none, none.astype(np.int64), tilts)

    @property
    def size(self) -> int:
        """How many items an itemset has."""
        return int(self.classes.shape[1])

    def with_supports(self, supports: FloatArray) -> "HeldItems":
        """The same where itemsets have about these supports: what is above chance is taken as one."""
        as_one = 1 - np.minimum(self.by_chance() / np.maximum(supports, 1e-9), 1.0)
        return replace(self, as_one=as_one, whole=self.holding.classes_of(supports))

    def by_chance(self) -> FloatArray:
        """How many transactions would hold each itemset if its items had nothing to do with each other."""
        alike, of_each = np.unique(np.sort(self.classes, axis=1), axis=0, return_inverse=True)
        chances = np.exp(self.holding.logs[alike].sum(axis=1)) * self._left()
        held: FloatArray = chances @ self.numbers
        return held[of_each.ravel()]

    @property
    def groups(self) -> FloatArray:
        """Numbers that are the same for itemsets that are held alike."""
        powers = self.holding.powers[self.classes].mean(axis=1)
        as_one = np.rint(self.as_one * AS_ONE_CLASSES)
        numbers: FloatArray = np.rint(powers * POWER_CLASSES) * (AS_ONE_CLASSES + 1) + as_one
        return numbers

    def held_by(self, places: Int64Array) -> HeldBy:
        """Who holds some itemsets: on average over them."""
        possible = self.lengths >= self.size
        chances = np.exp(self.holding.logs_together(self.classes[places])) * self._left()
        one = np.exp(self.holding.logs_together(self.whole[places, None])) * possible
        part = float(self.as_one[places].mean())
        mixed = (1 - part) * self._law(chances) + part * self._law(one)
        logs: FloatArray = np.where(mixed > 0, np.log(np.maximum(mixed, 1e-300)), NO_CHANCE)
        return HeldBy(logs, self.tilts)

    def _left(self) -> FloatArray:
        """The part of l^size ways to take that many items of l that has none of them twice: for each length."""
        ways = (self.lengths >= self.size) * ways_to_hold(self.lengths, self.size)
        left: FloatArray = ways / np.maximum(self.lengths, 1.0) ** self.size
        return left

    def _law(self, chances: FloatArray) -> FloatArray:
        """Chances at each length, so that one transaction in all holds it."""
        return chances / max(float(chances @ self.numbers), 1e-300)
