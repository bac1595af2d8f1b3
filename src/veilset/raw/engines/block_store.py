"""Blocks that an executor has met, ready to be asked again: a question then sends the names of blocks, and no rows.

All processes of an executor map the same files (`raw.block_files`), so that a block and its bitmaps are in memory once,
as far as there is room. Where Spark names no folder for files, a process keeps some blocks in its memory.

A name is drawn when a block is made. A block that was lost and is made again has another name, so a name never
stands for other rows than it did; whoever does not know a name says so, and is sent the rows.
"""

import threading
from collections import OrderedDict
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from veilset.raw.block_files import folder_of_blocks, write_block
from veilset.raw.clustered import RowBlock
from veilset.raw.disk_arrays import mapped_file
from veilset.raw.engines.local import LocalEngine
from veilset.raw.transactions import Alphabet, Transactions

MOST_BYTES_MAPPED = 1 << 33
"""Blocks of 8 GB in all are kept ready by a process, those that were asked last: mapped, not copied."""

MOST_BYTES_IN_MEMORY = 1 << 28
"""Where Spark names no folder, blocks of 0.25 GB in all are kept by a process."""


@lru_cache(maxsize=4)
def numbered_alphabet(size: int) -> Alphabet:
    """Items by their codes alone: executors need no names."""
    return Alphabet(range(size), is_given=False)


def engine_over_block(block: RowBlock, alphabet_size: int, *, beside: Path | None = None) -> LocalEngine:
    """The local engine over one block, on the one core that a task has; its bitmaps beside the file of the block."""
    held = Transactions(block.offsets, block.items, numbered_alphabet(alphabet_size), block.owners)
    bitmaps = None if beside is None else beside.with_suffix(".bitmaps")
    return LocalEngine(held, threads=1, numbers=block.numbers, bitmaps_at=bitmaps)


class BlockStore:
    """Engines over blocks, by the names of the blocks."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._most = MOST_BYTES_IN_MEMORY if folder is None else MOST_BYTES_MAPPED
        self._lock = threading.Lock()
        self._ready: OrderedDict[str, LocalEngine] = OrderedDict()

    def __repr__(self) -> str:
        return "BlockStore(private)"

    def find(self, name: str, alphabet_size: int) -> LocalEngine | None:
        """The engine over a block that was met before; None where it is not there, or not any more."""
        with self._lock:
            if name in self._ready:
                self._ready.move_to_end(name)
                return self._ready[name]
        return self._opened(name, alphabet_size)

    def keep(self, name: str, buffer: Any, alphabet_size: int) -> LocalEngine:  # noqa: ANN401 - Arrow has no types
        """The engine over a block, which is kept for the next question where there is room."""
        if self._folder is None:
            copied = pa.py_buffer(bytearray(buffer))  # or all that came with it would stay in memory
            return self._made_ready(name, engine_over_block(RowBlock.from_buffer(copied), alphabet_size))
        is_written = write_block(self._folder, name, [buffer])
        opened = self._opened(name, alphabet_size) if is_written else None
        return engine_over_block(RowBlock.from_buffer(buffer), alphabet_size) if opened is None else opened

    def _opened(self, name: str, alphabet_size: int) -> LocalEngine | None:
        """The engine over the block of a file; None where there is none."""
        path = None if self._folder is None else self._folder / name
        mapped = None if path is None else mapped_file(path)
        if mapped is None:
            return None
        return self._made_ready(
            name, engine_over_block(RowBlock.from_buffer(mapped), alphabet_size, beside=path)
        )

    def _made_ready(self, name: str, engine: LocalEngine) -> LocalEngine:
        with self._lock:
            self._ready[name] = engine
            while sum(each.held.nbytes for each in self._ready.values()) > self._most:
                self._ready.popitem(last=False)
        return engine


@cache
def store_of_this_process() -> BlockStore:
    """The store in the folder that Spark has given to this process; in its memory, where there is none."""
    return BlockStore(folder_of_blocks())
