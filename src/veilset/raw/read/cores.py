"""Work on the blocks of a file on all cores, with what comes of it in the order of the file."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

from veilset.arrays import Int32Array

Block = TypeVar("Block")
Parsed = TypeVar("Parsed")

BLOCKS_FOR_A_CORE = 3
"""Blocks that wait for a core, are worked on, or wait to be taken: more take memory, fewer let a core idle."""

TOKENS_IN_A_PART = 1 << 21
"""Enough that a thread is worth its start."""


def on_all_cores(
    work: Callable[[Block], Parsed], blocks: Iterable[Block], *, is_short: bool = False
) -> Iterator[Parsed]:
    """What `work` makes of each block, in the order of the blocks; also the first error is that of the first block.

    Blocks are taken as they are needed, by the thread that calls. One block is no work for a second thread, and work
    that is short is over before one would have started.
    """
    blocks = iter(blocks)
    first = list(islice(blocks, 2))
    threads = 1 if is_short or len(first) < 2 else os.cpu_count() or 1
    if threads == 1:
        yield from map(work, chain(first, blocks))
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from _worked_on(work, chain(first, blocks), pool, most=BLOCKS_FOR_A_CORE * threads)
    finally:
        pool.shutdown(cancel_futures=True)


def on_parts(work: Callable[[Int32Array], None], tokens: Int32Array) -> None:
    """Work on all parts of an array, which share nothing."""
    parts = (tokens[start : start + TOKENS_IN_A_PART] for start in range(0, tokens.size, TOKENS_IN_A_PART))
    deque(on_all_cores(work, parts), maxlen=0)


def _worked_on(
    work: Callable[[Block], Parsed], blocks: Iterator[Block], pool: ThreadPoolExecutor, *, most: int
) -> Iterator[Parsed]:
    """What the threads of a pool make of each block, in order; at most `most` blocks are taken ahead."""
    waiting: deque[Future[Parsed]] = deque()
    failure = None
    while failure is None:
        try:
            block = next(blocks)
        except StopIteration:
            break
        except Exception as error:  # noqa: BLE001 - raised below: what is wrong in the blocks before it comes first
            failure = error
        else:
            waiting.append(pool.submit(work, block))
            if len(waiting) >= most:
                yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
    if failure is not None:
        raise failure
