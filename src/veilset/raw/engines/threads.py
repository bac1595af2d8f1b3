"""Work on parts of an array on several threads: kernels release the interpreter lock."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

FromPart = TypeVar("FromPart")

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


def work_on(parts: Iterable[slice], work: Callable[[slice], None], *, threads: int) -> None:
    """Work on all parts, of which none writes what another one reads or writes."""
    if threads == 1:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, part) for part in parts]:
            done.result()


def made_of_parts(parts: Sequence[slice], work: Callable[[slice], FromPart]) -> list[FromPart]:
    """What the work makes of each part, in order; a thread for each."""
    if len(parts) == 1:
        return [work(parts[0])]
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(work, parts))
