"""Requests for releases: asked for once, paid for once, told on a schedule.

What may be spent is decided under the lock of all writers: what the ledger has left, less what waits and has not
reserved yet. The ledger decides once more when the work begins, and its word is final.
"""

import json
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import sqlalchemy as sql

from veilset.errors import BudgetExceeded, VeilsetError
from veilset.gate import Amount, DatasetBalance
from veilset.service.catalogue import allowance_in
from veilset.service.database import JOBS, ServiceDatabase
from veilset.service.release_job import ENDED, ReleaseJob
from veilset.service.spending import SpendingView

Balances = Callable[[], dict[str, DatasetBalance]]
"""What may be spent on datasets and what was, as the ledger says now."""


_BY_NUMBER = sql.select(JOBS).where(JOBS.c.id == sql.bindparam("number"))
"""Asked with every look at a request: put together once."""


class KeyReused(VeilsetError):  # noqa: N818 - reads as what happened
    """The key of an earlier request came with another request."""


class JobBook:
    """All requests of a service."""

    def __init__(self, database: ServiceDatabase, *, every: float) -> None:
        self._database, self._every = database, every

    def ask(self, job: ReleaseJob, balances: Balances) -> ReleaseJob:
        """Write a request down, or hand out the one that was written with the same key before.

        BudgetExceeded where the dataset, or the asker's allowance, cannot pay for it beside all that waits.
        """
        with self._database.writing() as connection:
            mine = JOBS.c.user == job.user, JOBS.c.key == job.key
            earlier = connection.execute(sql.select(JOBS).where(*mine)).first()
            if earlier is not None:
                return _same(_job_of(earlier), job)
            if job.task != "read":
                self._check_payable(connection, job, balances)
            connection.execute(JOBS.insert().values(_row_of(job)))
        return job

    def _check_payable(self, connection: sql.Connection, job: ReleaseJob, balances: Balances) -> None:
        """Whoever waits is read before the ledger: what reserved in between is counted once, by the ledger."""
        waiting, mine = self._untold(connection), self._of_user(connection, job.dataset, job.user)
        spending = SpendingView(balances(), waiting, self._every)
        budget = spending.budget(job.dataset)
        if budget.is_closed or not job.price.is_within(budget.left):
            told = "it is closed" if budget.is_closed else f"{budget.left} is left of {budget.total}"
            raise BudgetExceeded(
                f"this request asks for {job.price}, but of dataset {job.dataset!r} {told}; nothing was looked at"
            )
        allowance = allowance_in(connection, job.dataset, job.user)
        if allowance is not None:
            left = spending.left_of_allowance(allowance, job.dataset, mine)
            if not job.price.is_within(left):
                raise BudgetExceeded(
                    f"this request asks for {job.price}, but of your allowance for {job.dataset!r}, {allowance}, "
                    f"{left} is left; nothing was looked at"
                )

    def _untold(self, connection: sql.Connection) -> list[ReleaseJob]:
        is_untold = JOBS.c.finished.is_(None) | (JOBS.c.finished > time.time() - self._every)
        query = sql.select(JOBS).where(is_untold, JOBS.c.task != "read")
        return [_job_of(row) for row in connection.execute(query)]

    def _of_user(self, connection: sql.Connection, dataset: str, user: str) -> list[ReleaseJob]:
        mine = JOBS.c.dataset == dataset, JOBS.c.user == user, JOBS.c.task != "read"
        return [_job_of(row) for row in connection.execute(sql.select(JOBS).where(*mine))]

    def untold(self) -> list[ReleaseJob]:
        """The requests whose end may not be told yet."""
        with self._database.reading() as connection:
            return self._untold(connection)

    def of_user(self, dataset: str, user: str) -> list[ReleaseJob]:
        """The requests of a user for releases of a dataset."""
        with self._database.reading() as connection:
            return self._of_user(connection, dataset, user)

    def get(self, number: str) -> ReleaseJob:
        """A request; LookupError where there is none."""
        with self._database.reading() as connection:
            row = connection.execute(_BY_NUMBER, {"number": number}).first()
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
