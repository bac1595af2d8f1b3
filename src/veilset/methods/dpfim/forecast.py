"""What to expect of `dpfim`: a noisy tree of the model's transactions.

The method's own steps are followed without noise: the number of items, the lengths, and the nodes that the expected
number of transactions lets reach the threshold. Items are numbered from the most popular one, the order in which they
stand in the tree; truncation is taken to keep the first ones.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray
from veilset.forecast import Forecast, Stage, World, laws
from veilset.forecast.curve import TOLERANCE
from veilset.forecast.model import expected_rank, model_lengths
from veilset.forecast.released import LAPLACE_NOISE, NOISE_PARTS, NORMAL_NOISE, Accuracy, Told
from veilset.gate import (
    Budget,
    DiscreteLaplace,
    Exponential,
    NoisyCount,
    NoisyCounts,
    NoisyTree,
    SampleAccount,
    drawable_rate,
)
from veilset.itemsets import Domain, Itemsets
from veilset.methods.dpfim import LARGEST_MINED, SHARE_FOR_TREE
from veilset.methods.dpfim import sample as rules
from veilset.methods.dpfim.lacking import ALWAYS_LACKING, combined
from veilset.methods.dpfim.tree_questions import is_wide, node_threshold
from veilset.methods.dpfim.tree_supports import TreeSupports, in_tree, with_ended
from veilset.methods.shared.forecast import forecast_number, most_transactions
from veilset.methods.shared.truncation import kept_share, length_up_to


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedItems:
    """The choice of items: how many, each one's chance to be among them, and the support that is needed for it."""

    number: int
    chances: FloatArray
    chosen_from: int


def largest_size(max_size: int | None) -> int:
    """The most items in an itemset, given what the caller allows."""
    return max_size or LARGEST_MINED


def forecast(world: World, k: int, epsilon: Fraction) -> Forecast:
    """Follow the method's steps in a model of the data."""
    budget = Budget(epsilon)
    number, remaining = forecast_number(epsilon)
    budget.charge(number.name, number.mechanism)
    items, depth = _on_sample(world, k, budget, remaining=remaining)
    for_mining = budget.left * SHARE_FOR_TREE
    for_level = for_mining / (depth + is_wide(items.number, depth))
    tree, singles = DiscreteLaplace(depth, for_level * depth), None
    if is_wide(items.number, depth):
        singles = DiscreteLaplace(depth, for_level)
        budget.charge("supports of the items", singles)
    budget.charge("prefix tree", tree)
    supports = DiscreteLaplace(k, budget.left)
    budget.charge("supports", supports)
    grown = model_tree(world, items.number, depth, tree)
    known = in_tree(grown, _model_singles(world, grown, singles), k=2 * k, max_size=world.domain.max_size)
    if singles is None:
        known = with_ended(known, grown, NoisyCount(world.rows, None), depth=depth)
    found = _chances(world, k, known, items)
    return Forecast.of(
        world,
        k,
        method="dpfim",
        stages=tuple(Stage(charge.question, charge.mechanism) for charge in budget.charges),
        accuracy=_accuracy(world, known, found, supports, largest=most_transactions(world, number)),
        chosen_from=max(items.chosen_from, grown.threshold + math.ceil(laws.SCALES_OF_BAD_LUCK * tree.scale)),
        found=float(found.sum()) / k,
    )


def _on_sample(world: World, k: int, budget: Budget, *, remaining: Fraction) -> tuple[ExpectedItems, int]:
    """The preprocessing phase: how many items, which, and the length limit."""
    size = rules.sample_size(rules.WITHIN)
    rate = drawable_rate(min(Fraction(1), Fraction(size, world.rows)))
    price = rules.price_of_sample(rate, 1, remaining=remaining)
    account = SampleAccount(budget, rate=rate, transactions=1, epsilon=price)
    rank = Exponential(1, 1, account.total * rules.FOR_NUMBER, is_monotone=False)
    account.charge("how many items", rank)
    number = expected_rank(world, k, rate=float(rate * rank.rate))
    lengths = model_lengths(world, world.shares.size, epsilon=account.total * rules.FOR_LENGTHS)
    account.charge("lengths", lengths.mechanism)
    limit = length_up_to(lengths, rules.SHARE_WHOLE_FOR_RANKING)
    for_items = account.total * rules.FOR_ITEMS
    choice = Exponential(number, 1, for_items) if number <= limit else DiscreteLaplace(limit, for_items)
    account.charge("choice of items", choice)
    kept = kept_share(lengths.values * np.arange(lengths.values.size), size=1, limit=limit)
    over_items = model_lengths(world, number, epsilon=account.total * rules.FOR_DEPTH)
    account.charge("lengths over the items", over_items.mechanism)
    depth = min(length_up_to(over_items, rules.ETA), number)
    if 1 < depth < number and world.domain.max_size > 1:
        likely = Domain(items=range(number), min_size=2, max_size=min(depth, world.domain.max_size))
        draws = min(k, rules.MOST_TARGETS, likely.size)
        account.charge("targets of truncation", Exponential(draws, 1, account.left))
    return _items(world, number, choice, rate=float(rate), kept=kept), depth


