"""Records taken apart along a tree of items: distinct records, the children that each one meets, regrouping.

Records hold places (leaves of the tree, numbered from left to right), ascending. Records of one partition
stand together: those of partition p are `members[bounds[p]:bounds[p + 1]]`.
"""

from typing import NamedTuple

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.kernels import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number without pattern: 2^64 over the golden ratio
_HALF = np.uint64(32)


class Tree(NamedTuple):
    """Inner nodes of a tree: children of u start at the places `child_starts[first_child[u]:first_child[u + 1]]`.

    They ascend; the last child ends before the place `ends[u]`.
    """

    ends: Int64Array
    first_child: Int64Array
    child_starts: Int64Array


@kernel
def placed(offsets: Int64Array, items: Int32Array, places: Int32Array) -> tuple[Int64Array, Int32Array]:
    """Every row with places instead of items, ascending; items of place -1 are left out."""
    new_offsets = np.zeros(offsets.size, np.int64)
    new_items = np.empty(offsets[-1] - offsets[0], np.int32)
    end = 0
    for row in range(offsets.size - 1):
        start = end
        for i in range(offsets[row], offsets[row + 1]):
            place = places[items[i]]
            if place >= 0:
                j = end
                while j > start and new_items[j - 1] > place:
                    new_items[j] = new_items[j - 1]
                    j -= 1
                new_items[j] = place
                end += 1
        new_offsets[row + 1] = end
    return new_offsets, new_items[:end].copy()


@kernel
def distinct(offsets: Int64Array, items: Int32Array) -> tuple[Int64Array, Int32Array, Int64Array]:
    """The different rows that hold anything, in the order in which they first come, and how often each comes."""
    rows = offsets.size - 1
    slots = 1
    while slots < 2 * rows:
        slots *= 2
    slot_of_last = np.uint64(slots - 1)
    found = np.full(slots, -1, np.int64)  # open addressing: the number of the distinct row in each slot
    first_row = np.empty(rows, np.int64)
    copies = np.empty(rows, np.int64)
    number = 0
    length = 0
    for row in range(rows):
        start, end = offsets[row], offsets[row + 1]
        if start == end:
            continue
        mixed = np.uint64(0)
        for i in range(start, end):
            mixed = (mixed ^ np.uint64(items[i])) * _MIX
            mixed ^= mixed >> _HALF
        slot = np.int64(mixed & slot_of_last)
        while found[slot] >= 0:
            other = offsets[first_row[found[slot]]]
            same = offsets[first_row[found[slot]] + 1] - other == end - start
            i = 0
            while same and i < end - start:
                same = items[other + i] == items[start + i]
                i += 1
            if same:
                break
            slot = (slot + 1) & (slots - 1)
        if found[slot] < 0:
            found[slot] = number
            first_row[number] = row
            copies[number] = 0
            number += 1
            length += end - start
        copies[found[slot]] += 1
    new_offsets = np.zeros(number + 1, np.int64)
    new_items = np.empty(length, np.int32)
    for k in range(number):
        start, end = offsets[first_row[k]], offsets[first_row[k] + 1]
        new_items[new_offsets[k] : new_offsets[k] + end - start] = items[start:end]
        new_offsets[k + 1] = new_offsets[k] + end - start
    return new_offsets, new_items, copies[:number].copy()


@kernel
def cells_of(
    offsets: Int64Array,
    items: Int32Array,
    copies: Int64Array,
    members: Int64Array,
    bounds: Int64Array,
    nodes: Int64Array,
    tree: Tree,
) -> tuple[Int64Array, Int64Array, Int64Array, Int64Array]:
    """Which cell each member falls into; of each cell that is not empty, partition, mask and number of copies.

    Bit c of a mask tells whether a record meets child c of its partition's node, `nodes[p]`. A member that meets
    no child falls into no cell: -1. Cells are ordered by partition, then by mask.
    """
    most = 0
    for p in range(bounds.size - 1):
        most = max(most, tree.first_child[nodes[p] + 1] - tree.first_child[nodes[p]])
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
