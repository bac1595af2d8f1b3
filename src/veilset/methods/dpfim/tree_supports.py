"""Supports from a noisy prefix tree, and together with supports that were asked for. No data here.

The support of an itemset in the tree is a sum over nodes, each with its own noise. It is too low by what the tree
lacks: nodes under the threshold, and what transactions lost to truncation. Two things are known about that.
Where the supports of single items were asked for, an item of which the tree holds only a part says by which factor
itemsets that end with it are too low. And supports of the chosen itemsets, asked for at the end, say by which factor
all are too low, which grows with the place of the last item in the order, because truncation takes the last ones first.
"""

from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import NoisyCounts, NoisyTree
from veilset.itemsets import Itemsets
from veilset.methods.shared.shrinkage import NEAR_VALUE, shortest_of
from veilset.results.estimates import Estimates

LARGEST_FACTOR = 3.0
"""3: what the tree holds of an item is not multiplied by more; less than a third of it says nothing about itemsets."""
EXPONENT = 0.75
"""Nodes below frequent items are kept more often than others, so itemsets lack less than their last item does. Where
items are independent of each other, three quarters of the factor, as a power, is about right."""
UNEVEN = np.geomspace(0.05, 3.0, 25)
"""How far what is lacking differs from itemset to itemset, as a share of what is lacking: 0.05 to 3."""
ALWAYS_LACKING = 0.03
"""3 % of a support are taken to be lacking at the least."""
TURNS = 3
"""Factors and unevenness are found in 3 turns, each from the other."""
HELD_BY_NOBODY = 0.3
"""A support of 0 is as likely as all those that lie within 0.3 scales of the noise of what was asked for."""
HEAVINESS = 3
"""3 degrees of freedom: tails so heavy that a value may be far off without the others being doubted."""
USUALLY_UNEVEN = 0.3
"""What is lacking differs by 0.3 of a support in the first turn, before anything is known."""
LEVEL_BEFORE, SLOPE_BEFORE, LARGER_BEFORE = 0.2, 0.5, 0.3
"""How far the factor is expected to be from 1 for the first item, to change up to the last, and for larger itemsets."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeSupports:
    """Itemsets with what the tree says of their supports, and the variance of the noise in it.

    `lateness` is the place of an itemset's last item in the order, from 0 for the first item to 1.
    """

    itemsets: Itemsets
    supports: FloatArray
    variances: FloatArray
    lateness: FloatArray

    def best(self, k: int) -> "TreeSupports":
        """The k of largest support; ties by fewer items, then by codes."""
        listed = list(self.itemsets)
        order = sorted(range(len(listed)), key=lambda i: (-self.supports[i], len(listed[i]), listed[i]))[:k]
        return TreeSupports(
            Itemsets.of(listed[i] for i in order),
            self.supports[order],
            self.variances[order],
            self.lateness[order],
        )

    def at_least(self, min_count: int) -> "TreeSupports":
        """Those of at least that support."""
        return self.best(int(np.count_nonzero(self.supports >= min_count)))


def in_tree(tree: NoisyTree, singles: NoisyCounts | None, *, k: int, max_size: int) -> TreeSupports:
    """The itemsets of largest support in a consistent tree, at least k where it has them.

    `singles` are supports of the items of the tree in its order, or were not asked for.
    """
    # Factors change the order, so more than k have to be looked at.
    itemsets, supports = tree.top(k if singles is None else 2 * k, max_size=max_size)
    found = TreeSupports(
        itemsets,
        supports.astype(np.float64),
        2.0 * float(tree.mechanism.scale) ** 2 * numbers_of_nodes(tree, itemsets).astype(np.float64),
        last_places(tree, itemsets) / len(tree.order),
    )
    return found if singles is None else _with_singles(found, tree, singles)


def places(tree: NoisyTree, itemsets: Itemsets) -> list[list[int]]:
    """Where the items of each itemset stand in the order."""
    place = {item: place for place, item in enumerate(tree.order)}
    return [sorted(place[item] for item in itemset) for itemset in itemsets]


def last_places(tree: NoisyTree, itemsets: Itemsets) -> Int64Array:
    """Where the last item of each itemset stands in the order."""
    return np.array([each[-1] for each in places(tree, itemsets)], dtype=np.int64)


def numbers_of_nodes(tree: NoisyTree, itemsets: Itemsets) -> Int64Array:
    """How many nodes each support is a sum of: those with its last item, and the others above them."""
    holds = np.zeros((tree.parents.size, len(tree.order)), np.bool_)
    for node in range(1, tree.parents.size):
        holds[node] = holds[tree.parents[node]]
        holds[node, tree.ranks[node]] = True
    numbers = [
        np.count_nonzero(holds[:, each].all(axis=1) & (tree.ranks == each[-1]))
        for each in places(tree, itemsets)
    ]
    return np.array(numbers, dtype=np.int64)


def _with_singles(found: TreeSupports, tree: NoisyTree, singles: NoisyCounts) -> TreeSupports:
    """Single items as they were asked for; other itemsets multiplied by what the tree lacks of their last item."""
    held = np.bincount(tree.ranks[1:], weights=tree.counts[1:], minlength=len(tree.order))
    factors = np.clip(singles.values / np.maximum(held, 1), 1, LARGEST_FACTOR) ** EXPONENT
    larger = np.flatnonzero(np.diff(found.itemsets.offsets) > 1)
    by = factors[last_places(tree, found.itemsets)[larger]]
    listed = list(found.itemsets)
    one_item = np.full(len(tree.order), 2 * float(singles.mechanism.scale) ** 2)
    return TreeSupports(
        Itemsets.of([*((item,) for item in tree.order), *(listed[i] for i in larger)]),
        np.append(singles.values, found.supports[larger] * by),
        np.append(one_item, found.variances[larger] * by**2),
        np.append(np.arange(len(tree.order)) / len(tree.order), found.lateness[larger]),
    )


def combined(known: TreeSupports, asked: NoisyCounts, *, most: int) -> Estimates:
    """The supports of the tree, brought to the right level, together with those asked for.

    The noise of what was asked for is known. What the tree says is off by its noise, by the factor, and by what one
    itemset lacks more than others: a law with heavy tails, so that where the two differ much, the interval holds both.
    """
    scale = float(asked.mechanism.scale)
    level = _levelled(known, asked)
    lifted, noise, uneven = level.lifted, level.noise, level.uneven
    values, middles = asked.values[:, None].astype(np.float64), lifted[:, None]

    def densities(supports: FloatArray) -> FloatArray:
        spread = np.sqrt(noise[:, None] + uneven[:, None] * supports**2 + 1.0)
        return (
            np.exp(-np.abs(supports - values) / scale) * heavy_tailed((supports - middles) / spread) / spread
        )

    around = np.sqrt(noise + lifted**2 * uneven + 1.0)[:, None]
    near = np.hstack([values + scale * NEAR_VALUE, middles + around * NEAR_VALUE])
    points = np.sort(np.clip(near, 0, most), axis=1)
    # Supports next to 0 are many, so 0 is as likely as a stretch of others.
    at_zero = HELD_BY_NOBODY * scale * densities(np.zeros((1, 1)))[:, 0]
    return shortest_of(points, densities(points), at_zero=at_zero).estimates(asked.itemsets)


def heavy_tailed(z: FloatArray) -> FloatArray:
    """A density with the heavy tails of Student's law with 3 degrees of freedom, up to a constant factor."""
    return (1 + z * z / HEAVINESS) ** (-(HEAVINESS + 1) / 2)


