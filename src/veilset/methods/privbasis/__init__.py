"""PrivBasis (Li, Qardaji, Su, Cao, PVLDB 2012): top-k itemsets from joint patterns of small groups of items.

Task: the k most frequent itemsets, or those above a threshold. Symbols of the paper: lambda = how many items
stand in the top k; F, P = frequent items and pairs; B = basis set, w = its width, l = the size of a basis;
alpha_1, alpha_2, alpha_3 = shares of epsilon; eta = the safety margin on k.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the opening (`methods.opening`); of what is left,
2. alpha_1: lambda, one draw of the exponential mechanism on a score of sensitivity c that is not monotone;
3. alpha_2: lambda items, and pairs of them: draws on supports, monotone with sensitivity c; the two get
   shares in proportion to their numbers of draws. Domains are public or paid for: all items, all pairs of F;
4. alpha_3: the joint patterns of each of the w bases, alpha_3 / w each. A transaction shows one pattern of a
   basis, so each question has sensitivity c.

Bases, merging, averaging and the final choice work on F, P and noisy counts: post-processing. Ranks for
lambda are capped at eta k, which is public; without the cap, a wide alphabet makes lambda meaningless at
small epsilon.
"""

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from veilset.gate import Curator, NoisyHistogram
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.methods.planned.posterior import WIDEST_IN_SIGMA
from veilset.methods.shared.bases import Basis, basis_set
from veilset.methods.shared.marginals import over_bases, plain_supports_in_marginal
from veilset.methods.shared.preliminaries import Preliminaries, ask_preliminaries
from veilset.request import Request
from veilset.results.estimates import Estimates, by_support
from veilset.results.release import Release

NAME = "privbasis"
SHARE_FOR_LAMBDA, SHARE_FOR_ITEMS, SHARE_FOR_BASES = Fraction(1, 10), Fraction(2, 5), Fraction(1, 2)
MARGIN = Fraction(11, 10)
LARGEST_BASIS = 12
CHOSEN_BY_THE_SAME_NOISE = (
    "itemsets were chosen by the same noisy supports that are shown, "
    "so those that just made it are rather too high"
)


def privbasis(curator: Curator, request: Request, *, epsilon: Fraction) -> Release:
    """The k most frequent itemsets from noisy joint patterns of a basis set (Alg. 3)."""
    domain = curator.domain(max_size=min(request.max_size or LARGEST_BASIS, LARGEST_BASIS))
    first = ask_preliminaries(curator, request, domain=domain, epsilon=epsilon)
    if first.k == 0:
        return first.release(curator, Estimates.none(), method=NAME)
    items, pairs = ask_frequent(curator, first, domain=domain)
    bases = basis_set(items, pairs, largest=LARGEST_BASIS)
    patterns = [
        curator.ask_marginal(basis, epsilon=first.left * SHARE_FOR_BASES / len(bases)) for basis in bases
    ]
    estimates = averaged(zip(bases, patterns, strict=True), max_size=domain.max_size)
    best = by_support(estimates.itemsets, estimates.supports)[: first.k]
    return first.release(
        curator, estimates.take(np.array(best)), method=NAME, notes=(CHOSEN_BY_THE_SAME_NOISE,)
    )


def ask_frequent(
    curator: Curator, first: Preliminaries, *, domain: Domain
) -> tuple[list[int], list[Itemset]]:
    """The items of the top k, and pairs of them where they are too many for one basis (Alg. 3, l. 1-7)."""
    k = min(math.ceil(MARGIN * first.k), domain.size)
    for_items = first.left * SHARE_FOR_ITEMS
    number = curator.ask_matching_rank(
        k, domain=domain, most=min(k, curator.alphabet_size), epsilon=first.left * SHARE_FOR_LAMBDA
    )
    number_of_pairs = how_many_pairs(k, number) if number > LARGEST_BASIS and domain.max_size > 1 else 0
    share = Fraction(number, number + number_of_pairs)
    every_item = Domain(items=domain.items, max_size=1)
    chosen = curator.ask_best(number, domain=every_item, epsilon=for_items * share)
    items = sorted(item for (item,) in chosen.itemsets)
    if number_of_pairs == 0:
        return items, []
    every_pair = Domain(items=tuple(items), min_size=2, max_size=2)
    pairs = curator.ask_best(number_of_pairs, domain=every_pair, epsilon=for_items * (1 - share))
    return items, list(pairs.itemsets)


def how_many_pairs(k: int, number_of_items: int) -> int:
    """lambda_2: the rest of the top k, fewer where it is much more than there are items.

    >>> how_many_pairs(110, 46), how_many_pairs(110, 20), how_many_pairs(55, 60)
    (54, 42, 0)
    """
    rest = max(k - number_of_items, 0)
    wanted = rest / math.sqrt(max(1.0, rest / number_of_items))
    return min(int(wanted), math.comb(number_of_items, 2))


def averaged(answers: Iterable[tuple[Basis, NoisyHistogram]], *, max_size: int) -> Estimates:
    """The support of every itemset within a basis; over several bases, by inverse variance (Alg. 1)."""
    bases, patterns = zip(*answers, strict=True)
    told = [
        plain_supports_in_marginal(answer.values, scale=float(answer.mechanism.scale)) for answer in patterns
    ]
    found = over_bases(bases, told, max_size=max_size)
    values, deviations = np.array(list(found.values())).T
    return Estimates(
        Itemsets.of(found),
        np.rint(values).astype(np.int64),
        np.ceil(WIDEST_IN_SIGMA * deviations).astype(np.int64),
    )
