"""Requests for releases: asked for once, paid for once, told on a schedule.

A request is `queued`, then `running`; it ends `done`, `failed`, `refused` or `cancelled`. How long a look at data takes
can depend on the data, so nobody is told when it really ended: until the next moment of the schedule, which starts at
the request, it is `waiting`. Whether it was in the queue or at work is not told either.

What may be spent is decided under the lock of all writers: what the ledger has left, less what waits and has not
reserved yet. The ledger decides once more when the work begins, and its word is final.
"""

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from uuid import uuid4

import sqlalchemy as sql

from veilset.errors import BudgetExceeded, VeilsetError
from veilset.gate import Amount, Booked, DatasetBalance
from veilset.service.catalogue import allowance_in
from veilset.service.database import JOBS, ServiceDatabase

RELEASE_TASKS = ("mine", "items", "publish")
"""What a release can be asked for; `read` is the task of reading a dataset itself."""

ENDED = frozenset({"done", "failed", "refused", "cancelled"})

Balance = Callable[[str], DatasetBalance]
"""What may be spent on a dataset and what was, as the ledger says now."""


class KeyReused(VeilsetError):  # noqa: N818 - reads as what happened
    """The key of an earlier request came with another request."""


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


class JobBook:
    """All requests of a service."""

    def __init__(self, database: ServiceDatabase, *, every: float) -> None:
        self._database, self._every = database, every

    def ask(self, job: ReleaseJob, balance_of: Balance) -> ReleaseJob:
        """Write a request down, or hand out the one that was written with the same key before.

        BudgetExceeded where the dataset, or the asker's allowance, cannot pay for it beside all that waits.
        """
        with self._database.writing() as connection:
            mine = JOBS.c.user == job.user, JOBS.c.key == job.key
            earlier = connection.execute(sql.select(JOBS).where(*mine)).first()
            if earlier is not None:
                return _same(_job_of(earlier), job)
            if job.task != "read":
                self._check_payable(connection, job, balance_of)
            connection.execute(JOBS.insert().values(_row_of(job)))
        return job

    def _check_payable(self, connection: sql.Connection, job: ReleaseJob, balance_of: Balance) -> None:
        """Whoever waits is read before the ledger: what reserved in between is counted once, by the ledger."""
        query = sql.select(JOBS).where(JOBS.c.dataset == job.dataset, JOBS.c.task != "read")
        jobs = [_job_of(row) for row in connection.execute(query)]
        balance = balance_of(job.dataset)
        left = balance.left - unreserved(jobs, balance.booked) - untold(jobs, balance.booked, self._every)
        if balance.is_closed or not job.price.is_within(left):
            told = (
                "it is closed"
                if balance.is_closed
                else f"{left.or_more(Amount())} is left of {balance.total}"
            )
            raise BudgetExceeded(
                f"this request asks for {job.price}, but of dataset {job.dataset!r} {told}; nothing was looked at"
            )
        allowance = allowance_in(connection, job.dataset, job.user)
        if allowance is not None:
            mine = [each for each in jobs if each.user == job.user]
            spent = spent_by(mine, balance.booked) + untold(mine, balance.booked, self._every)
            if not job.price.is_within(allowance - spent):
                raise BudgetExceeded(
                    f"this request asks for {job.price}, but of your allowance for {job.dataset!r}, {allowance}, "
                    f"{(allowance - spent).or_more(Amount())} is left; nothing was looked at"
                )

    def get(self, number: str) -> ReleaseJob:
        """A request; LookupError where there is none."""
        with self._database.reading() as connection:
            row = connection.execute(sql.select(JOBS).where(JOBS.c.id == number)).first()
        if row is None:
            raise LookupError("there is no such request")
        return _job_of(row)

    def of_datasets(self, names: Sequence[str], *, most: int = 1000) -> list[ReleaseJob]:
        """The requests for releases of some datasets, the newest first."""
        query = sql.select(JOBS).where(JOBS.c.dataset.in_(names), JOBS.c.task != "read")
        with self._database.reading() as connection:
            found = connection.execute(query.order_by(JOBS.c.requested.desc()).limit(most))
            return [_job_of(row) for row in found]

    def claim(self, worker: str) -> ReleaseJob | None:
        """The next request in the queue, for a worker; None where there is none."""
        first = sql.select(JOBS).where(JOBS.c.state == "queued").order_by(JOBS.c.requested).limit(1)
        with self._database.reading() as connection:
            if connection.execute(first).first() is None:
                return None
        with self._database.writing() as connection:
            row = connection.execute(first).first()
            if row is None:
                return None
            if row.wants_cancel:
                self._end(connection, row.id, "cancelled", "cancelled before anything was looked at", "")
                return None
            values = {"state": "running", "worker": worker}
            connection.execute(JOBS.update().where(JOBS.c.id == row.id).values(**values))
        return self.get(row.id)

    def end(self, number: str, state: str, message: str = "", detail: str = "") -> None:
        """Write down how a request ended; one that ended stays as it is."""
        with self._database.writing() as connection:
            self._end(connection, number, state, message, detail)

    def _end(self, connection: sql.Connection, number: str, state: str, message: str, detail: str) -> None:
        values = {"state": state, "message": message, "detail": detail, "finished": time.time()}
        open_job = JOBS.c.id == number, JOBS.c.state.not_in(ENDED)
        connection.execute(JOBS.update().where(*open_job).values(**values))

    def queue_again(self, job: ReleaseJob) -> None:
        """Put a request back that nobody began to pay for, unless another worker has taken it since."""
        with self._database.writing() as connection:
            again = JOBS.c.id == job.id, JOBS.c.state == "running", JOBS.c.worker == job.worker
            connection.execute(JOBS.update().where(*again).values(state="queued", worker=""))

    def cancel(self, number: str) -> None:
        """Wish that a request ends; what came of it is told with the next moment of the schedule."""
        with self._database.writing() as connection:
            open_job = JOBS.c.id == number, JOBS.c.state.not_in(ENDED)
            connection.execute(JOBS.update().where(*open_job).values(wants_cancel=True))

    def running(self) -> list[ReleaseJob]:
        """The requests that a worker has taken."""
        with self._database.reading() as connection:
            return [
                _job_of(row) for row in connection.execute(sql.select(JOBS).where(JOBS.c.state == "running"))
            ]

    def counts(self, every: float) -> dict[str, int]:
        """How many requests there are in each state that is told."""
        query = sql.select(JOBS).where(JOBS.c.task != "read")
        with self._database.reading() as connection:
            states = [_job_of(row).told_state(every) for row in connection.execute(query)]
        return {state: states.count(state) for state in ("waiting", *sorted(ENDED))}


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


