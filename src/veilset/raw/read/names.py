"""Names as numbers: the distinct texts of a file, without a Python object for each."""

from queue import Empty, SimpleQueue

import numpy as np
import pyarrow as pa

from veilset.arrays import Int32Array, Int64Array, Uint8Array
from veilset.arrow_arrays import large_strings
from veilset.raw.kernels import names as kernels
from veilset.raw.read.buffers import grown

LEAST_SLOTS = 1 << 12


class NameTable:
    """Distinct names, numbered from 0 as they come."""

    def __init__(self) -> None:
        self._number = 0
        self._slots = np.zeros(LEAST_SLOTS, dtype=np.uint64)
        self._hashes = np.empty(0, dtype=np.uint64)
        self._text = np.empty(0, dtype=np.uint8)
        self._starts = np.zeros(1, dtype=np.int64)

    @property
    def names(self) -> pa.LargeStringArray:
        """The names there are by now."""
        return large_strings(self._text, self._starts[: self._number + 1])

    def tokens_of(self, text: Uint8Array, starts: Int64Array) -> Int32Array:
        """The number of each text `text[starts[i]:starts[i + 1]]`; one that is new gets the next."""
        texts = starts.size - 1
        self._make_room(texts, int(starts[-1] - starts[0]))
        hashes = np.empty(texts, dtype=np.uint64)
        tokens = np.empty(texts, dtype=np.int32)
        kernels.hash_texts(text, starts, hashes)
        self._number = kernels.number_texts(
            text, starts, hashes, self._slots, self._text, self._starts, self._hashes, self._number, tokens
        )
        return tokens

    def take_over(self, other: "NameTable") -> Int32Array:
        """Add the names of another table; returns the number that each of them has here."""
        return self.tokens_of(other._text, other._starts[: other._number + 1])  # noqa: SLF001 - one class

    def _make_room(self, texts: int, text_bytes: int) -> None:
        most = self._number + texts
        if self._slots.size < 2 * most:
            self._slots = np.zeros(1 << (2 * most - 1).bit_length(), dtype=np.uint64)
            kernels.place_hashes(self._hashes[: self._number], self._slots)
        if self._hashes.size < most:
            self._hashes = grown(self._hashes, used=self._number, size=2 * most)
            self._starts = grown(self._starts, used=self._number + 1, size=2 * most + 1)
        used = int(self._starts[self._number])
        if self._text.size < used + text_bytes:
            self._text = grown(self._text, used=used, size=2 * (used + text_bytes))


class NameNumbers:
    """Numbers for the names of a text whose blocks are read on several cores at once.

    A block is looked up in a table that no other core uses meanwhile; so nobody waits, and there are never more tables
    than blocks at work. What stands for one name in one table and in another is found at the end.
    """

    def __init__(self) -> None:
        self._tables: list[NameTable] = []
        self._free: SimpleQueue[int] = SimpleQueue()

    def tokens_of(self, text: Uint8Array, starts: Int64Array) -> tuple[int, Int32Array]:
        """A table, and the number in it of each text `text[starts[i]:starts[i + 1]]`."""
        try:
            table = self._free.get_nowait()
        except Empty:
            own = NameTable()
            self._tables.append(own)
            table = self._tables.index(own)
        tokens = self._tables[table].tokens_of(text, starts)
        self._free.put(table)
        return table, tokens

    def united(self, blocks: list[tuple[int, Int32Array]]) -> tuple[pa.LargeStringArray, Int32Array]:
        """All names, each once, and the tokens of all blocks as places among them; the tables end with it."""
        first = self._tables[0] if self._tables else NameTable()
        places = [None, *(first.take_over(other) for other in self._tables[1:])]
        self._tables.clear()
        tokens = np.empty(sum(found.size for _, found in blocks), dtype=np.int32)
        end = 0
        for table, found in blocks:
            start, end = end, end + found.size
            place_of = places[table]
            tokens[start:end] = found if place_of is None else place_of[found]
        return first.names, tokens
