"""What the service does for people, whichever way they come: the API and the pages are two skins over this."""

import json
import secrets
from fractions import Fraction
from typing import Any

from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import Amount, Ledger, exact_delta, exact_epsilon
from veilset.plan.trade import belief_in_words
from veilset.service.asking import ReleaseAsk, checked_request, forecasts_of
from veilset.service.catalogue import Catalogue, RegisteredDataset
from veilset.service.database import ServiceDatabase
from veilset.service.dispatcher import Dispatcher
from veilset.service.events import EventLog
from veilset.service.jobs import JobBook
from veilset.service.people import NotAllowed, People, checked_name
from veilset.service.permissions import Principal
from veilset.service.registrations import Registration
from veilset.service.release_job import ENDED, RELEASE_TASKS, ReleaseJob, new_job
from veilset.service.settings import ServiceSettings
from veilset.service.spending import BudgetView, SpendingView


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
        total = Amount(exact_epsilon(epsilon), Fraction(0) if delta in {"", "0"} else exact_delta(delta))
        if told.items == "private" and total.delta == 0:
            raise BadCall(
                "items that are found privately cost a delta each time; give one for all, such as 1e-6"
            )
        known = set(self.ledger.balances())
        checked = self.catalogue.checked(name, told, others=known - {name})
        epsilon_of_all, delta_of_all = total.epsilon, total.delta or None
        if name in known:  # then it has this total and this unit, or is refused
            self.ledger.dataset(name, epsilon=epsilon_of_all, delta=delta_of_all, unit=told.unit)
        else:
            people = told.same_people_as
            self.ledger.create(
                name, epsilon=epsilon_of_all, delta=delta_of_all, unit=told.unit, same_people_as=people
            )
        self.catalogue.add(name, checked)
        self.events.note("dataset registered", who=who.name, dataset=name)
        return self.read_again(who, name)

    def read_again(self, who: Principal, name: str) -> ReleaseJob:
        """Have the data of a dataset read, for the first time or once more."""
        self.catalogue.get(name)
        job = new_job(who.name, name, "read", {}, price=Amount(), key=f"read-{secrets.token_hex(8)}")
        self.catalogue.set_state(name, "reading")
        self.jobs.ask(job, self.ledger.balances)
        self.dispatcher.wake()
        return job

    def spending(self) -> SpendingView:
        """What was spent on all datasets, as far as it may be told; requests are read before the ledger."""
        waiting = self.jobs.untold()
        return SpendingView(self.ledger.balances(), waiting, self.settings.release_every)

    def seen_dataset(self, who: Principal, name: str) -> RegisteredDataset:
        """A dataset that somebody has to do with; LookupError for others, as if it did not exist."""
        dataset = self.catalogue.get(name)
        if not self.catalogue.is_seen_by(who, name):
            raise LookupError(f"there is no dataset {name!r}")
        return dataset

    def budget(self, name: str) -> BudgetView:
        """What is left; of requests whose end is not told yet, all that was reserved counts as spent."""
        return self.spending().budget(name)

    def allowance_left(self, name: str, user: str, spending: SpendingView | None = None) -> Amount | None:
        """What is left of somebody's allowance; None where they have none."""
        allowance = self.catalogue.allowance(name, user)
        if allowance is None:
            return None
        mine = self.jobs.of_user(name, user)
        return (spending or self.spending()).left_of_allowance(allowance, name, mine)

    def ask(self, who: Principal, ask: ReleaseAsk, *, key: str) -> ReleaseJob:
        """A request for a release; checked before anything waits, paid for once."""
        dataset = self.seen_dataset(who, ask.dataset)
        try:
            request, price = checked_request(ask, dataset)
            if dataset.state != "ready":
                raise NotReady(f"the data of {ask.dataset!r} is {dataset.state}; ask its owner, or wait")
            job = new_job(who.name, ask.dataset, ask.task, request, price=price, key=key)
            written = self.jobs.ask(job, self.ledger.balances)
        except (BadCall, BudgetExceeded) as refusal:
            self.events.note("request refused", who=who.name, dataset=ask.dataset, why=type(refusal).__name__)
            raise
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

    def facts(self, name: str, spending: SpendingView | None = None) -> dict[str, float]:
        """What is public of how much data there is: by releases that were told, or by the owner's word."""
        view = spending or self.spending()
        untold = {job.id for job in view.jobs if self.state(job) == "waiting"}
        for reference, booked in reversed(view.balance(name).booked.items()):
            told = {} if booked.settlement is None else booked.settlement.told
            if reference not in untold and "facts" in told:
                released: dict[str, float] = told["facts"]
                return released
        return self.catalogue.get(name).facts

    def forecast(self, who: Principal, ask: ReleaseAsk) -> dict[str, Any]:
        """What a release would be worth and what would be left after it; costs nothing, looks at nothing."""
        dataset = self.seen_dataset(who, ask.dataset)
        _, price = checked_request(ask, dataset)
        spending = self.spending()
        left = spending.budget(ask.dataset).left
        allowed = self.allowance_left(ask.dataset, who.name, spending)
        within = (
            left
            if allowed is None
            else Amount(min(left.epsilon, allowed.epsilon), min(left.delta, allowed.delta))
        )
        return {
            **self._expected(ask, spending),
            "epsilon": str(price.epsilon),
            "belief": belief_in_words(float(price.epsilon)),
            "left": within.to_dict(),
            "left_after": (within - price).or_more(Amount()).to_dict(),
            "is_affordable": price.is_within(within),
        }

    def _expected(self, ask: ReleaseAsk, spending: SpendingView) -> dict[str, Any]:
        facts = self.facts(ask.dataset, spending)
        nothing = {"found": None, "relative_error": None, "half_width": None, "assumption": None}
        if ask.k is None or ask.task == "publish" or {"rows", "items", "length"} - facts.keys():
            return nothing
        size = 1 if ask.task == "items" else ask.max_size
        forecasts, assumption = forecasts_of(
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
