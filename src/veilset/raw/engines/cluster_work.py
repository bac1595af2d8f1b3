"""What executors do with the blocks of a partition: count, reshape, put equal transactions together, merge.

Every block is asked by the local engine, with the same kernels. All of this is handed to Spark's `mapInArrow`; nothing
here knows Spark. An executor needs the package, and compiles a kernel once, as any machine does.
"""

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from veilset.arrays import BoolArray, Int32Array, Int64Array
from veilset.raw.clustered import (
    Batches,
    RowBlock,
    batch_of,
    batch_of_block,
    blocks_in,
    buffers_in,
    joined_blocks,
)
from veilset.raw.counts import ExactCounts, mute
from veilset.raw.cuts.row_keys import RowKeys, SipKeys
from veilset.raw.cuts.rows import CompressedRows, chosen_rows
from veilset.raw.engines import DrawKeys
from veilset.raw.engines.block_store import engine_over_block, store_of_this_process
from veilset.raw.engines.executor_process import make_tasks_light
from veilset.raw.engines.local import LocalEngine
from veilset.raw.kernels import equal_rows

AskBlock = Callable[[LocalEngine, DrawKeys], ExactCounts]
"""A question about the transactions of one block."""

BecomeRows = Callable[[LocalEngine, DrawKeys], LocalEngine]
"""What becomes of the transactions of a block."""

_PLACES = SipKeys(np.zeros(2, np.uint64))
"""By these values, which are no secret, equal transactions are sent to one place."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class DrawnKeys:
    """Keys under a secret that the gate has drawn; where none is wanted there is none."""

    keys: RowKeys | None

    def __call__(self) -> RowKeys:
        """The same keys, as often as they are asked for."""
        if self.keys is None:
            raise AssertionError("keys are drawn where nothing is left to chance")
        return self.keys


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class EnginesOfBlocks:
    """The local engines over a partition's blocks, which come with their rows, or by their names alone."""

    alphabet_size: int
    keeps: bool = False
    """Whether blocks that come with their rows are kept for questions that only name them."""

    def __call__(self, batches: Batches) -> Iterator[LocalEngine | None]:
        """One for each block; None for a block that was only named and is not kept here."""
        make_tasks_light()
        for batch in batches:
            names = batch.column("name").to_pylist()
            if "block" in batch.schema.names:
                for name, value in zip(names, batch.column("block"), strict=True):
                    yield self._over(name, value.as_buffer())
            else:
                yield from (store_of_this_process().find(name, self.alphabet_size) for name in names)

    def _over(self, name: str, buffer: Any) -> LocalEngine:  # noqa: ANN401 - Arrow has no types
        if self.keeps:
            return store_of_this_process().keep(name, buffer, self.alphabet_size)
        return engine_over_block(RowBlock.from_buffer(buffer), self.alphabet_size)


NOT_KEPT = b""
"""In the place of an answer: a block was only named, and is not kept where it was asked."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SumOfBlocks:
    """The sum over a partition's blocks of the answers to a question."""

    ask: AskBlock
    draw: DrawnKeys
    engines: EnginesOfBlocks

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """One array of totals; none where there is no block."""
        totals: Int64Array | None = None
        for engine in self.engines(batches):
            if engine is None:
                yield batch_of(NOT_KEPT)
                continue
            values = self.ask(engine, self.draw).values
            totals = values if totals is None else totals + values
        if totals is not None:
            yield batch_of(np.ravel(totals).astype(np.int64).tobytes())


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BecomeBlocks:
    """Every block with other rows; where equal ones are together, they are numbered anew."""

    become: BecomeRows
    draw: DrawnKeys
    alphabet_size: int
    is_together: bool

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """One block for each."""
        for block in blocks_in(batches):
            made = self.become(engine_over_block(block, self.alphabet_size), self.draw).held
            rows = RowBlock(made.offsets, made.items, None, made.owners)
            yield batch_of_block(with_numbers(rows) if self.is_together else rows)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PartsByContent:
    """Every block in parts, by a hash of what a transaction holds, or of all that its owner has."""

    parts: int
    by_owner: bool

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """Numbered parts: a column more tells where each is to go."""
        gathered: dict[int, list[RowBlock]] = defaultdict(list)
        for block in blocks_in(batches):
            place = _places_of_rows(block, by_owner=self.by_owner) % np.uint64(self.parts)
            for part in np.unique(place).tolist():
                gathered[part].append(_taken(block, place == part))
        for part, blocks in gathered.items():
            batch = batch_of(joined_blocks(blocks).to_bytes())
            yield batch.append_column("part", pa.array([part], pa.int32()))


