"""The levels of DiffFIM: itemsets of one size after another, counted in transactions that were truncated for them.

The privacy argument is that of `methods.difffim`. Symbols of the paper: l = the length limit of level 1; psi = that of
each level above; z = the distribution of lengths.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import Curator, KeepAll, KeepRandom, OnlyItems
from veilset.itemsets import Itemsets
from veilset.methods.difffim.candidates import ScoredCandidates
from veilset.methods.difffim.counted_level import NAIVE, CountedLevel, Heuristics, lengths_up_to
from veilset.methods.shared.length_laws import plausible_lengths
from veilset.methods.shared.tilts import (
    SHARE_FOR_TILTS,
    USUAL_TILTS,
    ask_item_tilts,
    is_worth_asking,
)
from veilset.methods.shared.truncation import (
    LONGEST_LENGTH,
    kept_share,
    length_up_to,
)

SHARE_LEFT_WHOLE = Fraction(85, 100)
"""The length limit of level 1 leaves 85 % of the transactions whole (Alg. 1, l. 2)."""
SMALL_SHARE = Fraction(1, 20)
"""5 % of a share is for what is not a support: the largest size, and the lengths of each level."""


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
