"""Items put into records as if they were independent of what is known of these. Public, like all of methods.

A bitmap for each item tells which rows hold it: ten million rows of a hundred items are 125 MB. Where items go is drawn
in order, from one generator; all else is done on all cores.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TypeVar

import numpy as np

from veilset.arrays import Int32Array, Int64Array, Uint64Array
from veilset.itemsets import Itemsets
from veilset.methods.diffpart.records import Records
from veilset.public_kernels import bit_rows, itemset_keys
from veilset.public_kernels.itemset_keys import KeyedRows

SEED = 0
WORDS_AT_ONCE = 1 << 8
"""256 words of 64 rows are sorted by one core: they stay in its cache."""
ITEMSETS_AT_ONCE = 1 << 18
"""2^18 itemsets are written by one core at a time."""
FEWEST_SHUFFLED = 10_000
MOST_SHUFFLED = 1 << 31
SHUFFLED_OF = 50
"""More than 1 in 50 of more than 10,000 rows are drawn by a shuffle, as `Generator.choice` does; with 32 bits a row."""

_Thing = TypeVar("_Thing")
_MadeThing = TypeVar("_MadeThing")


def filled_in(records: Records, chosen: Int64Array, wanted: Int64Array, *, rows: int) -> Records:
    """Put every chosen item into as many records that lack it as are missing of the copies wanted of it.

    Records, with empty ones up to the number of rows, are drawn uniformly: as if items were independent. No more than
    120 items can be chosen.
    """
    codes, places = np.unique(chosen, return_inverse=True)
    held, lengths = np.searchsorted(codes, records.itemsets.items), np.diff(records.itemsets.offsets)
    holders = np.zeros(codes.size, np.int64)
    np.add.at(holders, held, np.repeat(records.copies, lengths))
    number = max(rows, int(records.copies.sum()))
    bitmaps = np.zeros((codes.size, -(-number // 64)), np.uint64)
    bit_rows.put_records(bitmaps, records.itemsets.offsets, held, records.copies)
    public, shuffles = np.random.default_rng(SEED), Shuffles(number)

    def draws() -> Iterator[tuple[int, RowDraw]]:
        for place, copies in zip(places.tolist(), wanted.tolist(), strict=True):
            lacking = number - int(holders[place])
            missing = min(copies - int(holders[place]), lacking)
            if missing > 0:
                yield place, RowDraw.of(public, missing, among=lacking)

    def put(drawn: tuple[int, RowDraw]) -> None:
        place, draw = drawn
        bits = draw.bitmap(shuffles)
        if holders[place]:
            bit_rows.put_into_lacking(bitmaps[place], bits, number)
        else:
            bitmaps[place] = bits

    deque(made_on_all_cores(put, draws()), maxlen=0)
    return records_in_rows(bitmaps, codes.astype(np.int32))


class Shuffles:
    """Shuffles of up to a number of rows, one on each core at a time: each takes 4 bytes a row, made once."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._idle: SimpleQueue[Int32Array] = SimpleQueue()

    def drawn(self, swaps: Int64Array, *, among: int) -> Uint64Array:
        """The rows that the swaps leave at the end, as a bitmap; see `bit_rows.tail_shuffled`."""
        try:
            rows = self._idle.get_nowait()
        except Empty:
            rows = np.arange(self._rows, dtype=np.int32)
        bitmap = bit_rows.tail_shuffled(swaps, rows, among)
        self._idle.put(rows)
        return bitmap


@dataclass(frozen=True, slots=True, eq=False)
class RowDraw:
    """Some of a number of rows, uniformly: what `Generator.choice` draws without replacement, bit for bit.

    Where that shuffles, only the swaps are drawn here, and the shuffle can be done on another core.
    """

    among: int
    swaps: Int64Array | None
    rows: Int64Array | None

    @classmethod
    def of(cls, public: np.random.Generator, number: int, *, among: int) -> "RowDraw":
        """Draw that many rows."""
        if not (FEWEST_SHUFFLED < among < MOST_SHUFFLED and number > among // SHUFFLED_OF):
            return cls(among, None, public.choice(among, number, replace=False))
        lasts = np.arange(among - 1, among - 1 - number, -1)
        return cls(among, public.integers(0, lasts, endpoint=True), None)

    def bitmap(self, shuffles: Shuffles) -> Uint64Array:
        """Bit r tells whether row r is drawn."""
        if self.swaps is not None:
            return shuffles.drawn(self.swaps, among=self.among)
        is_drawn = np.zeros(-(-self.among // 64) * 64, np.bool_)
        is_drawn[self.rows] = True
        return np.packbits(is_drawn, bitorder="little").view("<u8").astype(np.uint64)


def records_in_rows(bitmaps: Uint64Array, codes: Int32Array) -> Records:
    """The different rows that hold anything, by their items, with the number of copies of each.

    Parts of the rows are sorted, and merged two by two.
    """
    words = bitmaps.shape[1]

    def sorted_part(start: int) -> KeyedRows:
        return itemset_keys.keyed_rows(bitmaps, start, min(start + WORDS_AT_ONCE, words))

    parts = list(made_on_all_cores(sorted_part, range(0, max(words, 1), WORDS_AT_ONCE)))
    while len(parts) > 1:
        pairs = [parts[place : place + 2] for place in range(0, len(parts), 2)]
        parts = list(made_on_all_cores(_merged, pairs))
    return _as_records(parts[0], codes)


def _merged(parts: list[KeyedRows]) -> KeyedRows:
    """One or two parts as one; they are let go of, since all rows in order are as large as all parts."""
    one = parts.pop()
    return itemset_keys.merged_rows(parts.pop(), one) if parts else one


def _as_records(rows: KeyedRows, codes: Int32Array) -> Records:
    """Keys as itemsets of codes."""
    offsets = np.append(0, np.cumsum(itemset_keys.key_sizes(rows.lower)))
    items = np.empty(offsets[-1], np.int32)

    def write(start: int) -> None:
        part = slice(start, start + ITEMSETS_AT_ONCE)
        itemset_keys.write_items(rows.upper[part], rows.lower[part], codes, offsets[start:], items)

    deque(made_on_all_cores(write, range(0, rows.copies.size, ITEMSETS_AT_ONCE)), maxlen=0)
    return Records(Itemsets(offsets, items), rows.copies)


def made_on_all_cores(work: Callable[[_Thing], _MadeThing], given: Iterable[_Thing]) -> Iterator[_MadeThing]:
    """What the work makes of each thing that is given, in order; no more of them in memory than are soon needed."""
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        waiting: deque[Future[_MadeThing]] = deque()
        for each in given:
            waiting.append(pool.submit(work, each))
            if len(waiting) > cores:
                yield waiting.popleft().result()
        for made in waiting:
            yield made.result()
