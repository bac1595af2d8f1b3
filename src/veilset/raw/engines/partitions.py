"""Records in partitions, exactly: who is where, and how many fall into each part of a partition."""

import numpy as np

from veilset.arrays import Int64Array
from veilset.raw.counts import ExactCells, ExactRecords
from veilset.raw.kernels import cells


class ExactPartitions:
    """Every record is in one partition, or was dropped. At first all are in one, which has the number 0."""

    def __init__(self, records: ExactRecords, tree: cells.InnerNodes) -> None:
        self._records = records
        self._tree = tree
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
        self._cells, *found = cells.cells_of(
            self._records.offsets,
            self._records.items,
            self._records.copies,
            self._members,
            self._bounds,
            np.array(nodes, np.int64),  # kernels meet one type of array
            self._tree,
        )
        return ExactCells(*found)

    def become(self, partition_of_cell: Int64Array, number: int) -> None:
        """Make cells of the last split the partitions, by these numbers; records of a cell of -1 are dropped."""
        self._regroup(self._cells, partition_of_cell, number)

    def _regroup(self, cell: Int64Array, partition_of_cell: Int64Array, number: int) -> None:
        self._members, self._bounds = cells.regrouped(self._members, cell, partition_of_cell, number)
