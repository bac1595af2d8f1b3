"""Supports from a noisy prefix tree. No data here.

The support of an itemset in the tree is a sum over nodes, each with its own noise. It is too low by what the tree
lacks: nodes under the threshold, and what transactions lost to truncation. Two things are known about that.
Where the supports of single items were asked for, an item of which the tree holds only a part says by which factor
itemsets that end with it are too low. Where they were not, the tree is dense, and says itself how much can be lacking:
whoever holds an itemset that the tree does not show is counted at a node where the tree ends too early. What remains is
learnt from supports that are asked for at the end (`methods.dpfim.lacking`).
"""

from dataclasses import dataclass, replace

import numpy as np

from veilset.arrays import BoolArray, FloatArray, Int64Array
from veilset.gate import NoisyCount, NoisyCounts, NoisyTree
from veilset.itemsets import Itemsets

LARGEST_FACTOR = 3.0
"""3: what the tree holds of an item is not multiplied by more; less than a third of it says nothing about itemsets."""
EXPONENT = 0.75
"""Nodes below frequent items are kept more often than others, so itemsets lack less than their last item does. Where
items are independent of each other, three quarters of the factor, as a power, is about right."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeSupports:
    """Itemsets with what the tree says of their supports, and the variance of the noise in it.

    `calm` is the same drawn towards the mean, as far as noise makes supports differ: the best guess of a support before
    it is known what the tree lacks. `lateness` is the place of an itemset's last item in the order, from 0 for the
    first item to 1; `raised` the factor that supports were multiplied by. `ended` transactions at most hold an itemset
    that the tree does not show; where items were asked for one by one, that is not told.
    """

    itemsets: Itemsets
    supports: FloatArray
    variances: FloatArray
    lateness: FloatArray
    calm: FloatArray
    raised: FloatArray
    ended: FloatArray | None = None

    @property
    def is_larger(self) -> BoolArray:
        """Which itemsets have more than one item."""
        return np.diff(self.itemsets.offsets) > 1

    def take(self, places: list[int]) -> "TreeSupports":
        """Some of them, in that order."""
        listed = list(self.itemsets)
        return TreeSupports(
            Itemsets.of(listed[i] for i in places),
            self.supports[places],
            self.variances[places],
            self.lateness[places],
            self.calm[places],
            self.raised[places],
            None if self.ended is None else self.ended[places],
        )

    def best(self, k: int) -> "TreeSupports":
        """The k of largest support; ties by fewer items, then by codes."""
        listed = list(self.itemsets)
        order = sorted(range(len(listed)), key=lambda i: (-self.supports[i], len(listed[i]), listed[i]))
        return self.take(order[:k])

    def at_least(self, min_count: int) -> "TreeSupports":
        """Those of at least that support."""
        return self.best(int(np.count_nonzero(self.supports >= min_count)))


def in_tree(tree: NoisyTree, singles: NoisyCounts | None, *, k: int, max_size: int) -> TreeSupports:
    """The itemsets of largest support in a consistent tree, at least k where it has them.

    `singles` are supports of the items of the tree in its order, or were not asked for.
    """
    # Factors change the order, so more than k have to be looked at.
    itemsets, counted = tree.top(k if singles is None else 2 * k, max_size=max_size)
    supports = counted.astype(np.float64)
    nodes = np.array([np.count_nonzero(mask) for mask in _TreePaths(tree).nodes_of(itemsets)], np.float64)
    found = TreeSupports(
        itemsets,
        supports,
        2.0 * float(tree.mechanism.scale) ** 2 * nodes,
        last_places(tree, itemsets) / len(tree.order),
        supports,
        np.ones(supports.size),
    )
    return found if singles is None else _with_singles(found, tree, singles)


def places(tree: NoisyTree, itemsets: Itemsets) -> list[list[int]]:
    """Where the items of each itemset stand in the order."""
    place = {item: place for place, item in enumerate(tree.order)}
    return [sorted(place[item] for item in itemset) for itemset in itemsets]


def last_places(tree: NoisyTree, itemsets: Itemsets) -> Int64Array:
    """Where the last item of each itemset stands in the order."""
    return np.array([each[-1] for each in places(tree, itemsets)], dtype=np.int64)


class _TreePaths:
    """Which items stand on the path to each node of a tree."""

    def __init__(self, tree: NoisyTree) -> None:
        self.tree = tree
        self.holds = np.zeros((tree.parents.size, len(tree.order)), np.bool_)
        for node in range(1, tree.parents.size):
            self.holds[node] = self.holds[tree.parents[node]]
            self.holds[node, tree.ranks[node]] = True
        self.ranks = np.append(-1, tree.ranks[1:].astype(np.int64))

    def nodes_of(self, itemsets: Itemsets) -> list[BoolArray]:
        """The nodes that each support is a sum of: those with its last item, and the others above them."""
        return [
            self.holds[:, each].all(axis=1) & (self.ranks == each[-1]) for each in places(self.tree, itemsets)
        ]

    def may_go_on(self, itemsets: Itemsets) -> list[BoolArray]:
        """The nodes below which each itemset may be, though it is not on their path: nothing of it was passed over."""
        found: list[BoolArray] = []
        for each in places(self.tree, itemsets):
            on_path, place = self.holds[:, each], np.array(each)
            passed_over = (~on_path & (place <= self.ranks[:, None])).any(axis=1)
            is_whole = on_path.all(axis=1)
            found.append(np.asarray(~passed_over & ~is_whole, np.bool_))
        return found

    def ended(self, total: int, *, depth: int) -> FloatArray:
        """How many transactions end at each node or were cut there, of which nobody knows which.

        Below the depth limit, a child that is not there has fewer than the threshold.
        """
        tree, counts = self.tree, self.tree.counts.astype(np.float64)
        counts[0] = total
        below = np.bincount(tree.parents[1:], weights=counts[1:], minlength=counts.size)
        children = np.bincount(tree.parents[1:], minlength=counts.size)
        missing = len(tree.order) - 1 - self.ranks - children
        most = np.where(self.holds.sum(axis=1) < depth, tree.threshold * np.maximum(missing, 0), np.inf)
        return np.minimum(np.maximum(counts - below, 0.0), most)


def with_ended(known: TreeSupports, tree: NoisyTree, number: NoisyCount, *, depth: int) -> TreeSupports:
    """The same itemsets in a tree of a likelier total, and how many transactions may hold them beyond those it shows.

    `tree` is the tree as it was answered. One node's noise is added to what ended, which is never known to be nothing.
    """
    total = likely_total(tree, number)
    paths = _TreePaths(tree.consistent(total))
    counts, at_node = paths.tree.counts, paths.ended(total, depth=depth)
    supports = np.array([counts[mask].sum() for mask in paths.nodes_of(known.itemsets)], np.float64)
    ended = np.array([at_node[mask].sum() for mask in paths.may_go_on(known.itemsets)], np.float64)
    one_node = float(np.sqrt(2.0)) * float(tree.mechanism.scale)
    return replace(known, supports=supports, calm=supports, ended=ended + one_node)


def likely_total(tree: NoisyTree, number: NoisyCount) -> int:
    """The number of transactions: as answered, or where the first nodes of a tree have more, towards their sum.

    By inverse variance; each node brings its own noise.
    """
    first = tree.counts[1:][tree.parents[1:] == 0]
    together = int(first.sum())
    if number.mechanism is None or together <= number.value:
        return number.value
    of_number, of_sum = (
        float(number.mechanism.scale) ** 2,
        float(first.size) * float(tree.mechanism.scale) ** 2,
    )
    total: float = number.value * of_sum + together * of_number
    return round(total / (of_number + of_sum))


def _with_singles(found: TreeSupports, tree: NoisyTree, singles: NoisyCounts) -> TreeSupports:
    """Single items as they were asked for; other itemsets multiplied by what the tree lacks of their last item."""
    held = np.bincount(tree.ranks[1:], weights=tree.counts[1:], minlength=len(tree.order))
    factors = np.clip(singles.values / np.maximum(held, 1), 1, LARGEST_FACTOR) ** EXPONENT
    larger, items = np.flatnonzero(found.is_larger), len(tree.order)
    by = factors[last_places(tree, found.itemsets)[larger]]
    listed = list(found.itemsets)
    of_item = np.full(items, 2 * float(singles.mechanism.scale) ** 2)
    of_larger, supports = found.variances[larger] * by**2, found.supports[larger] * by
    return TreeSupports(
        Itemsets.of([*((item,) for item in tree.order), *(listed[i] for i in larger)]),
        np.append(singles.values, supports),
        np.append(of_item, of_larger),
        np.append(np.arange(items) / items, found.lateness[larger]),
        np.append(drawn_together(singles.values, of_item), drawn_together(supports, of_larger)),
        np.append(np.ones(items), by),
    )


def drawn_together(supports: FloatArray | Int64Array, variances: FloatArray) -> FloatArray:
    """Noisy supports drawn towards their mean, by the part of their variance that is noise; none below 0.

    >>> drawn_together(np.array([90.0, 110.0]), np.full(2, 100.0)).tolist()  # they differ by no more than noise does
    [100.0, 100.0]
    """
    if supports.size == 0:
        return np.zeros(0)
    weights = 1 / (variances + float(np.var(supports)) + 1e-9)
    mean = max(float(weights @ supports / weights.sum()), 0.0)
    apart = float(weights @ (supports - mean) ** 2 / weights.sum())
    true = max(apart - float(weights @ variances / weights.sum()), 0.0)
    calm: FloatArray = np.maximum(mean + (supports - mean) * true / (true + variances + 1e-9), 0.0)
    return calm
