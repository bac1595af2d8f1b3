"""One request for a release: what it is, and what may be told of it at which moment.

A request is `queued`, then `running`; it ends `done`, `failed`, `refused` or `cancelled`. How long a look at data takes
can depend on the data, so nobody is told when it really ended: until the next moment of the schedule, which starts at
the request, it is `waiting`. Whether it was in the queue or at work is not told either.
"""

import math
import time
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from veilset.gate import Amount

RELEASE_TASKS = ("mine", "items", "publish")
"""What a release can be asked for; `read` is the task of reading a dataset itself."""

ENDED = frozenset({"done", "failed", "refused", "cancelled"})


@dataclass(frozen=True, slots=True)
class ReleaseJob:
    """One request, as it is stored."""

    id: str
    user: str
    key: str
    dataset: str
    task: str
    request: dict[str, Any]
    price: Amount
    state: str
    worker: str
    message: str
    detail: str
    requested: float
    finished: float | None
    wants_cancel: bool

    def told_at(self, every: float) -> float:
        """When its end is told, or the next time that it could be."""
        until = time.time() if self.finished is None else self.finished
        if self.task == "read":
            return until
        return self.requested + every * max(1, math.ceil((until - self.requested) / every))

    def told_state(self, every: float) -> str:
        """What is told of its state now."""
        if self.state in ENDED and time.time() >= self.told_at(every):
            return self.state
        return "waiting"


def new_job(
    user: str, dataset: str, task: str, request: dict[str, Any], *, price: Amount, key: str
) -> ReleaseJob:
    """A request that nobody has seen yet."""
    return ReleaseJob(
        uuid4().hex,
        user,
        key,
        dataset,
        task,
        request,
        price,
        "queued",
        "",
        "",
        "",
        time.time(),
        None,
        False,  # noqa: FBT003
    )
