"""What else a transaction contains that contains an itemset: how much each itemset loses under a cap.

Post-processing: everything here follows from noisy answers.

A transaction that contains an itemset contains all of its parts. Where these are counted with it, it contains at least
as many of the counted as the itemset has parts among them: a triple that is counted with its three pairs is never
contained alone. And what is frequent together is contained together: from the supports that are known so far follows
how likely each other itemset is where one is contained, and so how many are expected beside it. The sum over all
itemsets is known better, from the containment histogram; so what is expected tells itemsets apart, and nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.itemsets import Itemset
from veilset.methods.planned.knowledge import Knowledge

HARDLY_LIKELY = 1e-9
"""An item is at least this likely beside an itemset: its logarithm is taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Companions:
    """Of each itemset: about its support, and how many a transaction contains with it: at least, and as expected."""

    supports: FloatArray
    least: Int64Array
    expected: FloatArray

    @classmethod
    def of(
        cls, itemsets: Sequence[Itemset], supports: FloatArray, known: Mapping[Itemset, float], number: int
    ) -> "Companions":
        """Of itemsets that are counted together, by the supports that are known, of itemsets and of all their items.

        An itemset is contained if each of its items is: those that it shares are, the others are as likely as one by
        one beside the itemset in question.
        """
        items = sorted({item for itemset in itemsets for item in itemset})
        column = {item: place for place, item in enumerate(items)}
        holds = np.zeros((len(itemsets), len(items)))
        for row, itemset in enumerate(itemsets):
            holds[row, [column[item] for item in itemset]] = 1.0
        likely = _likely_beside(itemsets, known, column, number)
        likely[holds > 0] = 1.0
        contained = np.exp(holds @ np.log(np.clip(likely, HARDLY_LIKELY, 1.0)).T)
        is_part = holds @ holds.T == holds.sum(axis=1)[:, None]
        return cls(supports, is_part.sum(axis=0), contained.sum(axis=0))

    @classmethod
    def at(cls, places: Int64Array, knowledge: Knowledge, number: int) -> "Companions":
        """Of those itemsets that are at some places of what is known, and are counted together."""
        itemsets = [knowledge.itemsets[place] for place in places.tolist()]
        return cls.of(itemsets, knowledge.means[places], supports_known(knowledge), number)


def supports_known(knowledge: Knowledge) -> dict[Itemset, float]:
    """The expected support of each itemset, at least 1."""
    return dict(zip(knowledge.itemsets, np.maximum(knowledge.means, 1.0).tolist(), strict=True))


def _likely_beside(
    itemsets: Sequence[Itemset], known: Mapping[Itemset, float], column: Mapping[int, int], number: int
) -> FloatArray:
    """How likely each item is where an itemset is contained, a row for each itemset.

    As the itemset with that item tells, where it is known; else as the one of its items tells with which it is most
    likely; and where nothing is known of both together, as likely as anywhere.
    """
    single = {item: max(known.get((item,), 1.0), 1.0) for item in column}
    beside = np.tile(np.array([single[item] for item in column]) / max(number, 1), (len(column), 1))
    for pair, support in known.items():
        if len(pair) == 2 and pair[0] in column and pair[1] in column:
            for item, other in (pair, pair[::-1]):
                beside[column[item], column[other]] = support / single[item]
    likely = np.array([beside[[column[item] for item in itemset]].max(axis=0) for itemset in itemsets])
    row_of = {itemset: row for row, itemset in enumerate(itemsets)}
    for larger, support in known.items():
        for place, item in enumerate(larger):
            row = row_of.get(larger[:place] + larger[place + 1 :])
            if row is not None and item in column:
                likely[row, column[item]] = support / max(known.get(itemsets[row], support), 1.0)
    return likely
