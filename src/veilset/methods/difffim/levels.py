"""The levels of DiffFIM: itemsets of one size after another, counted in transactions that were truncated for them.

The privacy argument is that of `methods.difffim`. Symbols of the paper: l = the length limit of level 1; psi = that of
each level above; z = the distribution of lengths.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator, KeepAll, KeepRandom, KeepSmart, NoisyCounts, NoisyHistogram, OnlyItems
from veilset.itemsets import Itemset, Itemsets, joined
from veilset.methods.difffim.double_standards import average_original, largest_original
from veilset.methods.difffim.expected_supports import SupportsFromParts, one_item_less, with_lowered_shares
from veilset.methods.difffim.held_items import HeldItems
from veilset.methods.difffim.smart_shares import OUTRANKED_CLASSES, items_ahead, kept_smartly, outranked
from veilset.methods.shared.holders import Holding, ItemClasses
from veilset.methods.shared.length_laws import LengthDraws, plausible_lengths
from veilset.methods.shared.noisy_values import MeasuredGroup, NoisyValues
from veilset.methods.shared.shrinkage import Shrunk, calm_supports, shrunk_in_groups
from veilset.methods.shared.tilts import (
    SHARE_FOR_TILTS,
    USUAL_TILTS,
    ComparedItems,
    ask_item_tilts,
    is_worth_asking,
)
from veilset.methods.shared.truncation import (
    LONGEST_LENGTH,
    TiltLaw,
    holders_by_length,
    kept_at_random,
    kept_share,
    length_up_to,
    lengths_above_noise,
    randomly_kept,
)

SHARE_LEFT_WHOLE = Fraction(85, 100)
"""The length limit of level 1 leaves 85 % of the transactions whole (Alg. 1, l. 2)."""
SMALL_SHARE = Fraction(1, 20)
"""5 % of a share is for what is not a support: the largest size, and the lengths of each level."""
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


def ask_first_level(
    curator: Curator,
    heuristics: Heuristics,
    *,
    epsilon: Fraction,
    for_tilts: Fraction,
    share: Fraction = SHARE_LEFT_WHOLE,
) -> CountedLevel:
    """Level 1: all items, truncated to the length up to which there is that share of transactions (Alg. 1).

    Where truncation takes something, `for_tilts` of epsilon is for how far items differ in that.
    """
    if share == 1:
        counts = curator.ask_item_supports(epsilon=epsilon)
        return CountedLevel.of(counts, None, NAIVE, size=1, limit=curator.alphabet_size)
    for_lengths = min((epsilon - for_tilts) / 10, SMALL_SHARE)
    histogram = curator.ask_lengths(limit=LONGEST_LENGTH, epsilon=for_lengths)
    limit = length_up_to(histogram, share)
    if not is_worth_asking(plausible_lengths(lengths_up_to(histogram, curator.alphabet_size)), limit):
        for_tilts = Fraction(0)
    counts = curator.ask_item_supports(
        truncation=KeepRandom(limit), epsilon=epsilon - for_lengths - for_tilts
    )
    level = CountedLevel.of(counts, histogram, heuristics, size=1, limit=limit)
    compared = level.up_to(curator.alphabet_size).compared() if for_tilts else None
    return replace(
        level,
        tilts=USUAL_TILTS
        if compared is None
        else ask_item_tilts(curator, compared, truncated_to=limit, epsilon=for_tilts),
    )


def ask_levels(
    curator: Curator, size: int, heuristics: Heuristics, *, min_count: int, epsilon: Fraction
) -> Iterator[CountedLevel]:
    """Level by level, at equal shares, as long as there are candidates (Alg. 3; Alg. 6 and 7 with one limit)."""
    if size == 0:
        return
    for_tilts = epsilon * SHARE_FOR_TILTS
    for_each = (epsilon - for_tilts) / size
    level = ask_first_level(curator, heuristics, epsilon=for_each + for_tilts, for_tilts=for_tilts)
    yield level
    for larger in range(2, size + 1):
        candidates = level.candidates(min_count)
        if len(candidates) == 0 or (heuristics.has_one_limit and larger > level.limit):
            return
        if heuristics.has_one_limit:
            level = ask_same_limit(curator, candidates.itemsets, level, epsilon=for_each)
        else:
            level = ask_next_level(curator, candidates, heuristics, min_count=min_count, epsilon=for_each)
        yield level


def ask_same_limit(
    curator: Curator, candidates: Itemsets, first: CountedLevel, *, epsilon: Fraction
) -> CountedLevel:
    """A level of the naive form, under the limit of the first."""
    counts = curator.ask_supports(candidates, truncation=KeepRandom(first.limit), epsilon=epsilon)
    return CountedLevel.of(counts, first.lengths, NAIVE, size=int(candidates.offsets[1]), limit=first.limit)


def ask_next_level(
    curator: Curator,
    candidates: ScoredCandidates,
    heuristics: Heuristics,
    *,
    min_count: int,
    epsilon: Fraction,
) -> CountedLevel:
    """A level above the first: the lengths over the candidates' items say the limit of its truncation (Alg. 3)."""
    itemsets, size = candidates.itemsets, int(candidates.itemsets.offsets[1])
    items = np.unique(itemsets.items).astype(np.int64)
    for_lengths = epsilon * SMALL_SHARE
    for_supports = epsilon - for_lengths
    histogram = curator.ask_lengths(
        limit=min(LONGEST_LENGTH, items.size), truncation=OnlyItems(items, KeepAll()), epsilon=for_lengths
    )
    lengths = heuristics.lengths_of(histogram)
    limit = best_limit(lengths, itemsets, size=size, min_count=min_count, epsilon=for_supports)
    truncation = candidates.truncation(items, limit, is_smart=heuristics.is_smart)
    counts = curator.ask_supports(itemsets, truncation=truncation, epsilon=for_supports)
    level = CountedLevel.of(counts, histogram, heuristics, size=size, limit=limit, is_over_all=False)
    if not heuristics.is_smart:
        return level
    return replace(level, outranked=candidates.outranked, ahead=candidates.ahead)


def best_limit(
    lengths: FloatArray, candidates: Itemsets, *, size: int, min_count: int, epsilon: Fraction
) -> int:
    """psi: the limit that leaves the least error on a support at the threshold (Z7).

    Dividing by the share that random truncation keeps corrects the mean. What remains is noise, of variance
    2 (sensitivity / epsilon)^2, and the luck of truncation, of variance min_count share (1 - share), both divided by
    the share.
    """

    def error(limit: int) -> float:
        share = kept_share(lengths, size=size, limit=limit)
        noise = 2 * (min(math.comb(limit, size), len(candidates)) / float(epsilon)) ** 2
        return math.sqrt(noise + min_count * share * (1 - share)) / share if share > 0 else math.inf

    longest = max(size, int(np.flatnonzero(lengths).max(initial=0)))
    return min(range(size, longest + 1), key=error)