def unreserved(jobs: Sequence[ReleaseJob], booked: dict[str, Booked]) -> Amount:
    """What requests may cost that wait and have reserved nothing yet."""
    waiting = [job.price for job in jobs if job.state not in ENDED and job.id not in booked]
    return sum(waiting, Amount())


def untold(jobs: Sequence[ReleaseJob], booked: dict[str, Booked], every: float) -> Amount:
    """What reservations exceed prices by, of requests whose end is not told yet: their price is not told either."""
    hidden = [booked[job.id] for job in jobs if job.id in booked and job.told_state(every) == "waiting"]
    excess = [Amount(each.reservation.epsilon, each.reservation.delta) - each.price for each in hidden]
    return sum(excess, Amount())


def spent_by(mine: Sequence[ReleaseJob], booked: dict[str, Booked]) -> Amount:
    """What the requests of a user cost so far; those that wait count in full."""
    paid = [booked[job.id].price for job in mine if job.id in booked]
    return sum(paid, unreserved(mine, booked))


def _same(earlier: ReleaseJob, job: ReleaseJob) -> ReleaseJob:
    is_same = (earlier.dataset, earlier.task, earlier.request) == (job.dataset, job.task, job.request)
    if not is_same:
        raise KeyReused(
            "this Idempotency-Key came with another request before; take a new key for a new request"
        )
    return earlier


def _row_of(job: ReleaseJob) -> dict[str, Any]:
    names = ("id", "user", "key", "dataset", "task", "state", "worker", "message", "detail", "requested")
    values = {name: getattr(job, name) for name in (*names, "finished", "wants_cancel")}
    return {**values, "request": json.dumps(job.request, sort_keys=True), **job.price.to_dict()}


def _job_of(row: Any) -> ReleaseJob:  # noqa: ANN401 - a row of SQLAlchemy
    values = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's name for it
    price = Amount(Fraction(values.pop("epsilon")), Fraction(values.pop("delta")))
    return ReleaseJob(**{**values, "request": json.loads(row.request)}, price=price)