def _heavy_tailed_places(number: int) -> FloatArray:
    """Places of that law between which its chances are equal."""
    z = np.linspace(-40.0, 40.0, 8001)
    below = np.cumsum(heavy_tailed(z))
    return np.interp((np.arange(number) + 0.5) / number, below / below[-1], z)


PLACES = _heavy_tailed_places(15)
"""15 places of that law that stand for all others, with Laplace noise of half their distance around each."""


@dataclass(frozen=True, slots=True, eq=False)
class Levelled:
    """What the tree says, brought to the level of what was asked for; the variance of the noise in it and of the level.

    `uneven` is the mean square of what one itemset lacks more than others, as a share of its support.
    """

    lifted: FloatArray
    noise: FloatArray
    uneven: FloatArray


def _levelled(known: TreeSupports, asked: NoisyCounts) -> Levelled:
    """The factors, and how uneven itemsets are around them: each depends on the other, so they are found in turns."""
    is_single = np.diff(asked.itemsets.offsets) == 1
    uneven = np.full(is_single.size, USUALLY_UNEVEN**2)
    for _ in range(TURNS):
        factors, doubts = _factors(known, asked, uneven)
        lifted = factors * known.supports
        noise = factors**2 * known.variances + known.supports**2 * doubts
        lacking = np.abs(factors - 1) + ALWAYS_LACKING
        for alike in (is_single, ~is_single):
            differences, of_support = asked.values[alike] - lifted[alike], (lacking * lifted)[alike]
            part = _unevenness(differences, of_support, noise[alike], scale=float(asked.mechanism.scale))
            uneven[alike] = part * lacking[alike] ** 2
    return Levelled(lifted, noise, uneven)


