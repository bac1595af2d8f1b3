"""The API for releases: forecasts, requests, progress, results."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import Query, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from veilset.errors import BadCall
from veilset.results.comparison import Comparison
from veilset.results.release import Release
from veilset.service.asking import ReleaseAsk
from veilset.service.core import Service
from veilset.service.documents import MEDIA_TYPES, download, result_of, trace_of
from veilset.service.permissions import Principal
from veilset.service.web.api.routing import JobInPath, NameInPath, RequestKey, api_router
from veilset.service.web.bodies import ForecastRow, NewRelease, NumberText, ReleaseRow
from veilset.service.web.door import TheService, Who, needs

releases_api = api_router("releases")


@releases_api.get("/datasets/{name}/forecast", **needs("forecasts.see"))
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


@releases_api.post("/releases", status_code=202, **needs("releases.ask"))
def ask_release(who: Who, service: TheService, body: NewRelease, key: RequestKey) -> ReleaseRow:
    """Ask for a release. The same key with the same request gives the same release, and is paid for once."""
    return ReleaseRow(**service.told(service.ask(who, body.ask(), key=key), who))


@releases_api.get("/releases", **needs("releases.see"))
def list_releases(who: Who, service: TheService) -> list[ReleaseRow]:
    """All requests for datasets that I have to do with."""
    return [ReleaseRow(**service.told(job, who)) for job in service.seen_jobs(who)]


@releases_api.get("/releases/{job}", **needs("releases.see"))
async def one_release(who: Who, service: TheService, job: JobInPath) -> ReleaseRow:
    """How far a request is: what is told now."""
    return ReleaseRow(**service.told(await run_in_threadpool(service.seen_job, who, job), who))


@releases_api.post("/releases/{job}/cancel", status_code=202, **needs("releases.ask"))
def cancel_release(who: Who, service: TheService, job: JobInPath) -> ReleaseRow:
    """Cancel a request; what came of it, and what it cost, is told on the schedule."""
    return ReleaseRow(**service.told(service.cancel(who, job), who))


_STREAM = {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "events"}}


@releases_api.get(
    "/releases/{job}/events",
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


@releases_api.get("/releases/{job}/result", **needs("releases.read"))
def release_result(who: Who, service: TheService, job: JobInPath) -> dict[str, Any]:
    """What was released."""
    return service.document(who, job)


@releases_api.get("/releases/{job}/trace", **needs("traces.read"))
def release_trace(who: Who, service: TheService, job: JobInPath) -> dict[str, Any]:
    """Which questions were asked, at which price, and what is promised; nothing that was answered."""
    return trace_of(service.document(who, job))


_FILES = {200: {"content": {media: {} for media in MEDIA_TYPES.values()}, "description": "the file"}}


@releases_api.get(
    "/releases/{job}/download/{form}",
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


@releases_api.get("/releases/{job}/rules", **needs("releases.read"))
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


@releases_api.get("/compare/{first}/{second}", **needs("releases.read"))
def compare_two(who: Who, service: TheService, first: JobInPath, second: JobInPath) -> dict[str, Any]:
    """Two releases side by side."""
    return Comparison.of(*(found_itemsets(service, who, job) for job in (first, second))).to_dict()
