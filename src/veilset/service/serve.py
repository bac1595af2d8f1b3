"""Runs the service: checks, a test of the noise, workers, the web server; and ends all of it in order."""

import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI

from veilset.audit.self_test import NoiseTest, check_noise
from veilset.errors import BadCall, VeilsetError
from veilset.gate import SecureNoise
from veilset.service.core import Service
from veilset.service.dispatcher import WorkerProcess
from veilset.service.events import LOGGER, JsonLines
from veilset.service.queries import kind_of_address
from veilset.service.settings import ServiceSettings
from veilset.service.web.application import create_app

DRAWS_AT_START = 2000
"""2,000 draws from every law when the service starts; `veilset audit noise` draws 20,000."""

_SECONDS_TO_FINISH = 30
_SECONDS_KEPT_OPEN = 75
"""75 seconds until an idle connection is closed: later than clients give one up, who would else write into it."""


class NoiseBroken(VeilsetError):  # noqa: N818 - reads as what happened
    """What is drawn at random does not have the law that it should have: nothing may be released."""


def tested_noise() -> list[NoiseTest]:
    """Test everything random; NoiseBroken where a law does not hold."""
    tests = check_noise(SecureNoise(), draws=DRAWS_AT_START)
    broken = [test.law for test in tests if not test.is_fine]
    if broken:
        raise NoiseBroken(f"the noise of this machine is not as it should be: {broken[0]}; do not use it")
    return tests


def check_service(settings: ServiceSettings) -> list[str]:
    """What `veilset serve --check` says: a line for each thing that works; the first that does not is raised."""
    service = Service(settings)
    lines = [f"database {service.database} can be written", f"ledger {service.ledger!r} can be written"]
    flaws = service.ledger.flaws()
    if flaws:
        raise BadCall(f"the ledger was changed behind its own back: {flaws[0]}")
    lines.append("every entry of the ledger is as it was written")
    worker = WorkerProcess(settings)
    worker.dismiss()
    lines.append(f"a worker starts within {settings.worker_memory_mb} MB")
    lines.append(f"{len(tested_noise())} laws of random draws hold")
    lines.extend(
        f"connection {name} leads to {kind_of_address(address)}; it is used when a dataset is read"
        for name, address in sorted(settings.connections.items())
    )
    lines.extend(_checked_provider(settings))
    if settings.needs_https:
        lines.append(
            f"WARNING: {settings.host} is reached by other machines without https; put a proxy with https in front "
            "and say behind_https = true"
        )
    service.database.close()
    return lines


def _checked_provider(settings: ServiceSettings) -> list[str]:
    """Whether the provider of logins answers, where there is one."""
    if settings.oidc is None:
        return []
    from veilset.service.provider import LoginProvider  # noqa: PLC0415 - needs the extra `oidc`

    LoginProvider(settings.oidc).begin()
    return [f"the provider of logins {settings.oidc.issuer} answers"]


def make_server_app(service: Service, *, tests: list[NoiseTest] | None = None) -> FastAPI:
    """The application, which starts its workers with the server and ends them with it."""
    app = create_app(service)
    app.state.noise_tests = tests

    @asynccontextmanager
    async def life(_: Any) -> AsyncIterator[None]:  # noqa: ANN401 - the application itself
        service.dispatcher.start()
        service.events.note("service started")
        yield
        service.events.note("service stopped")
        service.close()

    app.router.lifespan_context = life
    return app


def serve(settings: ServiceSettings) -> None:
    """Run until told to stop; then requests that are answered are answered, and work under way is finished."""
    _log_json()
    tests = tested_noise()
    service = Service(settings)
    password = service.people.first_password()
    if password is not None:
        sys.stdout.write(f"The first owner is admin, with the password {password}\nIt is told this once.\n")
    if settings.needs_https:
        LOGGER.warning("other machines reach this address without https: passwords and tokens can be read")
    sys.stdout.write(f"Pages and API: http://{settings.host}:{settings.port}\n")
    sys.stdout.flush()
    config = uvicorn.Config(
        make_server_app(service, tests=tests),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SECONDS_TO_FINISH,
        timeout_keep_alive=_SECONDS_KEPT_OPEN,
        proxy_headers=settings.behind_https,
    )
    uvicorn.Server(config).run()


def _log_json() -> None:
    """One JSON object a line, on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for name in ("veilset.service", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
