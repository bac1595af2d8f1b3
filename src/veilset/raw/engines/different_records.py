"""Transactions as records with numbers of copies: equal ones are merged within chunks, on all cores."""

from collections.abc import Iterator

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.raw.counts import ExactRecords
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.engines.derived_rows import joined_chunks
from veilset.raw.kernels import records

WORTH_MERGING = 2
"""Chunks are merged where at most one row in 2 is left of them: a table of all records lies outside the cache."""


def different_records(rows: CompressedRows, places: Int32Array) -> ExactRecords:
    """The different ones among some rows, with `places[item]` in the place of an item; see `LocalEngine.records`."""
    placed = CompressedRows(*records.placed(rows.offsets, rows.items, places))
    once = np.ones(placed.offsets.size - 1, np.int64)
    return ExactRecords(*records.distinct(placed.offsets, placed.items, once))


def merged_records(parts: Iterator[ExactRecords], *, made_of: CompressedRows) -> ExactRecords:
    """The records of all chunks.

    A record of several chunks stands there once where that leaves much less to count, else once for each of them:
    where nearly all records are different, finding out takes longer than counting some of them twice.
    """
    copies: list[Int64Array] = [np.zeros(0, np.int64)]

    def rows_of_parts() -> Iterator[CompressedRows]:
        for part in parts:
            copies.append(part.copies)
            yield CompressedRows(part.offsets, part.items)

    joined = joined_chunks(rows_of_parts(), made_of=made_of)
    every = ExactRecords(joined.offsets, joined.items, np.concatenate(copies))
    is_one_part = len(copies) <= 2
    if is_one_part or WORTH_MERGING * every.copies.size > made_of.offsets.size - 1:
        return every
    return ExactRecords(*records.distinct(every.offsets, every.items, every.copies))
