"""The pages for people: plain HTML from the server, so that a strict policy can forbid every inline script and style.

Each page says what it needs, calls the core, and fills a template; forms lead back to a page. Whatever is shown is
escaped by the templates. What moves by itself (forecasts, progress, sorting) is one small script over pages that work
without it.
"""

import secrets
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, select_autoescape

from veilset.errors import BadCall, BudgetExceeded
from veilset.results.comparison import Comparison
from veilset.results.release import Release
from veilset.service.catalogue import Registration
from veilset.service.core import ReleaseAsk, Service
from veilset.service.documents import result_of, trace_of
from veilset.service.people import LoginRefused
from veilset.service.permissions import ROLES, SCOPES, Principal
from veilset.service.web.api import (
    JobInPath,
    NameInPath,
    dataset_row,
    found_itemsets,
    noise_rows,
    password_login,
)
from veilset.service.web.charts import bars, network
from veilset.service.web.door import COOKIE, PUBLIC, GuardedRoute, TheService, Who, needs
from veilset.wording import counted, shown_name

if TYPE_CHECKING:
    from collections.abc import Callable

pages = APIRouter(route_class=GuardedRoute, include_in_schema=False, default_response_class=HTMLResponse)

MOST_RULES_SHOWN = 200
Text = Annotated[str, Form(max_length=2_000_000)]

_TEMPLATES = Environment(
    loader=PackageLoader("veilset.service.web"),
    autoescape=select_autoescape(),
    trim_blocks=True,
    lstrip_blocks=True,
)


