"""DiffFIM (Zeng, Naughton, Cai, PVLDB 2012): itemsets above a threshold, from truncated transactions.

Task: all itemsets of at least some support, or the k best of what is found. Symbols of the paper: lambda = the
threshold; l = the length limit; z = the distribution of lengths; y_i = the largest support of any i-itemset;
psi = the length limit of each level; rho = the chance that an itemset lost more than is allowed for.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to at most epsilon:

1. the opening (`methods.opening`): the number of transactions, and for k the noisy support of the k-th itemset;
2. of what is left, min(1/20, 0.05) for the largest size k (Alg. 9; Z3): a binary search over n public sizes asks
   for y_i, sensitivity c (with a public floor, Z6), at most floor(log2 n) + 1 times at equal shares (Z4, Z5);
3. the rest in equal shares for the k levels (Alg. 3). Level 1 pays min(1/10, 0.05) of its share for the histogram of
   lengths, sensitivity c, and the rest for the supports of all items under a cut to l random items, L1
   sensitivity c l. Each level i above pays 1/20 of its share for the histogram of what is left of transactions
   when they are restricted to the items of the candidates, sensitivity c, and the rest for the supports of the
   candidates under a cut of those to l_i items, L1 sensitivity c min(C(l_i, i), candidates).

A cut looks at one transaction, at candidates and noisy scores, and at random keys: a local transformation. The
length limits come from noisy histograms (Z1, Z2, Z7), the candidates from noisy supports, relative thresholds from
the noisy number (Z10). Posterior means and the final choice are post-processing. Where the candidates run out,
what is left of epsilon is not spent; that depends on noisy answers alone.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator, KeepAll, KeepRandom, KeepSmart, NoisyCounts, NoisyHistogram, OnlyItems
from veilset.itemsets import Itemset, Itemsets, joined
from veilset.methods.difffim.double_standards import average_original, kept_share, largest_original
from veilset.methods.shared.preliminaries import Preliminaries, ask_threshold
from veilset.request import Request
from veilset.results.estimates import Estimates, by_support
from veilset.results.release import Release

LARGEST_SIZE = 16
"""The largest itemset that is looked for, unless the caller says: theta of Alg. 5, public."""
LONGEST = 64
"""Transactions of this length and longer are one class of the histogram."""
SHARE_OF_TRANSACTIONS = Fraction(85, 100)
"""The length limit of level 1 leaves so many transactions whole (Alg. 1, l. 2)."""
SMALL = Fraction(1, 20)
RHO = 0.01
MOST_EXTENDED = 500
"""So many itemsets of a size are extended at the most: more pass only where noise drowns the threshold."""
DROWNED = f"limited: more than {MOST_EXTENDED} itemsets of a size may have frequent supersets; the largest were tried"
LEAST_SHARE = 1000
"""No largest support is told apart below this fraction of the transactions: searching there takes forever."""
FLOOR = 20
"""y_i is floored at the threshold divided by this."""
ONLY_NOISE = "the intervals cover the noise, not what truncation lost beyond its average"


@dataclass(frozen=True, slots=True)
class Heuristics:
    """The two heuristics of the paper and one of ours, with their public parameters."""

    is_smart: bool
    has_double_standards: bool
    weighs_lengths: bool
    share: Fraction = SHARE_OF_TRANSACTIONS
    rho: float = RHO

    def lengths_of(self, histogram: NoisyHistogram) -> FloatArray:
        """How many transactions that hold an itemset have each length, up to a factor.

        The paper takes the lengths of all transactions. But a transaction holds an item the likelier the longer
        it is; weighing each length by itself allows for that.
        """
        values = histogram.values.astype(np.float64)
        clear = np.where(values > 2 * float(histogram.mechanism.scale), values, 0.0)  # the rest may be noise
        return clear * np.arange(values.size) if self.weighs_lengths else clear


NAIVE = Heuristics(is_smart=False, has_double_standards=False, weighs_lengths=False)


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Itemsets of one size: their noisy supports, what they stand for, and which may be extended."""

    counts: NoisyCounts
    average: FloatArray
    largest: FloatArray
    half_width: int

    def is_drowned(self, min_count: int) -> bool:
        """Whether more may have frequent supersets than are extended."""
        return int(np.count_nonzero(self.largest >= min_count)) > MOST_EXTENDED

    def extendable(self, min_count: int) -> dict[Itemset, int]:
        """Those that may have frequent supersets, with their noisy supports; the largest of them, if many."""
        order = np.argsort(-self.counts.values, kind="stable")
        best = set(order[self.largest[order] >= min_count][:MOST_EXTENDED].tolist())
        rows = zip(self.counts.itemsets, self.counts.values.tolist(), strict=True)
        return {itemset: noisy for place, (itemset, noisy) in enumerate(rows) if place in best}


