"""SplitSample (Liang, Chen, Zhang, Zhao, Li, Sci. China Inf. Sci. 2020): top-k itemsets from split transactions.

Task: the k most frequent itemsets, or those above a threshold. Symbols of the paper: alpha = the share of epsilon for
splitting, gamma = the weight of C_max against C_min, l_opt = the length of a piece, F and P = items and pairs with
their noisy counts, CS = the candidates, delta = the largest size, lambda = the count below which nothing can be wanted,
R_m = the share of a support that splitting leaves.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the preliminaries (`methods.shared.preliminaries`); of what remains, alpha goes to 2 to 4, in the shares named below;
2. lambda: the support of the k-th itemset, and two histograms of lengths, of all items and of the items that 3
   chose; sensitivity c each (S3);
3. F: supports of all items under truncation to l items, L1 sensitivity c l; the first histogram says l;
4. P: supports of the pairs of chosen items under truncation to l_opt items, L1 sensitivity at most c C(l_opt, 2); the
   second histogram says l_opt (S3). The printed sensitivities are those of transactions that have been shortened, and
   so are these: no sensitivity here rests on splitting (S7);
5. half of the rest: k draws of the exponential mechanism from CS by the supports C over the pieces. A transaction's
   pieces have no item in common, so it raises each C by 0 or 1 per transaction: monotone with sensitivity c.
   The scores are C and not C / R_m, which one transaction moves by 1 / R_m (S2);
6. the other half: supports of those k, discrete Laplace, L1 sensitivity at most c k (S4).

CS is made of the answers to 2, 3 and 4 alone, so it is as public as they are: what is drawn from does not depend on
the data in any other way (S1). delta is public. A split looks at one transaction and at CS. Estimating counts,
inverting the loss and comparing with a threshold are post-processing.
"""

from fractions import Fraction
from typing import Literal

import numpy as np

from veilset.gate import Curator, KeepBest, KeepRandom, NoisyCounts, OnlyItems, Reshape, Split
from veilset.itemsets import Itemsets
from veilset.methods.shared.preliminaries import ask_preliminaries
from veilset.methods.splitsample.candidates import CandidatePool, ask_candidates
from veilset.methods.splitsample.split_loss import left_of_support
from veilset.request import Request
from veilset.results.estimates import Estimates
from veilset.results.release import Release

Form = Literal["split", "random-cut", "best-cut", "whole"]

NAME = "splitsample"
ALPHA = Fraction(2, 5)
GAMMA = Fraction(1, 2)
DELTA = 5
"""Itemsets of up to 5 items are looked for, unless the caller says."""
SHARE_FOR_DRAWS = Fraction(1, 2)
INVERSION_NOT_COVERED = "the intervals cover the noise, not what the inverted loss is wrong by"


def splitsample(
    curator: Curator,
    request: Request,
    *,
    epsilon: Fraction,
    form: Form = "split",
    only_short: bool = False,
    inverts: bool = False,
) -> Release:
    """The k most frequent itemsets, drawn by their supports in split transactions.

    For comparison, `form` can truncate transactions to l_opt items instead of splitting them, or leave them whole;
    `only_short` counts items and pairs in short transactions alone, as printed; `inverts` releases supports in the
    pieces divided by R_m, as printed, and not supports in whole transactions.
    """
    domain = curator.domain(max_size=request.max_size or DELTA)
    preliminaries = ask_preliminaries(curator, request, domain=domain, epsilon=epsilon)
    if preliminaries.k == 0:
        return preliminaries.release(curator, Estimates.none(), method=NAME)
    k, for_splitting = preliminaries.k, preliminaries.remaining * ALPHA
    pool = ask_candidates(curator, k, domain, only_short=only_short, epsilon=for_splitting)
    reshape = reshaped(pool, form, alphabet_size=curator.alphabet_size)
    for_draws = (preliminaries.remaining - for_splitting) * SHARE_FOR_DRAWS
    for_supports = preliminaries.remaining - for_splitting - for_draws
    drawn = curator.ask_best_of(k, Itemsets.of(pool.ranges), reshape=reshape, epsilon=for_draws)
    chosen = Itemsets.of(drawn.itemsets)
    if inverts:
        counts = curator.ask_reshaped_supports(chosen, reshape=reshape, epsilon=for_supports)
        notes = (INVERSION_NOT_COVERED,)
        return preliminaries.release(curator, inverted(counts, pool), method=NAME, notes=notes)
    supports = curator.ask_supports(chosen, epsilon=for_supports)
    return preliminaries.release(curator, Estimates.of(supports), method=NAME)


def reshaped(pool: CandidatePool, form: Form, *, alphabet_size: int) -> Reshape | None:
    """What becomes of transactions before supports decide which candidates are drawn."""
    match form:
        case "split":
            listed = Itemsets.of(pool.ranges)
            weights = np.array([count.weight(GAMMA) for count in pool.ranges.values()], np.int64)
            return Split(pool.limit, listed.offsets, listed.items, weights)
        case "random-cut":
            return OnlyItems(pool.items, KeepRandom(pool.limit))
        case "best-cut":
            rank = np.full(alphabet_size, pool.items.size, np.int64)
            rank[pool.items] = np.arange(pool.items.size)
            return OnlyItems(pool.items, KeepBest(pool.limit, rank))
        case "whole":
            return None


def inverted(counts: NoisyCounts, pool: CandidatePool) -> Estimates:
    """Supports before the split: those in the pieces divided by R_m, and their half widths, too.

    Where no piece can hold an itemset, nothing is left to divide: all transactions that are long enough may hold it.
    """
    sizes = np.diff(counts.itemsets.offsets).tolist()
    left_of = {
        size: left_of_support(pool.lengths, size=size, limit=pool.limit) for size in sorted(set(sizes))
    }
    holders_of = {
        size: 0 if left_of[size] > 0 else int(np.maximum(pool.lengths[size:], 0).sum()) for size in left_of
    }
    left = np.array([left_of[size] or 1.0 for size in sizes])
    unseen = np.array([holders_of[size] for size in sizes], np.int64)
    half_widths = np.ceil(counts.mechanism.half_width() / left).astype(np.int64) + unseen
    return Estimates.within(counts.itemsets, np.rint(counts.values / left).astype(np.int64), half_widths)
