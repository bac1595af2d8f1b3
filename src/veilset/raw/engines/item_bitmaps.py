"""Which transactions hold each of the most frequent items: bitmaps that one question leaves for the next.

They are made once, at the first question that needs them, take at most half of the memory of the transactions, and go
with the engine. Questions about other items do without them.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint16Array
from veilset.raw.cuts.rows import CompressedRows
from veilset.raw.disk_arrays import mapped_file, write_private_file
from veilset.raw.kernels import item_blocks
from veilset.raw.kernels.vertical import CACHED_WORDS, ROWS_FOR_A_BIT
from veilset.raw.threads import equal_parts, made_in_order

SHARE_OF_MEMORY = 2
"""The bitmaps take at most 1 / 2 of the memory of the transactions."""

MOST_BYTES = 1 << 31
"""And at most 2 GB, however many transactions there are: they may be more than fit in memory."""

MOST_ITEMS = 1 << 10
"""At most 1,024 items have a bitmap: `levelwise` takes their numbers to have 10 bits."""

SPANS_FOR_A_THREAD = 4
"""4 spans of blocks for each thread: a thread that was held up leaves the rest to the others."""

WORDS_FOR_A_THREAD = 1 << 22
"""A thread more for every 4 million words of bitmaps, which take about a millisecond."""

LARGEST_BY_SUBSETS = 10
"""Cells of up to 10 items are made of the supports of all their subsets; of more items, row by row."""

KEPT_CONTAINMENTS = 2
"""For the 2 groups of itemsets that were asked for last, how many of them each transaction holds is kept."""

MOST_CONTAINED = 0xFFFF
"""A transaction holds at most 65,535 of some itemsets, where that is kept."""

BYTES_OF_CONTAINED = 1 << 29
"""And where keeping that takes at most 0.5 GB."""

FromSpan = TypeVar("FromSpan")
AddBlocks = Callable[[slice, int, Int64Array], None]
"""Adds to the totals what some blocks contribute; the second argument is the number of their rows."""


class ItemBitmaps:
    """Exact counts of itemsets over the items of largest support; item number 0 has the largest."""

    def __init__(
        self,
        rows: CompressedRows,
        supports: Int64Array,
        *,
        words: int,
        threads: int,
        kept_at: Path | None = None,
    ) -> None:
        """Those of the same rows that another process has left at `kept_at`, if it has."""
        self._number_of_rows = rows.offsets.size - 1
        blocks = max(1, math.ceil(self._number_of_rows / (64 * words)))
        self._threads = min(threads, blocks)
        self.codes = _most_frequent(rows, supports, blocks * words, words)
        """The code of each item number."""
        self.places = np.full(supports.size, self.codes.size, np.int32)
        """The number of each item code; where it is the number of items, there is no bitmap."""
        self.places[self.codes] = np.arange(self.codes.size, dtype=np.int32)
        self._bitmaps = np.empty((0, 0, words), np.uint64)
        self._counts = np.empty((0, 0), np.int64)
        self._make(rows, (blocks, self.codes.size + 1, words), kept_at)
        self._contained: dict[bytes, Uint16Array] = {}

    def __repr__(self) -> str:
        return "ItemBitmaps(private)"

    def hold(self, codes: Int32Array | Int64Array) -> bool:
        """Whether there is a bitmap of each of these items."""
        return bool((self.places[codes] < self.codes.size).all())

    def can_keep_contained(self, itemsets: int) -> bool:
        """Whether there is room to keep how many of that many itemsets each transaction holds."""
        return itemsets <= MOST_CONTAINED and 2 * self._number_of_rows <= BYTES_OF_CONTAINED

    def supports(self, offsets: Int64Array, numbers: Int32Array) -> Int64Array:
        """How many transactions hold each itemset of item numbers; in lexicographic order they are counted fastest."""

        def add(blocks: slice, rows: int, totals: Int64Array) -> None:
            item_blocks.add_block_supports(
                self._bitmaps[blocks], self._counts[blocks], rows, offsets, numbers, totals
            )

        return self._summed(add, offsets.size - 1, number=offsets.size)

    def containment(self, offsets: Int64Array, numbers: Int32Array, *, limit: int) -> Int64Array:
        """How many transactions hold 0, 1, ..., limit (or more) of the itemsets, of which there are at most 65,535."""
        contained = self._contained_by(offsets, numbers)

        def add(blocks: slice, rows: int, totals: Int64Array) -> None:
            item_blocks.add_contained(contained[blocks], rows, totals)

        return self._summed(add, limit + 1, number=64)

    def weighted_counts(self, offsets: Int64Array, numbers: Int32Array, weights: Int64Array) -> Int64Array:
        """For each itemset the sum of `weights[n]` over the transactions that hold it, and n of them in all."""
        contained = self._contained_by(offsets, numbers)

        def add(blocks: slice, rows: int, totals: Int64Array) -> None:
            item_blocks.add_block_weights(
                self._bitmaps[blocks], contained[blocks], rows, weights, offsets, numbers, totals
            )

        return self._summed(add, offsets.size - 1, number=offsets.size)

    def _contained_by(self, offsets: Int64Array, numbers: Int32Array) -> Uint16Array:
        """How many of the itemsets each transaction holds; kept for the next question about the same ones."""
        key = offsets.tobytes() + numbers.tobytes()
        contained = self._contained.pop(key, None)
        if contained is None:
            while len(self._contained) >= KEPT_CONTAINMENTS:
                self._contained.pop(next(iter(self._contained)))
            blocks, _, words = self._bitmaps.shape
            contained = np.empty((blocks, 64 * words), np.uint16)
            filled = contained

            def fill(first: int, last: int) -> None:
                item_blocks.set_contained(self._bitmaps[first:last], offsets, numbers, filled[first:last])

            self._in_spans(fill, number=offsets.size)
        self._contained[key] = contained
        return contained

    def marginal(self, numbers: Int32Array) -> Int64Array:
        """How many transactions hold exactly which of the items: of each cell's supersets, the supports alternate."""
        subsets = sorted(_subsets(numbers.size))
        offsets = np.cumsum([0, *map(len, subsets)], dtype=np.int64)
        members = np.array([place for subset in subsets for place in subset], np.int64)
        supports = np.empty(1 << numbers.size, np.int64)
        supports[[sum(1 << place for place in subset) for subset in subsets]] = self.supports(
            offsets, numbers[members]
        )
        return cells_of_supports(supports)

    def _make(self, rows: CompressedRows, shape: tuple[int, int, int], kept_at: Path | None) -> None:
        """Map what is kept in the file; where there is none, fill bitmaps, and keep them there."""
        kept = None if kept_at is None else _mapped_bitmaps(kept_at, shape)
        if kept is None:
            self._bitmaps, self._counts = np.zeros(shape, np.uint64), np.empty(shape[:2], np.int64)
            self._fill(rows)
            if kept_at is not None and write_private_file(kept_at, [self._bitmaps.data, self._counts.data]):
                kept = _mapped_bitmaps(kept_at, shape)
        if kept is not None:
            self._bitmaps, self._counts = kept

    def _fill(self, rows: CompressedRows) -> None:
        rows_in_a_block = 64 * self._bitmaps.shape[2]

        def fill(first: int, last: int) -> None:
            offsets = rows.offsets[first * rows_in_a_block : last * rows_in_a_block + 1]
            item_blocks.fill_blocks(
                offsets, rows.items, self.places, self._bitmaps[first:last], self._counts[first:last]
            )

        self._in_spans(fill, number=self._bitmaps.shape[1])

    def _in_spans(self, work: Callable[[int, int], FromSpan], *, number: int) -> list[FromSpan]:
        """What the work makes of each span: of the blocks from the first number up to, not with, the second.

        On all threads, unless to go through that number of bitmaps takes less time than to start these.
        """
        blocks, _, words = self._bitmaps.shape
        threads = min(self._threads, math.ceil(number * blocks * words / WORDS_FOR_A_THREAD))
        spans = 1 if threads == 1 else min(blocks, SPANS_FOR_A_THREAD * threads)
        parts = equal_parts(blocks, spans)
        return list(
            made_in_order(lambda part: work(part.start, part.stop), parts, threads=threads, ahead=spans)
        )

    def _summed(self, add: AddBlocks, size: int, *, number: int) -> Int64Array:
        """The sum over all blocks, span by span; of the number see `_in_spans`."""
        rows_in_a_block = 64 * self._bitmaps.shape[2]

        def totals_of(first: int, last: int) -> Int64Array:
            totals = np.zeros(size, np.int64)
            rows = min(last * rows_in_a_block, self._number_of_rows) - first * rows_in_a_block
            add(slice(first, last), rows, totals)
            return totals

        total = np.zeros(size, np.int64)
        for totals in self._in_spans(totals_of, number=number):
            total += totals
        return total


