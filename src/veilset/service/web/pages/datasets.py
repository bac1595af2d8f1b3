"""Pages about datasets: what there is, the first steps, registering, budgets and allowances."""

from typing import Any

from fastapi import Request, Response

from veilset.errors import BadCall
from veilset.service.catalogue import Registration
from veilset.service.web.api.datasets import dataset_row
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


@dataset_pages.get("/", **needs("datasets.see"))
def dashboard(request: Request, who: Who, service: TheService) -> Response:
    """The datasets, with what is left of each budget; who has none and may make one is led there."""
    datasets = [dataset_row(service, who, each) for each in service.catalogue.seen_by(who)]
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


@dataset_pages.get("/register", **needs("datasets.manage"))
def register_page(request: Request, service: TheService) -> Response:
    """Register data."""
    return shown_page(request, "register.html", files=service.catalogue.files(), message="", given={})


@dataset_pages.post("/register", **needs("datasets.manage"))
def register_form(
    request: Request,
    who: Who,
    service: TheService,
    name: Text,
    file: Text,
    items: Text,
    unit: Text,
    epsilon: Text,
    delta: Text = "",
    title: Text = "",
    alphabet: Text = "",
    owner: Text = "",
    basket: Text = "",
    item: Text = "",
    per_owner: Text = "",
    rows: Text = "",
    number_of_items: Text = "",
    length: Text = "",
) -> Response:
    """Register data; what cannot be meant comes back with the form."""
    given: dict[str, Any] = given_fields(title=title, owner=owner, basket=basket, item=item)
    try:
        given |= {
            field: number_in_form(value, field)
            for field, value in given_fields(per_owner=per_owner, rows=rows).items()
        }
        given |= {k: number_in_form(v, k) for k, v in given_fields(number_of_items=number_of_items).items()}
        given |= {k: float(number_in_form(v, k)) for k, v in given_fields(length=length).items()}
        listed = alphabet if items == "list" else ""
        told = Registration(file=file, items=items, unit=unit, alphabet=listed, **given)  # type: ignore[arg-type]
        service.register(who, name.strip(), told, epsilon=epsilon, delta=delta.strip() or "0")
    except BadCall as refusal:
        fields = {"name": name, "file": file, "title": title, "epsilon": epsilon, "alphabet": alphabet}
        files = service.catalogue.files()
        return shown_page(
            request, "register.html", status=400, files=files, message=str(refusal), given=fields
        )
    return to_page(f"/data/{name.strip()}")


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
