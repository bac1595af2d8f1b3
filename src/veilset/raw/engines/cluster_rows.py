"""Rows in blocks on a Spark cluster, and what is made of them there: sums, merged values, other rows.

The driver plans and collects; it never holds a row. Whatever is computed again, because an executor was lost, is the
same as before: work on a block depends on that block, on the question and on the secret that was sent with it.
"""

import pickle
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from veilset.arrays import Int64Array
from veilset.raw.clustered import BLOCK_SCHEMA, MADE_SCHEMA, Frame, collected
from veilset.raw.engines.cluster_work import (
    AskBlock,
    BecomeBlocks,
    BecomeRows,
    DrawnKeys,
    EnginesOfBlocks,
    MadeOfBlocks,
    MadeOfGroup,
    Merge,
    PartsByContent,
    SumOfBlocks,
    add_totals,
    joined_parts,
)
from veilset.raw.engines.local import LocalEngine

FAN_IN = 16
"""Up to 16 answers of partitions are added by one executor, and up to 16 of these by the driver."""

LEAST_ROWS = 1 << 18
"""At least 262,144 rows are a task's, on average: where partitions are smaller, one task takes several."""

MOST_ROWS_OF_A_TASK = 1 << 22
"""Up to 4,194,304 rows are a task's where there are fewer cores than partitions: one task takes several."""

NOTHING_DRAWN = DrawnKeys(None)

Merged = Any
"""Whatever is made of blocks and merged."""

Work = Callable[[Any], Any]
"""What is done with the batches of a partition."""


@dataclass(slots=True)
class NamedBlocks:
    """Whether a question names blocks, which executors keep, or sends their rows along.

    Executors write blocks to files as they make them, where they have a folder for that. Where nobody knows whether
    they do, rows are sent with the first question. Names are given up where executors do not know them more often
    than they do, as where the cluster makes blocks anew for each question.
    """

    is_first: bool
    """Whether the next question sends rows, since it is the first."""
    known: int = 0
    unknown: int = 0

    @property
    def keeps(self) -> bool:
        """Whether executors are asked to keep blocks."""
        return self.unknown <= self.known + 1

    @property
    def names(self) -> bool:
        """Whether the next question names blocks."""
        return self.keeps and not self.is_first

    def note(self, *, is_known: bool) -> None:
        """What became of a question that named blocks."""
        self.known += is_known
        self.unknown += not is_known


class ClusterRows:
    """The blocks of a frame. `is_together`: equal rows are in one block, and numbered.

    `tasks` is how many tasks work on them and `blocks` how many there are at most, where that is known. A frame that
    was made here is kept by the cluster as long as somebody holds these rows.
    """

    def __init__(
        self,
        frame: Frame,
        alphabet_size: int,
        *,
        is_together: bool = False,
        blocks: int | None = None,
        tasks: int | None = None,
    ) -> None:
        self.frame, self.alphabet_size, self.is_together = frame, alphabet_size, is_together
        self._blocks, self._tasks = blocks, tasks
        self._naming = NamedBlocks(is_first=cores_of(frame) is None)

    def __repr__(self) -> str:
        return "ClusterRows(private)"

    @cached_property
    def census(self) -> list[int]:
        """The number of rows of each block."""
        return [int(row[0]) for row in collected(self.frame.select("rows"))]

    @property
    def blocks(self) -> int:
        """How many blocks there are at most."""
        return len(self.census) if self._blocks is None else self._blocks

    @cached_property
    def partitions(self) -> int:
        """How many tasks work is done in: one for each block, unless that leaves cores with many small ones."""
        if self._tasks is not None:
            return self._tasks
        rows = sum(self.census)
        most = min(self.blocks, max(1, rows // LEAST_ROWS))
        cores = cores_of(self.frame)
        return most if cores is None else min(most, max(cores, rows // MOST_ROWS_OF_A_TASK))

    def _in_tasks(self, *columns: str) -> Frame:
        frame = self.frame.select(*columns)
        return frame.coalesce(self.partitions) if self.partitions < self.blocks else frame

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
        totals = nothing.copy()
        for answer in self._answers(lambda engines: SumOfBlocks(ask, keys, engines), add_totals):
            totals += np.frombuffer(answer, np.int64).reshape(totals.shape)
        return totals

    def made(self, make: Callable[[LocalEngine], Any], merge: Merge) -> Merged:
        """What is made of blocks, merged by executors and at last here; None of nothing."""
        answers = self._answers(lambda engines: MadeOfBlocks(make, merge, engines), merge)
        return merge.merged(pickle.loads(answer) for answer in answers)  # noqa: S301 - our own bytes

    def made_of_groups(self, groups: int, make: Callable[[LocalEngine], Any], merge: Merge) -> Merged:
        """The same of groups of partitions."""
        frame = self.frame.select("block").coalesce(groups)
        frame = frame.mapInArrow(MadeOfGroup(make, self.alphabet_size), MADE_SCHEMA)
        found = collected(self._in_rounds(frame, merge, groups))
        return merge.merged(pickle.loads(row[0]) for row in found)  # noqa: S301 - our own bytes

    def _answers(self, work: Callable[[EnginesOfBlocks], Work], merge: Work) -> list[Any]:
        """What becomes of the answers of all blocks: asked by name, then with their rows where a name is not known."""
        naming = self._naming
        if naming.names:
            found = self._asked(work(EnginesOfBlocks(self.alphabet_size)), merge, "name")
            naming.note(is_known=all(found))
            if all(found):
                return found
        naming.is_first = False
        return self._asked(
            work(EnginesOfBlocks(self.alphabet_size, keeps=naming.keeps)), merge, "block", "name"
        )

    def _asked(self, work: Work, merge: Work, *columns: str) -> list[Any]:
        frame = self._in_tasks(*columns).mapInArrow(work, MADE_SCHEMA)
        return [row[0] for row in collected(self._in_rounds(frame, merge, self.partitions))]

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
            self._in_tasks("block").mapInArrow(work, BLOCK_SCHEMA),
            is_together=is_together,
            alphabet_size=alphabet_size,
        )

    def _by_content(self, *, by_owner: bool) -> "ClusterRows":
        parts = max(1, self.blocks)
        frame = self._in_tasks("block").mapInArrow(
            PartsByContent(parts, by_owner=by_owner), f"{MADE_SCHEMA}, part int"
        )
        frame = frame.repartition(parts, "part").select("block").mapInArrow(joined_parts, BLOCK_SCHEMA)
        return self._kept(frame, is_together=not by_owner)

    def _kept(self, frame: Frame, *, is_together: bool, alphabet_size: int | None = None) -> "ClusterRows":
        kept = frame.persist()
        size = self.alphabet_size if alphabet_size is None else alphabet_size
        rows = ClusterRows(
            kept, size, is_together=is_together, blocks=max(1, self.blocks), tasks=max(1, self.partitions)
        )
        weakref.finalize(rows, _forget, kept).atexit = False
        return rows

    def _in_rounds(self, frame: Frame, merge: Work, number: int) -> Frame:
        """A frame of at most FAN_IN values: executors merge what executors made."""
        for merged in merge_rounds(number, FAN_IN):
            frame = frame.repartition(merged).mapInArrow(merge, MADE_SCHEMA)
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


def cores_of(frame: Frame) -> int | None:
    """How many tasks the cluster of a frame can do at once; None where it does not tell, as over Spark Connect."""
    try:
        return int(frame.sparkSession.sparkContext.defaultParallelism)
    except Exception:  # noqa: BLE001 - each of the several Sparks has errors of its own
        return None
