"""Where few items carry the answer: choose them, and count them together.

Privacy argument. Neighbours differ by one privacy unit of c transactions. What is left buys, one after another:

1. the items: one draw of the exponential mechanism over sets of items, on a score of sensitivity c that is not monotone
   (`ask_frequent_items`); or where items crowd together, a draw for each on its support, monotone with sensitivity c;
2. where they are too many for one group, which of their pairs matter: one more draw over sets (`ask_frequent_of`),
   of pairs of the items chosen;
3. the joint patterns of w groups of these items, of which a transaction shows one: sensitivity c, 1 / w of the rest
   each.

How the choice is made, and among how many, follows from earlier answers (`methods.choosing_items`); groups follow from
the pairs. All else is post-processing.
"""

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.gate import Curator
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.methods.planned.item_selection import (
    HALF,
    USUAL_SIZE,
    Choice,
    SeveralGroups,
    choice_of,
    group_size,
    several_groups,
)
from veilset.methods.planned.scouting import LARGEST_BASIS, Aim, fewest_items, wider_than
from veilset.methods.shared.bases import basis_set
from veilset.methods.shared.marginals import WIDEST_IN_SIGMA, averaged, noise_of_marginal
from veilset.results.estimates import Estimates


def ask_few_items(curator: Curator, aim: Aim) -> tuple[Estimates, tuple[str, ...]]:
    """Choose the items that carry the answer, and ask for their joint patterns: in one group, or in several."""
    transactions = curator.unit.transactions
    several = several_groups(aim, transactions=transactions)
    if several is not None:
        items = ask_items_at_once(curator, aim, several.size, several.items)
        return ask_several_groups(curator, aim, items, several)
    size = group_size(aim, unit=transactions / float(aim.left * (1 - HALF)))
    choice = choice_of(
        aim, size, noise_of_rest=noise_of_marginal(size, USUAL_SIZE), transactions=transactions
    )
    ask_items = ask_items_at_once if choice.is_one else ask_items_one_by_one
    items = ask_items(curator, aim, size, choice)
    return ask_one_group(curator, aim, items, epsilon=aim.left - choice.epsilon)


def ask_one_group(
    curator: Curator, aim: Aim, items: tuple[int, ...], *, epsilon: Fraction
) -> tuple[Estimates, tuple[str, ...]]:
    """The best itemsets by the joint patterns of all items."""
    patterns = curator.ask_marginal(items, epsilon=epsilon)
    told = averaged([items], [patterns], number=aim.first.number, max_size=aim.domain.max_size)
    why = (
        f"transactions hold much of the answer, so {len(items)} items were chosen and counted together: "
        f"about {aim.rank} items are as frequent as the {aim.k}-th itemset"
    )
    return best_of(told, aim), (why,)


def ask_several_groups(
    curator: Curator, aim: Aim, items: tuple[int, ...], several: SeveralGroups
) -> tuple[Estimates, tuple[str, ...]]:
    """Which pairs of the items matter, then the best itemsets by joint patterns of groups that hold all of these."""
    pairs, wider = Itemsets.of(combinations(items, 2)), wider_than(aim.k, aim.domain)
    chosen = curator.ask_frequent_of(wider, pairs, domain=aim.domain, epsilon=several.for_pairs)
    left = aim.left - several.items.epsilon - several.for_pairs
    bases = basis_set(items, chosen, largest=LARGEST_BASIS)
    patterns = [curator.ask_marginal(basis, epsilon=left / len(bases)) for basis in bases]
    told = averaged(bases, patterns, number=aim.first.number, max_size=aim.domain.max_size)
    why = (
        f"transactions hold much of the answer, so {len(items)} items were chosen and counted in {len(bases)} groups: "
        f"about {aim.rank} items are as frequent as the {aim.k}-th itemset, and {len(chosen)} pairs of them"
    )
    return best_of(told, aim), (why,)


def best_of(told: Mapping[Itemset, tuple[float, float]], aim: Aim) -> Estimates:
    """The k most frequent itemsets, or those above the threshold, with what was told of them."""
    order = sorted(told, key=lambda itemset: -told[itemset][0])[: aim.k]
    best = [itemset for itemset in order if not aim.is_given or told[itemset][0] >= aim.about]
    means, deviations = np.array([told[itemset] for itemset in best]).reshape(-1, 2).T
    supports = np.clip(means, 0, aim.number)
    # The number of transactions has noise: it may be too low for what patterns tell.
    reach = WIDEST_IN_SIGMA * deviations + np.abs(means - supports)
    return Estimates(
        Itemsets.of(best),
        np.rint(supports).astype(np.int64),
        np.ceil(reach).astype(np.int64),
    )


def ask_items_at_once(curator: Curator, aim: Aim, most: int, choice: Choice) -> tuple[int, ...]:
    """The items that are as frequent as the k-th itemset, or a few more; at most so many."""
    least = min(fewest_items(aim.k, max_size=aim.domain.max_size), most)
    return curator.ask_frequent_items(
        wider_than(aim.k, aim.domain), domain=aim.domain, least=least, most=most, epsilon=choice.epsilon
    )


def ask_items_one_by_one(curator: Curator, aim: Aim, size: int, choice: Choice) -> tuple[int, ...]:
    """So many of the most frequent items."""
    every_item = Domain(items=aim.domain.items, max_size=1)
    chosen = curator.ask_best(size, domain=every_item, epsilon=choice.epsilon)
    return tuple(sorted(item for (item,) in chosen.itemsets))
