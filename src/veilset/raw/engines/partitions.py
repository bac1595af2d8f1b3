"""Records in partitions, exactly: who is where, and how many fall into each part of a partition."""

import os
from dataclasses import dataclass

import numpy as np

from veilset.arrays import Int64Array
from veilset.raw.counts import ExactCells, ExactRecords
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.kernels import cells
from veilset.raw.threads import equal_parts, made_of_parts, useful_threads


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _SliceCells:
    """The cells that some members fall into: the cell of each member, and partition, mask and copies of each cell."""

    cell: Int64Array
    partitions: Int64Array
    masks: Int64Array
    copies: Int64Array


class ExactPartitions:
    """Every record is in one partition, or was dropped. At first all are in one, which has the number 0.

    `threads` is the number of cores if not given. What is counted does not depend on it.
    """

    def __init__(self, records: ExactRecords, tree: cells.InnerNodes, *, threads: int | None = None) -> None:
        self._rows = CompressedRows(records.offsets, records.items)
        self._copies = records.copies
        self._tree = tree
        self._threads = threads or os.cpu_count() or 1
        self._members = np.arange(records.copies.size)
        self._bounds = np.array([0, records.copies.size])
        self._cells = np.zeros(0, np.int64)  # of each member, since the last split

    def __repr__(self) -> str:
        return "ExactPartitions(private)"

    def keep(self, chosen: Int64Array) -> None:
        """Number the chosen partitions anew, in their order, and drop the records of all others."""
        places = np.full(self._bounds.size - 1, -1)
        places[chosen] = np.arange(chosen.size)
        partition_of = np.repeat(np.arange(self._bounds.size - 1), np.diff(self._bounds))
        self._regroup(partition_of, places, chosen.size)

    def split(self, nodes: Int64Array) -> ExactCells:
        """The parts of each partition by the children of its node that a record meets (the bits of a mask)."""
        number = self._members.size
        members = equal_parts(number, useful_threads(number, self._threads))
        of_one_type = np.array(nodes, np.int64)  # kernels meet one type of array
        found = made_of_parts(members, lambda part: self._cells_of(part, of_one_type))
        joined = found[0] if len(found) == 1 else _joined(found)
        self._cells = joined.cell
        return ExactCells(joined.partitions, joined.masks, joined.copies)

    def _cells_of(self, part: slice, nodes: Int64Array) -> _SliceCells:
        """The cells of some of the members, of whichever partitions."""
        bounds = np.clip(self._bounds, part.start, part.stop) - part.start
        rows, members = self._rows, self._members[part]
        found = cells.cells_of(rows.offsets, rows.items, self._copies, members, bounds, nodes, self._tree)
        return _SliceCells(*found)

    def become(self, partition_of_cell: Int64Array, number: int) -> None:
        """Make cells of the last split the partitions, by these numbers; records of a cell of -1 are dropped."""
        self._regroup(self._cells, partition_of_cell, number)

    def _regroup(self, cell: Int64Array, partition_of_cell: Int64Array, number: int) -> None:
        self._members, self._bounds = cells.regrouped(self._members, cell, partition_of_cell, number)


def _joined(parts: list[_SliceCells]) -> _SliceCells:
    """The cells of all members, ordered by partition, then by mask; a partition may go over several parts."""
    partitions = np.concatenate([part.partitions for part in parts])
    masks = np.concatenate([part.masks for part in parts])
    copies = np.concatenate([part.copies for part in parts])
    width = int(masks.max(initial=0)) + 1
    keys, places = np.unique(partitions * width + masks, return_inverse=True)
    totals = np.zeros(keys.size, np.int64)
    np.add.at(totals, places, copies)
    ends = np.cumsum([part.masks.size for part in parts])[:-1]
    numbers = [np.append(of_part, -1) for of_part in np.split(places, ends)]  # place -1: a member of no cell
    cell = np.concatenate([of_part[part.cell] for of_part, part in zip(numbers, parts, strict=True)])
    return _SliceCells(cell, keys // width, keys % width, totals)
