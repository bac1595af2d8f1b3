"""The page of whoever checks: the ledger on a time line, the test of the noise, who did what."""

from fastapi import Request, Response

from veilset.service.web.api.audit import noise_rows
from veilset.service.web.door import TheService, needs
from veilset.service.web.pages.filling import page_router, shown_page

ledger_pages = page_router()


@ledger_pages.get("/ledger", **needs("ledger.see"))
def ledger_page(request: Request, service: TheService) -> Response:
    """Every entry on a time line, and whether all are as they were written."""
    entries = [entry.to_public_row() | {"told": entry.told} for entry in reversed(service.ledger.entries())]
    return shown_page(
        request,
        "ledger.html",
        entries=entries[:500],
        flaws=service.ledger.flaws(),
        balances=service.ledger.balances(),
        noise=noise_rows(request.app.state.noise_tests),
        events=service.events.latest(50),
    )
