"""What goes wrong, as answers: one shape for all, no traceback, nothing of what was sent or of the data."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException as StarletteHTTPException

from veilset.errors import BadCall, BadInput, BudgetExceeded, LedgerUnavailable, VeilsetError
from veilset.service.core import NotReady
from veilset.service.database import StoreUnavailable
from veilset.service.events import LOGGER
from veilset.service.jobs import KeyReused
from veilset.service.people import LoginRefused, NotAllowed
from veilset.service.web.bodies import Problem
from veilset.wording import printable

_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (LoginRefused, 401),
    (NotAllowed, 403),
    (LookupError, 404),
    (NotReady, 409),
    (BudgetExceeded, 409),
    (KeyReused, 409),
    (BadCall, 400),
    (BadInput, 400),
    (LedgerUnavailable, 503),
    (StoreUnavailable, 503),
)

_WORDS = {
    400: "what was asked for makes no sense; the message says why",
    401: "nobody is logged in, or the token is not valid",
    403: "the role or the token does not allow it",
    404: "there is no such thing, for this user",
    405: "there is no such method here",
    409: "it cannot be done now: the budget does not allow it, or something is not ready",
    413: "too much was sent",
    422: "the request does not have the form that is described here",
    429: "too many tries; wait a minute",
    503: "a database does not answer",
}

PROBLEM_ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": words} for status, words in _WORDS.items()
}
"""The answers that every route of the API may give."""


def handle_problems(app: FastAPI, page_of: Callable[[Request, int, str], Response]) -> None:
    """Turn errors into answers: JSON for the API, pages for people."""

    def answer(request: Request, status: int, message: str) -> Response:
        text = printable(message)
        if request.url.path.startswith(("/api/", "/metrics", "/health", "/static/")):
            headers = {"www-authenticate": "Bearer"} if status == 401 else None
            return JSONResponse({"error": text}, status, headers=headers)
        if status == 401 and request.url.path != "/login":
            return RedirectResponse(f"/login?next={quote(request.url.path)}", 303)
        return page_of(request, status, text)

    @app.exception_handler(StarletteHTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        said = (
            "there is nothing at this address; follow a link"
            if error.status_code == 404
            else str(error.detail)
        )
        response = answer(request, error.status_code, said)
        for name, value in (error.headers or {}).items():
            response.headers[name] = value
        return response

    @app.exception_handler(RequestValidationError)
    async def _form(request: Request, error: RequestValidationError) -> Response:
        places = [".".join(map(str, each["loc"])) + ": " + each["msg"] for each in error.errors()[:5]]
        return answer(request, 422, "; ".join(places)[:1000])

    @app.exception_handler(VeilsetError)
    @app.exception_handler(LookupError)
    async def _ours(request: Request, error: Exception) -> Response:
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 400)
        return answer(request, status, str(error.args[0] if error.args else error))

    @app.exception_handler(Exception)
    async def _unexpected(request: Request, error: Exception) -> Response:
        LOGGER.error("unexpected: %s at %s", type(error).__name__, request.scope.get("path", "")[:200])
        return answer(request, 500, "something went wrong that is for veilset to mend; nothing was changed")
