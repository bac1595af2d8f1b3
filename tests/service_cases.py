"""Services for tests, with users, data and ways to wait."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx
import uvicorn

from veilset.service.asking import ReleaseAsk
from veilset.service.core import Service
from veilset.service.permissions import Principal
from veilset.service.registrations import Registration
from veilset.service.release_job import ReleaseJob
from veilset.service.serve import make_server_app
from veilset.service.settings import ServiceSettings

ROWS = "1 2 3\n" * 400 + "2 3\n" * 300 + "7\n" * 200
PASSWORD = "a password for tests"  # noqa: S105 - that is what it is
STORES = Registration(
    file="baskets.dat",
    items="public",
    unit="transaction",
    title="Stores",
    rows=900,
    number_of_items=4,
    length=2.2,
)

OWNER = Principal("olga", "owner")
ANALYST = Principal("anna", "analyst")
AUDITOR = Principal("adam", "auditor", sees_releases=False)


@dataclass(slots=True)
class Team:
    """A service, its users, and tokens of each of them."""

    service: Service
    tokens: dict[str, str] = field(default_factory=dict)

    def ask(self, who: Principal = ANALYST, *, key: str, epsilon: str = "1/10", **wanted: Any) -> ReleaseJob:  # noqa: ANN401
        """A request for three itemsets, unless something else is wanted."""
        task = {"dataset": "stores", "k": 3, **wanted}
        return self.service.ask(who, ReleaseAsk(epsilon=epsilon, **task), key=key)

    def wait_until_told(self, job: str) -> ReleaseJob:
        """The request when its end is told."""
        wait_until(lambda: self.service.state(self.service.jobs.get(job)) != "waiting")
        return self.service.jobs.get(job)

    def wait_until_read(self, name: str = "stores") -> None:
        """The dataset is read, or cannot be."""
        wait_until(lambda: self.service.catalogue.get(name).state != "reading")


def wait_until(is_so: Callable[[], bool], *, seconds: float = 240) -> None:
    """Look until it is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def make_team(
    folder: Path,
    *,
    is_read: bool = False,
    release_every: float = 30,
    has_tokens: bool = False,
    **settings: Any,  # noqa: ANN401 - whatever a service can be told
) -> Team:
    """A service with the dataset `stores`, which may cost epsilon 100, and of which anna may spend 50."""
    told = ServiceSettings(folder=folder / "service", release_every=release_every, **settings).complete()
    service = Service(told)
    (told.uploads / "baskets.dat").write_text(ROWS)
    for who in (OWNER, ANALYST, AUDITOR):
        service.people.add(who.name, role=who.role, password=PASSWORD)
    service.register(OWNER, "stores", STORES, epsilon="100", delta="0")
    service.catalogue.allow("stores", "anna", epsilon="50")
    team = Team(service)
    if is_read:
        _read_here(service)
    if has_tokens:
        team.tokens = {
            who.role: service.people.make_token(who.name, label="test", scope="full", days=1)
            for who in (OWNER, ANALYST, AUDITOR)
        }
    return team


def _read_here(service: Service) -> None:
    """Say that the data was read; without a worker nobody looks for it."""
    for job in _all_queued(service):
        service.jobs.end(job.id, "done")
    service.catalogue.set_state("stores", "ready")


def _all_queued(service: Service) -> list[ReleaseJob]:
    claimed = []
    while (job := service.jobs.claim("test")) is not None:
        claimed.append(job)
    return claimed


def told_lines(text: str) -> list[dict[str, Any]]:
    """The events of a stream."""
    return [
        json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")
    ]


class Site:
    """A service that answers over the network of this machine, in a thread."""

    def __init__(self, team: Team, *, has_workers: bool) -> None:
        self.team = team
        self.app = make_server_app(team.service)
        config = uvicorn.Config(
            self.app, port=0, log_config=None, lifespan="on" if has_workers else "off", access_log=False
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        wait_until(lambda: self._server.started)
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"

    def stop(self) -> None:
        """End it."""
        self._server.should_exit = True
        self._thread.join()

    def client(self, role: str | None = None, *, token: str | None = None, **options: Any) -> httpx.Client:  # noqa: ANN401
        """A client with the token of a role, with another one, or with none."""
        token = self.team.tokens[role] if role is not None else token
        heads = {} if token is None else {"authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=heads, timeout=120, **options)

    @contextmanager
    def browser(self, name: str) -> Iterator[httpx.Client]:
        """A client that logged in on the page."""
        with httpx.Client(base_url=self.url, timeout=120) as client:
            assert client.post("/login", data={"name": name, "password": PASSWORD}).status_code == 303
            yield client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
