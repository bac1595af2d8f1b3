"""SplitSample (Liang, Chen, Zhang, Zhao, Li, Sci. China Inf. Sci. 2020): top-k itemsets from split transactions.

Task: the k most frequent itemsets, or those above a threshold. Symbols of the paper: alpha = the share of epsilon for
splitting, gamma = the weight of C_max against C_min, l_opt = the length of a piece, F and P = items and pairs with
their noisy counts, CS = the patterns, delta = the largest size, lambda = the count below which nothing can be wanted,
R_m = the share of a support that splitting leaves.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the opening (`methods.opening`); of what is left, alpha goes to 2 to 4, in the shares named below;
2. lambda: the support of the k-th itemset, and two histograms of lengths, of all items and of the items that 3
   chose; sensitivity c each (S3);
3. F: supports of all items under a cut to l items, L1 sensitivity c l; the first histogram says l;
4. P: supports of the pairs of chosen items under a cut to l_opt items, L1 sensitivity at most c C(l_opt, 2); the second
   histogram says l_opt (S3). The printed sensitivities are those of transactions that have been shortened, and so
   are these: no sensitivity here rests on splitting (S7);
5. half of the rest: k draws of the exponential mechanism from CS by the supports C over the pieces. A transaction's
   pieces have no item in common, so it raises each C by 0 or 1 per transaction: monotone with sensitivity c.
   The scores are C and not C / R_m, which one transaction moves by 1 / R_m (S2);
6. the other half: supports of those k, discrete Laplace, L1 sensitivity at most c k (S4).

CS is made of the answers to 2, 3 and 4 alone, so it is as public as they are: what is drawn from does not depend on
the data in any other way (S1). delta is public. A split looks at one transaction and at CS. Estimating counts,
inverting the loss and comparing with a threshold are post-processing.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import (
    Curator,
    DropLonger,
    KeepAll,
    KeepBest,
    KeepRandom,
    NoisyCounts,
    NoisyHistogram,
    OnlyItems,
    Reshape,
    Split,
)
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.methods.difffim import length_up_to
from veilset.methods.difffim.double_standards import kept_share
from veilset.methods.shared.preliminaries import ask_preliminaries
from veilset.methods.splitsample.count_estimation import Range, counted, patterns
from veilset.methods.splitsample.split_loss import left_of_support
from veilset.request import Request
from veilset.results.estimates import Estimates
from veilset.results.release import Release

Shortening = KeepRandom | DropLonger
Form = Literal["split", "random-cut", "best-cut", "whole"]

NAME = "splitsample"
ALPHA = Fraction(2, 5)
GAMMA = Fraction(1, 2)
MAX_SIZE = 5
"""delta: the largest itemset that is looked for, unless the caller says."""
SMALL_SHARE = Fraction(1, 20)
"""Of alpha, for lambda and each of the two histograms; items and pairs have the rest, in equal parts."""
SHARE_FOR_CHOICE = Fraction(1, 2)
LONGEST = 64
"""Transactions of this length and longer are one class of the histograms."""
SHARE_OF_TRANSACTIONS = Fraction(1, 2)
"""Items are counted under a cut that leaves so many transactions whole."""
LEFT_OF_PAIRS = 0.8
"""l_opt is the shortest length of pieces that leaves this share of a pair's support."""
NEAR, SLACK = 0.7, 2
"""An item or a pair may be wanted if its estimate is at most so many scales of noise below this part of lambda.

Not below lambda itself, because what shortening leaves is known on average alone."""
MOST_PAIRED = 256
"""Pairs are counted of so many items at the most, the most frequent of those chosen."""
ONLY_NOISE = "the intervals cover the noise, not what the inverted loss is wrong by"


