"""The door of every route: who asks, and may they? Before anything of the request but its head is read.

A route is declared with its permission; one without is refused when the application is put together. A request comes
with a token in its head, or with the cookie of a page; a cookie, which browsers send by themselves, is good for a
change only together with what the page was told beside it.
"""

import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from veilset.service.core import Service
from veilset.service.events import LOGGER
from veilset.service.permissions import Principal

COOKIE = "veilset_session"
CSRF_HEADER, CSRF_FIELD = "x-csrf-token", "csrf"
PUBLIC = "public"
"""The mark of the routes that answer anybody: health and login."""
_MARK = "x-permission"
_SAFE = frozenset({"GET", "HEAD"})
_UPLOADS = "/api/v1/files/"
"""Where uploads go, which have a limit of their own."""
LARGEST_BODY = 16 << 20
"""16 MB of anything else."""
_MOST_WRONG_TOKENS = 60
"""60 wrong tokens a minute of one address are answered; more are not even looked at."""


class RateLimit:
    """At most a number of events a minute for each address."""

    def __init__(self, most: int) -> None:
        self._most, self._seen = most, dict[str, deque[float]]()

    def is_over(self, address: str) -> bool:
        """Whether an address had more than it may in the last minute."""
        seen, now = self._seen.get(address, deque()), time.monotonic()
        while seen and seen[0] < now - 60:
            seen.popleft()
        return len(seen) >= self._most

    def count(self, address: str) -> None:
        """One more."""
        if len(self._seen) > 10_000:
            self._seen.clear()
        self._seen.setdefault(address, deque()).append(time.monotonic())


class ServiceDoor:
    """Lets requests in."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.wrong_tokens = RateLimit(_MOST_WRONG_TOKENS)
        self.logins = RateLimit(service.settings.logins_per_minute)

    async def admit(self, request: Request, permission: str) -> Principal:
        """Who asks; HTTPException where they may not."""
        who = await self._who(request)
        if who is None:
            raise self._refusal(request, 401, "log in, or send a token: Authorization: Bearer ...")
        request.state.who = who
        if not who.may(permission):
            raise self._refusal(request, 403, f"your role or your token does not allow {permission!r}", who)
        if who.csrf is not None and request.method not in _SAFE:
            await self._check_page(request, who)
        return who

    async def _who(self, request: Request) -> Principal | None:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme:
            return await self._of_token(request, scheme, token)
        cookie = request.cookies.get(COOKIE)
        people = self.service.people
        if not cookie:
            return None
        return people.remembered(cookie) or await run_in_threadpool(people.of_session, cookie)

    async def _of_token(self, request: Request, scheme: str, token: str) -> Principal | None:
        address = address_of(request)
        if self.wrong_tokens.is_over(address):
            raise too_many(request, "too many wrong tokens from your address; wait a minute")
        who = None
        if scheme.lower() == "bearer":
            people, given = self.service.people, token.strip()
            who = people.remembered(given) or await run_in_threadpool(people.of_token, given)
        if who is None:
            self.wrong_tokens.count(address)
        return who

    async def _check_page(self, request: Request, who: Principal) -> None:
        """A change that a browser sends must come from a page of ours."""
        given = request.headers.get(CSRF_HEADER)
        if given is None and "form" in request.headers.get("content-type", ""):
            given = str((await request.form()).get(CSRF_FIELD, ""))
        origin = request.headers.get("origin")
        is_ours = origin in {None, "null"} or urlsplit(origin or "").netloc == request.headers.get("host")
        if not is_ours or not secrets.compare_digest((given or "").encode(), (who.csrf or "").encode()):
            raise self._refusal(
                request, 403, "this did not come from a page of this service; load it again", who
            )

    def _refusal(
        self, request: Request, status: int, why: str, who: Principal | None = None
    ) -> HTTPException:
        """Every refusal is written down: who, where, which; nothing of what was sent."""
        route = request.scope.get("route")
        path = route.path if isinstance(route, APIRoute) else "unknown"
        name = "" if who is None else who.name
        self.service.events.note("refused", who=name, status=status, method=request.method, route=path)
        return HTTPException(status, why)


def too_many(request: Request, why: str) -> HTTPException:
    """A refusal that stands in the log and not among the events: whoever causes many must not fill a table."""
    LOGGER.warning("refused", extra={"told": {"status": 429, "address": address_of(request)}})
    return HTTPException(429, why)


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client is not None else "unknown"


class GuardedRoute(APIRoute):
    """A route behind the door."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Ask the door first, then do what the route does."""
        handler, permission = super().get_route_handler(), permission_of(self)

        async def guarded(request: Request) -> Response:
            check_size(request)
            if permission != PUBLIC:
                request.state.who = await request.app.state.door.admit(request, permission)
            return await handler(request)

        return guarded


def check_size(request: Request) -> None:
    """Refuse bodies that are too large, or do not say how large they are, before they are read."""
    said = request.headers.get("content-length", "0")
    is_open = "transfer-encoding" in request.headers or not said.isdecimal()
    if not request.url.path.startswith(_UPLOADS) and (is_open or int(said) > LARGEST_BODY):
        raise HTTPException(413, f"a body has up to {LARGEST_BODY} bytes, and says how many; send less")


def permission_of(route: APIRoute) -> str:
    """What a route needs; one that does not say cannot be made."""
    permission = (route.openapi_extra or {}).get(_MARK)
    if permission is None:
        raise TypeError(f"the route {route.path} says no permission; declare it with needs(...)")
    return str(permission)


def needs(permission: str) -> dict[str, Any]:
    """What a route is declared with: `@routes.get("/x", **needs("datasets.see"))`."""
    security: list[dict[str, list[str]]] = [] if permission == PUBLIC else [{"token": []}, {"session": []}]
    return {"openapi_extra": {_MARK: permission, "security": security}}


async def _who_asks(request: Request) -> Principal:  # not in a thread: it waits for nothing
    who: Principal = request.state.who
    return who


async def _service_of(request: Request) -> Service:
    service: Service = request.app.state.door.service
    return service


Who = Annotated[Principal, Depends(_who_asks)]
"""Who asks, as the door found out."""

TheService = Annotated[Service, Depends(_service_of)]

Endpoint = Callable[..., Awaitable[Response]]
