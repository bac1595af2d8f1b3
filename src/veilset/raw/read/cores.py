"""Work on the blocks of a file on all cores, with what comes of it in the order of the file."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from veilset.arrays import Int32Array
from veilset.raw.threads import made_in_order, work_on

Block = TypeVar("Block")
Parsed = TypeVar("Parsed")

TOKENS_IN_A_PART = 1 << 21
"""Enough that a thread is worth its start."""


def on_all_cores(
    work: Callable[[Block], Parsed], blocks: Iterable[Block], *, is_short: bool = False
) -> Iterator[Parsed]:
    """What `work` makes of each block, in the order of the blocks; work that is short needs no second thread."""
    return made_in_order(work, blocks, threads=1 if is_short else os.cpu_count() or 1)


def on_parts(work: Callable[[Int32Array], None], tokens: Int32Array) -> None:
    """Work on all parts of an array, which share nothing."""
    if tokens.size <= TOKENS_IN_A_PART:  # to ask for the number of cores takes as long as a small file
        work(tokens)
        return
    starts = range(0, tokens.size, TOKENS_IN_A_PART)
    parts = [tokens[start : start + TOKENS_IN_A_PART] for start in starts]
    work_on(parts, work, threads=os.cpu_count() or 1)
