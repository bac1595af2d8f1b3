"""What the service does for people, whichever way they come: the API and the pages are two skins over this."""

import json
import secrets
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from veilset.errors import BadCall
from veilset.gate import Amount, DatasetBalance, Ledger, exact_delta, exact_epsilon
from veilset.methods import find_method
from veilset.plan.facts import Facts
from veilset.plan.forecasting import Forecasts, Model
from veilset.plan.trade import belief_in_words
from veilset.request import Request
from veilset.service.catalogue import Catalogue, RegisteredDataset, Registration
from veilset.service.database import ServiceDatabase
from veilset.service.dispatcher import Dispatcher
from veilset.service.events import EventLog
from veilset.service.jobs import (
    ENDED,
    RELEASE_TASKS,
    JobBook,
    ReleaseJob,
    new_job,
    spent_by,
    unreserved,
    untold,
)
from veilset.service.people import NotAllowed, People, checked_name
from veilset.service.permissions import Principal
from veilset.service.settings import ServiceSettings

MOST_ASKED = 10_000
"""10,000 itemsets in one release; more would fill pages that nobody reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseAsk:
    """What somebody asks for."""

    dataset: str
    task: str = "mine"
    epsilon: str
    k: int | None = None
    min_support: str | None = None
    max_size: int | None = None
    method: str | None = None
    delta: str | None = None


@dataclass(frozen=True, slots=True)
class BudgetView:
    """What may be spent on a dataset, what was, and what is left, as far as it may be told now."""

    total: Amount
    spent: Amount
    left: Amount
    is_closed: bool

    def to_dict(self) -> dict[str, Any]:
        """The budget as JSON values."""
        amounts = {"total": self.total, "spent": self.spent, "left": self.left}
        return {**{name: each.to_dict() for name, each in amounts.items()}, "is_closed": self.is_closed}


class Service:
    """A curator for a team."""

    def __init__(self, settings: ServiceSettings) -> None:
        settings.make_folders()
        self.settings = settings
        self.database = ServiceDatabase(settings.database)
        self.ledger = Ledger(settings.ledger, who="the service")
        self.people = People(self.database, settings)
        self.catalogue = Catalogue(self.database, settings)
        self.jobs = JobBook(self.database, every=settings.release_every)
        self.events = EventLog(self.database)
        self.dispatcher = Dispatcher(settings, self.jobs, self.catalogue, self.ledger, self.events)

    def register(
        self, who: Principal, name: str, told: Registration, *, epsilon: str, delta: str
    ) -> ReleaseJob:
        """A new dataset: its budget in the ledger, its data read by a worker. Owners need no allowance."""
        checked_name(name, "the name of a dataset")
        total = exact_epsilon(epsilon), Fraction(0) if delta in {"", "0"} else exact_delta(delta)
        self.catalogue.add(name, told)
        if name not in self.ledger.balances():
            self.ledger.create(name, epsilon=total[0], delta=total[1] or None, unit=told.unit)
        self.events.note("dataset registered", who=who.name, dataset=name)
        return self.read_again(who, name)

    def read_again(self, who: Principal, name: str) -> ReleaseJob:
        """Have the file of a dataset read, for the first time or once more."""
        self.catalogue.get(name)
        job = new_job(who.name, name, "read", {}, price=Amount(), key=f"read-{secrets.token_hex(8)}")
        self.catalogue.set_state(name, "reading")
        self.jobs.ask(job, self.balance)
        self.dispatcher.wake()
        return job

    def balance(self, name: str) -> DatasetBalance:
        """What the ledger says of a dataset now."""
        found = self.ledger.balances().get(name)
        if found is None:
            raise LookupError(f"there is no dataset {name!r}")
        return found

    def seen_dataset(self, who: Principal, name: str) -> RegisteredDataset:
        """A dataset that somebody has to do with; LookupError for others, as if it did not exist."""
        dataset = self.catalogue.get(name)
        if not self.catalogue.is_seen_by(who, name):
            raise LookupError(f"there is no dataset {name!r}")
        return dataset

    def budget(self, name: str) -> BudgetView:
        """What is left; of requests whose end is not told yet, all that was reserved counts as spent."""
        jobs, balance = self.jobs.of_datasets([name]), self.balance(name)
        spent = balance.spent + unreserved(jobs, balance.booked)
        spent += untold(jobs, balance.booked, self.settings.release_every)
        return BudgetView(balance.total, spent, (balance.total - spent).or_more(Amount()), balance.is_closed)

    def allowance_left(self, name: str, user: str) -> Amount | None:
        """What is left of somebody's allowance; None where they have none."""
        allowance = self.catalogue.allowance(name, user)
        if allowance is None:
            return None
        jobs, balance = self.jobs.of_datasets([name]), self.balance(name)
        mine = [job for job in jobs if job.user == user]
        spent = spent_by(mine, balance.booked) + untold(mine, balance.booked, self.settings.release_every)
        return (allowance - spent).or_more(Amount())

    def ask(self, who: Principal, ask: ReleaseAsk, *, key: str) -> ReleaseJob:
        """A request for a release; checked before anything waits, paid for once."""
        dataset = self.seen_dataset(who, ask.dataset)
        request, price = checked_request(ask, dataset)
        if dataset.state != "ready":
            raise NotReady(f"the data of {ask.dataset!r} is {dataset.state}; ask its owner, or wait")
        job = new_job(who.name, ask.dataset, ask.task, request, price=price, key=key)
        written = self.jobs.ask(job, self.balance)
        if written.id == job.id:
            self.events.note("release asked for", who=who.name, dataset=ask.dataset, request=job.id)
        self.dispatcher.wake()
        return written

    def cancel(self, who: Principal, number: str) -> ReleaseJob:
        """Wish that a request ends."""
        job = self.seen_job(who, number)
        if job.user != who.name and who.role != "owner":
            raise NotAllowed("only who asked for it, or an owner, can cancel a request")
        self.jobs.cancel(number)
        self.dispatcher.end_work_on(number)
        self.dispatcher.wake()
        self.events.note("cancel asked for", who=who.name, request=number)
        return self.jobs.get(number)

    def seen_job(self, who: Principal, number: str) -> ReleaseJob:
        """A request for a dataset that somebody has to do with."""
        job = self.jobs.get(number)
        if job.task not in RELEASE_TASKS or not self.catalogue.is_seen_by(who, job.dataset):
            raise LookupError("there is no such request")
        return job

    def seen_jobs(self, who: Principal) -> list[ReleaseJob]:
        """All requests for datasets that somebody has to do with."""
        return self.jobs.of_datasets([each.name for each in self.catalogue.seen_by(who)])

    def state(self, job: ReleaseJob) -> str:
        """What is told of a request now."""
        return job.told_state(self.settings.release_every)

    def told(self, job: ReleaseJob, who: Principal) -> dict[str, Any]:
        """A request as JSON values: nothing of when the work on it began or ended."""
        state = self.state(job)
        is_over = state in ENDED
        return {
            "id": job.id,
            "dataset": job.dataset,
            "task": job.task,
            "user": job.user,
            "request": job.request,
            "epsilon": str(job.price.epsilon),
            "delta": str(job.price.delta),
            "state": state,
            "requested": job.requested,
            "told_at": job.told_at(self.settings.release_every),
            "message": job.message if is_over else "",
            "detail": job.detail if is_over and who.role == "owner" else "",
            "cancel_asked": job.wants_cancel,
        }

    def document(self, who: Principal, number: str) -> dict[str, Any]:
        """What was released for a request; LookupError where nothing was, or not yet."""
        job = self.seen_job(who, number)
        if self.state(job) != "done":
            raise NotReady("nothing was released for this request, or not yet")
        document: dict[str, Any] = json.loads(self.settings.result_file(number).read_text(encoding="utf-8"))
        return document

    def facts(self, name: str) -> dict[str, float]:
        """What is public of how much data there is: by releases that were told, or by the owner's word."""
        balance = self.balance(name)
        told = {job.id for job in self.jobs.of_datasets([name]) if self.state(job) == "done"}
        for reference, booked in reversed(balance.booked.items()):
            if reference in told and booked.settlement is not None and "facts" in booked.settlement.told:
                released: dict[str, float] = booked.settlement.told["facts"]
                return released
        return self.catalogue.get(name).facts

    def forecast(self, who: Principal, ask: ReleaseAsk) -> dict[str, Any]:
        """What a release would be worth and what would be left after it; costs nothing, looks at nothing."""
        dataset = self.seen_dataset(who, ask.dataset)
        _, price = checked_request(ask, dataset)
        left = self.budget(ask.dataset).left
        allowed = self.allowance_left(ask.dataset, who.name)
        within = (
            left
            if allowed is None
            else Amount(min(left.epsilon, allowed.epsilon), min(left.delta, allowed.delta))
        )
        return {
            **self._expected(ask),
            "epsilon": str(price.epsilon),
            "belief": belief_in_words(float(price.epsilon)),
            "left": within.to_dict(),
            "left_after": (within - price).or_more(Amount()).to_dict(),
            "is_affordable": price.is_within(within),
        }

    def _expected(self, ask: ReleaseAsk) -> dict[str, Any]:
        facts = self.facts(ask.dataset)
        nothing = {"found": None, "relative_error": None, "half_width": None, "assumption": None}
        if ask.k is None or ask.task == "publish" or {"rows", "items", "length"} - facts.keys():
            return nothing
        size = 1 if ask.task == "items" else ask.max_size
        forecasts, assumption = _forecasts(
            int(facts["rows"]), int(facts["items"]), facts["length"], ask.k, size, ask.delta
        )
        try:
            expected = forecasts(exact_epsilon(ask.epsilon))
        except BadCall:
            return nothing
        return {**expected, "assumption": assumption}

    def close(self) -> None:
        """Finish what is under way, take no more, give connections back."""
        self.dispatcher.stop()
        self.database.close()


