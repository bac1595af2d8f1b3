"""Which itemsets belong to the answer, by what is known of them before the refinement.

Post-processing: everything here follows from earlier answers and public numbers, or from a model of them.
"""

from dataclasses import dataclass

import numpy as np

from veilset.arrays import BoolArray, FloatArray, Int64Array
from veilset.methods.planned.knowledge import Knowledge, itemset_sizes
from veilset.methods.planned.scouting import Scouting
from veilset.methods.planned.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """The chance of each itemset to reach the support in question.

    `uncertain` are the places of those that may or may not, `likely` of those that probably do. Where all is settled,
    none is uncertain, and the likeliest stand in.
    """

    support: float
    chances: FloatArray
    uncertain: Int64Array
    likely: Int64Array
    is_settled: bool = False

    @classmethod
    def of(cls, known: Knowledge, scouting: Scouting) -> "Membership":
        """By what is known when itemsets of all sizes are."""
        return cls.at(scouting.support_in_question(known), known, scouting)

    @classmethod
    def before_larger(cls, known: Knowledge, scouting: Scouting) -> "Membership":
        """By what is known when larger itemsets are yet to come, with which no fewer reach the threshold than k."""
        return cls.at(max(scouting.support_in_question(known), scouting.threshold), known, scouting)

    @classmethod
    def at(cls, support: float, known: Knowledge, scouting: Scouting) -> "Membership":
        """In an answer of all that reach a support."""
        chances, settings = known.at_least(support), scouting.settings
        uncertain = uncertain_places(chances, scouting.k, settings=settings)
        likely = np.flatnonzero(chances > settings.likely)
        return cls(support, chances, uncertain, likely, not is_uncertain(chances, settings).any())

    @property
    def certain(self) -> Int64Array:
        """The places of those that are certain to belong to the answer."""
        return np.setdiff1d(self.likely, self.uncertain)

    @property
    def of_interest(self) -> Int64Array:
        """The places of those that are uncertain or certain to belong."""
        return np.union1d(self.likely, self.uncertain)


def is_uncertain(chances: FloatArray, settings: Settings) -> BoolArray:
    """Whether each may or may not be in the answer."""
    return (chances > settings.certain_below) & (chances < settings.certain_above)


def uncertain_places(chances: FloatArray, k: int, *, settings: Settings) -> Int64Array:
    """What may or may not be in the answer, the most uncertain first; where all is certain, the likeliest k."""
    uncertain = np.flatnonzero(is_uncertain(chances, settings))
    if uncertain.size == 0:
        return np.argsort(-chances, kind="stable")[:k]
    order = np.argsort(-(chances * (1 - chances))[uncertain], kind="stable")
    return uncertain[order][: settings.uncertain_per_k * k]


def items_and_larger(known: Knowledge, places: Int64Array) -> list[Int64Array]:
    """Places of items, and of larger itemsets: those are in longer transactions, which lose more under a cap."""
    is_item = itemset_sizes(known.itemsets)[places] == 1
    return [some for some in (places[is_item], places[~is_item]) if some.size > 0]
