"""PrivBasis (Li, Qardaji, Su, Cao, PVLDB 2012): top-k itemsets from marginals of small groups of items.

Task: the k most frequent itemsets, or those above a threshold. Symbols of the paper: lambda = how many items
stand in the top k; F, P = frequent items and pairs; B = basis set, w = its width, l = the size of a basis;
alpha_1, alpha_2, alpha_3 = shares of epsilon; eta = the safety margin on k.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the preliminaries (`methods.shared.preliminaries`); of what remains,
2. alpha_1: lambda, one draw of the exponential mechanism on a score of sensitivity c that is not monotone;
3. alpha_2: lambda items, and pairs of them: draws on supports, monotone with sensitivity c; the two get
   shares in proportion to their numbers of draws. Domains are public or paid for: all items, all pairs of F;
4. alpha_3: the marginal of each of the w bases, alpha_3 / w each. A transaction is in one cell of a marginal, so each
   question has sensitivity c.

Bases, merging, averaging and the final choice work on F, P and noisy counts: post-processing. Ranks for
lambda are capped at eta k, which is public; without the cap, a wide alphabet makes lambda meaningless at
small epsilon.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import Curator, NoisyHistogram
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.methods.shared.bases import Basis, basis_set
from veilset.methods.shared.marginals import plain_supports_in_marginal
from veilset.methods.shared.noisy_values import NoisyValues
from veilset.methods.shared.preliminaries import Preliminaries, ask_preliminaries
from veilset.methods.shared.several_marginals import over_bases
from veilset.methods.shared.shrinkage import shrunk
from veilset.request import Request
from veilset.results.estimates import Estimates, by_support
from veilset.results.release import Release

NAME = "privbasis"
SHARE_FOR_LAMBDA, SHARE_FOR_ITEMS, SHARE_FOR_BASES = Fraction(1, 10), Fraction(2, 5), Fraction(1, 2)
MARGIN_ON_K = Fraction(11, 10)
"""eta: 10 % more itemsets than k are prepared for."""
LARGEST_BASIS = 12
FEW_CELLS = 3
"""The noise of up to 3 cells together is taken for Laplace noise, that of more for normal noise."""


def privbasis(curator: Curator, request: Request, *, epsilon: Fraction) -> Release:
    """The k most frequent itemsets from noisy marginals of a basis set (Alg. 3)."""
    domain = curator.domain(max_size=min(request.max_size or LARGEST_BASIS, LARGEST_BASIS))
    preliminaries = ask_preliminaries(curator, request, domain=domain, epsilon=epsilon)
    if preliminaries.k == 0:
        return preliminaries.release(curator, Estimates.none(), method=NAME)
    items, pairs = ask_frequent(curator, preliminaries, domain=domain)  # l. 1-7
    bases = basis_set(items, pairs, largest=LARGEST_BASIS)
    for_each = preliminaries.remaining * SHARE_FOR_BASES / len(bases)
    marginals = [curator.ask_marginal(basis, epsilon=for_each) for basis in bases]
    counts = counts_over(bases, marginals, max_size=domain.max_size)
    best = counts.best(preliminaries.k, min_count=preliminaries.min_count)
    estimates = counts.estimates(best, most=preliminaries.most)
    return replace(preliminaries, min_count=0).release(curator, estimates, method=NAME)


def ask_frequent(
    curator: Curator, preliminaries: Preliminaries, *, domain: Domain
) -> tuple[list[int], list[Itemset]]:
    """The items of the top k, and pairs of them where they are too many for one basis (Alg. 3, l. 1-7)."""
    k = min(math.ceil(MARGIN_ON_K * preliminaries.k), domain.size)
    for_lambda, for_items = (preliminaries.remaining * share for share in (SHARE_FOR_LAMBDA, SHARE_FOR_ITEMS))
    number = curator.ask_matching_rank(
        k, domain=domain, most=min(k, curator.alphabet_size), epsilon=for_lambda
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


@dataclass(frozen=True, slots=True, eq=False)
class BasisCounts:
    """Itemsets within a basis and their noisy supports.

    Itemsets share cells and their noise, so n of one size tell about as much as sqrt(n `items`) independent ones, where
    `items` are those of all bases.
    """

    itemsets: Itemsets
    noisy: NoisyValues
    items: int

    def best(self, k: int, *, min_count: int) -> Int64Array:
        """The k of largest noisy support, as far as they reach a threshold."""
        supports = np.rint(self.noisy.values).astype(np.int64)
        order = by_support(self.itemsets, supports)[:k]
        return np.array([place for place in order if supports[place] >= min_count], np.int64)

    def estimates(self, chosen: Int64Array, *, most: int) -> Estimates:
        """The supports of some of them, of which none is above the most that is possible."""
        itemsets, sizes = list(self.itemsets), np.diff(self.itemsets.offsets)
        is_chosen, parts = np.isin(np.arange(sizes.size), chosen), []
        for size in np.unique(sizes[chosen]):
            places = np.flatnonzero(sizes == size)
            of_size = np.flatnonzero(is_chosen[places])
            independent = math.sqrt(self.items * places.size)
            found = shrunk(self.noisy.take(places), of_size, largest=most, independent=independent)
            parts.append(found.estimates(Itemsets.of(itemsets[place] for place in places[of_size].tolist())))
        return Estimates.joined(parts) if parts else Estimates.none()


def counts_over(bases: Sequence[Basis], marginals: Sequence[NoisyHistogram], *, max_size: int) -> BasisCounts:
    """The support of every itemset within a basis; over several bases, by inverse variance (Alg. 1)."""
    scale = float(marginals[0].mechanism.scale)
    told = [plain_supports_in_marginal(answer.values, scale=scale) for answer in marginals]
    found = over_bases(bases, told, max_size=max_size)
    values, deviations = np.array(list(found.values())).T
    # The noise of one cell is Laplace noise; that of several together is nearly normal.
    is_normal = deviations > scale * math.sqrt(2 * FEW_CELLS)
    scales = np.where(is_normal, deviations, deviations / math.sqrt(2))
    items = sum(len(basis) for basis in bases)
    return BasisCounts(Itemsets.of(found), NoisyValues(values, scales, is_normal), items)
