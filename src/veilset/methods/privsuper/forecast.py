"""What to expect of `privsuper`: frequent items, a search among the itemsets of them, then supports.

Items of the model are held independently, so nearly every itemset is found by itself: what is compared has noise as if
each of those missing were paid for with an equal part. Found are taken to be those with the largest noisy supports, of
all pairs and of the larger itemsets in the top k. Items are numbered from the most popular one.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray
from veilset.forecast import Forecast, Stage, World, laws
from veilset.forecast.curve import TOLERANCE
from veilset.forecast.model import expected_rank, model_lengths
from veilset.forecast.released import Told
from veilset.gate import (
    SHARE_FOR_SEARCH_THRESHOLD,
    WEIGHT_STEPS,
    AboveThreshold,
    DiscreteLaplace,
    Exponential,
)
from veilset.itemsets import Itemset, joined
from veilset.methods.privsuper import (
    ITEMS_SHARE,
    KEPT_WHOLE,
    LAMBDA_SHARE,
    LENGTHS_SHARE,
    NAME,
    SEARCH_SHARE,
    SUPPORTS_SHARE,
)
from veilset.methods.privsuper.supports import LARGEST_GROUP, SupportPlan, deviations_within
from veilset.methods.shared.forecast import forecast_number, most_transactions
from veilset.methods.shared.truncation import length_up_to


def largest_size(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return min(max_size or LARGEST_GROUP, LARGEST_GROUP)


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    number, remaining = forecast_number(epsilon)
    rank = Exponential(1, 1, remaining * LAMBDA_SHARE, is_monotone=False)
    lambda_ = expected_rank(world, k, rate=float(rank.rate))
    lengths = model_lengths(world, world.shares.size, epsilon=remaining * LENGTHS_SHARE)
    limit = length_up_to(lengths, KEPT_WHOLE)
    items = _items_by(limit, lambda_, epsilon=remaining * ITEMS_SHARE)
    has_search = world.domain.max_size > 1 and 1 < lambda_ < k
    for_search = remaining * SEARCH_SHARE if has_search else Fraction(0)
    for_supports = remaining * (SEARCH_SHARE + SUPPORTS_SHARE) - for_search
    best = _best(world, k, lambda_ if has_search else world.shares.size)
    known = [itemset for itemset in best if len(itemset) == 1 or has_search] or [(0,)]
    plan = _support_plan(tuple(known), k, for_supports)
    searches = [Stage("search", AboveThreshold(k, 1, for_search))] if has_search else []
    supports, scales = _supports_by(plan, for_supports)
    chances = _chances(world, k, lambda_, items, for_search)
    true = np.array([_support(world, itemset) for itemset in plan.known])
    told = Told.plainly(true, scales, np.full(true.size, bool(plan.groups)))
    reached = np.array([chances.get(itemset, 0.0) for itemset in plan.known])
    return Forecast.of(
        world,
        k,
        method=NAME,
        stages=(
            number,
            Stage("how many items", rank),
            Stage("lengths", lengths.mechanism),
            Stage("choice of items", items),
            *searches,
            supports,
        ),
        accuracy=told.accuracy(reached, largest=most_transactions(world, number)),
        chosen_from=_chosen_from(world, k, lambda_, items, for_search),
        found=sum(chances.values()) / k,
    )


def _items_by(limit: int, number: int, *, epsilon: Fraction) -> DiscreteLaplace | Exponential:
    """By noisy supports, or where transactions are long, by draws."""
    if limit < number:
        return DiscreteLaplace(limit, epsilon, WEIGHT_STEPS)
    return Exponential(number, 1, epsilon)


def _supports_by(plan: SupportPlan, epsilon: Fraction) -> tuple[Stage, FloatArray]:
    """The questions that supports come from, and the noise in each: Laplace noise, or that of many cells."""
    if plan.groups:
        noise = DiscreteLaplace(1, epsilon / len(plan.groups))
        stage = Stage("marginals", noise, times=len(plan.groups))
        return stage, deviations_within(plan.groups, plan.known, noise)
    counts = DiscreteLaplace(min(plan.k, len(plan.known)), epsilon)
    return Stage("supports", counts), np.full(len(plan.known), float(counts.scale))


@lru_cache(maxsize=64)  # a search over epsilon comes by the same itemsets again and again
def _support_plan(known: tuple[Itemset, ...], k: int, epsilon: Fraction) -> SupportPlan:
    return SupportPlan.of(list(known), k=k, sensitivity=1, epsilon=epsilon)


def _support(world: World, itemset: Itemset) -> float:
    return world.rows * float(world.shares[list(itemset)].prod())


def _best(world: World, k: int, number: int) -> list[Itemset]:
    """The k most frequent itemsets of the first `number` items that are as frequent as the k-th of all.

    A part of one of them is as frequent as it is, so the k most frequent of each size are enough.
    """
    at_least = (1 - TOLERANCE) * world.kth_support(k)

    def most_frequent(itemsets: Iterable[Itemset]) -> list[Itemset]:
        supports = {itemset: _support(world, itemset) for itemset in itemsets}
        reaching = [itemset for itemset, support in supports.items() if support >= at_least]
        return sorted(reaching, key=lambda itemset: -supports[itemset])[:k]

    level = most_frequent((item,) for item in range(number))
    found = list(level)
    while level and len(level[0]) < world.domain.max_size:
        level = most_frequent(joined(level))
        found += level
    return most_frequent(found)


def _item_chances(world: World, number: int, items: DiscreteLaplace | Exponential) -> FloatArray:
    """The chance of each item to be among the frequent ones."""
    supports: FloatArray = world.rows * world.shares
    if isinstance(items, Exponential):
        none = np.zeros(supports.size)
        return laws.chances_to_be_drawn(supports, none, draws=number, rate=float(items.rate))
    deviations = np.full(supports.size, np.sqrt(2) * float(items.scale) / WEIGHT_STEPS)
    return laws.chances_to_be_among_first(supports, deviations, k=number)


def _comparison_scale(k: int, number: int, for_search: Fraction) -> float:
    """The scale of the noise on a support that is compared, where each missing itemset costs an equal part."""
    return float((k - number) / (for_search * (1 - SHARE_FOR_SEARCH_THRESHOLD)))


def _chances(
    world: World, k: int, number: int, items: DiscreteLaplace | Exponential, for_search: Fraction
) -> dict[Itemset, float]:
    """Of the k best, the chance that their items are chosen and, where they have several, that they are found."""
    of_item = _item_chances(world, number, items)
    best = _best(world, k, world.shares.size)
    chances: dict[Itemset, float] = {
        itemset: float(of_item[itemset[0]]) for itemset in best if len(itemset) == 1
    }
    larger = [itemset for itemset in best if len(itemset) > 1]
    if for_search == 0 or not larger:
        return chances
    rivals = [pair for pair in combinations(range(number), 2) if pair not in set(larger)]
    candidates = [*larger, *rivals]
    supports = np.array([_support(world, itemset) for itemset in candidates])
    deviations = np.full(supports.size, np.sqrt(2) * _comparison_scale(k, number, for_search))
    first = laws.chances_to_be_among_first(supports, deviations, k=k - number)[: len(larger)]
    for itemset, chance in zip(larger, first.tolist(), strict=True):
        chances[itemset] = chance * float(of_item[list(itemset)].prod())
    return chances


def _chosen_from(
    world: World, k: int, number: int, items: DiscreteLaplace | Exponential, for_search: Fraction
) -> int:
    """The support that an item needs, or a pair of those chosen, where nobody holds any other."""
    every = world.shares.size
    if isinstance(items, Exponential):
        item = laws.support_to_be_drawn(items, candidates=every)
    else:
        item = laws.support_to_be_first(float(items.scale) / WEIGHT_STEPS, k=number, candidates=every)
    if for_search == 0:
        return item
    scale, pairs = _comparison_scale(k, number, for_search), number * (number - 1) // 2
    return max(item, laws.support_to_be_first(scale, k=k - number, candidates=pairs))
