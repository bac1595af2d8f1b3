"""Rows in blocks on a Spark cluster, and what is made of them there: sums, merged values, other rows.

The driver plans and collects; it never holds a row. Whatever is computed again, because an executor was lost, is the
same as before: work on a block depends on that block, on the question and on the secret that was sent with it.
"""

import pickle
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from veilset.arrays import Int64Array
from veilset.raw.clustered import BLOCK_SCHEMA, Frame, collected
from veilset.raw.engines.cluster_work import (
    AskBlock,
    BecomeBlocks,
    BecomeRows,
    DrawnKeys,
    MadeOfBlocks,
    Merge,
    PartsByContent,
    SumOfBlocks,
    add_totals,
    joined_parts,
)
from veilset.raw.engines.local import LocalEngine

FAN_IN = 16
"""Up to 16 answers of partitions are added by one executor, and up to 16 of these by the driver."""

LEAST_ROWS = 1 << 14
"""At least 16,384 rows are a task's, on average: where partitions are smaller, one task takes several."""

NOTHING_DRAWN = DrawnKeys(None)

Merged = Any
"""Whatever is made of blocks and merged."""

Work = Callable[[Any], Any]
"""What is done with the batches of a partition."""


class ClusterRows:
    """The blocks of a frame. `is_together`: equal rows are in one block, and numbered.

    `partitions` is how many blocks there are at most, where that is known. A frame that was made here is kept by the
    cluster as long as somebody holds these rows.
    """

    def __init__(
        self,
        frame: Frame,
        alphabet_size: int,
        *,
        is_together: bool = False,
        partitions: int | None = None,
    ) -> None:
        self.frame, self.alphabet_size, self.is_together = frame, alphabet_size, is_together
        self._partitions = partitions

    def __repr__(self) -> str:
        return "ClusterRows(private)"

    @cached_property
    def census(self) -> list[int]:
        """The number of rows of each partition that has any block."""
        work = SumOfBlocks(lambda engine, _: engine.number(), NOTHING_DRAWN, self.alphabet_size)
        found = collected(self.frame.mapInArrow(work, BLOCK_SCHEMA))
        return [int(np.frombuffer(row[0], np.int64)[0]) for row in found]

    @property
    def partitions(self) -> int:
        """How many partitions work is done on: as many as have blocks, unless that leaves a task too few rows."""
        if self._partitions is not None:
            return self._partitions
        return min(len(self.census), max(1, sum(self.census) // LEAST_ROWS))

    @cached_property
    def _worked_on(self) -> Frame:
        is_scattered = self._partitions is None and self.partitions < len(self.census)
        return self.frame.coalesce(self.partitions) if is_scattered else self.frame

    @cached_property
    def together(self) -> "ClusterRows":
        """The same rows, equal ones in one block and numbered: each goes to a partition by a hash of what it holds."""
        return self if self.is_together else self._by_content(by_owner=False)

    @cached_property
    def by_owner(self) -> "ClusterRows":
        """The same rows, those of owners who have the same in one block."""
        return self._by_content(by_owner=True)

    def sum(self, ask: AskBlock, keys: DrawnKeys, nothing: Int64Array) -> Int64Array:
        """The sum over all blocks of the answers to a question, added to `nothing`, which has their shape."""
        work = SumOfBlocks(ask, keys, self.alphabet_size)
        frame = self._in_rounds(self._worked_on.mapInArrow(work, BLOCK_SCHEMA), add_totals, self.partitions)
        totals = nothing.copy()
        for row in collected(frame):
            totals += np.frombuffer(row[0], np.int64).reshape(totals.shape)
        return totals

    def made(self, make: Callable[[LocalEngine], Any], merge: Merge, groups: int | None = None) -> Merged:
        """What is made of blocks, or of groups of partitions, merged by executors and at last here; None of nothing."""
        frame = self._worked_on if groups is None else self.frame.coalesce(groups)
        work = MadeOfBlocks(make, merge, self.alphabet_size, is_joined=groups is not None)
        frame = self._in_rounds(frame.mapInArrow(work, BLOCK_SCHEMA), merge, groups or self.partitions)
        return merge.merged(pickle.loads(row[0]) for row in collected(frame))  # noqa: S301 - our own bytes

    def become(
        self,
        become: BecomeRows,
        keys: DrawnKeys,
        *,
        keeps_equal: bool = False,
        alphabet_size: int | None = None,
    ) -> "ClusterRows":
        """What becomes of every block; `keeps_equal` promises that rows that are equal then were equal before."""
        is_together = self.is_together and keeps_equal
        work = BecomeBlocks(become, keys, self.alphabet_size, is_together)
        return self._kept(
            self._worked_on.mapInArrow(work, BLOCK_SCHEMA),
            is_together=is_together,
            alphabet_size=alphabet_size,
        )

    def _by_content(self, *, by_owner: bool) -> "ClusterRows":
        parts = max(1, self.partitions)
        frame = self._worked_on.mapInArrow(
            PartsByContent(parts, by_owner=by_owner), f"{BLOCK_SCHEMA}, part int"
        )
        frame = frame.repartition(parts, "part").select("block").mapInArrow(joined_parts, BLOCK_SCHEMA)
        return self._kept(frame, is_together=not by_owner)

    def _kept(self, frame: Frame, *, is_together: bool, alphabet_size: int | None = None) -> "ClusterRows":
        kept = frame.persist()
        size = self.alphabet_size if alphabet_size is None else alphabet_size
        rows = ClusterRows(kept, size, is_together=is_together, partitions=max(1, self.partitions))
        weakref.finalize(rows, _forget, kept).atexit = False
        return rows

    def _in_rounds(self, frame: Frame, merge: Work, number: int) -> Frame:
        """A frame of at most FAN_IN values: executors merge what executors made."""
        for merged in merge_rounds(number, FAN_IN):
            frame = frame.repartition(merged).mapInArrow(merge, BLOCK_SCHEMA)
        return frame


def merge_rounds(number: int, fan_in: int) -> list[int]:
    """Into how many values a number of them is merged, round by round, until at most `fan_in` are left.

    >>> merge_rounds(1000, 16)
    [63, 4]
    """
    rounds = []
    while number > fan_in:
        number = -(-number // fan_in)
        rounds.append(number)
    return rounds


def _forget(frame: Frame) -> None:
    with suppress(Exception):  # the session may be gone, and what it kept with it
        frame.unpersist()
