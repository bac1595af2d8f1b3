"""The application: routes, pages, heads of answers, and nothing that answers without a permission."""

from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import PlainTextResponse
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from veilset._version import __version__
from veilset.errors import BadCall
from veilset.service.core import Service
from veilset.service.web.api import API_ROUTERS
from veilset.service.web.door import (
    COOKIE,
    PUBLIC,
    GuardedRoute,
    ServiceDoor,
    TheService,
    needs,
    permission_of,
)
from veilset.service.web.pages import PAGE_ROUTERS, problem_page
from veilset.service.web.problems import handle_problems

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a page may do: scripts and styles from files of the service only, nothing from elsewhere, no frame around it."""

HEADS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

_RAW_HEADS = [(name.encode(), value.encode()) for name, value in HEADS.items()]

_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer"},
    "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
}

others = APIRouter(route_class=GuardedRoute)


@others.get("/health", **needs(PUBLIC))
def health() -> dict[str, str]:
    """Whether the service answers."""
    return {"status": "ok"}


@others.get("/metrics", response_class=PlainTextResponse, **needs("metrics.see"))
def metrics(request: Request, service: TheService) -> str:
    """For Prometheus: how many requests there were, by what is told of them, and how many answers by status."""
    lines = ["# TYPE veilset_requests gauge"]
    for state, number in service.jobs.counts(service.settings.release_every).items():
        lines.append(f'veilset_requests{{state="{state}"}} {number}')
    lines.append("# TYPE veilset_answers_total counter")
    for status, number in sorted(request.app.state.answers.items()):
        lines.append(f'veilset_answers_total{{status="{status}"}} {number}')
    lines += ["# TYPE veilset_workers gauge", f"veilset_workers {len(service.dispatcher.workers())}"]
    return "\n".join(lines) + "\n"


@others.get("/static/{name}", **needs(PUBLIC))
def static_file(name: str) -> Response:
    """The style and the script of the pages: the login page needs them, and they say nothing."""
    kinds = {"app.css": "text/css", "app.js": "text/javascript"}
    if name not in kinds:
        raise LookupError("there is no such file")
    content = files("veilset.service.web").joinpath("static", name).read_bytes()
    return Response(content, media_type=kinds[name])


@others.get("/api/v1/openapi.json", include_in_schema=False, **needs("self"))
def api_description(request: Request) -> dict[str, Any]:
    """The OpenAPI document of the API."""
    described: dict[str, Any] = request.app.openapi()
    return described


def create_app(service: Service) -> FastAPI:
    """Put the application together; a route without a permission stops it."""
    app = FastAPI(title="veilset", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.door, app.state.noise_tests, app.state.answers = ServiceDoor(service), None, {}
    app.state.provider = _provider_of(service)
    for router in (*API_ROUTERS, others, *PAGE_ROUTERS):
        app.router.routes.extend(router.routes)
    handle_problems(app, problem_page)
    app.openapi = lambda: _description(app)  # type: ignore[method-assign]
    app.add_middleware(_Heads, answers=app.state.answers)
    check_guarded(app.routes)
    return app


def _provider_of(service: Service) -> Any:  # noqa: ANN401 - of the extra `oidc`, or None
    """The provider of logins that the settings name."""
    if service.settings.oidc is None:
        return None
    try:
        from veilset.service.provider import LoginProvider  # noqa: PLC0415
    except ImportError as missing:
        raise BadCall(f"logins by a provider need {missing.name}: pip install 'veilset[oidc]'") from None
    return LoginProvider(service.settings.oidc)


def check_guarded(routes: Iterable[BaseRoute]) -> None:
    """Every route is behind the door."""
    for route in routes:
        if not isinstance(route, GuardedRoute):
            raise TypeError(f"{getattr(route, 'path', route)} is not behind the door")
        permission_of(route)


class _Heads:
    """Every answer says what a browser may do with it; how many there were is counted."""

    def __init__(self, app: ASGIApp, answers: dict[int, int]) -> None:
        self._app, self._answers = app, answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add to the head of its answer."""

        async def send_with_heads(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(each for each in _RAW_HEADS if each[0] not in given),
                ]
                self._answers[message["status"]] = self._answers.get(message["status"], 0) + 1
            await send(message)

        await self._app(scope, receive, send_with_heads)


def _description(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of the API, without the pages."""
    routes = [
        route for route in app.routes if isinstance(route, APIRoute) and route.path.startswith("/api/v1")
    ]
    if app.openapi_schema is None:
        app.openapi_schema = get_openapi(title="veilset", version=__version__, routes=routes)
        app.openapi_schema["components"]["securitySchemes"] = _SCHEMES
    return app.openapi_schema
