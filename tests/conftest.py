"""Settings of the whole test run."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from ledgers import KINDS, Postgres, sqlite_address
from thorough import THOROUGH

# Every worker has a core: where numpy's matrix products take all of them, they wait for each other. Set before the
# first import of numpy; processes that tests start have it too.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The first call of a kernel compiles it, so no deadline; the same examples everywhere where CI is set.
settings.register_profile(
    "veilset", deadline=None, derandomize="CI" in os.environ, max_examples=100 if THOROUGH else 40
)
settings.load_profile("veilset")


@pytest.fixture
def fimi_file(tmp_path: Path) -> Path:
    """901 transactions of up to three numbered items; the last is empty."""
    path = tmp_path / "data.dat"
    path.write_text("1 2 3\n" * 400 + "2 3\n" * 300 + "7\n" * 200 + "\n")
    return path


@pytest.fixture
def item_list(tmp_path: Path) -> Path:
    """The public list of the items that `fimi_file` may hold; one of them it does not."""
    path = tmp_path / "items.txt"
    path.write_text("1\n2\n3\n7\n8\n")
    return path


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server of this test process."""
    server = Postgres()
    yield server
    server.stop()


@pytest.fixture(params=KINDS)
def ledger_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new ledger can be made: on SQLite, then on PostgreSQL."""
    if request.param == "sqlite":
        return sqlite_address(tmp_path)
    server: Postgres = request.getfixturevalue("postgres")
    return server.address()