def _places_of_rows(block: RowBlock, *, by_owner: bool) -> Any:  # noqa: ANN401
    values = _PLACES.of_contents(CompressedRows(block.offsets, block.items))
    if not by_owner or block.owners is None or values.size == 0:
        return values
    _, first, owner = np.unique(block.owners, return_index=True, return_inverse=True)
    return np.add.reduceat(values, first)[owner]


def _taken(block: RowBlock, is_chosen: BoolArray) -> RowBlock:
    rows = chosen_rows(CompressedRows(block.offsets, block.items), is_chosen)
    owners = None if block.owners is None else block.owners[is_chosen]
    return RowBlock(rows.offsets, rows.items, None, owners)


def with_numbers(block: RowBlock) -> RowBlock:
    """The block with the number of each transaction among equal ones, all of which are in it."""
    _, numbers = equal_rows.number_equal_rows(block.offsets, block.items, -1)
    return RowBlock(block.offsets, block.items, numbers, block.owners)


def joined_parts(batches: Batches) -> Iterator[Any]:
    """All parts of a partition as one block, numbered."""
    block = joined_blocks(blocks_in(batches))
    if block.rows:
        yield batch_of_block(with_numbers(block))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Merge:
    """Everything in a partition as one value, by a function that takes values two by two."""

    of_two: Callable[[Any, Any], Any]

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """One value; none where there is none."""
        buffers = list(buffers_in(batches))
        if not all(buffer.size for buffer in buffers):
            yield batch_of(NOT_KEPT)
            return
        merged = self.merged(pickle.loads(buffer) for buffer in buffers)  # noqa: S301 - our own bytes
        if merged is not None:
            yield batch_of(pickle.dumps(merged))

    def merged(self, values: Iterable[Any]) -> Any:  # noqa: ANN401
        """All values in one, or None."""
        result = None
        for value in values:
            result = value if result is None else self.of_two(result, value)
        return result


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MadeOfBlocks:
    """Something made of a partition's blocks, one after another, and merged."""

    make: Callable[[LocalEngine], Any]
    merge: Merge
    engines: EnginesOfBlocks

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """One value; none where there is no block."""
        engines = list(self.engines(batches))
        if None in engines:
            yield batch_of(NOT_KEPT)
            return
        merged = self.merge.merged(self.make(engine) for engine in engines if engine is not None)
        if merged is not None:
            yield batch_of(pickle.dumps(merged))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MadeOfGroup:
    """Something made of all blocks of a partition together."""

    make: Callable[[LocalEngine], Any]
    alphabet_size: int

    def __call__(self, batches: Batches) -> Iterator[Any]:
        """One value; none where there is no block."""
        held = list(blocks_in(batches))
        if held:
            yield batch_of(
                pickle.dumps(self.make(engine_over_block(joined_blocks(held), self.alphabet_size)))
            )


def add_totals(batches: Batches) -> Iterator[Any]:
    """The sum of the arrays in a partition; none where there is none."""
    totals: Int64Array | None = None
    for buffer in buffers_in(batches):
        if not buffer.size:
            yield batch_of(NOT_KEPT)
            continue
        values = np.frombuffer(buffer, np.int64)
        totals = values if totals is None else totals + values
    if totals is not None:
        yield batch_of(totals.tobytes())


@mute
class KeyedCounts:
    """Different lists of codes, each with some numbers: list i is `items[offsets[i]:offsets[i + 1]]`."""

    offsets: Int64Array
    items: Int32Array
    values: Int64Array
    """A row of each list."""


def added_by_key(one: KeyedCounts, other: KeyedCounts) -> KeyedCounts:
    """The lists of both, each once, with the sums of their numbers."""
    offsets = np.concatenate([one.offsets, other.offsets[1:] + one.offsets[-1]])
    items = np.concatenate([one.items[: one.offsets[-1]], other.items[: other.offsets[-1]]])
    values = np.concatenate([one.values, other.values])
    firsts, numbers = equal_rows.number_equal_rows(offsets, items, -1)
    totals = np.zeros_like(values)
    np.add.at(totals, firsts, values)
    is_first = numbers == 0
    rows = chosen_rows(CompressedRows(offsets, items), is_first)
    return KeyedCounts(rows.offsets, rows.items, totals[is_first])