@dataclass(frozen=True, slots=True, eq=False)
class Upscaled:
    """Estimates of supports from shortened transactions, and the scale of their noise."""

    values: Int64Array
    scale: float


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What the first part of epsilon told: chosen items, most frequent first; their lengths; l_opt; CS."""

    items: Int64Array
    lengths: Int64Array
    limit: int
    patterns: dict[Itemset, Range]


def splitsample(
    curator: Curator,
    request: Request,
    *,
    epsilon: Fraction,
    alpha: Fraction = ALPHA,
    gamma: Fraction = GAMMA,
    form: Form = "split",
    only_short: bool = False,
    inverts: bool = False,
) -> Release:
    """The k most frequent itemsets, drawn by their supports in split transactions.

    For comparison, `form` can cut transactions to l_opt items instead of splitting them, or leave them whole;
    `only_short` counts items and pairs in short transactions alone, as printed; `inverts` releases supports in the
    pieces divided by R_m, as printed, and not supports in whole transactions.
    """
    max_size = request.max_size or MAX_SIZE
    first = ask_preliminaries(curator, request, domain=curator.domain(max_size=max_size), epsilon=epsilon)
    if first.k == 0:
        return first.release(curator, Estimates.none(), method=NAME)
    for_splitting = first.left * alpha
    known = ask_patterns(curator, first.k, max_size, only_short=only_short, epsilon=for_splitting)
    reshape = reshaped(known, form, gamma=gamma, alphabet_size=curator.alphabet_size)
    for_choice = (first.left - for_splitting) * SHARE_FOR_CHOICE
    for_supports = first.left - for_splitting - for_choice
    candidates = Itemsets.of(known.patterns)
    chosen = curator.ask_best_of(first.k, candidates, reshape=reshape, epsilon=for_choice)
    itemsets = Itemsets.of(chosen.itemsets)
    if inverts:
        left = curator.ask_reshaped_supports(itemsets, reshape=reshape, epsilon=for_supports)
        return first.release(curator, inverted(left, known), method=NAME, notes=(ONLY_NOISE,))
    supports = curator.ask_supports(itemsets, epsilon=for_supports)
    return first.release(curator, Estimates.of(supports), method=NAME)


def ask_patterns(curator: Curator, k: int, max_size: int, *, only_short: bool, epsilon: Fraction) -> Known:
    """lambda, F, l_opt, P, and what follows from them: the patterns that may be among the k best."""
    for_each_small = epsilon * SMALL_SHARE
    for_counts = epsilon - 3 * for_each_small
    for_pairs = for_counts / 2 if max_size > 1 else Fraction(0)
    shorten = DropLonger if only_short else KeepRandom
    wanted = curator.ask_kth_support(
        k, domain=curator.domain(max_size=max_size), epsilon=for_each_small
    ).value
    f = ask_items(curator, shorten, for_lengths=for_each_small, epsilon=for_counts - for_pairs)
    number = how_many_items(f.values, k, max_size, min_count=NEAR * wanted - SLACK * f.scale)
    items = np.argsort(-f.values, kind="stable")[:number]
    singles = counted(zip(((item,) for item in items.tolist()), f.values[items].tolist(), strict=True))
    chosen = OnlyItems(items, KeepAll())
    lengths = clear(
        curator.ask_lengths(limit=min(LONGEST, number), truncation=chosen, epsilon=for_each_small)
    )
    limit = piece_length(lengths)
    if max_size == 1 or number == 1:
        return Known(items, lengths, limit, singles)
    paired = items[: how_many_paired(k, number)]
    truncation = shorten(limit)
    counts = curator.ask_supports(
        pairs_of(paired), truncation=OnlyItems(paired, truncation), epsilon=for_pairs
    )
    p = upscaled(counts, lengths, truncation, size=2)
    pairs = counted(zip(counts.itemsets, p.values.tolist(), strict=True))
    least = math.ceil(NEAR * wanted - SLACK * p.scale)
    found = patterns(singles, pairs, max_size=min(max_size, limit), min_count=least, most=k)
    if len(found) < k:  # few items, and much noise: then nothing is too rare
        found = patterns(singles, pairs, max_size=max_size, min_count=0, most=k)
    return Known(items, lengths, limit, found)


def ask_items(
    curator: Curator, shorten: Callable[[int], Shortening], *, for_lengths: Fraction, epsilon: Fraction
) -> Upscaled:
    """About how many transactions hold each item, from shortened ones."""
    histogram = curator.ask_lengths(limit=LONGEST, epsilon=for_lengths)
    truncation = shorten(length_up_to(histogram, SHARE_OF_TRANSACTIONS))
    counts = curator.ask_item_supports(truncation=truncation, epsilon=epsilon)
    return upscaled(counts, clear(histogram), truncation, size=1)


def how_many_items(counts: Int64Array, k: int, max_size: int, *, min_count: float) -> int:
    """How many items may stand in the k best itemsets: those that are frequent enough, but at the most k.

    An itemset is no more frequent than its items, so the k best have no more than k items. At the least so
    many that k itemsets can be made of them.
    """
    most = min(k, counts.size)
    enough = (n for n in range(1, most) if Domain(items=range(n), max_size=max_size).size >= k)
    return min(most, max(next(enough, most), int(np.count_nonzero(counts >= min_count))))


def how_many_paired(k: int, number: int) -> int:
    """Of how many items pairs are counted: few enough to be quick, enough to make k itemsets.

    >>> how_many_paired(100, 100), how_many_paired(2000, 1000)
    (100, 256)
    """
    enough = range(min(number, MOST_PAIRED), number)
    return next((n for n in enough if number + math.comb(n, 2) >= k), number)


def pairs_of(items: Int64Array) -> Itemsets:
    """All pairs, in lexicographic order."""
    return Itemsets.of(combinations(sorted(items.tolist()), 2))


def clear(histogram: NoisyHistogram) -> Int64Array:
    """The classes that stand out from the noise; the rest may be nothing but noise, and counts as 0."""
    return np.where(histogram.values > 2 * float(histogram.mechanism.scale), histogram.values, 0)


def holders(lengths: Int64Array, size: int) -> FloatArray:
    """How many transactions of each length hold an itemset of that size, up to a factor.

    The longer a transaction, the likelier: of l items, C(l, size) itemsets. The paper takes all lengths alike.
    """
    weighed: FloatArray = lengths * np.array(
        [float(math.comb(length, size)) for length in range(lengths.size)]
    )
    return weighed


def piece_length(lengths: Int64Array) -> int:
    """l_opt: the shortest pieces that leave enough of a pair's support."""
    limits = range(2, lengths.size)
    enough = (limit for limit in limits if left_of_support(lengths, size=2, limit=limit) >= LEFT_OF_PAIRS)
    return next(enough, max(2, lengths.size - 1))