def _factors(known: TreeSupports, asked: NoisyCounts, uneven: FloatArray) -> tuple[FloatArray, FloatArray]:
    """By which factor supports are too low, and the variance of that, by least squares.

    It is level + slope * lateness, and something more for larger itemsets than single items. Level 1 and slope 0 are
    the first guess, and stay it where the noise drowns everything.
    """
    variances = 2 * float(asked.mechanism.scale) ** 2 + known.variances
    precision = 1 / (variances + uneven * known.supports**2)
    is_larger = np.diff(asked.itemsets.offsets) > 1
    terms = np.column_stack([np.ones(len(asked.itemsets)), known.lateness, is_larger])
    design = known.supports[:, None] * terms
    first_guess = np.array([1.0, 0.0, 0.0])
    before = np.diag(1 / np.array([LEVEL_BEFORE, SLOPE_BEFORE, LARGER_BEFORE]) ** 2)
    gram = before + design.T @ (precision[:, None] * design)
    fitted = np.linalg.solve(gram, before @ first_guess + design.T @ (precision * asked.values))
    doubts = (terms * np.linalg.solve(gram, terms.T).T).sum(axis=1)
    return np.maximum(terms @ fitted, 0), doubts


def _unevenness(differences: FloatArray, lacking: FloatArray, noise: FloatArray, *, scale: float) -> float:
    """How far what is lacking differs from itemset to itemset: the mean square of it, as a share of `lacking`.

    On average over UNEVEN, weighted by how well each explains the differences between both answers, with Laplace noise
    of a scale in what was asked for and heavy tails in what the tree says. A few that differ much are no reason to
    doubt all others. Before anything is known, itemsets differ by about as much as is lacking, or half or twice that.
    """
    spread = np.outer(UNEVEN, lacking)[:, :, None]
    # Noise as wide as both noises together: their variances add up.
    widths = np.hypot(np.sqrt(scale**2 + noise / 2)[:, None], np.gradient(PLACES) / 2 * spread)
    apart = np.abs(differences[:, None] - spread * PLACES) / widths
    log_chances = np.log((np.exp(-apart) / widths).mean(axis=2) + 1e-300).sum(axis=1)
    log_chances -= np.log(UNEVEN) ** 2  # a standard deviation of 0.7, or a factor of 2
    chances = np.exp(log_chances - log_chances.max())
    return float(UNEVEN**2 @ chances / chances.sum())
