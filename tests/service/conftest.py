"""A service for tests: with a dataset of 900 transactions, and a user of each role."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from service_cases import Site, Team, make_team
from veilset.service import people

_QUICK = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)


@pytest.fixture(scope="session", autouse=True)
def _quick_hashes() -> Iterator[None]:
    """Argon2 with hardly any work: tests log in often."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(people, "_PASSWORDS", _QUICK)
        patch.setattr(people, "_SECRETS", _QUICK)
        patch.setattr(people, "_NOBODY", _QUICK.hash("nobody"))
        yield


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """A service without workers: whatever is asked for waits."""
    made = make_team(tmp_path, is_read=True)
    yield made
    made.service.close()


@pytest.fixture(scope="module")
def working_team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """A service with one worker, shared by the tests of a module."""
    made = make_team(tmp_path_factory.mktemp("service"), release_every=0.2)
    made.service.dispatcher.start()
    made.wait_until_read()
    yield made
    made.service.close()


@pytest.fixture(scope="module")
def quiet_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service on the network without workers: whatever is asked for waits."""
    team = make_team(
        tmp_path_factory.mktemp("quiet"), is_read=True, has_tokens=True, logins_per_minute=10_000
    )
    with Site(team, has_workers=False) as site:
        yield site
    team.service.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service on the network with one worker."""
    folder = tmp_path_factory.mktemp("site")
    team = make_team(folder, release_every=0.5, has_tokens=True, logins_per_minute=10_000)
    with Site(team, has_workers=True) as made:
        team.wait_until_read()
        yield made
