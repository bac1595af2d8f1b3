"""Pages about releases: asking, waiting, what was released, two of them compared."""

import secrets
from typing import Annotated, Any

from fastapi import Form, Query, Request, Response

from veilset.errors import BadCall, BudgetExceeded
from veilset.itemsets import Domain
from veilset.methods import find_method
from veilset.results.comparison import Comparison
from veilset.results.release import Release
from veilset.service.asking import ReleaseAsk, largest_size
from veilset.service.core import Service
from veilset.service.documents import result_of, trace_of
from veilset.service.permissions import Principal
from veilset.service.web.api.datasets import dataset_row
from veilset.service.web.api.releases import found_itemsets
from veilset.service.web.api.routing import JobInPath, NameInPath
from veilset.service.web.charts import bars, network
from veilset.service.web.door import TheService, Who, needs
from veilset.service.web.pages.filling import Text, number_in_form, page_router, shown_page, to_page
from veilset.wording import shown_name

MOST_RULES_SHOWN = 200
MOST_ON_SLIDER = 500
"""500 itemsets are asked for by a slider; more by the API."""

release_pages = page_router()


@release_pages.get("/ask/{name}", **needs("releases.ask"))
def ask_page(request: Request, who: Who, service: TheService, name: NameInPath) -> Response:
    """Ask for a release, with a forecast before anything is spent."""
    return _ask_page(request, who, service, name, message="")


def _ask_page(
    request: Request, who: Principal, service: Service, name: str, *, message: str, status: int = 200
) -> Response:
    dataset = dataset_row(service, who, service.seen_dataset(who, name))
    return shown_page(
        request,
        "ask.html",
        status=status,
        dataset=dataset,
        most=_most_asked(service, name),
        key=secrets.token_hex(16),
        message=message,
        every=service.settings.release_every,
    )


def _most_asked(service: Service, name: str) -> int:
    """Where the slider ends: at what there can be, where the items are public, or at what a page shows."""
    items = service.catalogue.get(name).told.known_items
    if not items:
        return MOST_ON_SLIDER
    return min(MOST_ON_SLIDER, Domain(range(items), largest_size(find_method(None, task="mine"), None)).size)


@release_pages.post("/ask/{name}", **needs("releases.ask"))
def ask_form(
    request: Request,
    who: Who,
    service: TheService,
    name: NameInPath,
    task: Text,
    epsilon: Text,
    key: Annotated[str, Form(min_length=8, max_length=100)],
    k: Text = "",
    delta: Text = "",
) -> Response:
    """Ask; the key of the form makes a second click the same request."""
    try:
        wanted = None if task == "publish" or not k.strip() else int(number_in_form(k, "how many"))
        ask = ReleaseAsk(dataset=name, task=task, epsilon=epsilon, k=wanted, delta=delta.strip() or None)
        job = service.ask(who, ask, key=key)
    except (BadCall, BudgetExceeded) as refusal:
        return _ask_page(request, who, service, name, message=str(refusal), status=409)
    return to_page(f"/releases/{job.id}")


@release_pages.get("/releases", **needs("releases.see"))
def releases_page(request: Request, who: Who, service: TheService) -> Response:
    """All requests, and two of them to compare."""
    jobs = [service.told(job, who) for job in service.seen_jobs(who)]
    done = [job for job in jobs if job["state"] == "done" and job["task"] != "publish"]
    return shown_page(request, "releases.html", jobs=jobs, done=done)


@release_pages.get("/releases/{job}", **needs("releases.see"))
def release_page(request: Request, who: Who, service: TheService, job: JobInPath) -> Response:
    """A request: its progress, then what was released."""
    told = service.told(service.seen_job(who, job), who)
    every = service.settings.release_every
    if told["state"] != "done":
        return shown_page(request, "progress.html", job=told, every=every)
    document = service.document(who, job)
    result = result_of(document)
    if not who.may("releases.read"):
        return shown_page(request, "trace.html", job=told, trace=trace_of(document), result=result)
    if not isinstance(result, Release):
        return shown_page(request, "published.html", job=told, result=result, rows=_most_copies(document))
    rules = result.rules().head(MOST_RULES_SHOWN).to_dicts()
    return shown_page(
        request,
        "release.html",
        job=told,
        result=result,
        rows=bars(result),
        rules=rules,
        network=network(result),
    )


def _most_copies(document: dict[str, Any]) -> list[tuple[list[str], int]]:
    names = [shown_name(name) for name in document["names"]]
    rows = zip(document["codes"], document["copies"], strict=True)
    chosen = sorted(rows, key=lambda row: -row[1])[:100]
    return [([names[code] for code in codes], copies) for codes, copies in chosen]


@release_pages.post("/releases/{job}/cancel", **needs("releases.ask"))
def cancel_form(who: Who, service: TheService, job: JobInPath) -> Response:
    """Cancel a request."""
    service.cancel(who, job)
    return to_page(f"/releases/{job}")


@release_pages.get("/compare", **needs("releases.read"))
def compare_page(
    request: Request,
    who: Who,
    service: TheService,
    first: Annotated[str, Query(max_length=32)],
    second: Annotated[str, Query(max_length=32)],
) -> Response:
    """Two releases side by side."""
    compared = Comparison.of(*(found_itemsets(service, who, job) for job in (first, second)))
    jobs = [service.told(service.seen_job(who, job), who) for job in (first, second)]
    return shown_page(request, "compare.html", compared=compared, jobs=jobs)
