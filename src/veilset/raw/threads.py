"""Work on parts of data on several threads: kernels release the interpreter lock."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

PartOfWork = TypeVar("PartOfWork")
FromPart = TypeVar("FromPart")

PARTS_AHEAD = 3
"""For each thread, 3 parts wait for it, are worked on, or wait to be taken: more take memory, fewer let it idle."""

WORTH_A_THREAD = 1 << 14
"""Of fewer itemsets, a thread takes longer to start than to work on them."""


def useful_threads(number: int, threads: int) -> int:
    """How many of the threads are worth their start for that number of itemsets.

    >>> useful_threads(100, 2), useful_threads(1_000_000, 2)
    (1, 2)
    """
    return max(1, min(threads, number // WORTH_A_THREAD))


def equal_parts(number: int, parts: int) -> list[slice]:
    """That many parts of `number` things.

    >>> equal_parts(5, 2)
    [slice(0, 2, None), slice(2, 5, None)]
    """
    return [slice(number * part // parts, number * (part + 1) // parts) for part in range(parts)]


def made_in_order(
    work: Callable[[PartOfWork], FromPart],
    parts: Iterable[PartOfWork],
    *,
    threads: int,
    ahead: int | None = None,
) -> Iterator[FromPart]:
    """What `work` makes of each part, in the order of the parts; also the first error is that of the first part.

    Parts are taken as they are needed, by the thread that calls, at most `ahead` of what has been taken of the results,
    three for each thread unless told. One part is no work for a second thread.
    """
    parts = iter(parts)
    first = list(islice(parts, 2))
    if threads == 1 or len(first) < 2:
        yield from map(work, chain(first, parts))
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from _from_pool(pool, work, chain(first, parts), ahead=ahead or PARTS_AHEAD * threads)
    finally:
        pool.shutdown(cancel_futures=True)


def work_on(parts: Sequence[PartOfWork], work: Callable[[PartOfWork], None], *, threads: int) -> None:
    """Work on all parts, of which none writes what another one reads or writes."""
    deque(made_in_order(work, parts, threads=threads, ahead=len(parts)), maxlen=0)


def made_of_parts(parts: Sequence[PartOfWork], work: Callable[[PartOfWork], FromPart]) -> list[FromPart]:
    """What the work makes of each part, in order; a thread for each."""
    return list(made_in_order(work, parts, threads=len(parts)))


def _from_pool(
    pool: ThreadPoolExecutor,
    work: Callable[[PartOfWork], FromPart],
    parts: Iterator[PartOfWork],
    *,
    ahead: int,
) -> Iterator[FromPart]:
    waiting: deque[Future[FromPart]] = deque()
    failure = None
    while failure is None:
        try:
            part = next(parts)
        except StopIteration:
            break
        except Exception as error:  # noqa: BLE001 - raised below: what is wrong in the parts before it comes first
            failure = error
        else:
            waiting.append(pool.submit(work, part))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
    if failure is not None:
        raise failure