def _items(
    world: World, number: int, choice: Exponential | DiscreteLaplace, *, rate: float, kept: float
) -> ExpectedItems:
    """By draws on the supports in the sample, or by noisy supports of what truncation keeps of it."""
    supports = world.rows * world.shares
    if isinstance(choice, Exponential):
        chances = laws.chances_to_be_drawn(
            supports, np.zeros(supports.size), draws=number, rate=rate * float(choice.rate)
        )
        return ExpectedItems(
            number, chances, math.ceil(laws.support_to_be_drawn(choice, candidates=supports.size) / rate)
        )
    scale = float(choice.scale) / (rate * kept)
    luck = supports * (1 - world.shares) * (1 / rate - 1)
    chances = laws.chances_to_be_among_first(supports, np.sqrt(2 * scale**2 + luck), k=number)
    rivals = max(
        0.0, math.log(supports.size / (2 * number))
    )  # the largest noise that this share can stay below
    return ExpectedItems(number, chances, math.ceil(scale * (rivals + laws.SCALES_OF_BAD_LUCK)))


def model_tree(world: World, items: int, depth: int, mechanism: DiscreteLaplace) -> NoisyTree:
    """The nodes that reach the threshold, with the number of transactions of the model that begin with their path."""
    threshold = node_threshold(items, scale=mechanism.scale)
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


def _true(world: World, known: TreeSupports) -> FloatArray:
    """The supports in the model, of which the tree holds a part."""
    return np.array([world.rows * math.prod(world.shares[list(itemset)]) for itemset in known.itemsets])


def _chances(world: World, k: int, known: TreeSupports, items: ExpectedItems) -> FloatArray:
    """That an itemset is one of the k best, its items are chosen and its support in the tree is large enough."""
    if len(known.itemsets) == 0:
        return np.zeros(0)
    taken = laws.chances_to_be_among_first(known.supports, np.sqrt(known.variances), k=k)
    reached = np.array([math.prod(items.chances[list(itemset)]) for itemset in known.itemsets])
    chances: FloatArray = taken * reached * (_true(world, known) >= (1 - TOLERANCE) * world.kth_support(k))
    return chances


def _accuracy(
    world: World, known: TreeSupports, chances: FloatArray, asked: DiscreteLaplace, *, largest: int
) -> Accuracy:
    """Of tree and counts together, as the method puts them together, with noise that takes turns among the itemsets.

    What the tree lacks differs from itemset to itemset by as much as is lacking, as the method takes it before it knows
    better; in the model itself all itemsets would lack about alike.
    """
    number, true = len(known.itemsets), _true(world, known)
    if number == 0:
        return Told.counted(np.array([world.kth_support(1)]), float(asked.scale)).accuracy(
            np.ones(1), largest=largest
        )
    places = np.arange(number)
    counts = true + float(asked.scale) * LAPLACE_NOISE[places * 5 % NOISE_PARTS]
    lacking = np.abs(true - known.supports) + ALWAYS_LACKING * true
    in_tree = (
        known.supports + np.hypot(lacking, np.sqrt(known.variances)) * NORMAL_NOISE[places * 7 % NOISE_PARTS]
    )
    shown = np.maximum(in_tree, 0.0)
    estimates = combined(
        replace(known, supports=shown, calm=shown),
        NoisyCounts(known.itemsets, np.rint(counts).astype(np.int64), asked),
        most=largest,
    )
    told = (estimates.supports, estimates.low, estimates.high)
    return Told(true, *(each.astype(np.float64)[:, None] for each in told)).accuracy(chances, largest=largest)
