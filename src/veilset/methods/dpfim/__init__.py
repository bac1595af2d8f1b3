"""DP-FIM (Xiong et al., IEEE Access 2018): itemsets of large data by sampling, truncation and a noisy FP-tree.

Task: the k most frequent itemsets, or those above a threshold. Symbols of the paper: eta = the share of
transactions that truncation leaves whole; l_max = the length limit; L = maximal frequent itemsets of the sample, the
targets of truncation; epsilon_1 = for the tree, epsilon_2 = for the final supports; delta, Z_alpha = tolerance and
confidence of the sample.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the preliminaries (`methods.shared.preliminaries`): number of transactions, and for a threshold how many itemsets it
   means;
2. on one Bernoulli sample, whose questions together cost ln(1 + q'(e^E - 1)) here (`gate.accounting.amplification`;
   repair X1), and that is at most `MOST_FOR_SAMPLE` of what remains: how many items (one draw, sensitivity c, not
   monotone); the lengths of transactions (sensitivity c); which items (draws on supports, monotone with sensitivity c,
   or supports of all items under truncation to l of them, L1 sensitivity c l); the lengths over those items (c); and
   the targets, draws on supports of itemsets of those items (monotone, c). The rate of the sample comes from the noisy
   number;
3. of the rest, `SHARE_FOR_TREE` for the mining phase: where items are many, their supports under truncation, L1
   sensitivity c l_max, in the place of one more level; and the tree, one question of L1 sensitivity c l_max,
   because a truncated transaction is one path of at most l_max nodes (`gate.questions.prefix_tree`; repairs X2, X3);
4. what remains then: the supports of the final itemsets, at most k, L1 sensitivity c k (repair X4).

Truncation looks at one transaction, at the order and at the targets, which were paid for. Thresholds for nodes come
from the scale of the noise and the number of items. FP-growth, maximal itemsets, factors and averages see noisy
values alone: post-processing.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate import Curator, NoisyCounts
from veilset.itemsets import Domain, Itemsets
from veilset.methods.dpfim.lacking import combined
from veilset.methods.dpfim.sample import ETA, WITHIN, ask_shape, open_sample
from veilset.methods.dpfim.tree_questions import ask_tree
from veilset.methods.dpfim.tree_supports import in_tree, with_ended
from veilset.methods.shared.noisy_values import NoisyValues
from veilset.methods.shared.preliminaries import (
    SHARE_FOR_NUMBER,
    Preliminaries,
    ask_preliminaries,
    wanted_itemsets,
)
from veilset.methods.shared.shrinkage import shrunk
from veilset.request import Request
from veilset.results.estimates import Estimates, by_support, count_of
from veilset.results.release import Release
from veilset.wording import counted

LARGEST_MINED = 16
"""Itemsets of up to 16 items are looked for, unless the caller says."""
SHARE_FOR_TREE = Fraction(2, 3)

STRAWMAN_SIZE = 2
"""The strawman counts itemsets of up to 2 items, unless the caller says."""
MOST_COUNTED_BY_STRAWMAN = 100_000


def dpfim(
    curator: Curator, request: Request, *, epsilon: Fraction, eta: Fraction = ETA, tolerance: float = WITHIN
) -> Release:
    """The most frequent itemsets from a noisy FP-tree of truncated transactions (Alg. 1)."""
    may_spend = curator.budget.spent + epsilon
    domain = curator.domain(max_size=min(request.max_size or LARGEST_MINED, curator.alphabet_size))
    preliminaries = ask_preliminaries(curator, request, domain=domain, epsilon=epsilon)
    k = preliminaries.k
    if k == 0:
        return preliminaries.release(curator, Estimates.none(), method="dpfim")
    sample = open_sample(curator, preliminaries, tolerance=tolerance)  # l. 1
    shape = ask_shape(sample, k, domain=domain, eta=eta)  # l. 2, Alg. 2
    remaining = may_spend - curator.budget.spent  # with what the sample did not need
    tree, singles = ask_tree(curator, shape, epsilon=remaining * SHARE_FOR_TREE)  # l. 3 and 4, Alg. 3 and 4
    consistent = tree.consistent(preliminaries.number.value)
    known = in_tree(consistent, singles, k=k, max_size=domain.max_size).best(k)
    if request.min_support is not None:
        known = known.at_least(preliminaries.min_count)
    if len(known.itemsets) == 0:
        return preliminaries.release(curator, Estimates.none(), method="dpfim")
    asked = curator.ask_supports(known.itemsets, epsilon=remaining * (1 - SHARE_FOR_TREE))  # l. 5, X4
    if singles is None:
        known = with_ended(known, tree, preliminaries.number, depth=shape.depth)
    estimates = combined(known, asked, most=preliminaries.most)
    return preliminaries.release(curator, estimates, method="dpfim")


def strawman(curator: Curator, request: Request, *, epsilon: Fraction) -> Release:
    """Noise on the supports of all itemsets, C(n, i) for those of i items (Sec. IV-A).

    The number of transactions takes its share unless it is public; the sizes share the rest equally. A transaction
    may hold all C(n, i) itemsets of a size, which is their L1 sensitivity, times c for a unit of c transactions.
    """
    domain = curator.domain(max_size=min(request.max_size or STRAWMAN_SIZE, curator.alphabet_size))
    k = wanted_itemsets(curator, request, domain)
    check_listable(domain)
    for_number = epsilon * SHARE_FOR_NUMBER if curator.public_number is None else Fraction(0)
    number = curator.ask_number(epsilon=for_number)
    for_size = (epsilon - for_number) / domain.max_size
    answers = [
        curator.ask_supports(Itemsets.of(combinations(domain.items, size)), epsilon=for_size)
        for size in range(1, domain.max_size + 1)
    ]
    min_count = count_of(request.min_support or Fraction(0), transactions=number.value)
    preliminaries = Preliminaries(number, k or domain.size, min_count, Fraction(0), ())
    best = best_above(answers, preliminaries)
    return replace(preliminaries, min_count=0).release(curator, best, method="strawman")


def check_listable(domain: Domain) -> None:
    """Refuse what the strawman cannot list, from the alphabet and the size alone."""
    if domain.size > MOST_COUNTED_BY_STRAWMAN:
        raise BadCall(
            f"strawman lists all {domain.size} itemsets of up to {domain.max_size} of "
            f"{counted(len(domain.items), 'item')}, and takes up to {MOST_COUNTED_BY_STRAWMAN}; "
            "allow smaller itemsets, or use dpfim"
        )


def best_above(answers: list[NoisyCounts], preliminaries: Preliminaries) -> Estimates:
    """The k largest of all, as far as they reach the threshold."""
    itemsets = Itemsets.of(itemset for answer in answers for itemset in answer.itemsets)
    values = np.concatenate([answer.values for answer in answers])
    best = by_support(itemsets, values)[: preliminaries.k]
    is_chosen = np.zeros(values.size, np.bool_)
    is_chosen[[place for place in best if values[place] >= preliminaries.min_count]] = True
    ends = np.cumsum([answer.values.size for answer in answers])[:-1]
    parts = [
        _estimates(answer, np.flatnonzero(chosen), most=preliminaries.most)
        for answer, chosen in zip(answers, np.split(is_chosen, ends), strict=True)
    ]
    return Estimates.joined(parts)


def _estimates(counts: NoisyCounts, chosen: Int64Array, *, most: int) -> Estimates:
    """The supports of those chosen among all itemsets of a size, of which none is above the most that is possible."""
    itemsets = list(counts.itemsets)
    noisy = NoisyValues.laplace(counts.values, float(counts.mechanism.scale))
    found = shrunk(noisy, chosen, largest=most)
    return found.estimates(Itemsets.of(itemsets[place] for place in chosen.tolist()))
