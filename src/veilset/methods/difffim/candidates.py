"""The candidates of a level of DiffFIM, and how smart truncation prefers some of them to others.

Post-processing: everything here follows from noisy answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import KeepRandom, KeepSmart, OnlyItems
from veilset.itemsets import Itemset, Itemsets, joined
from veilset.methods.difffim.expected_supports import one_item_less
from veilset.methods.difffim.smart_shares import items_ahead, outranked


@dataclass(frozen=True, slots=True, eq=False)
class ScoredCandidates:
    """Itemsets that may reach the threshold, and the scores by which smart truncation prefers them."""

    itemsets: Itemsets
    scores: Int64Array
    outranked: FloatArray
    ahead: Int64Array

    @classmethod
    def of(cls, parts: dict[Itemset, int], calm: Mapping[Itemset, float]) -> "ScoredCandidates":
        """Itemsets all of whose parts are given, with the sum of the parts' noisy supports as score (Def. 8).

        `outranked` is the share of items held, as far as the parts tell, that stand in better candidates than some item
        of an itemset does: by `calm` supports, since the parts were chosen for lucky noise.
        """
        itemsets = joined(parts)
        scores = [sum(max(0, parts[part]) for part in one_item_less(itemset)) for itemset in itemsets]
        return cls(
            Itemsets.of(itemsets),
            np.array(scores, dtype=np.int64),
            outranked(itemsets, scores, calm),
            items_ahead(itemsets, scores),
        )

    def __len__(self) -> int:
        return len(self.itemsets)

    def truncation(self, items: Int64Array, limit: int, *, is_smart: bool) -> OnlyItems:
        """To `limit` of the candidates' items: those that keep the best candidates (Alg. 4), or random ones."""
        smart = KeepSmart(limit, self.itemsets.offsets, self.itemsets.items, self.scores)
        return OnlyItems(items, smart if is_smart else KeepRandom(limit))