def upscaled(counts: NoisyCounts, lengths: Int64Array, truncation: Shortening, *, size: int) -> Upscaled:
    """Counts in shortened transactions, divided by the share that shortening leaves on average."""
    weighed = holders(lengths, size)
    if isinstance(truncation, KeepRandom):
        share = kept_share(weighed, size=size, limit=truncation.limit)
    else:
        short = weighed[: truncation.limit + 1].sum()
        share = float(short / weighed.sum()) if short else 1.0
    return Upscaled(np.rint(counts.values / share).astype(np.int64), float(counts.mechanism.scale) / share)


def reshaped(known: Known, form: Form, *, gamma: Fraction, alphabet_size: int) -> Reshape | None:
    """What becomes of transactions before supports decide who is drawn."""
    match form:
        case "split":
            listed = Itemsets.of(known.patterns)
            weights = np.array([count.weight(gamma) for count in known.patterns.values()], np.int64)
            return Split(known.limit, listed.offsets, listed.items, weights)
        case "random-cut":
            return OnlyItems(known.items, KeepRandom(known.limit))
        case "best-cut":
            rank = np.full(alphabet_size, known.items.size, np.int64)
            rank[known.items] = np.arange(known.items.size)
            return OnlyItems(known.items, KeepBest(known.limit, rank))
        case "whole":
            return None


def inverted(counts: NoisyCounts, known: Known) -> Estimates:
    """Supports before the split: those in the pieces divided by R_m, and their half widths, too."""
    sizes = np.diff(counts.itemsets.offsets)
    left_of = {
        size: left_of_support(known.lengths, size=size, limit=known.limit)
        for size in np.unique(sizes).tolist()
    }
    left = np.array([left_of[size] for size in sizes.tolist()])
    half_widths = np.ceil(counts.mechanism.half_width() / left).astype(np.int64)
    return Estimates(counts.itemsets, np.rint(counts.values / left).astype(np.int64), half_widths)
