"""Records taken apart along a tree of items: the children that each record meets, and regrouping by them.

Records hold places (leaves of the tree, numbered from left to right), ascending. Records of one partition
stand together: those of partition p are `members[bounds[p]:bounds[p + 1]]`.
"""

from typing import NamedTuple

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import kernel


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
    no child falls into no cell: -1. Cells are ordered by partition, then by mask.
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
    for p in range(bounds.size - 1):
        first, last = tree.first_child[nodes[p]], tree.first_child[nodes[p] + 1]
        end = tree.ends[nodes[p]]
        different = 0
        for m in range(bounds[p], bounds[p + 1]):
            mask = 0
            child = first
            for i in range(offsets[members[m]], offsets[members[m] + 1]):
                if items[i] < tree.child_starts[first]:
                    continue
                if items[i] >= end:
                    break
                while child + 1 < last and items[i] >= tree.child_starts[child + 1]:
                    child += 1
                mask |= 1 << (child - first)
            if mask > 0:
                if totals[mask] == 0:
                    met[different] = mask
                    different += 1
                totals[mask] += copies[members[m]]
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


@kernel
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
