"""The noisy FP-tree of DP-FIM: what is asked for it, and from which count on a node is kept.

The privacy argument is that of `methods.dpfim`, whose questions 3 are asked here.
"""

import math
from fractions import Fraction

import numpy as np

from veilset.gate import Curator, NoisyCounts, NoisyTree
from veilset.itemsets import Itemsets
from veilset.methods.dpfim.sample import Shape

WIDE = 2
"""Items are many where they are more than twice the depth: each then stands in many nodes of the tree."""
EMPTY_CHILDREN = 0.4
"""A node has at most 0.4 children that are there by noise alone, on average."""


def ask_tree(curator: Curator, shape: Shape, *, epsilon: Fraction) -> tuple[NoisyTree, NoisyCounts | None]:
    """The noisy FP-tree of truncated transactions (Alg. 4); before it, where items are many, their supports."""
    order, singles = shape.order, None
    for_level = epsilon / shape.depth
    if is_wide(len(order), shape.depth):
        for_level = epsilon / (shape.depth + 1)
        unordered = curator.ask_supports(
            Itemsets.of((item,) for item in order), truncation=shape.truncation(order), epsilon=for_level
        )
        singles, order = ordered(unordered)
    tree = curator.ask_prefix_tree(
        order,
        depth=shape.depth,
        threshold=node_threshold(len(order), scale=curator.unit.transactions / for_level),
        epsilon=for_level * shape.depth,
        truncation=shape.truncation(order),
    )
    return tree, singles


def is_wide(items: int, depth: int) -> bool:
    """Whether items are many enough that their supports are better asked for than added up over the tree."""
    return items > WIDE * depth


def ordered(counts: NoisyCounts) -> tuple[NoisyCounts, tuple[int, ...]]:
    """Supports of single items, largest first, and the items in that order."""
    places = np.argsort(-counts.values, kind="stable")
    items = tuple(counts.itemsets.items[places].tolist())
    return NoisyCounts(Itemsets.of((item,) for item in items), counts.values[places], counts.mechanism), items


def node_threshold(items: int, *, scale: Fraction) -> int:
    """The least count that lets a node pass, from the noise alone: few children are there for no transaction.

    >>> node_threshold(20, scale=Fraction(10))
    40
    """
    return max(1, math.ceil(float(scale) * math.log(items / EMPTY_CHILDREN)))