def f1m(
    curator: Curator, request: Request, *, epsilon: Fraction, share: Fraction = SHARE_OF_TRANSACTIONS
) -> Release:
    """Frequent items from transactions cut to random items (Alg. 2); a share of 1 cuts nothing."""
    if request.k is not None:
        request = replace(request, k=min(request.k, curator.alphabet_size))
    first = ask_threshold(curator, request, domain=curator.domain(max_size=1), epsilon=epsilon)
    level = ask_items(curator, replace(NAIVE, share=share), epsilon=first.left)
    return release(curator, first, [level], request, method="f1m")


def difffim_naive(
    curator: Curator, request: Request, *, epsilon: Fraction, share: Fraction = SHARE_OF_TRANSACTIONS
) -> Release:
    """Frequent itemsets level by level from transactions cut at random, to one limit (Alg. 6 and 7)."""
    first, size = open_search(curator, request, epsilon=epsilon)
    levels = list(naive_levels(curator, size, share=share, min_count=first.min_count, epsilon=first.left))
    return release(curator, first, levels, request, method="difffim-naive")


def difffim(
    curator: Curator,
    request: Request,
    *,
    epsilon: Fraction,
    is_smart: bool = True,
    has_double_standards: bool = True,
    weighs_lengths: bool = False,
    share: Fraction = SHARE_OF_TRANSACTIONS,
    rho: float = RHO,
) -> Release:
    """Frequent itemsets level by level, with smart truncation and double standards (Alg. 5)."""
    heuristics = Heuristics(is_smart, has_double_standards, weighs_lengths, share, rho)
    first, size = open_search(curator, request, epsilon=epsilon)
    levels = list(smart_levels(curator, size, heuristics, min_count=first.min_count, epsilon=first.left))
    return release(curator, first, levels, request, method="difffim")