def _moment(seconds: float) -> str:
    """A time as people read it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _share_left(left: str, total: str) -> int:
    """Per cent of a budget that are left."""
    return int(100 * Fraction(left) / Fraction(total)) if Fraction(total) else 0


_TEMPLATES.filters |= {
    "moment": _moment,
    "epsilon": lambda text: f"{float(Fraction(text)):.4g}",
    "item": shown_name,
    "percent": lambda share: f"{share:.1%}",
}
_TEMPLATES.globals |= {"counted": counted, "share_left": _share_left}


def _page(request: Request, template: str, *, status: int = 200, **texts: Any) -> HTMLResponse:  # noqa: ANN401
    who: Principal | None = getattr(request.state, "who", None)
    may: Callable[[str], bool] = (lambda _: False) if who is None else who.may
    filled = _TEMPLATES.get_template(template).render(
        who=who, may=may, path=request.url.path, code=status, **texts
    )
    return HTMLResponse(filled, status)


def problem_page(request: Request, status: int, message: str) -> HTMLResponse:
    """What went wrong, for people."""
    return _page(request, "problem.html", status=status, message=message)


def _to(path: str) -> RedirectResponse:
    return RedirectResponse(path, 303)


def _given(**fields: str) -> dict[str, str]:
    """The fields of a form that were filled in."""
    return {name: value.strip() for name, value in fields.items() if value.strip()}


@pages.get("/login", **needs(PUBLIC))
def login_page(request: Request, next: str = "/") -> Response:  # noqa: A002 - its name in the address
    """Where to log in."""
    return _page(request, "login.html", message="", next=next)


@pages.post("/login", **needs(PUBLIC))
def login_form(
    request: Request,
    service: TheService,
    name: Annotated[str, Form(max_length=100)],
    password: Annotated[str, Form(max_length=1000)],
    next: Annotated[str, Form(max_length=300)] = "/",  # noqa: A002
) -> Response:
    """Log in; the cookie is for this service only, and no script can read it."""
    try:
        who = password_login(request, service, name, password)
    except LoginRefused as refusal:
        return _page(request, "login.html", status=401, message=str(refusal), next=next)
    session = service.people.start_session(who.name)
    is_ours = next.startswith("/") and not next.startswith(("//", "/\\"))
    response = _to(next if is_ours else "/")
    response.set_cookie(
        COOKIE,
        session.secret,
        max_age=int(3600 * service.settings.session_hours),
        httponly=True,
        samesite="strict",
        secure=service.settings.behind_https,
    )
    return response


@pages.post("/logout", **needs("self"))
def logout_form(request: Request, service: TheService) -> Response:
    """Log out."""
    service.people.end_session(request.cookies.get(COOKIE, ""))
    response = _to("/login")
    response.delete_cookie(COOKIE)
    return response


@pages.get("/", **needs("datasets.see"))
def dashboard(request: Request, who: Who, service: TheService) -> Response:
    """The datasets, with what is left of each budget; who has none and may make one is led there."""
    datasets = [dataset_row(service, who, each) for each in service.catalogue.seen_by(who)]
    if not datasets and who.may("datasets.manage"):
        return _to("/welcome")
    jobs = [service.told(job, who) for job in service.seen_jobs(who)[:10]]
    return _page(request, "dashboard.html", datasets=datasets, jobs=jobs)


@pages.get("/welcome", **needs("datasets.manage"))
def welcome_page(request: Request, service: TheService) -> Response:
    """The first steps of an owner, and which of them are done."""
    users, datasets = service.people.all(), service.catalogue.seen_by(request.state.who)
    allowed = any(service.catalogue.allowances(each.name) for each in datasets)
    return _page(request, "welcome.html", users=users, datasets=datasets, is_allowed=allowed)


@pages.get("/register", **needs("datasets.manage"))
def register_page(request: Request, service: TheService) -> Response:
    """Register data."""
    return _page(request, "register.html", files=service.catalogue.files(), message="", given={})


@pages.post("/register", **needs("datasets.manage"))
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
    given: dict[str, Any] = _given(title=title, owner=owner, basket=basket, item=item)
    try:
        given |= {
            field: _whole(value, field) for field, value in _given(per_owner=per_owner, rows=rows).items()
        }
        given |= {k: _whole(v, k) for k, v in _given(number_of_items=number_of_items).items()}
        given |= {k: float(_whole(v, k)) for k, v in _given(length=length).items()}
        listed = alphabet if items == "list" else ""
        told = Registration(file=file, items=items, unit=unit, alphabet=listed, **given)  # type: ignore[arg-type]
        service.register(who, name.strip(), told, epsilon=epsilon, delta=delta.strip() or "0")
    except BadCall as refusal:
        fields = {"name": name, "file": file, "title": title, "epsilon": epsilon, "alphabet": alphabet}
        files = service.catalogue.files()
        return _page(request, "register.html", status=400, files=files, message=str(refusal), given=fields)
    return _to(f"/data/{name.strip()}")


def _whole(text: str, what: str) -> int:
    try:
        return int(Fraction(text.replace(",", "")))
    except (ValueError, ZeroDivisionError):
        raise BadCall(f"{what}: {text[:20]!r} is not a number; give one, or leave it out") from None


@pages.get("/data/{name}", **needs("datasets.see"))
def dataset_page(
    request: Request, who: Who, service: TheService, name: NameInPath, message: str = ""
) -> Response:
    """One dataset: its budget, who may spend what, and what was asked for."""
    dataset = service.seen_dataset(who, name)
    analysts = [user["name"] for user in service.people.all() if user["role"] == "analyst"]
    return _page(
        request,
        "dataset.html",
        dataset=dataset_row(service, who, dataset),
        told=dataset.told,
        allowances=service.catalogue.allowances(name),
        analysts=analysts,
        jobs=[service.told(job, who) for job in service.jobs.of_datasets([name])],
        message=message,
    )


@pages.post("/data/{name}/allow", **needs("datasets.manage"))
def allow_form(
    who: Who, service: TheService, name: NameInPath, user: Text, epsilon: Text, delta: Text = ""
) -> Response:
    """Say what an analyst may spend."""
    if user not in {each["name"] for each in service.people.all()}:
        raise LookupError("there is no such user")
    service.catalogue.allow(name, user, epsilon=epsilon, delta=delta or "0")
    service.events.note("allowance set", who=who.name, dataset=name, user=user)
    return _to(f"/data/{name}")


@pages.post("/data/{name}/raise", **needs("datasets.manage"))
def raise_form(who: Who, service: TheService, name: NameInPath, epsilon: Text, reason: Text) -> Response:
    """Let more be spent."""
    service.ledger.raise_total(
        name, epsilon=epsilon, reason=f"{who.name}: {reason}" if reason.strip() else ""
    )
    service.events.note("total raised", who=who.name, dataset=name)
    return _to(f"/data/{name}")


@pages.post("/data/{name}/read", **needs("datasets.manage"))
def read_form(who: Who, service: TheService, name: NameInPath) -> Response:
    """Read the file again."""
    service.read_again(who, name)
    return _to(f"/data/{name}")


@pages.get("/ask/{name}", **needs("releases.ask"))
def ask_page(request: Request, who: Who, service: TheService, name: NameInPath) -> Response:
    """Ask for a release, with a forecast before anything is spent."""
    return _ask_page(request, who, service, name, message="")


def _ask_page(
    request: Request, who: Principal, service: Service, name: str, *, message: str, status: int = 200
) -> Response:
    dataset = dataset_row(service, who, service.seen_dataset(who, name))
    return _page(
        request,
        "ask.html",
        status=status,
        dataset=dataset,
        key=secrets.token_hex(16),
        message=message,
        every=service.settings.release_every,
    )


@pages.post("/ask/{name}", **needs("releases.ask"))
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
        wanted = None if task == "publish" or not k.strip() else _whole(k, "how many")
        ask = ReleaseAsk(dataset=name, task=task, epsilon=epsilon, k=wanted, delta=delta.strip() or None)
        job = service.ask(who, ask, key=key)
    except (BadCall, BudgetExceeded) as refusal:
        service.events.note("request refused", who=who.name, dataset=name)
        return _ask_page(request, who, service, name, message=str(refusal), status=409)
    return _to(f"/releases/{job.id}")


@pages.get("/releases", **needs("releases.see"))
def releases_page(request: Request, who: Who, service: TheService) -> Response:
    """All requests, and two of them to compare."""
    jobs = [service.told(job, who) for job in service.seen_jobs(who)]
    done = [job for job in jobs if job["state"] == "done" and job["task"] != "publish"]
    return _page(request, "releases.html", jobs=jobs, done=done)


@pages.get("/releases/{job}", **needs("releases.see"))
def release_page(request: Request, who: Who, service: TheService, job: JobInPath) -> Response:
    """A request: its progress, then what was released."""
    told = service.told(service.seen_job(who, job), who)
    every = service.settings.release_every
    if told["state"] != "done":
        return _page(request, "progress.html", job=told, every=every)
    document = service.document(who, job)
    result = result_of(document)
    if not who.may("releases.read"):
        return _page(request, "trace.html", job=told, trace=trace_of(document), result=result)
    if not isinstance(result, Release):
        return _page(request, "published.html", job=told, result=result, rows=_most_copies(document))
    rules = result.rules().head(MOST_RULES_SHOWN).to_dicts()
    return _page(
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


@pages.post("/releases/{job}/cancel", **needs("releases.ask"))
def cancel_form(who: Who, service: TheService, job: JobInPath) -> Response:
    """Cancel a request."""
    service.cancel(who, job)
    return _to(f"/releases/{job}")


@pages.get("/compare", **needs("releases.read"))
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
    return _page(request, "compare.html", compared=compared, jobs=jobs)


@pages.get("/ledger", **needs("ledger.see"))
def ledger_page(request: Request, service: TheService) -> Response:
    """Every entry on a time line, and whether all are as they were written."""
    entries = [entry.to_public_row() | {"told": entry.told} for entry in reversed(service.ledger.entries())]
    return _page(
        request,
        "ledger.html",
        entries=entries[:500],
        flaws=service.ledger.flaws(),
        balances=service.ledger.balances(),
        noise=noise_rows(request.app.state.noise_tests),
        events=service.events.latest(50),
    )


@pages.get("/people", **needs("users.manage"))
def people_page(request: Request, service: TheService, message: str = "") -> Response:
    """All users."""
    return _page(request, "people.html", users=service.people.all(), roles=ROLES, message=message[:300])


@pages.post("/people", **needs("users.manage"))
def new_user_form(
    request: Request, who: Who, service: TheService, name: Text, role: Text, sees_releases: Text = ""
) -> Response:
    """Make a user, with a password that is shown once."""
    password = secrets.token_urlsafe(15)
    try:
        service.people.add(name.strip(), role=role, password=password, sees_releases=bool(sees_releases))
    except BadCall as refusal:
        texts = {"users": service.people.all(), "roles": ROLES, "message": str(refusal)}
        return _page(request, "people.html", status=400, **texts)
    service.events.note("user made", who=who.name, user=name, role=role)
    return _page(
        request, "told_once.html", what=f"the password of {name.strip()}", secret=password, back="/people"
    )


@pages.post("/people/{name}", **needs("users.manage"))
def change_user_form(
    who: Who, service: TheService, name: NameInPath, is_active: Text = "", sees_releases: Text = ""
) -> Response:
    """Lock a user out or let them in; let an auditor read releases."""
    changes: dict[str, Any] = {field: value == "yes" for field, value in _given(is_active=is_active).items()}
    changes |= {field: value == "yes" for field, value in _given(sees_releases=sees_releases).items()}
    service.people.change(name, **changes)
    service.events.note("user changed", who=who.name, user=name)
    return _to("/people")


@pages.get("/me", **needs("self"))
def me_page(request: Request, who: Who, service: TheService) -> Response:
    """My tokens and my password."""
    return _page(request, "me.html", tokens=service.people.tokens(who.name), scopes=SCOPES, message="")


@pages.post("/me/tokens", **needs("self"))
def new_token_form(request: Request, who: Who, service: TheService, label: Text, scope: Text) -> Response:
    """Make a token, shown once."""
    token = service.people.make_token(who.name, label=label, scope=scope, days=30)
    service.events.note("token made", who=who.name, scope=scope)
    return _page(request, "told_once.html", what="your token, good for 30 days", secret=token, back="/me")


@pages.post("/me/tokens/{token}/revoke", **needs("self"))
def revoke_form(who: Who, service: TheService, token: str) -> Response:
    """End a token."""
    service.people.revoke(who.name, token)
    return _to("/me")


@pages.post("/me/password", **needs("self"))
def password_form(request: Request, who: Who, service: TheService, old: Text, new: Text) -> Response:
    """Change my password; all my logins end."""
    try:
        service.people.check_password(who.name, old)
        service.people.change(who.name, password=new)
    except (BadCall, LoginRefused) as refusal:
        tokens = service.people.tokens(who.name)
        return _page(request, "me.html", status=400, tokens=tokens, scopes=SCOPES, message=str(refusal))
    service.events.note("password changed", who=who.name)
    return _to("/login")
