"""The API, under /api/v1: each route says what it needs, calls the core once and answers in JSON."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, HTTPException, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from veilset.errors import BadCall
from veilset.results.comparison import Comparison
from veilset.results.release import Release
from veilset.service.catalogue import RegisteredDataset, Registration
from veilset.service.core import ReleaseAsk, Service
from veilset.service.documents import MEDIA_TYPES, download, result_of, trace_of
from veilset.service.permissions import IN_WORDS, PERMISSIONS, ROLES, Principal
from veilset.service.web.bodies import (
    Allowance,
    DatasetRow,
    ForecastRow,
    LedgerState,
    Login,
    Me,
    NewDataset,
    NewRelease,
    NewToken,
    NewUser,
    NoiseState,
    NumberText,
    Raise,
    ReleaseRow,
    Token,
    TokenRow,
    UserChange,
    UserRow,
)
from veilset.service.web.door import PUBLIC, GuardedRoute, TheService, Who, address_of, needs
from veilset.service.web.problems import PROBLEM_ANSWERS
from veilset.writing import atomically

api = APIRouter(prefix="/api/v1", route_class=GuardedRoute, responses=PROBLEM_ANSWERS)

NameInPath = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")]
FileInPath = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
JobInPath = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
RequestKey = Annotated[
    str, Header(alias="Idempotency-Key", min_length=8, max_length=100, pattern=r"^[!-~]+$")
]

SESSION_DAYS = 0.5
"""A token from a login ends after half a day."""


@api.post("/login", tags=["people"], **needs(PUBLIC))
def log_in(request: Request, service: TheService, body: Login) -> Token:
    """A token for half a day, for a name and a password."""
    who = password_login(request, service, body.name, body.password)
    return Token(token=service.people.make_token(who.name, label="login", scope="full", days=SESSION_DAYS))


def password_login(request: Request, service: Service, name: str, password: str) -> Principal:
    """Who logs in; tries are counted by address, and wrong ones by name."""
    limit = request.app.state.door.logins
    address = address_of(request)
    if limit.is_over(address):
        raise HTTPException(429, "too many logins from your address; wait a minute")
    limit.count(address)
    try:
        who = service.people.check_password(name, password)
    except Exception:
        service.events.note("login refused", who=name[:60])
        raise
    service.events.note("login", who=who.name)
    return who


@api.get("/me", tags=["people"], **needs("self"))
def me(who: Who) -> Me:
    """Who I am, and what I may."""
    may = [name for name in PERMISSIONS if who.may(name)]
    return Me(name=who.name, role=who.role, scope=who.scope, may=may)


@api.get("/permissions", tags=["people"], **needs("self"))
def permission_table() -> list[dict[str, Any]]:
    """Who may what."""
    return [
        {"permission": name, "in_words": IN_WORDS[name], "roles": [role for role in ROLES if role in roles]}
        for name, roles in PERMISSIONS.items()
    ]


@api.get("/tokens", tags=["people"], **needs("self"))
def list_tokens(who: Who, service: TheService) -> list[TokenRow]:
    """My tokens, without their secrets."""
    return [TokenRow(**row) for row in service.people.tokens(who.name)]


@api.post("/tokens", tags=["people"], status_code=201, **needs("self"))
def make_token(who: Who, service: TheService, body: NewToken) -> Token:
    """A new token of mine, told once."""
    service.events.note("token made", who=who.name, scope=body.scope)
    return Token(
        token=service.people.make_token(who.name, label=body.label, scope=body.scope, days=body.days)
    )


@api.delete("/tokens/{token}", tags=["people"], status_code=204, **needs("self"))
def revoke_token(
    who: Who, service: TheService, token: Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
) -> None:
    """End a token of mine."""
    service.people.revoke(who.name, token)
    service.events.note("token revoked", who=who.name)


@api.get("/users", tags=["people"], **needs("users.manage"))
def list_users(service: TheService) -> list[UserRow]:
    """All users."""
    return [UserRow(**row) for row in service.people.all()]


@api.post("/users", tags=["people"], status_code=201, **needs("users.manage"))
def make_user(who: Who, service: TheService, body: NewUser) -> UserRow:
    """A new user."""
    service.people.add(body.name, role=body.role, password=body.password, sees_releases=body.sees_releases)
    service.events.note("user made", who=who.name, user=body.name, role=body.role)
    return _user(service, body.name)


@api.patch("/users/{name}", tags=["people"], **needs("users.manage"))
def change_user(who: Who, service: TheService, name: NameInPath, body: UserChange) -> UserRow:
    """Change a role, lock a user out, let an auditor read releases, set a new password."""
    changes = {field: value for field, value in body.model_dump().items() if value is not None}
    if changes:
        service.people.change(name, **changes)
        service.events.note("user changed", who=who.name, user=name, fields=",".join(sorted(changes)))
    return _user(service, name)


def _user(service: Service, name: str) -> UserRow:
    found = [row for row in service.people.all() if row["name"] == name]
    if not found:
        raise LookupError(f"there is no user {name!r}")
    return UserRow(**found[0])


@api.get("/files", tags=["datasets"], **needs("datasets.manage"))
def list_files(service: TheService) -> list[str]:
    """The files that datasets can be made of."""
    return service.catalogue.files()


@api.put("/files/{name}", tags=["datasets"], status_code=201, **needs("datasets.manage"))
async def upload_file(request: Request, who: Who, service: TheService, name: FileInPath) -> dict[str, str]:
    """Upload a file of data: its bytes are the body. One of the same name is not replaced."""
    path = service.settings.uploads / name
    if path.exists():
        raise BadCall("there is a file of this name already; take another name")
    left = service.settings.largest_upload_mb << 20
    with atomically(path) as part, part.open("wb") as file:
        async for chunk in request.stream():
            left -= len(chunk)
            if left < 0 or shutil.disk_usage(path.parent).free < len(chunk):
                raise HTTPException(413, "the file is larger than this service takes")
            file.write(chunk)
    await run_in_threadpool(service.events.note, "file uploaded", who=who.name)
    return {"file": name}


def dataset_row(service: Service, who: Principal, dataset: RegisteredDataset) -> DatasetRow:
    """A dataset as it is shown to somebody."""
    allowed = service.allowance_left(dataset.name, who.name)
    return DatasetRow(
        name=dataset.name,
        title=dataset.told.title,
        state=dataset.state,
        detail=dataset.detail if who.role == "owner" else "",
        unit=dataset.told.unit,
        items=dataset.told.items,
        budget=service.budget(dataset.name).to_dict(),  # type: ignore[arg-type]  # checked by its model
        allowance_left=None if allowed is None else allowed.to_dict(),  # type: ignore[arg-type]
        facts=service.facts(dataset.name),
    )


@api.get("/datasets", tags=["datasets"], **needs("datasets.see"))
def list_datasets(who: Who, service: TheService) -> list[DatasetRow]:
    """The datasets that I have to do with."""
    return [dataset_row(service, who, each) for each in service.catalogue.seen_by(who)]


@api.post("/datasets", tags=["datasets"], status_code=201, **needs("datasets.manage"))
def register_dataset(who: Who, service: TheService, body: NewDataset) -> DatasetRow:
    """Register a file as a dataset, with its budget; it is read by a worker."""
    told = body.model_dump(exclude={"name", "epsilon", "delta"})
    service.register(who, body.name, Registration(**told), epsilon=body.epsilon, delta=body.delta)
    return dataset_row(service, who, service.catalogue.get(body.name))


@api.get("/datasets/{name}", tags=["datasets"], **needs("datasets.see"))
def one_dataset(who: Who, service: TheService, name: NameInPath) -> DatasetRow:
    """One dataset."""
    return dataset_row(service, who, service.seen_dataset(who, name))


@api.post("/datasets/{name}/read", tags=["datasets"], status_code=202, **needs("datasets.manage"))
def read_dataset_again(who: Who, service: TheService, name: NameInPath) -> DatasetRow:
    """Have the file read once more, where it changed."""
    service.read_again(who, name)
    return dataset_row(service, who, service.catalogue.get(name))


@api.post("/datasets/{name}/total", tags=["datasets"], **needs("datasets.manage"))
def raise_total(who: Who, service: TheService, name: NameInPath, body: Raise) -> DatasetRow:
    """Let more be spent on a dataset; the people in it then risk more."""
    dataset = service.catalogue.get(name)
    service.ledger.raise_total(
        name, epsilon=body.epsilon, delta=body.delta, reason=f"{who.name}: {body.reason}"
    )
    service.events.note("total raised", who=who.name, dataset=name)
    return dataset_row(service, who, dataset)


@api.post("/datasets/{name}/close", tags=["datasets"], **needs("datasets.manage"))
def close_dataset(who: Who, service: TheService, name: NameInPath) -> DatasetRow:
    """Let nothing more be spent on a dataset, for good."""
    dataset = service.catalogue.get(name)
    service.ledger.close_dataset(name, reason=f"by {who.name}")
    service.events.note("dataset closed", who=who.name, dataset=name)
    return dataset_row(service, who, dataset)


@api.put("/datasets/{name}/allowances/{user}", tags=["datasets"], **needs("datasets.manage"))
def set_allowance(
    who: Who, service: TheService, name: NameInPath, user: NameInPath, body: Allowance
) -> dict[str, str]:
    """What a user may spend on a dataset, in all."""
    _user(service, user)
    amount = service.catalogue.allow(name, user, epsilon=body.epsilon, delta=body.delta)
    service.events.note("allowance set", who=who.name, dataset=name, user=user)
    return amount.to_dict()


@api.get("/datasets/{name}/forecast", tags=["releases"], **needs("forecasts.see"))
def forecast_release(
    who: Who,
    service: TheService,
    name: NameInPath,
    epsilon: Annotated[NumberText, Query()],
    k: Annotated[int, Query(ge=1, le=10_000)] = 100,
    task: Literal["mine", "items", "publish"] = "mine",
    delta: Annotated[NumberText | None, Query()] = None,
) -> ForecastRow:
    """What a release would be worth, before anything is spent; looks at no data."""
    wanted = None if task == "publish" else k
    ask = ReleaseAsk(dataset=name, task=task, epsilon=epsilon, k=wanted, delta=delta)
    return ForecastRow(**service.forecast(who, ask))


@api.post("/releases", tags=["releases"], status_code=202, **needs("releases.ask"))
def ask_release(who: Who, service: TheService, body: NewRelease, key: RequestKey) -> ReleaseRow:
    """Ask for a release. The same key with the same request gives the same release, and is paid for once."""
    return ReleaseRow(**service.told(service.ask(who, body.ask(), key=key), who))


@api.get("/releases", tags=["releases"], **needs("releases.see"))
def list_releases(who: Who, service: TheService) -> list[ReleaseRow]:
    """All requests for datasets that I have to do with."""
    return [ReleaseRow(**service.told(job, who)) for job in service.seen_jobs(who)]


@api.get("/releases/{job}", tags=["releases"], **needs("releases.see"))
def one_release(who: Who, service: TheService, job: JobInPath) -> ReleaseRow:
    """How far a request is: what is told now."""
    return ReleaseRow(**service.told(service.seen_job(who, job), who))


@api.post("/releases/{job}/cancel", tags=["releases"], status_code=202, **needs("releases.ask"))
def cancel_release(who: Who, service: TheService, job: JobInPath) -> ReleaseRow:
    """Cancel a request; what came of it, and what it cost, is told on the schedule."""
    return ReleaseRow(**service.told(service.cancel(who, job), who))


_STREAM = {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "events"}}


@api.get(
    "/releases/{job}/events",
    tags=["releases"],
    response_class=StreamingResponse,
    responses=_STREAM,  # type: ignore[arg-type]
    **needs("releases.see"),
)
async def release_events(who: Who, service: TheService, job: JobInPath) -> StreamingResponse:
    """The request as server-sent events: now, and when its end is told."""
    await run_in_threadpool(service.seen_job, who, job)
    return StreamingResponse(_events(service, who, job), media_type="text/event-stream")


async def _events(service: Service, who: Principal, number: str) -> AsyncIterator[str]:
    while True:
        job = await run_in_threadpool(service.jobs.get, number)
        told = service.told(job, who)
        yield f"event: state\ndata: {json.dumps(told)}\n\n"
        if told["state"] != "waiting":
            return
        await asyncio.sleep(min(1.0, service.settings.release_every / 2))


@api.get("/releases/{job}/result", tags=["releases"], **needs("releases.read"))
def release_result(who: Who, service: TheService, job: JobInPath) -> dict[str, Any]:
    """What was released."""
    return service.document(who, job)


@api.get("/releases/{job}/trace", tags=["releases"], **needs("traces.read"))
def release_trace(who: Who, service: TheService, job: JobInPath) -> dict[str, Any]:
    """Which questions were asked, at which price, and what is promised; nothing that was answered."""
    return trace_of(service.document(who, job))


_FILES = {200: {"content": {media: {} for media in MEDIA_TYPES.values()}, "description": "the file"}}


@api.get(
    "/releases/{job}/download/{form}",
    tags=["releases"],
    response_class=Response,
    responses=_FILES,  # type: ignore[arg-type]
    **needs("releases.read"),
)
def download_release(
    who: Who, service: TheService, job: JobInPath, form: Literal["json", "csv", "parquet", "xlsx", "html"]
) -> Response:
    """The release as a file; `html` is the report, one page that works offline."""
    content = download(service.document(who, job), form)
    name = f'attachment; filename="release-{job[:8]}.{form}"'
    return Response(content, media_type=MEDIA_TYPES[form], headers={"content-disposition": name})


@api.get("/releases/{job}/rules", tags=["releases"], **needs("releases.read"))
def release_rules(
    who: Who,
    service: TheService,
    job: JobInPath,
    min_confidence: Annotated[float, Query(ge=0, le=1)] = 0.5,
) -> list[dict[str, Any]]:
    """Association rules, from what was released: free."""
    rules = found_itemsets(service, who, job).rules(min_confidence=min_confidence).to_dicts()
    finite: list[dict[str, Any]] = json.loads(
        json.dumps(rules).replace("Infinity", "null").replace("NaN", "null")
    )
    return finite


def found_itemsets(service: Service, who: Principal, job: str) -> Release:
    """The itemsets that were released for a request."""
    result = result_of(service.document(who, job))
    if not isinstance(result, Release):
        raise BadCall("this is a published dataset, not a list of itemsets; mine what you download")
    return result


@api.get("/compare/{first}/{second}", tags=["releases"], **needs("releases.read"))
def compare_two(who: Who, service: TheService, first: JobInPath, second: JobInPath) -> dict[str, Any]:
    """Two releases side by side."""
    return Comparison.of(*(found_itemsets(service, who, job) for job in (first, second))).to_dict()


@api.get("/ledger", tags=["audit"], **needs("ledger.see"))
def ledger_entries(service: TheService) -> list[dict[str, Any]]:
    """Every entry of the ledger, as `veilset ledger export` writes it: for whoever checks."""
    return [dict(entry.to_public_row()) for entry in service.ledger.entries()]


@api.get("/ledger/verify", tags=["audit"], **needs("ledger.see"))
def verify_ledger(service: TheService) -> LedgerState:
    """Whether an entry was edited or removed."""
    flaws = service.ledger.flaws()
    return LedgerState(entries=len(service.ledger.entries()), is_sound=not flaws, flaws=flaws)


@api.get("/audit", tags=["audit"], **needs("audit.see"))
def noise_audit(request: Request) -> NoiseState:
    """How the test of everything random went when the service started."""
    tests = request.app.state.noise_tests
    return NoiseState(
        is_fine=None if tests is None else all(t.is_fine for t in tests), tests=noise_rows(tests)
    )


def noise_rows(tests: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - tests, or none yet
    """What the test found, a row for each law."""
    return [] if tests is None else [test.to_dict() for test in tests]


@api.get("/events", tags=["audit"], **needs("events.see"))
def list_events(service: TheService) -> list[dict[str, Any]]:
    """Who did what, and who was refused; the newest first."""
    return service.events.latest()