class NotReady(BadCall):
    """Something that is not there yet, or no more."""


def checked_request(ask: ReleaseAsk, dataset: RegisteredDataset) -> tuple[dict[str, Any], Amount]:
    """The arguments of the library's verb, and what it may cost; BadCall where they cannot be meant."""
    if ask.task not in RELEASE_TASKS:
        raise BadCall(f"there is no task {ask.task!r}; give one of {', '.join(RELEASE_TASKS)}")
    epsilon = exact_epsilon(ask.epsilon)
    request: dict[str, Any] = {"epsilon": str(epsilon), **_items_of(ask, dataset)}
    delta = exact_delta(request["delta"]) if "delta" in request else Fraction(0)
    if ask.method is not None:
        request["method"] = find_method(ask.method, task=ask.task).name
    if dataset.told.per_owner is not None:
        request["per_owner"] = dataset.told.per_owner
    if ask.task != "publish":
        request |= _wanted(ask)
    return request, Amount(epsilon, delta)


def _wanted(ask: ReleaseAsk) -> dict[str, Any]:
    if ask.task == "items" and (ask.k is None or ask.min_support is not None or ask.max_size is not None):
        raise BadCall("items are asked for by k, their number, and by nothing else; give k")
    wanted = Request.of(k=ask.k, min_support=ask.min_support, max_size=ask.max_size)
    if wanted.k is not None and wanted.k > MOST_ASKED:
        raise BadCall(f"{wanted.k} itemsets are too many for one release; give a k of up to {MOST_ASKED}")
    given = {"k": ask.k, "min_support": ask.min_support, "max_size": ask.max_size}
    return {name: value for name, value in given.items() if value is not None}


