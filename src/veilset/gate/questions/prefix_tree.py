"""The noisy prefix tree, grown level by level (DP-FIM, Alg. 4; repairs X2, X3).

Think of the complete tree: every sequence of items that ascends in the public order is a node, up to a public
depth, whether transactions pass it or not. Each node has a count and each count gets the same noise. One
transaction passes at most one node on each level, so it moves all counts together by at most the depth. What is
published is a part of that noisy tree, selected by a rule that looks at noisy counts alone: a node is kept where
its parent is and its noisy count reaches the threshold.

The complete tree is far too large to list. Below a node that is not kept nothing is needed; and children that no
transaction passes all have the count 0, so it is drawn how many of them pass, which, and their values
(`gate.selection.zero_counts`). Nodes are put in the order of their paths, so that their numbers do not tell which were
drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate.draws import Noise
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.gate.noisy_tree import NoisyTree
from veilset.gate.questions.base import Questions, after_reshaping
from veilset.gate.questions.door import checked_items, checked_truncation
from veilset.gate.selection.noisy_test import NoisyTest, SparseCounts
from veilset.gate.selection.zero_counts import chance_to_pass
from veilset.integers import item_codes, whole
from veilset.raw.counts import ExactCounts, ExactTree
from veilset.raw.cuts.truncation import Truncation
from veilset.wording import counted

MOST_EMPTY_CHILDREN = 0.5
"""0.5: no node may have more children than this that are there by noise alone, on average, or trees would not end."""


class PrefixTreeQuestions(Questions):
    """Counts of the paths that transactions take through their items, in a public order."""

    def ask_prefix_tree(
        self,
        order: tuple[int, ...],
        *,
        depth: int,
        threshold: int,
        epsilon: Fraction,
        truncation: Truncation | None = None,
    ) -> NoisyTree:
        """How many transactions begin with which items, in a public order: the nodes that reach a threshold.

        After truncation, a transaction is a path of its first `depth` items in the order. It moves the counts of the
        nodes on its path by 1, at most one on each level, so by `depth` all together. Every possible child of a
        node that is kept is tested alike, whether a transaction passed or not: see the argument above.
        """
        depth, threshold = whole(depth, "the depth"), whole(threshold, "the threshold")
        codes = item_codes(order, "items of an order")
        order, bound = tuple(codes.tolist()), checked_truncation(truncation, self.alphabet_size)
        if depth < 1 or not order or len(set(order)) < len(order):
            raise BadCall("a prefix tree needs different items in an order, and a depth of at least 1")
        checked_items(codes, self.alphabet_size)
        mechanism = DiscreteLaplace(depth * self.unit.transactions, epsilon)
        check_ends(threshold, width=len(order), scale=mechanism.scale)
        items = counted(len(order), "item")
        engine = self._pay(f"prefix tree of {items}, depth {depth}{after_reshaping(truncation)}", mechanism)
        exact = engine.prefix_tree(codes, bound, self._noise.keys, depth=depth)
        test = NoisyTest(threshold, mechanism.sensitivity, epsilon)
        levels = _Growth(exact, width=len(order), test=test, noise=self._noise).levels(depth)
        return _tree_of(levels, order, mechanism=mechanism, threshold=threshold)


def check_ends(threshold: int, *, width: int, scale: Fraction) -> None:
    """Raise BadCall where a tree over `width` items would grow from noise; all of it is public."""
    if threshold < 1 or width * chance_to_pass(threshold, scale=scale) > MOST_EMPTY_CHILDREN:
        raise BadCall(
            f"a prefix tree over {counted(width, 'item')} with a threshold of {threshold} would be mostly noise of "
            f"scale {float(scale):.4g}; give a larger threshold, fewer items or more epsilon"
        )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Level:
    """Nodes of one depth that were kept, in the order of their paths; their numbers rise by 1 from `first`.

    Of each: the exact node that it stands for (-1: none), the number of its parent, its rank and its noisy count.
    """

    first: int
    exact: Int64Array
    parents: Int64Array
    ranks: Int64Array
    counts: Int64Array

    @classmethod
    def of_root(cls) -> "_Level":
        """The root alone, which stands before the first rank."""
        none = np.full(1, -1, np.int64)
        return cls(0, np.zeros(1, np.int64), parents=none, ranks=none, counts=np.zeros(1, np.int64))


class _Growth:
    """The part of the noisy complete tree that passes the test, from the root down."""

    def __init__(self, exact: ExactTree, *, width: int, test: NoisyTest, noise: Noise) -> None:
        self._exact, self._children = exact, _Children(exact)
        self._width, self._test, self._noise = width, test, noise

    def levels(self, depth: int) -> list[_Level]:
        """The root, and the nodes of every depth that are kept."""
        levels = [_Level.of_root()]
        for _ in range(depth):
            levels.append(self._below(levels[-1]))
        return levels

    def _below(self, level: _Level) -> _Level:
        """The children of a level that are kept, whether transactions pass them or not, in the order of their paths."""
        # The possible children of all kept nodes, one after another: a node of rank r has width - 1 - r.
        starts = np.append(0, np.cumsum(self._width - 1 - level.ranks))
        above, seen = self._children.of(level.exact)
        places = starts[above] + self._exact.ranks[seen] - level.ranks[above] - 1
        order = np.argsort(places)  # by path: the order in which exact nodes stand must not matter
        places, seen = places[order], seen[order]
        exact = ExactCounts(self._exact.counts[seen])
        kept = self._noise.passing(SparseCounts(places, exact, int(starts[-1])), self._test)
        parents = np.searchsorted(starts, kept.places, side="right") - 1
        ranks = kept.places - starts[parents] + level.ranks[parents] + 1
        first = level.first + level.ranks.size
        return _Level(first, _values_at(kept.places, places, seen), level.first + parents, ranks, kept.values)


def _values_at(wanted: Int64Array, places: Int64Array, values: Int64Array) -> Int64Array:
    """The value at each place that is wanted; -1 where none stands."""
    order = np.argsort(places)
    ordered = np.append(places[order], -1)
    found = np.searchsorted(ordered[:-1], wanted)
    return np.where(ordered[found] == wanted, np.append(values[order], -1)[found], -1)


class _Children:
    """The children of exact nodes, by node."""

    def __init__(self, exact: ExactTree) -> None:
        self._nodes = np.argsort(exact.parents, kind="stable")
        self._starts = np.searchsorted(exact.parents[self._nodes], np.arange(exact.parents.size + 1))

    def of(self, nodes: Int64Array) -> tuple[Int64Array, Int64Array]:
        """For each child of some nodes (-1: not in the tree), the place of its parent among them, and itself."""
        first = np.where(nodes >= 0, self._starts[nodes], 0)
        number = np.where(nodes >= 0, self._starts[nodes + 1] - first, 0)
        above = np.repeat(np.arange(nodes.size), number)
        within = np.arange(above.size) - np.repeat(np.cumsum(number) - number, number)
        return above, self._nodes[first[above] + within]


def _tree_of(
    levels: Sequence[_Level], order: tuple[int, ...], *, mechanism: DiscreteLaplace, threshold: int
) -> NoisyTree:
    """All levels in one table of nodes, which no longer tells which exact nodes they stand for."""
    parents = np.concatenate([level.parents for level in levels])
    ranks = np.concatenate([level.ranks for level in levels]).astype(np.int32)
    counts = np.concatenate([level.counts for level in levels])
    return NoisyTree(order, parents, ranks, counts, mechanism, threshold)
