"""What the routes of the API share: the shape of names in addresses, and the routers that they stand on."""

from typing import Annotated

from fastapi import APIRouter, Header, Path

from veilset.service.web.door import GuardedRoute
from veilset.service.web.problems import PROBLEM_ANSWERS

NameInPath = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")]
FileInPath = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
JobInPath = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
RequestKey = Annotated[
    str, Header(alias="Idempotency-Key", min_length=8, max_length=100, pattern=r"^[!-~]+$")
]


def api_router(subject: str) -> APIRouter:
    """A router for one subject of the API."""
    return APIRouter(prefix="/api/v1", route_class=GuardedRoute, responses=PROBLEM_ANSWERS, tags=[subject])
