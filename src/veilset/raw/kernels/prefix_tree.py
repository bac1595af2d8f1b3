"""Prefix trees of rows: how many rows begin with each sequence of items, in a given order (FP-trees).

Node 0 is the root. A node is found by its parent and its rank, the place of its item in the order, through a
table of slots that is at most half full. A parent stands before its children, and ranks grow along a path.
"""

from typing import NamedTuple

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import inner, kernel

NO_NODE = -1
"""Of a slot: no node is looked up here; of the root: no parent, no rank."""


class PrefixTree(NamedTuple):
    """Nodes, of which the first `number[0]` are in use, and the slots that find them."""

    parents: Int64Array
    ranks: Int32Array
    counts: Int64Array
    slots: Int64Array
    number: Int64Array


@kernel
def root_with_room(nodes: int | np.int64) -> PrefixTree:
    """A tree of no rows, with room for that many nodes beside the root."""
    n_slots = 4
    while n_slots < 2 * (nodes + 1):
        n_slots *= 2
    tree = PrefixTree(
        np.empty(nodes + 1, np.int64),
        np.empty(nodes + 1, np.int32),
        np.zeros(nodes + 1, np.int64),
        np.full(n_slots, NO_NODE, np.int64),
        np.ones(1, np.int64),
    )
    tree.parents[0] = NO_NODE
    tree.ranks[0] = NO_NODE
    return tree


@inner
def child(tree: PrefixTree, parent: np.int64, rank: np.int64) -> np.int64:
    """The child of a node for the item of that rank; a new one where there is none, and then there must be room."""
    last_slot = np.uint64(tree.slots.size - 1)
    mixed = (np.uint64(parent) * np.uint64(0x9E3779B97F4A7C15)) ^ (
        np.uint64(rank) * np.uint64(0xC2B2AE3D27D4EB4F)
    )
    slot = (mixed ^ (mixed >> np.uint64(29))) & last_slot
    while tree.slots[slot] != NO_NODE:
        node: np.int64 = tree.slots[slot]
        if tree.parents[node] == parent and tree.ranks[node] == rank:
            return node
        slot = (slot + np.uint64(1)) & last_slot
    node = tree.number[0]
    tree.number[0] = node + 1
    tree.slots[slot] = node
    tree.parents[node] = parent
    tree.ranks[node] = rank
    return node


@kernel
def of_rows(offsets: Int64Array, items: Int32Array, rank: Int64Array, depth: int) -> PrefixTree:
    """The tree of some rows; of each, the `depth` items of smallest rank. A negative rank: not in the order."""
    nodes = np.int64(0)
    for row in range(offsets.size - 1):
        nodes += min(depth, offsets[row + 1] - offsets[row])
    tree = root_with_room(nodes)
    path = np.empty(depth, np.int64)
    for row in range(offsets.size - 1):
        length = 0
        for i in range(offsets[row], offsets[row + 1]):
            place = rank[items[i]]
            if place < 0 or (length == depth and place > path[depth - 1]):
                continue
            if length < depth:
                length += 1
            at = length - 1
            while at > 0 and path[at - 1] > place:
                path[at] = path[at - 1]
                at -= 1
            path[at] = place
        node = np.int64(0)
        tree.counts[0] += 1
        for i in range(length):
            node = child(tree, node, path[i])
            tree.counts[node] += 1
    return tree


@kernel
def added(tree: PrefixTree, other: PrefixTree) -> PrefixTree:
    """The tree of the rows of both; the first one is used up."""
    if tree.number[0] + other.number[0] > tree.parents.size:
        larger = root_with_room(2 * (tree.number[0] + other.number[0]))
        _add(larger, tree)
        tree = larger
    _add(tree, other)
    return tree


@inner
def _add(tree: PrefixTree, other: PrefixTree) -> None:
    """Add the counts of all nodes to those of the same paths."""
    same = np.zeros(other.number[0], np.int64)
    tree.counts[0] += other.counts[0]
    for node in range(1, other.number[0]):
        same[node] = child(tree, same[other.parents[node]], other.ranks[node])
        tree.counts[same[node]] += other.counts[node]
