"""What to expect of `dpfim` and `strawman`: a noisy tree of the model's transactions, and noise on everything.

The method's own steps are followed without noise: the number of items, the lengths, the nodes that reach the
threshold, which on average so many transactions of the model pass. Items are numbered from the most popular one, the
order in which they stand in the tree; the cut is taken to keep the first ones.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.forecast import Forecast, Stage, World, laws, opening
from veilset.forecast.curve import TOLERANCE
from veilset.gate.accounting.amplification import SampleAccount, drawable_rate
from veilset.gate.accounting.budget import Budget
from veilset.gate.answers import NoisyCounts
from veilset.gate.mechanisms import DiscreteLaplace, Exponential
from veilset.gate.noisy_tree import NoisyTree
from veilset.itemsets import Domain, Itemsets
from veilset.methods import dpfim as method
from veilset.methods.difffim import length_up_to
from veilset.methods.difffim.double_standards import kept_share
from veilset.methods.difffim.forecast import model_lengths
from veilset.methods.dpfim.tree_supports import LEAST_UNEVEN, TreeSupports, in_tree
from veilset.methods.planned.posterior import WIDEST_IN_SIGMA
from veilset.methods.privbasis.forecast import expected_rank

TEN = math.log(10)
"""Laplace noise is below minus this many times its scale in 5 of 100 cases."""


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The choice of items: how many, each one's chance to be among them, and the support that is needed for it."""

    number: int
    chances: FloatArray
    chosen_from: int


