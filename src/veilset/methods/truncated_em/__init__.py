"""Truncated frequencies and the exponential mechanism (Bhaskar et al. 2010).

Task: the k most frequent itemsets of up to `max_size` items, with their supports. Symbols of the paper:
U = all itemsets up to the size limit; f_k = support of the k-th of them; gamma = the margin under f_k;
f^(X) = max(support, f_k - gamma) = the score. Floor and block are explained in `gate.selection.floored_supports`.

Privacy argument. Neighbours differ by one privacy unit, of at most c transactions (c = 1 unless a person may
have several). All questions are asked of the same data, so their costs add up to epsilon:

1. the preliminaries (`methods.shared.preliminaries`): number of transactions, and for a threshold how many itemsets it
   means;
2. the k best itemsets: k draws on monotone scores of sensitivity c, half of what remains;
3. the supports of those k: discrete Laplace, L1 sensitivity at most c k, the other half.

The domain of 2 is public (alphabet and size limit), so every itemset is possible on every database. A
threshold is compared with noisy supports only. Supports and intervals come from 3 alone, whose noise does not
depend on which itemsets 2 drew.
"""

from fractions import Fraction

from veilset.gate import Curator
from veilset.itemsets import Itemsets
from veilset.methods.shared.preliminaries import ask_preliminaries
from veilset.request import Request
from veilset.results.estimates import Estimates
from veilset.results.release import Release

NAME = "truncated-em"
LARGEST_DRAWN = 3
"""Itemsets of up to 3 items are looked for, unless the caller says."""
SHARE_FOR_CHOICE = Fraction(1, 2)


def truncated_em(curator: Curator, request: Request, *, epsilon: Fraction) -> Release:
    """The k most frequent itemsets, or those above a threshold, by the exponential mechanism."""
    domain = curator.domain(max_size=request.max_size or LARGEST_DRAWN)
    preliminaries = ask_preliminaries(curator, request, domain=domain, epsilon=epsilon)
    if preliminaries.k == 0:
        return preliminaries.release(curator, Estimates.none(), method=NAME)
    for_choice = preliminaries.remaining * SHARE_FOR_CHOICE
    chosen = curator.ask_best(preliminaries.k, domain=domain, epsilon=for_choice)
    for_supports = preliminaries.remaining - for_choice
    supports = curator.ask_supports(Itemsets.of(chosen.itemsets), epsilon=for_supports)
    return preliminaries.release(curator, Estimates.of(supports), method=NAME)
