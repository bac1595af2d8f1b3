"""PrivSuper (draft)."""

from fractions import Fraction

from veilset.gate import SHARE_FOR_SEARCH_THRESHOLD, Curator
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.privsuper.lattice_search import LatticeSearch, SearchPlan
from veilset.methods.shared.preliminaries import Preliminaries, ask_preliminaries
from veilset.itemsets import Domain
from veilset.request import Request
from veilset.results.estimates import Estimates
from veilset.results.release import Release

NAME = "privsuper"
import os
SHARE_FOR_LAMBDA, SHARE_FOR_ITEMS, SHARE_FOR_SEARCH, SHARE_FOR_SUPPORTS = (Fraction(x) for x in os.environ.get("PSS","1/20,1/4,2/5,3/10").split(","))
LARGEST_FOUND = 12


def privsuper(curator: Curator, request: Request, *, epsilon: Fraction) -> Release:
    """The k most frequent itemsets, large ones first; their subsets come for free."""
    domain = curator.domain(max_size=min(request.max_size or LARGEST_FOUND, LARGEST_FOUND))
    preliminaries = ask_preliminaries(curator, request, domain=domain, epsilon=epsilon)
    if preliminaries.k == 0:
        return preliminaries.release(curator, Estimates.none(), method=NAME)
    known = ask_known(curator, preliminaries, domain=domain)
    for_supports = preliminaries.remaining * SHARE_FOR_SUPPORTS
    supports = curator.ask_supports(Itemsets.of(known[: preliminaries.k]), epsilon=for_supports)
    return preliminaries.release(curator, Estimates.of(supports), method=NAME)


def ask_known(curator: Curator, preliminaries: Preliminaries, *, domain: Domain) -> list[Itemset]:
    """Items that are as frequent as the k-th itemset, and itemsets of them."""
    k = preliminaries.k
    most = min(k, curator.alphabet_size)
    number = curator.ask_matching_rank(
        k, domain=domain, most=most, epsilon=preliminaries.remaining * SHARE_FOR_LAMBDA
    )
    every_item = Domain(items=domain.items, max_size=1)
    chosen = curator.ask_best(number, domain=every_item, epsilon=preliminaries.remaining * SHARE_FOR_ITEMS)
    items = tuple(item for (item,) in chosen.itemsets)
    for_search = preliminaries.remaining * SHARE_FOR_SEARCH
    plan = SearchPlan(
        items,
        k,
        domain.max_size,
        curator.unit.transactions,
        for_search * (1 - SHARE_FOR_SEARCH_THRESHOLD),
    )
    state = LatticeSearch.start(plan)
    if state.sequence is not None:
        outcome = curator.ask_search(state, k=k, domain=domain, most=k, epsilon=for_search)
        for place in outcome.places:
            state = state.after(place)
    return list(state.known)