def largest(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return max_size or method.LARGEST_SIZE


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    budget = Budget(epsilon)
    number, left = opening(epsilon)
    budget.charge(number.name, number.mechanism)
    items, depth = _on_sample(world, k, budget, left=left)
    for_mining = budget.left * method.SHARE_FOR_TREE
    for_level = for_mining / (depth + method.is_wide(items.number, depth))
    tree, singles = DiscreteLaplace(depth, for_level * depth), None
    if method.is_wide(items.number, depth):
        singles = DiscreteLaplace(depth, for_level)
        budget.charge("supports of the items", singles)
    budget.charge("prefix tree", tree)
    supports = DiscreteLaplace(k, budget.left)
    budget.charge("supports", supports)
    grown = model_tree(world, items.number, depth, tree)
    known = in_tree(grown, _model_singles(world, grown, singles), k=2 * k, max_size=world.domain.max_size)
    half_width = _half_width(known.best(k), supports)
    return Forecast(
        method="dpfim",
        max_size=world.domain.max_size,
        stages=tuple(Stage(charge.question, charge.mechanism) for charge in budget.charges),
        half_width=half_width,
        chosen_from=max(items.chosen_from, grown.threshold + math.ceil(TEN * tree.scale)),
        above_zero_from=laws.support_above_zero(half_width),
        kth_support=round(world.curve.at_rank(k)),
        found=_found(world, k, known, items),
    )


def _on_sample(world: World, k: int, budget: Budget, *, left: Fraction) -> tuple[Items, int]:
    """The preprocessing phase: how many items, which, and the length limit."""
    size = method.sample_size(method.TOLERANCE)
    rate = drawable_rate(min(Fraction(1), Fraction(size, world.rows)))
    price = method.price_of_sample(rate, 1, left=left)
    account = SampleAccount(budget, rate=rate, transactions=1, epsilon=price)
    rank = Exponential(1, 1, account.total * method.FOR_NUMBER, is_monotone=False)
    account.charge("how many items", rank)
    number = expected_rank(world, k, rate=float(rate * rank.rate))
    lengths = model_lengths(world, world.shares.size, epsilon=account.total * method.FOR_LENGTHS)
    account.charge("lengths", lengths.mechanism)
    limit = length_up_to(lengths, method.SHARE_OF_TRANSACTIONS)
    for_items = account.total * method.FOR_ITEMS
    choice = Exponential(number, 1, for_items) if number <= limit else DiscreteLaplace(limit, for_items)
    account.charge("choice of items", choice)
    kept = kept_share(lengths.values * np.arange(lengths.values.size), size=1, limit=limit)
    over_items = model_lengths(world, number, epsilon=account.total * method.FOR_DEPTH)
    account.charge("lengths over the items", over_items.mechanism)
    depth = min(length_up_to(over_items, method.ETA), number)
    if 1 < depth < number and world.domain.max_size > 1:
        likely = Domain(items=range(number), min_size=2, max_size=min(depth, world.domain.max_size))
        draws = min(k, method.MOST_TARGETS, likely.size)
        account.charge("targets of the cut", Exponential(draws, 1, account.left))
    return _items(world, number, choice, rate=float(rate), kept=kept), depth


def _items(
    world: World, number: int, choice: Exponential | DiscreteLaplace, *, rate: float, kept: float
) -> Items:
    """By draws on the supports in the sample, or by noisy supports of what a cut keeps of it."""
    supports = world.rows * world.shares
    if isinstance(choice, Exponential):
        chances = laws.chances_to_be_drawn(
            supports, np.zeros(supports.size), draws=number, rate=rate * float(choice.rate)
        )
        return Items(
            number, chances, math.ceil(laws.support_to_be_drawn(choice, candidates=supports.size) / rate)
        )
    scale = float(choice.scale) / (rate * kept)
    luck = supports * (1 - world.shares) * (1 / rate - 1)
    chances = laws.chances_to_be_among_first(supports, np.sqrt(2 * scale**2 + luck), k=number)
    rivals = max(0.0, math.log(supports.size / (2 * number)))  # the largest noise that so many can stay below
    return Items(number, chances, math.ceil(scale * (rivals + TEN)))


def model_tree(world: World, items: int, depth: int, mechanism: DiscreteLaplace) -> NoisyTree:
    """The nodes that reach the threshold, with the number of transactions of the model that begin with their path."""
    threshold = method.node_threshold(items, scale=mechanism.scale)
    shares = world.shares[:items]
    parents, ranks, counts, level = [-1], [-1], [0.0], [(0, -1, float(world.rows))]
    for _ in range(depth):
        below = []
        for node, rank, count in level:
            skipped = np.cumprod(np.append(1.0, 1 - shares[rank + 1 : -1]))[: items - 1 - rank]
            passing = count * skipped * shares[rank + 1 :]
            for place in np.flatnonzero(passing >= threshold):
                below.append((len(parents), rank + 1 + int(place), float(passing[place])))
                parents.append(node)
                ranks.append(rank + 1 + int(place))
                counts.append(float(passing[place]))
        level = below
    return NoisyTree(
        tuple(range(items)),
        np.array(parents, np.int64),
        np.array(ranks, np.int32),
        np.rint(counts).astype(np.int64),
        mechanism,
        threshold,
    )


def _model_singles(world: World, tree: NoisyTree, mechanism: DiscreteLaplace | None) -> NoisyCounts | None:
    """The supports of the tree's items, where they will be asked for."""
    if mechanism is None:
        return None
    supports = np.rint(world.rows * world.shares[: len(tree.order)]).astype(np.int64)
    return NoisyCounts(Itemsets.of((item,) for item in tree.order), supports, mechanism)


def _half_width(known: TreeSupports, asked: DiscreteLaplace) -> int:
    """The median over the itemsets that will be released, of tree and counts together."""
    one_count = 2 * float(asked.scale) ** 2
    variances = known.variances + (LEAST_UNEVEN * known.supports) ** 2
    deviations = np.sqrt(variances * one_count / (variances + one_count))
    return math.ceil(WIDEST_IN_SIGMA * float(np.median(deviations))) if deviations.size else 0


def _found(world: World, k: int, known: TreeSupports, items: Items) -> float:
    """Of the k best, the share whose items are chosen and whose supports in the tree are large enough."""
    if len(known.itemsets) == 0:
        return 0.0
    taken = laws.chances_to_be_among_first(known.supports, np.sqrt(known.variances), k=k)
    itemsets = list(known.itemsets)
    true = np.array([world.rows * math.prod(world.shares[list(itemset)]) for itemset in itemsets])
    at_least = (1 - TOLERANCE) * world.curve.at_rank(k)
    reached = [math.prod(items.chances[list(itemset)]) for itemset in itemsets]
    return min(1.0, float((taken * reached * (true >= at_least)).sum()) / k)


def forecast_strawman(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Noise on all itemsets of each size; the k largest win."""
    number, left = opening(epsilon)
    sizes = world.domain.number_by_size()
    noises = {size: DiscreteLaplace(members, left / len(sizes)) for size, members in sizes.items()}
    stages = tuple(Stage(f"supports of {size} items", noise) for size, noise in noises.items())
    supports, of_size = _every_support(world)
    scales = np.array([0.0, *(float(noise.scale) for noise in noises.values())])[of_size]
    taken = laws.chances_to_be_among_first(supports, math.sqrt(2) * scales, k=k)
    best = np.argsort(-supports, kind="stable")[:k]
    half_width = math.ceil(np.median(scales[best]) * math.log(20))
    widest = float(scales.max())
    rivals = max(0.0, math.log(supports.size / (2 * k)))
    return Forecast(
        method="strawman",
        max_size=world.domain.max_size,
        stages=(number, *stages),
        half_width=half_width,
        chosen_from=math.ceil(widest * (rivals + TEN)),
        above_zero_from=laws.support_above_zero(half_width),
        kth_support=round(world.curve.at_rank(k)),
        found=float(taken[best].sum()) / k,
    )


@lru_cache(maxsize=8)  # a search over epsilon comes by the same itemsets again and again
def _every_support(world: World) -> tuple[FloatArray, Int64Array]:
    """The supports of all itemsets, and their sizes."""
    supports = [
        world.rows * world.shares[np.array(list(combinations(range(world.shares.size), size)))].prod(axis=1)
        for size in range(1, world.domain.max_size + 1)
    ]
    return np.concatenate(supports), np.repeat(
        np.arange(1, world.domain.max_size + 1), [each.size for each in supports]
    )


def largest_of_strawman(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return max_size or method.STRAWMAN_SIZE
