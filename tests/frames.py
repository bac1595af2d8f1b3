"""A frame in memory that does what frames of Spark do with blocks: the cheapest cluster there is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import cloudpickle

from veilset.raw.clustered import ClusteredTransactions, RowBlock, batch_of_block
from veilset.raw.transactions import Transactions

Work = Callable[[Iterator[Any]], Iterator[Any]]


@dataclass(frozen=True)
class FrameInMemory:
    """Partitions of batches."""

    partitions: list[list[Any]]

    def mapInArrow(self, work: Work, schema: str) -> "FrameInMemory":  # noqa: N802 - as Spark calls it
        """What the work makes of each partition; it is sent as to an executor."""
        assert schema.startswith("block binary")
        sent: Work = cloudpickle.loads(cloudpickle.dumps(work))  # type: ignore[no-untyped-call]
        return FrameInMemory([list(sent(iter(batches))) for batches in self.partitions])

    def repartition(self, number: int, *columns: str) -> "FrameInMemory":
        """Batches of one value one by one, or those of one part together."""
        made: list[list[Any]] = [[] for _ in range(number)]
        for place, batch in enumerate(batch for batches in self.partitions for batch in batches):
            made[(batch.column("part")[0].as_py() * 7 if columns else place) % number].append(batch)
        return FrameInMemory(made)

    def coalesce(self, number: int) -> "FrameInMemory":
        """Some partitions as one."""
        made: list[list[Any]] = [[] for _ in range(min(number, len(self.partitions)))]
        for place, batches in enumerate(self.partitions):
            made[place % len(made)].extend(batches)
        return FrameInMemory(made)

    def select(self, *names: str) -> "FrameInMemory":
        """Some columns."""
        return FrameInMemory(
            [[batch.select(list(names)) for batch in batches] for batches in self.partitions]
        )

    def persist(self) -> "FrameInMemory":
        """It is kept anyway."""
        return self

    def unpersist(self) -> "FrameInMemory":
        """The same."""
        return self

    def collect(self) -> list[tuple[Any, ...]]:
        """All rows."""
        return [
            tuple(row.values())
            for batches in self.partitions
            for batch in batches
            for row in pa.Table.from_batches([batch]).to_pylist()
        ]


def blocks_of(data: Transactions, partitions: int) -> list[RowBlock]:
    """The transactions, dealt out to partitions; those of one owner to the same."""
    number = len(data)
    owner = np.arange(number) if data.owners is None else data.owners
    blocks = []
    for place in range(partitions):
        chosen = np.flatnonzero(owner % partitions == place)
        lengths = data.lengths[chosen]
        items = [data.items[data.offsets[row] : data.offsets[row + 1]] for row in chosen]
        blocks.append(
            RowBlock(
                np.append(0, np.cumsum(lengths)).astype(np.int64),
                np.concatenate([np.empty(0, np.int32), *items]),
                None,
                None if data.owners is None else data.owners[chosen],
            )
        )
    return blocks


def clustered(data: Transactions, partitions: int) -> ClusteredTransactions:
    """Transactions on the cheapest cluster."""
    batches = [[batch_of_block(block)] for block in blocks_of(data, partitions)]
    return ClusteredTransactions(FrameInMemory(batches), data.alphabet, data.has_owners, data.is_by_person)
