"""The command that runs the service."""

from pathlib import Path
from typing import Annotated

import typer

from veilset.errors import BadCall


def serve_command(
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="F.toml", help="Settings, in a section [service]; veilset.toml if there."
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="See that everything works, say so, and leave.")
    ] = False,
) -> None:
    """A curator for a team: pages and an API. Raw data stays on the server; all that is asked for is paid for.

    The first start makes an owner and prints the password once. See docs/service.md.
    """
    from veilset.render import terminal  # noqa: PLC0415
    from veilset.service.settings import ServiceSettings  # noqa: PLC0415

    try:
        from veilset.service import serve as server  # noqa: PLC0415
    except ImportError as missing:
        raise BadCall(
            f"the service needs {missing.name}; install what it needs with: pip install 'veilset[web]'"
        ) from None
    beside = Path("veilset.toml")
    settings = ServiceSettings.read(config or (beside if beside.exists() else None))
    if check:
        for line in server.check_service(settings):
            terminal.print_line(line)
    else:
        server.serve(settings)
