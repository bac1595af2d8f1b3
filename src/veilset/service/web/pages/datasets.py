"""Pages about datasets: what there is, the first steps, registering, budgets and allowances."""

from typing import Annotated

from fastapi import Form, Request, Response
from pydantic import BaseModel, Field

from veilset.errors import BadCall
from veilset.service.core import Service
from veilset.service.registrations import Registration
from veilset.service.web.api.datasets import dataset_row, seen_datasets, sources_of
from veilset.service.web.api.routing import NameInPath
from veilset.service.web.door import TheService, Who, needs
from veilset.service.web.pages.filling import (
    Text,
    given_fields,
    number_in_form,
    page_router,
    shown_page,
    to_page,
)

dataset_pages = page_router()

LongText = Annotated[str, Field(max_length=2_000_000)]


@dataset_pages.get("/", **needs("datasets.see"))
def dashboard(request: Request, who: Who, service: TheService) -> Response:
    """The datasets, with what is left of each budget; who has none and may make one is led there."""
    datasets = seen_datasets(service, who)
    if not datasets and who.may("datasets.manage"):
        return to_page("/welcome")
    jobs = [service.told(job, who) for job in service.seen_jobs(who)[:10]]
    return shown_page(request, "dashboard.html", datasets=datasets, jobs=jobs)


@dataset_pages.get("/welcome", **needs("datasets.manage"))
def welcome_page(request: Request, service: TheService) -> Response:
    """The first steps of an owner, and which of them are done."""
    users, datasets = service.people.all(), service.catalogue.seen_by(request.state.who)
    allowed = any(service.catalogue.allowances(each.name) for each in datasets)
    return shown_page(request, "welcome.html", users=users, datasets=datasets, is_allowed=allowed)


class RegisterForm(BaseModel):
    """The fields of the form, as they were sent."""

    name: LongText = ""
    source: LongText = "file"
    file: LongText = ""
    folder: LongText = ""
    connection: LongText = ""
    query: LongText = ""
    path: LongText = ""
    title: LongText = ""
    unit: LongText = ""
    owner: LongText = ""
    basket: LongText = ""
    item: LongText = ""
    per_owner: LongText = ""
    same_people_as: list[LongText] = []
    different_people: LongText = ""
    items: LongText = ""
    alphabet: LongText = ""
    epsilon: LongText = ""
    delta: LongText = ""
    rows: LongText = ""
    number_of_items: LongText = ""
    length: LongText = ""

    def registration(self) -> Registration:
        """What the owner says; fields that do not belong to what was chosen are left aside."""
        place = {"file": {"file": self.file}, "folder": {"file": self.folder}, "spark": {"path": self.path}}
        place["query"] = {"connection": self.connection, "query": self.query}
        texts = given_fields(title=self.title, owner=self.owner, basket=self.basket, item=self.item)
        whole = given_fields(per_owner=self.per_owner, rows=self.rows, number_of_items=self.number_of_items)
        numbers = {name: number_in_form(value, name) for name, value in whole.items()}
        return Registration.of(
            {
                **place.get(self.source, {}),
                **texts,
                **{name: int(value) for name, value in numbers.items()},
                **{k: number_in_form(v, k) for k, v in given_fields(length=self.length).items()},
                "source": self.source,
                "unit": self.unit,
                "items": self.items,
                "alphabet": self.alphabet if self.items == "list" else "",
                "same_people_as": self.same_people_as,
                "different_people": bool(self.different_people),
            }
        )


@dataset_pages.get("/register", **needs("datasets.manage"))
def register_page(request: Request, service: TheService) -> Response:
    """Register data."""
    return _register_page(request, service, RegisterForm())


def _register_page(
    request: Request, service: Service, given: RegisterForm, *, message: str = "", status: int = 200
) -> Response:
    return shown_page(
        request,
        "register.html",
        status=status,
        sources=sources_of(service),
        others=sorted(service.ledger.balances()),
        message=message,
        given=given.model_dump(),
    )


@dataset_pages.post("/register", **needs("datasets.manage"))
def register_form(
    request: Request, who: Who, service: TheService, form: Annotated[RegisterForm, Form()]
) -> Response:
    """Register data; what cannot be meant comes back with the form."""
    delta = form.delta.strip() if form.items == "private" else ""
    try:
        told = form.registration()
        service.register(who, form.name.strip(), told, epsilon=form.epsilon, delta=delta or "0")
    except BadCall as refusal:
        return _register_page(request, service, form, message=str(refusal), status=400)
    return to_page(f"/data/{form.name.strip()}")


@dataset_pages.get("/data/{name}", **needs("datasets.see"))
def dataset_page(
    request: Request, who: Who, service: TheService, name: NameInPath, message: str = ""
) -> Response:
    """One dataset: its budget, who may spend what, and what was asked for."""
    dataset = service.seen_dataset(who, name)
    analysts = [user["name"] for user in service.people.all() if user["role"] == "analyst"]
    return shown_page(
        request,
        "dataset.html",
        dataset=dataset_row(service, who, dataset),
        told=dataset.told,
        allowances=service.catalogue.allowances(name),
        analysts=analysts,
        jobs=[service.told(job, who) for job in service.jobs.of_datasets([name])],
        message=message,
    )


@dataset_pages.post("/data/{name}/allow", **needs("datasets.manage"))
def allow_form(
    who: Who, service: TheService, name: NameInPath, user: Text, epsilon: Text, delta: Text = ""
) -> Response:
    """Say what an analyst may spend."""
    if user not in {each["name"] for each in service.people.all()}:
        raise LookupError("there is no such user")
    service.catalogue.allow(name, user, epsilon=epsilon, delta=delta or "0")
    service.events.note("allowance set", who=who.name, dataset=name, user=user)
    return to_page(f"/data/{name}")


@dataset_pages.post("/data/{name}/raise", **needs("datasets.manage"))
def raise_form(who: Who, service: TheService, name: NameInPath, epsilon: Text, reason: Text) -> Response:
    """Let more be spent."""
    service.ledger.raise_total(
        name, epsilon=epsilon, reason=f"{who.name}: {reason}" if reason.strip() else ""
    )
    service.events.note("total raised", who=who.name, dataset=name)
    return to_page(f"/data/{name}")


@dataset_pages.post("/data/{name}/read", **needs("datasets.manage"))
def read_form(who: Who, service: TheService, name: NameInPath) -> Response:
    """Read the file again."""
    service.read_again(who, name)
    return to_page(f"/data/{name}")
