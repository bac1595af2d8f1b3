"""DiffFIM (Zeng, Naughton, Cai, PVLDB 2012): itemsets above a threshold, from truncated transactions.

Task: all itemsets of at least some support, or the k best of what is found. Symbols of the paper: lambda = the
threshold; theta = the largest size that is considered; l = the length limit; z = the distribution of lengths; y_i = the
largest support of any i-itemset; psi = the length limit of each level; rho = the chance that an itemset lost more than
is allowed for.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to at most epsilon:

1. the preliminaries (`methods.shared.preliminaries`): the number of transactions, and for k the noisy support of the
   k-th itemset;
2. of what remains, min(1/20, 0.05) for the largest size k (Alg. 9; Z3): a binary search over n public sizes asks
   for y_i, sensitivity c (with a public floor, Z6), at most floor(log2 n) + 1 times at equal shares (Z4, Z5);
3. 1/100 of the rest for one number, how unlike long and short transactions are in the most frequent items, after level
   1 (`methods.shared.tilts`; sensitivity there). Where truncation takes next to nothing it is not asked, and level 1
   has its price; where few items stand out from noise, the price is not spent;
4. the rest in equal shares for the k levels (Alg. 3). Level 1 pays min(1/10, 0.05) of its share for the histogram of
   lengths, sensitivity c, and the rest for the supports of all items under truncation to l random items, L1
   sensitivity c l. Each level i above pays 1/20 of its share for the histogram of what is left of transactions
   when they are restricted to the items of the candidates, sensitivity c, and the rest for the supports of the
   candidates under truncation of those to l_i items, L1 sensitivity c min(C(l_i, i), candidates).

Truncation looks at one transaction, at candidates and noisy scores, and at random keys: a local transformation. The
length limits come from noisy histograms (Z1, Z2, Z7), the candidates from noisy supports, relative thresholds from
the noisy number (Z10). Posterior means and the final choice are post-processing. Where the candidates run out,
what remains of epsilon is not spent; that depends on noisy answers alone.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import Curator
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.difffim.counted_level import MOST_EXTENDED, NAIVE, SMART, CountedLevel, Heuristics
from veilset.methods.difffim.expected_supports import (
    KnownSupport,
    SupportsFromParts,
    known_supports,
    one_item_less,
)
from veilset.methods.difffim.levels import SHARE_LEFT_WHOLE, SMALL_SHARE, ask_first_level, ask_levels
from veilset.methods.shared.preliminaries import Preliminaries, ask_threshold
from veilset.methods.shared.tilts import SHARE_FOR_TILTS
from veilset.request import Request
from veilset.results.estimates import Estimates, by_support
from veilset.results.release import Release

THETA = 16
"""Itemsets of up to 16 items are looked for, unless the caller says: theta of Alg. 5, public."""
LEAST_TOLD_APART = 1000
"""No largest support is told apart below 1/1000 of the transactions: searching there takes forever."""
FLOOR_DIVISOR = 20
"""y_i is floored at 1/20 of the threshold."""
DROWNED = f"limited: more than {MOST_EXTENDED} itemsets of a size may have frequent supersets; the largest were tried"


def f1m(
    curator: Curator, request: Request, *, epsilon: Fraction, share: Fraction = SHARE_LEFT_WHOLE
) -> Release:
    """Frequent items from transactions truncated to random items (Alg. 2); a share of 1 truncates nothing."""
    if request.k is not None:
        request = replace(request, k=min(request.k, curator.alphabet_size))
    preliminaries = ask_threshold(curator, request, domain=curator.domain(max_size=1), epsilon=epsilon)
    for_tilts = preliminaries.remaining * SHARE_FOR_TILTS
    level = ask_first_level(curator, NAIVE, share=share, epsilon=preliminaries.remaining, for_tilts=for_tilts)
    return release_levels(curator, preliminaries, [level], request, method="f1m")


def difffim_naive(curator: Curator, request: Request, *, epsilon: Fraction) -> Release:
    """Frequent itemsets level by level from transactions truncated at random, to one limit (Alg. 6 and 7)."""
    return level_by_level(curator, request, NAIVE, method="difffim-naive", epsilon=epsilon)


def difffim(curator: Curator, request: Request, *, epsilon: Fraction, **switches: bool) -> Release:
    """Frequent itemsets level by level, with smart truncation and double standards (Alg. 5).

    `switches` turn single `Heuristics` on or off, for comparison.
    """
    return level_by_level(curator, request, replace(SMART, **switches), method="difffim", epsilon=epsilon)


def level_by_level(
    curator: Curator, request: Request, heuristics: Heuristics, *, method: str, epsilon: Fraction
) -> Release:
    """The largest size, then the levels up to it (Alg. 5)."""
    preliminaries, size = ask_size(curator, request, epsilon=epsilon)  # l. 1-3
    min_count, remaining = preliminaries.min_count, preliminaries.remaining
    levels = list(ask_levels(curator, size, heuristics, min_count=min_count, epsilon=remaining))  # Alg. 3
    return release_levels(curator, preliminaries, levels, request, method=method)


def ask_size(curator: Curator, request: Request, *, epsilon: Fraction) -> tuple[Preliminaries, int]:
    """The preliminaries and the largest size of a frequent itemset (Alg. 5, l. 1-3)."""
    most = min(request.max_size or THETA, curator.alphabet_size)
    preliminaries = ask_threshold(curator, request, domain=curator.domain(max_size=most), epsilon=epsilon)
    for_size = min(preliminaries.remaining * SMALL_SHARE, SMALL_SHARE)  # Z3
    min_count, number = preliminaries.min_count, preliminaries.number.value
    floor = max(min_count // FLOOR_DIVISOR, number // LEAST_TOLD_APART, 0)  # Z6
    size = ask_largest_size(curator, most, min_count=min_count, floor=floor, epsilon=for_size)
    return preliminaries.less(for_size), size


def ask_largest_size(curator: Curator, most: int, *, min_count: int, floor: int, epsilon: Fraction) -> int:
    """The largest size of which an itemset reaches the threshold, by binary search (Alg. 9); 0 if none does."""
    for_each = epsilon / most.bit_length()  # Z4: bit_length is floor(log2) + 1
    low, high = 1, most
    while low <= high:  # Z5
        middle = (low + high) // 2
        largest = curator.ask_largest_support(middle, floor=floor, epsilon=for_each)
        if largest.value >= min_count:
            low = middle + 1
        else:
            high = middle - 1
    return low - 1


def release_levels(
    curator: Curator,
    preliminaries: Preliminaries,
    levels: Sequence[CountedLevel],
    request: Request,
    *,
    method: str,
) -> Release:
    """What reaches the threshold on average; for k, the k best of everything that was counted (Alg. 3, l. 10-16)."""
    min_count, k = preliminaries.min_count, preliminaries.k
    itemsets = Itemsets.of(itemset for level in levels for itemset in level.counts.itemsets)
    average = np.rint([value for level in levels for value in level.average]).astype(np.int64)
    wanted = [
        place
        for place in by_support(itemsets, average)
        if request.min_support is None or average[place] >= min_count
    ]
    kept = estimates_of(levels, np.array(wanted[:k], dtype=np.int64), most=preliminaries.most)
    notes = (DROWNED,) if any(level.is_drowned(min_count) for level in levels[:-1]) else ()
    return replace(preliminaries, min_count=0).release(curator, kept, method=method, notes=notes)


def estimates_of(levels: Sequence[CountedLevel], chosen: Int64Array, *, most: int) -> Estimates:
    """The supports of those chosen among all that was counted, level by level: none is above those of its parts."""
    ends = np.cumsum([0, *(level.average.size for level in levels)])
    of_level = [
        np.sort(chosen[(chosen >= start) & (chosen < end)] - start) for start, end in pairwise(ends.tolist())
    ]
    levels = [level.up_to(levels[0].counts.values.size) for level in levels]
    largest, estimates = float(most), list[Estimates]()
    items, parts = dict[Itemset, KnownSupport](), dict[Itemset, KnownSupport]()
    for level, places, those in zip(levels, with_parts(levels, of_level), of_level, strict=True):
        if places.size == 0:
            break
        expected = None
        if items:
            all_of_them = list(level.counts.itemsets)
            expected = SupportsFromParts.of(all_of_them, items=items, parts=parts, transactions=most)
        ceilings = {part: known.most for part, known in parts.items()}
        found = level.posterior(places, ceilings, most=largest, items=levels[0], expected=expected)
        released = Itemsets.of(level.itemsets_at(those))
        estimates.append(found.take(np.searchsorted(places, those)).estimates(released))
        parts = known_supports(level.itemsets_at(places), found)
        items = items or parts
        largest = max(1.0, float(found.high.max()))
    return Estimates.joined(estimates) if estimates else Estimates.none()


def with_parts(levels: Sequence[CountedLevel], chosen: Sequence[Int64Array]) -> list[Int64Array]:
    """The places of those chosen at each level, of all that the next level was made of, and of what was counted most.

    None where nothing at the level or above it is chosen.
    """
    found: list[Int64Array] = []
    above: set[Itemset] = set()
    for level, those in zip(reversed(levels), reversed(chosen), strict=True):
        if those.size == 0 and not above:
            found.append(those)
            continue
        is_part = [place for place, itemset in enumerate(level.counts.itemsets) if itemset in above]
        found.append(np.unique(np.append(those, [*is_part, int(np.argmax(level.counts.values))])))
        above = {part for itemset in level.counts.itemsets for part in one_item_less(itemset)}
    return found[::-1]
