"""What a method is expected to know of itemsets, as normal laws around their true supports in a model of the data."""

from dataclasses import dataclass

import numpy as np

from veilset.itemsets import Itemset
from veilset.methods.aim import Aim
from veilset.methods.beliefs import Places
from veilset.plan import laws
from veilset.plan.curve import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Itemsets that will be known: true supports, deviations of what is believed, chances to be known at all."""

    itemsets: list[Itemset]
    supports: Floats
    deviations: Floats
    present: Floats

    @property
    def sizes(self) -> Places:
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

    def take(self, places: Places) -> "Expected":
        """Some of them."""
        return Expected(
            [self.itemsets[place] for place in places.tolist()],
            self.supports[places],
            self.deviations[places],
            self.present[places],
        )

    def told(self, places: Places, deviations: Floats) -> "Expected":
        """After one more answer about some of them."""
        after = self.deviations.copy()
        after[places] = _together(after[places], deviations)
        return Expected(self.itemsets, self.supports, after, self.present)

    def told_maybe(self, told: "Expected", chances: Floats) -> "Expected":
        """After answers that each has with a chance: deviations on average."""
        deviations = chances * told.deviations + (1 - chances) * self.deviations
        return Expected(self.itemsets, self.supports, deviations, self.present)

    def at_least(self, support: float) -> Floats:
        """How likely each will seem to be so frequent."""
        return laws.normal_distribution((self.supports - support) / self.deviations)

    def kth_support(self, aim: Aim) -> float:
        """The support that an itemset of the answer has at least, by what is known."""
        kth = min(aim.k, self.supports.size)
        return max(float(np.partition(self.supports, -kth)[-kth]), aim.floor)


def _together(one: Floats, other: Floats) -> Floats:
    """The deviation of what two answers say, by inverse variance."""
    together: Floats = one * other / np.hypot(one, other)
    return together
