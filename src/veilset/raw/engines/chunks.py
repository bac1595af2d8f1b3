"""Rows in memory, chunk by chunk on all cores: what the local engine makes its answers of.

A chunk is truncated, then worked on, then forgotten. Random keys depend on what a transaction holds and on its number
among equal ones (`raw.cuts.row_keys`): a seeded run repeats, whatever the number of threads, chunks and the order of
the rows.
"""

import math
from collections.abc import Callable, Iterator
from threading import Lock
from typing import TypeVar

import numpy as np

from veilset.arrays import Uint32Array
from veilset.raw.cuts.row_keys import NumberedRows, RowKeys
from veilset.raw.cuts.rows import CompressedRows, Keys
from veilset.raw.cuts.truncation import Reshape
from veilset.raw.engines import DrawKeys
from veilset.raw.engines.equal_numbers import numbers_among_equal
from veilset.raw.threads import made_in_order
from veilset.raw.transactions import Transactions

ROWS_IN_A_CHUNK = 1 << 15
"""Measured: fewer rows leave too little work for each itemset, more rows push bitmaps out of the cache."""

FromChunk = TypeVar("FromChunk")
ChunkWork = Callable[[CompressedRows, Keys], FromChunk]
"""Makes something of some rows and the random keys of a truncation."""

_NO_KEYS: Keys = np.empty(0, np.uint32)
"""For truncations that leave nothing to chance."""


def rows_of(transactions: Transactions) -> CompressedRows:
    """All rows, with offsets from 0 and no item besides; copies only what is a part of a larger table."""
    first, last = transactions.offsets[0], transactions.offsets[-1]
    offsets = transactions.offsets - first if first else transactions.offsets
    return CompressedRows(np.ascontiguousarray(offsets), np.ascontiguousarray(transactions.items[first:last]))


def no_keys() -> RowKeys:
    """For questions without a truncation, which never ask for keys."""
    raise AssertionError("keys are drawn where nothing is left to chance")


class ChunkedRows:
    """All rows, and who works on a chunk of them; at most one thread for each chunk."""

    def __init__(
        self, rows: CompressedRows, *, rows_in_a_chunk: int, threads: int, numbers: Uint32Array | None = None
    ) -> None:
        """`numbers` are those of transactions among equal ones, where these are a part of more."""
        self.rows = rows
        self.rows_in_a_chunk = rows_in_a_chunk
        self._most_threads = threads
        self._numbering = Lock()
        self._numbered: tuple[int, Uint32Array | None] = (-1, numbers)

    def __repr__(self) -> str:
        return "ChunkedRows(private)"

    @property
    def number_of_rows(self) -> int:
        """How many rows there are."""
        return self.rows.offsets.size - 1

    @property
    def threads(self) -> int:
        """At most one for each chunk: on few rows a question takes less time than starting a thread."""
        return min(self._most_threads, max(1, math.ceil(self.number_of_rows / self.rows_in_a_chunk)))

    def numbers(self, *, longer_than: int) -> Uint32Array:
        """The number of each transaction among those equal to it; of shorter ones it is not told."""
        with self._numbering:
            told, numbers = self._numbered
            if numbers is None or told > longer_than:
                numbers = numbers_among_equal(self.rows, longer_than=longer_than, threads=self._most_threads)
                self._numbered = longer_than, numbers
            return numbers

    def worked_on(
        self, work: ChunkWork[FromChunk], reshape: Reshape, draw: DrawKeys, *, threads: int | None = None
    ) -> Iterator[FromChunk]:
        """What the work makes of each chunk, in order; no more keys and parts in memory than are soon needed."""
        threads = self.threads if threads is None else threads
        nothing = CompressedRows(self.rows.offsets[:1], self.rows.items)
        keys = None if reshape.keys_needed(nothing) is None else draw()

        def keyed_work(chunk: slice) -> FromChunk:
            rows = CompressedRows(self.rows.offsets[chunk.start : chunk.stop + 1], self.rows.items)
            wanted = reshape.keys_needed(rows)
            if keys is None or wanted is None:
                return work(rows, _NO_KEYS)
            numbers = self.numbers(longer_than=wanted.limit)[chunk]
            return work(rows, keys.of_items(NumberedRows(rows, numbers), wanted))

        yield from made_in_order(keyed_work, self._chunks(), threads=threads)

    def _chunks(self) -> Iterator[slice]:
        for first in range(0, self.number_of_rows, self.rows_in_a_chunk):
            yield slice(first, min(first + self.rows_in_a_chunk, self.number_of_rows))
