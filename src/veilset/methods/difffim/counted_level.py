"""A level of DiffFIM as it was counted: what noisy supports under a truncation say of the supports before it.

Post-processing: everything here follows from noisy answers. Symbols of the paper: l = the length limit of level 1;
z = the distribution of lengths.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import NoisyCounts, NoisyHistogram
from veilset.itemsets import Itemset
from veilset.methods.difffim.candidates import ScoredCandidates
from veilset.methods.difffim.double_standards import average_original, largest_original
from veilset.methods.difffim.expected_supports import SupportsFromParts, one_item_less, with_lowered_shares
from veilset.methods.difffim.held_items import HeldItems
from veilset.methods.difffim.smart_shares import OUTRANKED_CLASSES, kept_smartly
from veilset.methods.shared.holders import Holding, ItemClasses
from veilset.methods.shared.length_laws import LengthDraws, plausible_lengths
from veilset.methods.shared.noisy_values import MeasuredGroup, NoisyValues
from veilset.methods.shared.shrinkage import Shrunk, calm_supports, shrunk_in_groups
from veilset.methods.shared.tilts import (
    USUAL_TILTS,
    ComparedItems,
)
from veilset.methods.shared.truncation import (
    TiltLaw,
    holders_by_length,
    kept_at_random,
    kept_share,
    lengths_above_noise,
    randomly_kept,
)

RHO = 0.01
"""1 % is the risk that an itemset lost more than its largest original support allows for."""
IN_DOUBT = 0.3
"""Lengths that leave the share that truncation keeps in doubt by more than a factor of e^0.3 do not tell who holds
an item."""
CLEAR_SCALES, LEAST_SHARE = 3.0, 0.01
"""A count of 3 scales of noise is clear. Less than 1 % of a support is not taken to be kept."""
TURNS_OF_ITEMS = 2
"""2 turns: supports say who holds items, and that says what was kept of supports."""
MOST_EXTENDED = 500
"""At most 500 itemsets of a size are extended: more pass only where noise drowns the threshold."""


@dataclass(frozen=True, slots=True)
class Heuristics:
    """The two heuristics of the paper and one of ours; the naive form has none, and one limit for all levels."""

    is_smart: bool = False
    has_double_standards: bool = False
    weighs_lengths: bool = False
    has_one_limit: bool = False

    def lengths_of(self, histogram: NoisyHistogram) -> FloatArray:
        """How many transactions that hold an itemset have each length, up to a factor.

        The paper takes the lengths of all transactions. But a transaction holds an item the likelier the longer
        it is; weighing each length by itself allows for that.
        """
        clear = lengths_above_noise(histogram).astype(np.float64)
        return clear * np.arange(clear.size) if self.weighs_lengths else clear


NAIVE = Heuristics(has_one_limit=True)
SMART = Heuristics(is_smart=True, has_double_standards=True)


@dataclass(frozen=True, slots=True, eq=False)
class CountedLevel:
    """Itemsets of one size: their noisy supports under a length limit, what they stand for, which may be extended."""

    counts: NoisyCounts
    average: FloatArray
    largest: FloatArray
    limit: int
    lengths: NoisyHistogram | None
    outranked: FloatArray | None
    is_over_all: bool = True
    """Whether the lengths are those of whole transactions, or over the items of the level's itemsets alone."""
    ahead: Int64Array | None = None
    """How many items of better candidates there are beside each itemset: no more can outrank it."""
    tilts: TiltLaw = USUAL_TILTS
    """Of level 1: how far tilts of items are apart."""

    @classmethod
    def of(
        cls,
        counts: NoisyCounts,
        lengths: NoisyHistogram | None,
        heuristics: Heuristics,
        *,
        size: int,
        limit: int,
        is_over_all: bool = True,
    ) -> "CountedLevel":
        """What noisy truncated supports stand for: themselves, or what was there before truncation (Sec. 5.4).

        Without lengths, nothing was truncated.
        """
        if lengths is None or not heuristics.has_double_standards:
            values = counts.values.astype(np.float64)
            return cls(counts, values, values, limit, lengths, None, is_over_all)
        share = kept_share(heuristics.lengths_of(lengths), size=size, limit=limit)
        scale = float(counts.mechanism.scale)
        average = average_original(counts.values, scale=scale, share=share)
        largest = largest_original(counts.values, scale=scale, share=share, rho=RHO)
        return cls(counts, average, largest, limit, lengths, None, is_over_all)

    def up_to(self, items: int) -> "CountedLevel":
        """The same without lengths of more items than there are, which are nothing but noise."""
        return self if self.lengths is None else replace(self, lengths=lengths_up_to(self.lengths, items))

    def itemsets_at(self, places: Int64Array) -> list[Itemset]:
        """Some of the itemsets."""
        rows = self.counts.itemsets.items.reshape(self.counts.values.size, -1)
        return [tuple(row) for row in rows[places].tolist()]

    def posterior(
        self,
        places: Int64Array,
        parts: Mapping[Itemset, float],
        *,
        most: float,
        items: "CountedLevel | None" = None,
        expected: SupportsFromParts | None = None,
    ) -> Shrunk:
        """The supports of some of the itemsets; none is above the most that is possible, nor above any of its parts.

        `items` is the first level, which tells how frequent the items are; `expected` is what all supports of this
        level should be about.
        """
        held = None if items is None else self.held(items)
        within = None if expected is None else expected.within
        if held is not None and expected is not None:
            together = self._measured(np.arange(self.counts.values.size), held, expected, items or self)
            held = held.with_supports(calm_supports(together, largest=most, within=within))
        groups = self._groups(held)
        chosen = [np.flatnonzero(np.isin(group, places)) for group in groups]
        measured = [self._measured(group, held, expected, items or self) for group in groups]
        found = shrunk_in_groups(
            measured if expected is None else with_lowered_shares(measured),
            chosen,
            largest=most,
            ceilings=[
                ceilings_of(self.itemsets_at(group[those]), parts, most)
                for group, those in zip(groups, chosen, strict=True)
            ],
            within=within,
        )
        order = np.concatenate([group[those] for group, those in zip(groups, chosen, strict=True)])
        return found.take(np.argsort(order)[np.searchsorted(np.sort(order), places)])

    def held(self, first: "CountedLevel") -> HeldItems | None:
        """Who holds the items of each itemset, and the itemsets, as far as lengths tell.

        The supports of the items are those of the first level.
        """
        if self.lengths is None or first.lengths is None:
            return None
        items = self.counts.itemsets.items.reshape(self.counts.values.size, -1)
        # Where the lengths themselves are in doubt, nothing finer is concluded from them.
        draws = self.draws(first)
        if kept_at_random(draws, size=items.shape[1], limit=self.limit).doubt[1] > IN_DOUBT:
            return None
        lengths, numbers = draws.lengths, draws.middle
        supports, clear = first.item_supports()
        counted = np.arange(supports.size) if self.is_over_all else np.unique(items)
        classes = ItemClasses.of(supports[counted], clear=clear, total=float(lengths @ numbers))
        holding = Holding.of(classes, lengths, numbers)
        return HeldItems.independent(
            holding, lengths, numbers, holding.classes_of(supports)[items], first.tilts
        )

    def draws(self, first: "CountedLevel") -> LengthDraws:
        """Lengths that are likely: of whole transactions, if they make the supports of level 1 together as well."""
        if self.lengths is None:
            raise ValueError("nothing was truncated, so no lengths were asked for")
        if not self.is_over_all or first.lengths is None:
            return plausible_lengths(self.lengths)
        counts = first.counts
        deviation = math.sqrt(2 * counts.values.size) * float(counts.mechanism.scale)
        return plausible_lengths(first.lengths).explaining_total(
            float(counts.values.sum()), deviation, limit=first.limit
        )

    def item_supports(self) -> tuple[FloatArray, float]:
        """Of level 1: supports of items, about, and how large they must be to stand out from noise."""
        if self.lengths is None:
            return self.counts.values.astype(np.float64), 0.0
        share = kept_share(holders_by_length(lengths_above_noise(self.lengths), 1), size=1, limit=self.limit)
        draws = self.draws(self)
        lengths, numbers = draws.lengths, draws.middle
        calm = self.calm_counts()
        kept, clear = (
            randomly_kept(lengths, size=1, limit=self.limit),
            CLEAR_SCALES * float(self.counts.mechanism.scale),
        )
        shares = np.full(self.counts.values.size, max(share, LEAST_SHARE))
        for _ in range(TURNS_OF_ITEMS):
            supports = calm / shares
            holding = Holding.of(
                ItemClasses.of(
                    supports, clear=clear / float(np.median(shares)), total=float(lengths @ numbers)
                ),
                lengths,
                numbers,
            )
            shares = np.maximum(holding.shares_kept(kept, numbers)[holding.classes_of(supports)], LEAST_SHARE)
        return calm / shares, clear / float(np.median(shares))

    def compared(self) -> ComparedItems | None:
        """Of level 1: the items that stand out from noise, and who holds them, as far as lengths tell."""
        held = self.held(self)
        if held is None:
            return None
        supports, clear = self.item_supports()
        return ComparedItems.of(
            supports, clear=clear, holding=held.holding, lengths=held.lengths, numbers=held.numbers
        )

    def _groups(self, held: HeldItems | None) -> list[Int64Array]:
        """Places of the itemsets that lose about alike."""
        by_rank = 0.0 if self.outranked is None else np.rint(self.outranked * OUTRANKED_CLASSES)
        by_holders = 0.0 if held is None else held.groups
        ahead = 0.0 if self.ahead is None else np.minimum(self.ahead, self.limit + 1)
        classes = (by_holders * 1000 + by_rank) * 1000 + ahead + np.zeros(self.counts.values.size)
        return [np.flatnonzero(classes == each) for each in np.unique(classes)]

    def _measured(
        self,
        places: Int64Array,
        held: HeldItems | None,
        expected: SupportsFromParts | None,
        first: "CountedLevel",
    ) -> MeasuredGroup:
        """What was measured of some itemsets that lose about alike."""
        about = None if expected is None else expected.supports[places]
        noisy = NoisyValues.laplace(self.counts.values[places], float(self.counts.mechanism.scale), about)
        size = int(self.counts.itemsets.offsets[1])
        if self.lengths is None:
            return MeasuredGroup(noisy)
        draws = self.draws(first)
        by = None if held is None else held.held_by(places)
        if self.outranked is None:
            kept = kept_at_random(draws, size=size, limit=self.limit, held=by)
            return MeasuredGroup(noisy, kept if size == 1 else kept.partly_together())
        share = float(self.outranked[places].mean())
        ahead = None if self.ahead is None else int(np.median(self.ahead[places]))
        kept = kept_smartly(draws, size=size, limit=self.limit, outranked=share, ahead=ahead, held=by)
        return MeasuredGroup(noisy, kept)

    def is_drowned(self, min_count: int) -> bool:
        """Whether more may have frequent supersets than are extended."""
        return int(np.count_nonzero(self.largest >= min_count)) > MOST_EXTENDED

    def candidates(self, min_count: int) -> "ScoredCandidates":
        """The itemsets of one more item that may reach the threshold."""
        parts = self.extendable(min_count)
        calm = dict(zip(self.counts.itemsets, self.calm_counts().tolist(), strict=True))
        return ScoredCandidates.of(parts, {part: calm[part] for part in parts})

    def calm_counts(self) -> FloatArray:
        """What is counted of each itemset without noise, on average: the largest of many have lucky noise."""
        noisy = NoisyValues.laplace(self.counts.values, float(self.counts.mechanism.scale))
        largest = max(
            1.0, float(self.counts.values.max()) + CLEAR_SCALES * float(self.counts.mechanism.scale)
        )
        return calm_supports(MeasuredGroup(noisy), largest=largest)

    def extendable(self, min_count: int) -> dict[Itemset, int]:
        """Those that may have frequent supersets, with their noisy supports; the largest of them, if many."""
        order = np.argsort(-self.counts.values, kind="stable")
        best = set(order[self.largest[order] >= min_count][:MOST_EXTENDED].tolist())
        rows = zip(self.counts.itemsets, self.counts.values.tolist(), strict=True)
        return {itemset: noisy for place, (itemset, noisy) in enumerate(rows) if place in best}


def lengths_up_to(histogram: NoisyHistogram, items: int) -> NoisyHistogram:
    """The same without lengths of more items than there are; itself, where it has none."""
    if histogram.values.size <= items + 1:
        return histogram
    return replace(histogram, values=histogram.values[: items + 1])


def ceilings_of(itemsets: Sequence[Itemset], parts: Mapping[Itemset, float], most: float) -> FloatArray:
    """The most that each itemset can have, as far as it is known of parts: it is no more frequent than any of them."""
    return np.array(
        [min((parts.get(part, most) for part in one_item_less(each)), default=most) for each in itemsets]
    )
