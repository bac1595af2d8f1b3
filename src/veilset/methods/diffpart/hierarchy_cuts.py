"""Hierarchy cuts: how far partitions are taken apart along a taxonomy. Public, like everything in methods.

A partition's cut is a set of nodes and items of the taxonomy: every record in it holds items from below each of
the nodes, and no others. Here all partitions of a level are arrays: which inner nodes are in each cut, and by
which split each came out of which partition of the level before. The items follow from the splits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from veilset.arrays import BoolArray, Int64Array
from veilset.gate import SubPartitions
from veilset.itemsets import Itemsets
from veilset.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True, eq=False)
class SplitStep:
    """How partitions came about: part `masks[i]` of partition `parents[i]`, split by `nodes[i]`."""

    parents: Int64Array
    nodes: Int64Array
    masks: Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """The cuts of some partitions; `inner[i, u]` tells whether inner node u is in that of partition i."""

    taxonomy: Taxonomy
    inner: BoolArray
    steps: tuple[SplitStep, ...] = field(default=())

    @classmethod
    def root(cls, taxonomy: Taxonomy) -> "Cuts":
        """One partition: its cut is the root."""
        inner = np.zeros((1, taxonomy.nodes), np.bool_)
        inner[0, 0] = True
        return cls(taxonomy, inner)

    def __len__(self) -> int:
        return len(self.inner)

    @property
    def nodes(self) -> Int64Array:
        """A node of the largest height in each cut, by which it is split next; the first where there are several."""
        nodes: Int64Array = self.inner.argmax(axis=1)  # nodes are numbered by height
        return nodes

    @property
    def splits_left(self) -> Int64Array:
        """How many splits it takes at most until a cut has only items (Theorem 4.1)."""
        splits: Int64Array = self.inner @ self.taxonomy.inner_nodes
        return splits

    @property
    def are_split_once(self) -> BoolArray:
        """Whether a cut has one inner node, so that splitting it can leave only items."""
        once: BoolArray = self.inner.sum(axis=1) == 1
        return once

    @property
    def have_only_items(self) -> BoolArray:
        """Whether a cut has no inner node any more: what it stands for is a record."""
        only_items: BoolArray = ~np.any(self.inner, axis=1)
        return only_items

    def parts(self, found: SubPartitions) -> "Cuts":
        """The cuts of sub-partitions: the node replaced by the children in the mask."""
        tree, nodes = self.taxonomy, self.nodes[found.parents]
        inner = self.inner[found.parents]
        inner[np.arange(len(inner)), nodes] = False
        for place, child in _children(tree, nodes, found.masks):
            is_inner = tree.child_nodes[child] >= 0
            inner[place[is_inner], tree.child_nodes[child[is_inner]]] = True
        return Cuts(tree, inner, (*self.steps, SplitStep(found.parents, nodes, found.masks)))

    def take(self, chosen: Int64Array) -> "Cuts":
        """Some of the partitions."""
        last = self.steps[-1]
        step = SplitStep(last.parents[chosen], last.nodes[chosen], last.masks[chosen])
        return Cuts(self.taxonomy, self.inner[chosen], (*self.steps[:-1], step))

    def itemsets(self) -> Itemsets:
        """The items in each cut."""
        tree, ancestors = self.taxonomy, np.arange(len(self))
        owners, codes = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
        for step in reversed(self.steps):
            for place, child in _children(tree, step.nodes[ancestors], step.masks[ancestors]):
                is_item = tree.child_nodes[child] < 0
                owners.append(place[is_item])
                codes.append(tree.items[tree.child_starts[child[is_item]]])
            ancestors = step.parents[ancestors]
        owner, code = np.concatenate(owners), np.concatenate(codes)
        order = np.lexsort((code, owner))
        offsets = np.searchsorted(owner[order], np.arange(len(self) + 1))
        return Itemsets(offsets.astype(np.int64), code[order])


def _children(
    tree: Taxonomy, nodes: Int64Array, masks: Int64Array
) -> Iterator[tuple[Int64Array, Int64Array]]:
    """For each bit of the masks: the places whose mask has it, and the children (of their nodes) it stands for."""
    for bit in range(int(masks.max(initial=0)).bit_length()):
        places = np.flatnonzero(masks >> bit & 1)
        yield places, tree.first_child[nodes[places]] + bit
