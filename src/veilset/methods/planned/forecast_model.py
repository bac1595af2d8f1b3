"""What a method is expected to know of itemsets, as normal laws around their true supports in a model of the data."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.forecast import Stage, World, laws
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned.scouting import Aim
from veilset.methods.shared.bases import Basis
from veilset.methods.shared.marginals import noise_of_marginal


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Itemsets that will be known: true supports, deviations of what is believed, chances to be known at all."""

    itemsets: list[Itemset]
    supports: FloatArray
    deviations: FloatArray
    present: FloatArray

    @property
    def sizes(self) -> Int64Array:
        """The number of items in each."""
        return np.array([len(itemset) for itemset in self.itemsets])

    def __add__(self, other: "Expected") -> "Expected":
        """Both."""
        return Expected(
            self.itemsets + other.itemsets,
            np.append(self.supports, other.supports),
            np.append(self.deviations, other.deviations),
            np.append(self.present, other.present),
        )

    def take(self, places: Int64Array) -> "Expected":
        """Some of them."""
        return Expected(
            [self.itemsets[place] for place in places.tolist()],
            self.supports[places],
            self.deviations[places],
            self.present[places],
        )

    def told(self, places: Int64Array, deviations: FloatArray) -> "Expected":
        """After one more answer about some of them."""
        after = self.deviations.copy()
        after[places] = _together(after[places], deviations)
        return Expected(self.itemsets, self.supports, after, self.present)

    def told_maybe(self, told: "Expected", chances: FloatArray) -> "Expected":
        """After answers that each has with a chance: deviations on average."""
        deviations = chances * told.deviations + (1 - chances) * self.deviations
        return Expected(self.itemsets, self.supports, deviations, self.present)

    def at_least(self, support: float) -> FloatArray:
        """How likely each will seem to be so frequent."""
        return laws.normal_distribution((self.supports - support) / self.deviations)

    def kth_support(self, aim: Aim) -> float:
        """The support that an itemset of the answer has at least, by what is known."""
        kth = min(aim.k, self.supports.size)
        return max(float(np.partition(self.supports, -kth)[-kth]), aim.floor)


def _together(one: FloatArray, other: FloatArray) -> FloatArray:
    """The deviation of what two answers say, by inverse variance."""
    together: FloatArray = one * other / np.hypot(one, other)
    return together


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What will be known, the questions so far, and what is left of epsilon.

    With a support of `kept_from` an item is chosen over ones that nobody holds.
    """

    expected: Expected
    kept_from: int
    stages: tuple[Stage, ...]
    left: Fraction

    def chosen_from(self, k: int) -> int:
        """The support with which an itemset is chosen over ones that nobody holds, by what is believed of the k-th."""
        kth = np.argsort(-self.expected.supports, kind="stable")[:k][-1]
        scale = float(self.expected.deviations[kth]) / math.sqrt(2)
        return max(
            self.kept_from, laws.support_to_be_first(scale, k=k, candidates=len(self.expected.itemsets))
        )


def deviations_by_marginals(world: World, bases: Sequence[Basis], scale: float) -> dict[Itemset, float]:
    """Of every itemset within a basis, over all bases that hold it; `scale` is the noise of one pattern."""
    precisions: dict[Itemset, float] = {}
    for basis in bases:
        for size in range(1, min(len(basis), world.domain.max_size) + 1):
            precision = (scale * noise_of_marginal(len(basis), size)) ** -2
            for itemset in combinations(basis, size):
                precisions[itemset] = precisions.get(itemset, 0.0) + precision
    return {itemset: 1 / math.sqrt(precision) for itemset, precision in precisions.items()}


def supports_of(world: World, itemsets: Sequence[Itemset]) -> FloatArray:
    """Of itemsets, in the model: items are independent."""
    listed = Itemsets.of(itemsets)
    supports: FloatArray = world.rows * np.multiply.reduceat(world.shares[listed.items], listed.offsets[:-1])
    return supports