def _items_of(ask: ReleaseAsk, dataset: RegisteredDataset) -> dict[str, Any]:
    """Which items may be named, as the owner decided; a delta goes with items that are found privately."""
    if dataset.told.items != "private":
        if ask.delta is not None:
            raise BadCall("the items of this dataset are public, so no delta is needed; leave it out")
        return {} if dataset.told.items == "list" else {"public_items": True}
    if ask.delta is None:
        raise BadCall("the items of this dataset are found privately; give a delta, such as 1e-9")
    return {"delta": str(exact_delta(ask.delta))}


@lru_cache(maxsize=256)
def _forecasts(
    rows: int, items: int, length: float, k: int, max_size: int | None, delta: str | None
) -> tuple[Any, str | None]:
    """Forecasts of the default method at any epsilon, remembered: whoever moves a slider asks often."""
    try:
        model = Model.of(
            Facts(rows, items, min(length, items)),
            k=k,
            max_size=max_size,
            delta=None if delta is None else delta,
        )
        forecasts: Forecasts = model.forecasts()[0]
    except BadCall:
        return _nothing_expected, None

    @cache
    def at(epsilon: Fraction) -> dict[str, Any]:
        forecast = forecasts.at(epsilon)
        return {
            "found": forecast.found,
            "relative_error": forecast.relative_error,
            "half_width": forecast.half_width,
        }

    return at, model.assumption


def _nothing_expected(epsilon: Fraction) -> dict[str, Any]:  # noqa: ARG001 - as a forecast is asked
    return {"found": None, "relative_error": None, "half_width": None}
