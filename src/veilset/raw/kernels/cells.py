"""Records taken apart along a tree of items: the children that each record meets, and regrouping by them.

Records hold places (leaves of the tree, numbered from left to right), ascending. Records of one partition
stand together: those of partition p are `members[bounds[p]:bounds[p + 1]]`.
"""

from typing import NamedTuple

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import inner, kernel

_AHEAD = 64
"""64 records are looked up at once: as many as a processor can wait for, and few enough to stay in its cache."""


class InnerNodes(NamedTuple):
    """Inner nodes of a tree: children of u start at the places `child_starts[first_child[u]:first_child[u + 1]]`.

    They ascend; the last child ends before the place `ends[u]`.
    """

    ends: Int64Array
    first_child: Int64Array
    child_starts: Int64Array


@kernel
def cells_of(
    offsets: Int64Array,
    items: Int32Array,
    copies: Int64Array,
    members: Int64Array,
    bounds: Int64Array,
    nodes: Int64Array,
    tree: InnerNodes,
) -> tuple[Int64Array, Int64Array, Int64Array, Int64Array]:
    """Which cell each member falls into; of each cell that is not empty, partition, mask and number of copies.

    Bit c of a mask tells whether a record meets child c of its partition's node, `nodes[p]`. A member that meets
    no child falls into no cell: -1. Cells are ordered by partition, then by mask. No record may be empty.
    """
    most = _most_children(nodes, tree)
    totals = np.zeros(1 << most, np.int64)
    numbers = np.zeros(1 << most, np.int64)
    met = np.empty(1 << most, np.int64)
    cell = np.full(members.size, -1, np.int64)
    cell_partition = np.empty(members.size, np.int64)
    cell_mask = np.empty(members.size, np.int64)
    cell_copies = np.empty(members.size, np.int64)
    cells = 0
    ahead = np.empty((_AHEAD, 3), np.int64)
    child_bits = np.empty(0, np.int64)
    for p in range(bounds.size - 1):
        if p == 0 or nodes[p] != nodes[p - 1]:
            child_bits = _child_bits(nodes[p], tree)
        first_place = tree.child_starts[tree.first_child[nodes[p]]]
        different = 0
        for m in range(bounds[p], bounds[p + 1]):
            step = (m - bounds[p]) % _AHEAD
            if step == 0:
                _look_ahead(offsets, items, copies, members[m : min(m + _AHEAD, bounds[p + 1])], ahead)
            mask = 0
            for i in range(ahead[step, 0], ahead[step, 1]):
                place = items[i] - first_place
                if 0 <= place < child_bits.size:
                    mask |= child_bits[place]
            if mask > 0:
                if totals[mask] == 0:
                    met[different] = mask
                    different += 1
                totals[mask] += ahead[step, 2]
                cell[m] = mask
        met[:different].sort()
        for k in range(different):
            mask = met[k]
            cell_partition[cells] = p
            cell_mask[cells] = mask
            cell_copies[cells] = totals[mask]
            numbers[mask] = cells
            totals[mask] = 0
            cells += 1
        for m in range(bounds[p], bounds[p + 1]):
            if cell[m] > 0:
                cell[m] = numbers[cell[m]]
    return cell, cell_partition[:cells].copy(), cell_mask[:cells].copy(), cell_copies[:cells].copy()


@inner
def _child_bits(node: int, tree: InnerNodes) -> Int64Array:
    """For each place below a node, the bit of the child that it is below of."""
    first, last = tree.first_child[node], tree.first_child[node + 1]
    start = tree.child_starts[first]
    bits = np.empty(tree.ends[node] - start, np.int64)
    for child in range(first, last):
        end = tree.child_starts[child + 1] if child + 1 < last else tree.ends[node]
        bits[tree.child_starts[child] - start : end - start] = 1 << (child - first)
    return bits


@inner
def _look_ahead(
    offsets: Int64Array, items: Int32Array, copies: Int64Array, members: Int64Array, ahead: Int64Array
) -> int:
    """Where the next records start and end, and their copies; looks at their items, so that these are in the cache.

    Nothing here waits for what was looked at before, so the memory answers many of these questions at once.
    """
    looked_at = 0
    for m in range(members.size):
        start, end = offsets[members[m]], offsets[members[m] + 1]
        ahead[m, 0], ahead[m, 1], ahead[m, 2] = start, end, copies[members[m]]
        looked_at += items[start] + items[end - 1]
    return looked_at


@inner
def _most_children(nodes: Int64Array, tree: InnerNodes) -> int:
    """The largest number of children that one of the nodes has."""
    most = 0
    for node in nodes:
        most = max(most, tree.first_child[node + 1] - tree.first_child[node])
    return most


@kernel
def regrouped(
    members: Int64Array, cell: Int64Array, partition_of_cell: Int64Array, partitions: int
) -> tuple[Int64Array, Int64Array]:
    """The members grouped by the partition that their cell becomes; those without one (-1) are dropped."""
    bounds = np.zeros(partitions + 1, np.int64)
    for m in range(members.size):
        if cell[m] >= 0 and partition_of_cell[cell[m]] >= 0:
            bounds[partition_of_cell[cell[m]] + 1] += 1
    for p in range(partitions):
        bounds[p + 1] += bounds[p]
    grouped = np.empty(bounds[-1], np.int64)
    filled = bounds.copy()
    for m in range(members.size):
        if cell[m] >= 0 and partition_of_cell[cell[m]] >= 0:
            p = partition_of_cell[cell[m]]
            grouped[filled[p]] = members[m]
            filled[p] += 1
    return grouped, bounds
