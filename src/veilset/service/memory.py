"""What was looked up a moment ago: pages and programs ask for the state of a request many times in a row.

Whatever this server writes ends all of it at once, so that a token that is revoked here is good for nothing more. What
another process writes is seen after a second.
"""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

SECONDS_REMEMBERED = 1.0
"""1 second: a page that waits asks once a second."""

MOST_REMEMBERED = 10_000

Kept = TypeVar("Kept")


class ShortMemory(Generic[Kept]):
    """Answers by what was asked, for a second, as long as nothing is written."""

    def __init__(self, writes: Callable[[], int]) -> None:
        self._writes = writes
        self._kept: dict[str, tuple[float, int, Kept]] = {}

    def recall(self, asked: str) -> Kept | None:
        """What was found a moment ago; None where it must be looked up."""
        until, writes, found = self._kept.get(asked, (0.0, 0, None))
        return found if time.monotonic() < until and writes == self._writes() else None

    def look_up(self, asked: str, find: Callable[[], Kept | None]) -> Kept | None:
        """What is there now; how much was written is read before, so that nothing outdated is kept."""
        writes, until = self._writes(), time.monotonic() + SECONDS_REMEMBERED
        found = find()
        if found is not None:
            if len(self._kept) >= MOST_REMEMBERED:
                self._kept.clear()
            self._kept[asked] = (until, writes, found)
        return found
