"""After PrivSuper (Wang, Xiao, Yang, Zhang, Gu, Yu, ICDE 2017): large itemsets first, their subsets for free.

Task: the k most frequent itemsets, or those above a threshold. Of the paper this has the idea that its abstract states:
search for maximal frequent itemsets directly, extend an itemset by one item at a time by a mechanism that costs nothing
where it cannot be extended, and take the subsets of what was found without asking. The paper's own mechanism for that,
the "sequence exponential mechanism", and its proof were not at hand. In its place stands a search against one noisy
threshold (`gate.selection.free_refusals`), whose refusals are free by the argument of the sparse vector technique.
Symbols: lambda = how many items stand in the top k; l = the length to which transactions are normalised; F = the
frequent items.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the preliminaries (`methods.shared.preliminaries`); of what remains,
2. 1/20: lambda, one draw of the exponential mechanism on a score of sensitivity c that is not monotone; and 1/50: a
   histogram of lengths, in which a transaction counts once: sensitivity c;
3. 1/5: F, the lambda most frequent items. Where l < lambda, by noisy supports of all items in transactions normalised
   to l items, sensitivity c l; else by lambda draws on supports, monotone with sensitivity c. Of all items, either way;
4. 2/5: the search, unless there is nothing to search for. The threshold, which is the support of the k-th itemset, and
   every support rise by 0 to c with one more unit. 1/8 of this pays for the noise of the threshold, the rest for each
   itemset that is found; all of it is charged before the look;
5. the rest: supports, with new noise. Discrete Laplace on at most k counts, L1 sensitivity c k, or the marginals of w
   groups of items, in each of which a transaction counts in one cell, an equal part for each.

What is compared next, how long transactions may be, and which way supports are asked for follows from earlier answers.
That a subset of a frequent itemset is frequent is true of all data, so it tells nothing. Candidates are all itemsets of
items that were paid for, whether the data holds them or not.
"""

from fractions import Fraction

import numpy as np

from veilset.gate import SHARE_FOR_SEARCH_THRESHOLD, Curator
from veilset.itemsets import Domain, Itemset
from veilset.methods.privsuper.lattice_search import LatticeSearch, SearchPlan
from veilset.methods.privsuper.supports import LARGEST_GROUP, SupportPlan, ask_planned_supports
from veilset.methods.shared.preliminaries import Preliminaries, ask_preliminaries
from veilset.methods.shared.truncation import LONGEST_LENGTH, length_up_to
from veilset.request import Request
from veilset.results.estimates import Estimates
from veilset.results.release import Release

NAME = "privsuper"
LAMBDA_SHARE, LENGTHS_SHARE, ITEMS_SHARE = Fraction(1, 20), Fraction(1, 50), Fraction(1, 5)
SEARCH_SHARE, SUPPORTS_SHARE = Fraction(2, 5), Fraction(33, 100)
KEPT_WHOLE = Fraction(17, 20)
"""85 % of the transactions are no longer than the limit to which longer ones are normalised."""


def privsuper(curator: Curator, request: Request, *, epsilon: Fraction) -> Release:
    """The k most frequent itemsets: large ones are searched for first, their subsets come for free."""
    domain = curator.domain(max_size=min(request.max_size or LARGEST_GROUP, LARGEST_GROUP))
    preliminaries = ask_preliminaries(curator, request, domain=domain, epsilon=epsilon)
    if preliminaries.k == 0:
        return preliminaries.release(curator, Estimates.none(), method=NAME)
    items = ask_items(curator, preliminaries, domain=domain)
    search = start_search(items, preliminaries.k, max_size=domain.max_size, remaining=preliminaries.remaining)
    known, for_supports = ask_known(curator, preliminaries, search, domain=domain)
    plan = SupportPlan.of(
        known, k=preliminaries.k, sensitivity=curator.unit.transactions, epsilon=for_supports
    )
    estimates = ask_planned_supports(curator, plan, epsilon=for_supports)
    return preliminaries.release(curator, estimates, method=NAME)


def ask_items(curator: Curator, preliminaries: Preliminaries, *, domain: Domain) -> tuple[int, ...]:
    """F: as many of the most frequent items as are as frequent as the k-th itemset, the most frequent one first."""
    k, remaining = preliminaries.k, preliminaries.remaining
    most, for_items = min(k, curator.alphabet_size), remaining * ITEMS_SHARE
    number = curator.ask_matching_rank(k, domain=domain, most=most, epsilon=remaining * LAMBDA_SHARE)
    lengths = curator.ask_lengths(limit=LONGEST_LENGTH, epsilon=remaining * LENGTHS_SHARE)
    limit = length_up_to(lengths, KEPT_WHOLE)
    if limit < number:
        counts = curator.ask_normalised_supports(limit, epsilon=for_items)
        order = np.argsort(-counts.values, kind="stable")[:number]
        return tuple(counts.items[order].tolist())
    every_item = Domain(items=domain.items, max_size=1)
    chosen = curator.ask_best(number, domain=every_item, epsilon=for_items)
    return tuple(item for (item,) in chosen.itemsets)


def start_search(items: tuple[int, ...], k: int, *, max_size: int, remaining: Fraction) -> LatticeSearch:
    """A search for k itemsets of the items, with what is left for finds when the threshold is paid."""
    for_finds = remaining * SEARCH_SHARE * (1 - SHARE_FOR_SEARCH_THRESHOLD)
    return LatticeSearch.start(SearchPlan(items, k, max_size, for_finds))


def ask_known(
    curator: Curator, preliminaries: Preliminaries, search: LatticeSearch, *, domain: Domain
) -> tuple[list[Itemset], Fraction]:
    """The items, the itemsets that the search finds, and their subsets, in the order of finding; and what is left."""
    k, remaining = preliminaries.k, preliminaries.remaining
    for_supports = remaining * SUPPORTS_SHARE
    if search.sequence is None:
        return list(search.known), for_supports + remaining * SEARCH_SHARE
    outcome = curator.ask_search(search, k=k, domain=domain, most=k, epsilon=remaining * SEARCH_SHARE)
    for place in outcome.places:
        search = search.after(place)
    return list(search.known), for_supports