def open_search(curator: Curator, request: Request, *, epsilon: Fraction) -> tuple[Preliminaries, int]:
    """The opening and the largest size of a frequent itemset (Alg. 5, l. 1-3)."""
    most = min(request.max_size or LARGEST_SIZE, curator.alphabet_size)
    first = ask_threshold(curator, request, domain=curator.domain(max_size=most), epsilon=epsilon)
    for_size = min(first.left * SMALL, SMALL)  # Z3
    floor = max(first.min_count // FLOOR, first.number.value // LEAST_SHARE, 0)  # Z6
    size = ask_largest_size(curator, most, min_count=first.min_count, floor=floor, epsilon=for_size)
    return first.less(for_size), size


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


def ask_items(curator: Curator, heuristics: Heuristics, *, epsilon: Fraction) -> Level:
    """Level 1: all items, under a cut to the length up to which there is that share of transactions (Alg. 1)."""
    if heuristics.share == 1:
        counts = curator.ask_item_supports(epsilon=epsilon)
        return estimated(counts, np.zeros(1), NAIVE, size=1, limit=curator.alphabet_size)
    for_lengths = min(epsilon / 10, SMALL)
    histogram = curator.ask_lengths(limit=LONGEST, epsilon=for_lengths)
    limit = length_up_to(histogram, heuristics.share)
    counts = curator.ask_item_supports(truncation=KeepRandom(limit), epsilon=epsilon - for_lengths)
    return estimated(counts, heuristics.lengths_of(histogram), heuristics, size=1, limit=limit)


def naive_levels(
    curator: Curator, size: int, *, share: Fraction, min_count: int, epsilon: Fraction
) -> Iterator[Level]:
    """One limit for all levels, one threshold for all purposes."""
    if size == 0:
        return
    for_each = epsilon / size
    for_lengths = min(for_each / 10, SMALL)
    limit = length_up_to(curator.ask_lengths(limit=LONGEST, epsilon=for_lengths), share)
    counts = curator.ask_item_supports(truncation=KeepRandom(limit), epsilon=for_each - for_lengths)
    level = estimated(counts, np.zeros(1), NAIVE, size=1, limit=limit)
    yield level
    for larger in range(2, size + 1):
        candidates, _ = candidates_from(level.extendable(min_count))
        if len(candidates) == 0 or larger > limit:
            return
        counts = curator.ask_supports(candidates, truncation=KeepRandom(limit), epsilon=for_each)
        level = estimated(counts, np.zeros(1), NAIVE, size=larger, limit=limit)
        yield level


def smart_levels(
    curator: Curator, size: int, heuristics: Heuristics, *, min_count: int, epsilon: Fraction
) -> Iterator[Level]:
    """A limit for each level, the cut that keeps what matters, and two thresholds (Alg. 3 and 4)."""
    if size == 0:
        return
    for_each = epsilon / size
    level = ask_items(curator, heuristics, epsilon=for_each)
    yield level
    for larger in range(2, size + 1):
        candidates, scores = candidates_from(level.extendable(min_count))
        if len(candidates) == 0:
            return
        items = np.unique(candidates.items).astype(np.int64)
        for_lengths = for_each * SMALL
        for_supports = for_each - for_lengths
        left = OnlyItems(items, KeepAll())
        histogram = curator.ask_lengths(limit=min(LONGEST, items.size), truncation=left, epsilon=for_lengths)
        lengths = heuristics.lengths_of(histogram)
        limit = best_limit(lengths, candidates, size=larger, min_count=min_count, epsilon=for_supports)
        smart = KeepSmart(limit, candidates.offsets, candidates.items, scores)
        truncation = OnlyItems(items, smart if heuristics.is_smart else KeepRandom(limit))
        counts = curator.ask_supports(candidates, truncation=truncation, epsilon=for_supports)
        level = estimated(counts, lengths, heuristics, size=larger, limit=limit)
        yield level


def candidates_from(parts: dict[Itemset, int]) -> tuple[Itemsets, Int64Array]:
    """Itemsets all of whose parts are given, with the sum of the parts' noisy supports as score (Def. 8)."""
    itemsets = joined(parts)
    scores = [
        sum(max(0, parts[itemset[:i] + itemset[i + 1 :]]) for i in range(len(itemset)))
        for itemset in itemsets
    ]
    return Itemsets.of(itemsets), np.array(scores, dtype=np.int64)


def length_up_to(histogram: NoisyHistogram, share: Fraction) -> int:
    """The smallest length up to which there is that share of the transactions that hold anything (Z1).

    Sums of the noisy histogram itself, because clamping each class first would add up to a long tail of noise.
    """
    reached = np.cumsum(histogram.values[1:])
    enough = np.flatnonzero(reached >= math.ceil(share * max(int(reached[-1]), 1)))
    return 1 + int(enough[0]) if enough.size else histogram.values.size - 1


def best_limit(
    lengths: FloatArray, candidates: Itemsets, *, size: int, min_count: int, epsilon: Fraction
) -> int:
    """psi: the limit that leaves the least error on a support at the threshold (Z7).

    Dividing by the share that a random cut keeps corrects the mean. What remains is noise, of variance
    2 (sensitivity / epsilon)^2, and the luck of the cut, of variance min_count share (1 - share), both divided by
    the share.
    """

    def error(limit: int) -> float:
        share = kept_share(lengths, size=size, limit=limit)
        noise = 2 * (min(math.comb(limit, size), len(candidates)) / float(epsilon)) ** 2
        return math.sqrt(noise + min_count * share * (1 - share)) / share if share > 0 else math.inf

    longest = max(size, int(np.flatnonzero(lengths).max(initial=0)))
    return min(range(size, longest + 1), key=error)


def estimated(
    counts: NoisyCounts, lengths: FloatArray, heuristics: Heuristics, *, size: int, limit: int
) -> Level:
    """What noisy truncated supports stand for: themselves, or what was there before the cut (Sec. 5.4)."""
    half_width = counts.mechanism.half_width()
    if not heuristics.has_double_standards:
        values = counts.values.astype(np.float64)
        return Level(counts, values, values, half_width)
    share, scale = kept_share(lengths, size=size, limit=limit), float(counts.mechanism.scale)
    return Level(
        counts,
        average_original(counts.values, scale=scale, share=share),
        largest_original(counts.values, scale=scale, share=share, rho=heuristics.rho),
        math.ceil(half_width / share),
    )


def release(
    curator: Curator, first: Preliminaries, levels: Sequence[Level], request: Request, *, method: str
) -> Release:
    """What reaches the threshold on average; for k, the k best of everything that was counted (Alg. 3, l. 10-16)."""
    itemsets = Itemsets.of(itemset for level in levels for itemset in level.counts.itemsets)
    average = np.array([value for level in levels for value in level.average])
    half_widths = np.repeat([level.half_width for level in levels], [len(level.average) for level in levels])
    found = Estimates(itemsets, np.rint(average).astype(np.int64), half_widths.astype(np.int64))
    wanted = [
        place
        for place in by_support(found.itemsets, found.supports)
        if request.min_support is None or found.supports[place] >= first.min_count
    ]
    kept = found.take(np.array(wanted[: first.k], dtype=np.int64))
    drowned = (DROWNED,) if any(level.is_drowned(first.min_count) for level in levels[:-1]) else ()
    return replace(first, min_count=0).release(curator, kept, method=method, notes=(ONLY_NOISE, *drowned))
