"""The noisy prefix tree, grown level by level (DP-FIM, Alg. 4; repairs X2, X3).

Think of the complete tree: every sequence of items that ascends in the public order is a node, up to a public
depth, whether transactions pass it or not. Each node has a count and each count gets the same noise. One
transaction passes at most one node on each level, so it moves all counts together by at most the depth. What is
published is a part of that noisy tree, cut out by a rule that looks at noisy counts alone: a node is kept where
its parent is and its noisy count reaches the threshold.

The complete tree is far too large to list. Below a node that is not kept nothing is needed; and children that no
transaction passes all have the count 0, so it is drawn how many of them pass, which, and their values
(`gate.passing`). Nodes are put in the order of their paths, so that their numbers do not tell which were drawn.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.gate.noise import Noise, float_at_least
from veilset.gate.noisy_tree import NoisyTree
from veilset.gate.selection.zero_counts import chance_to_pass, draw_number_passing, draw_passing_noise
from veilset.itemsets import draw_places
from veilset.raw.counts import ExactCounts, ExactTree

MOST_EMPTY_CHILDREN = 0.5
"""A node may have no more children than this that are there by noise alone, on average, or trees would not end."""


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """Nodes of one depth that were kept: the exact node each stands for (-1: none), its rank and number."""

    exact: Int64Array
    ranks: Int64Array
    numbers: Int64Array


def check_ends(threshold: int, *, width: int, scale: Fraction) -> None:
    """Raise BadCall where a tree over so many items would grow from noise; all of it is public."""
    if threshold < 1 or width * chance_to_pass(threshold, scale=scale) > MOST_EMPTY_CHILDREN:
        raise BadCall(
            f"a prefix tree over {width} items with a threshold of {threshold} would be mostly noise of scale "
            f"{float(scale):.4g}; give a larger threshold, fewer items or more epsilon"
        )


def grown(
    exact: ExactTree,
    order: tuple[int, ...],
    *,
    depth: int,
    threshold: int,
    mechanism: DiscreteLaplace,
    noise: Noise,
) -> NoisyTree:
    """The part of the noisy complete tree that reaches the threshold, from the root down."""
    children = _Children(exact)
    # Rounded up to a float here, so that seen and unseen children have the same noise to the last bit.
    scale = Fraction(float_at_least(mechanism.scale))
    level = Level(np.zeros(1, np.int64), np.full(1, -1, np.int64), np.zeros(1, np.int64))
    parents, ranks, counts = [np.full(1, -1, np.int64)], [np.full(1, -1, np.int64)], [np.zeros(1, np.int64)]
    number = 1
    for _ in range(depth):
        # The possible children of all kept nodes, one after another: a node of rank r has width - 1 - r.
        possible = len(order) - 1 - level.ranks
        starts = np.append(0, np.cumsum(possible))
        above, seen = children.of(level.exact)
        seen_at = starts[above] + exact.ranks[seen] - level.ranks[above] - 1
        seen_values = noise.discrete_laplace(ExactCounts(exact.counts[seen]), scale=scale)
        is_kept = seen_values >= threshold
        empty_at, empty_values = _empty_that_pass(
            int(starts[-1]), np.sort(seen_at), threshold=threshold, scale=scale, noise=noise
        )
        at = np.concatenate([seen_at[is_kept], empty_at])
        by_path = np.argsort(at)
        at = at[by_path]
        parent = np.searchsorted(starts, at, side="right") - 1
        level_exact = np.concatenate([seen[is_kept], np.full(empty_at.size, -1)])[by_path]
        parents.append(level.numbers[parent])
        ranks.append(at - starts[parent] + level.ranks[parent] + 1)
        counts.append(np.concatenate([seen_values[is_kept], empty_values])[by_path])
        level = Level(level_exact, ranks[-1], number + np.arange(at.size))
        number += at.size
    return NoisyTree(
        order,
        np.concatenate(parents),
        np.concatenate(ranks).astype(np.int32),
        np.concatenate(counts),
        mechanism,
        threshold,
    )


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


def _empty_that_pass(
    possible: int, seen_at: Int64Array, *, threshold: int, scale: Fraction, noise: Noise
) -> tuple[Int64Array, Int64Array]:
    """Which of the possible children that no transaction passes reach the threshold, and with which counts."""
    empty = possible - seen_at.size
    number = draw_number_passing(empty, threshold=threshold, rate=1 / scale, below=noise.below)
    places = np.array(sorted(draw_places(number, empty, noise.below)), dtype=np.int64)
    # The j-th empty one stands behind all seen ones that have no more than j empty ones before them.
    seen_before = np.searchsorted(seen_at - np.arange(seen_at.size), places, side="right")
    values = draw_passing_noise(
        number, threshold=threshold, noise=lambda zeros: noise.discrete_laplace(zeros, scale=scale)
    )
    return places + seen_before, values