def _mapped_bitmaps(path: Path, shape: tuple[int, int, int]) -> tuple[Any, Any] | None:
    """Bitmaps and their counts, as a file holds them; None where it does not."""
    mapped, size = mapped_file(path), math.prod(shape)
    if mapped is None or len(mapped) != 8 * (size + math.prod(shape[:2])):
        return None
    counts: Any = np.frombuffer(mapped, np.int64, offset=8 * size).reshape(shape[:2])
    return np.frombuffer(mapped, np.uint64, size).reshape(shape), counts


def cells_of_supports(supports: Int64Array) -> Int64Array:
    """The marginal whose cell m holds what holds exactly the items of m's bits, of `supports[m]`, which hold them all.

    >>> cells_of_supports(np.array([9, 5, 4, 3])).tolist()
    [3, 2, 1, 3]
    """
    cells = supports.copy()
    for place in range(supports.size.bit_length() - 1):
        with_and_without = cells.reshape(-1, 2, 1 << place)
        with_and_without[:, 0] -= with_and_without[:, 1]
    return cells


def _most_frequent(
    rows: CompressedRows, supports: Int64Array, words_of_an_item: int, words: int
) -> Int32Array:
    """The items that get a bitmap, the most frequent first: as many as pay, and as there is memory for."""
    memory = min((rows.offsets.nbytes + rows.items.nbytes) // SHARE_OF_MEMORY, MOST_BYTES)
    most = min(memory // (8 * words_of_an_item), CACHED_WORDS // words, MOST_ITEMS)
    by_support = np.argsort(-supports, kind="stable")[:most]
    return by_support[supports[by_support] * ROWS_FOR_A_BIT >= rows.offsets.size - 1].astype(np.int32)


def _subsets(number: int) -> list[tuple[int, ...]]:
    """All subsets of the places 0, 1, ..., number - 1."""
    return [tuple(place for place in range(number) if mask >> place & 1) for mask in range(1 << number)]
