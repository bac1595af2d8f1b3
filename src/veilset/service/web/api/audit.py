"""The API for whoever checks: the ledger, the test of the noise, events."""

from typing import Any

from fastapi import Request

from veilset.service.web.api.routing import api_router
from veilset.service.web.bodies import LedgerState, NoiseState
from veilset.service.web.door import TheService, needs

audit_api = api_router("audit")


@audit_api.get("/ledger", **needs("ledger.see"))
def ledger_entries(service: TheService) -> list[dict[str, Any]]:
    """Every entry of the ledger, as `veilset ledger export` writes it: for whoever checks."""
    return [dict(entry.to_public_row()) for entry in service.ledger.entries()]


@audit_api.get("/ledger/verify", **needs("ledger.see"))
def verify_ledger(service: TheService) -> LedgerState:
    """Whether an entry was edited or removed."""
    flaws = service.ledger.flaws()
    return LedgerState(entries=len(service.ledger.entries()), is_sound=not flaws, flaws=flaws)


@audit_api.get("/audit", **needs("audit.see"))
def noise_audit(request: Request) -> NoiseState:
    """How the test of everything random went when the service started."""
    tests = request.app.state.noise_tests
    return NoiseState(
        is_fine=None if tests is None else all(t.is_fine for t in tests), tests=noise_rows(tests)
    )


def noise_rows(tests: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - tests, or none yet
    """What the test found, a row for each law."""
    return [] if tests is None else [test.to_dict() for test in tests]


@audit_api.get("/events", **needs("events.see"))
def list_events(service: TheService) -> list[dict[str, Any]]:
    """Who did what, and who was refused; the newest first."""
    return service.events.latest()
