"""Hands requests to workers, and knows what became of those whose worker died.

A worker that dies leaves a request that is running for nobody. The ledger knows how far it got: where it reserved
nothing, nothing was looked at, and the request goes back into the queue; where it reserved, the request has failed and
its reservation stays spent, unless the result lies there complete. No request is paid for twice: the ledger refuses a
second reservation under the same number.
"""

import fcntl
import json
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from veilset.errors import VeilsetError
from veilset.gate import Booked, Ledger
from veilset.service.catalogue import Catalogue
from veilset.service.events import LOGGER, EventLog
from veilset.service.jobs import JobBook
from veilset.service.registrations import Registration, source_of
from veilset.service.release_job import ReleaseJob
from veilset.service.settings import ServiceSettings

SECONDS_BETWEEN_LOOKS = 0.5
"""0.5 seconds until an idle worker looks for new requests by itself; a new request wakes it at once."""

_DIED = "the process that did the work died; all that was reserved for it stays spent"
_CANCELLED = "cancelled while it was at work: all that was reserved for it stays spent"


class WorkerProcess:
    """A process that looks at data, one order at a time."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.name = uuid4().hex
        lock = settings.folder / "workers" / f"{self.name}.lock"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "veilset.service.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._send({"lock": str(lock), "memory_mb": settings.worker_memory_mb})
        self._answer()  # "ready": from here on its lock tells whether it lives

    @property
    def process(self) -> int:
        """The number that the system gave it."""
        return self._process.pid

    def do(self, order: dict[str, Any]) -> dict[str, str] | None:
        """What came of an order; None where the worker died over it."""
        self._send(order)
        return self._answer()

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self._process.kill()

    def dismiss(self) -> None:
        """No more orders: it leaves when it has done the last one."""
        if self._process.stdin is not None:
            with suppress(
                BrokenPipeError
            ):  # an order that it never read is still to be sent to one that died
                self._process.stdin.close()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _send(self, order: dict[str, Any]) -> None:
        try:
            print(json.dumps(order), file=self._process.stdin, flush=True)
        except (BrokenPipeError, ValueError):
            LOGGER.warning("a worker is gone")

    def _answer(self) -> dict[str, str] | None:
        line = self._process.stdout.readline() if self._process.stdout is not None else ""
        answer: dict[str, str] | None = json.loads(line) if line.endswith("\n") else None
        if answer is None:
            self._process.wait()
        return answer


@dataclass(slots=True)
class _Slot:
    """A place for a worker, and what it does now."""

    worker: WorkerProcess | None = None
    job: str = ""


class Dispatcher:
    """Keeps workers at work, a thread for each."""

    def __init__(
        self, settings: ServiceSettings, jobs: JobBook, catalogue: Catalogue, ledger: Ledger, events: EventLog
    ) -> None:
        self._settings, self._jobs, self._catalogue = settings, jobs, catalogue
        self._ledger, self._events = ledger, events
        self._slots = [_Slot() for _ in range(settings.workers)]
        self._threads: list[threading.Thread] = []
        self._stops, self._wakes = threading.Event(), threading.Condition()

    def start(self) -> None:
        """Judge what an earlier server left behind, then begin."""
        self.judge_abandoned()
        for slot in self._slots:
            thread = threading.Thread(target=self._work, args=(slot,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def wake(self) -> None:
        """Tell that there is something to do."""
        with self._wakes:
            self._wakes.notify_all()

    def stop(self) -> None:
        """Let every worker finish what it does, and take no more."""
        self._stops.set()
        self.wake()
        for thread in self._threads:
            thread.join()

    def end_work_on(self, job: str) -> None:
        """End the worker that is at work on a request; its reservation stays spent."""
        for slot in self._slots:
            if slot.job == job and slot.worker is not None:
                slot.worker.kill()

    def workers(self) -> list[int]:
        """The processes that are there."""
        return [slot.worker.process for slot in self._slots if slot.worker is not None]

    def judge_abandoned(self) -> None:
        """Decide about requests whose worker is gone."""
        mine = {slot.worker.name for slot in self._slots if slot.worker is not None}
        for job in self._jobs.running():
            if job.worker not in mine and not self._is_alive(job.worker):
                self._judge(job)

    def _is_alive(self, worker: str) -> bool:
        """Whether a worker of an earlier server is still there: then nobody else can have its lock."""
        path = self._settings.folder / "workers" / f"{worker}.lock"
        if not path.exists():
            return False
        with path.open("w", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        path.unlink(missing_ok=True)
        return False

    def _work(self, slot: _Slot) -> None:
        """What the thread of a slot does until the service stops."""
        while not self._stops.is_set():
            try:
                self._serve(slot)
            except (VeilsetError, OSError) as error:  # what is away for a moment must not end the thread
                LOGGER.error("dispatching failed: %s", error)
                self._stops.wait(SECONDS_BETWEEN_LOOKS)
        if slot.worker is not None:
            slot.worker.dismiss()

    def _serve(self, slot: _Slot) -> None:
        if slot.worker is None:
            slot.worker = WorkerProcess(self._settings)
        job = self._jobs.claim(slot.worker.name)
        if job is None:
            self.judge_abandoned()
            with self._wakes:
                self._wakes.wait(SECONDS_BETWEEN_LOOKS)
            return
        slot.job = job.id
        answer = slot.worker.do(self._order(job))
        slot.job = ""
        if answer is None:
            slot.worker.dismiss()
            slot.worker = None
            self._judge(job)
        else:
            self._end(job, **answer)

    def _end(self, job: ReleaseJob, state: str, message: str = "", detail: str = "", items: str = "") -> None:
        self._jobs.end(job.id, state, message, detail)
        self._events.note(f"request {state}", who=job.user, dataset=job.dataset, request=job.id)
        if items:
            self._catalogue.tell_items(job.dataset, int(items))
        if job.task == "read":
            self._catalogue.set_state(job.dataset, "ready" if state == "done" else "unreadable", detail)

    def _judge(self, job: ReleaseJob) -> None:
        """What becomes of a request whose worker died."""
        booked, now = self._booked(job), self._jobs.get(job.id)
        if now.worker != job.worker or now.state != "running":
            return  # somebody else judged it
        if job.task == "read":
            self._end(job, "failed", _DIED, "the process died, perhaps for lack of memory; read it again")
        elif booked is None and not now.wants_cancel:
            self._jobs.queue_again(job)
        elif booked is None:
            self._end(job, "cancelled", "cancelled before anything was looked at")
        elif booked.settlement is not None and _is_whole(self._settings.result_file(job.id)):
            self._end(job, "done")
        elif now.wants_cancel:
            self._end(job, "cancelled", _CANCELLED)
        else:
            self._end(job, "failed", _DIED, _DIED)

    def _booked(self, job: ReleaseJob) -> Booked | None:
        balance = self._ledger.balances().get(job.dataset)
        return None if balance is None else balance.booked.get(job.id)

    def _order(self, job: ReleaseJob) -> dict[str, Any]:
        """All that a worker needs to know; by its pipe, where nobody else reads addresses with passwords."""
        told = self._catalogue.get(job.dataset).told
        return {
            "job": job.id,
            "task": job.task,
            "dataset": job.dataset,
            "who": job.user,
            "ledger": self._settings.ledger,
            "data": str(self._settings.encoded_file(job.dataset)),
            "result": str(self._settings.result_file(job.id)),
            "request": job.request,
            "different_people": told.different_people,
            **self._source(told, job),
        }

    def _source(self, told: Registration, job: ReleaseJob) -> dict[str, Any]:
        """Where the data is: for reading it, and where it stays on a cluster for every look."""
        if job.task != "read" and told.source != "spark":
            return {}
        place = source_of(told, self._settings)
        columns = {name: getattr(told, name) for name in ("format", "owner", "basket", "item", "separator")}
        options = {name: value for name, value in (place["options"] | columns).items() if value}
        return {
            "source": place["source"],
            "options": options,
            "alphabet": told.listed,
            "tells_items": told.items == "public",
        }


def _is_whole(path: Path) -> bool:
    """Whether a result lies there; it is written whole or not at all."""
    return path.is_file()
