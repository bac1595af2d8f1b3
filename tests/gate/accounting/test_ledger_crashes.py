"""A ledger survives whoever writes to it: killed processes, races, full disks, killed servers, clocks, versions."""

import json
import os
import resource
import runpy
import subprocess
import sys
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from unittest.mock import Mock

import pytest
from sqlalchemy import text

import veilset as vs
from ledgers import Postgres
from thorough import THOROUGH
from veilset.errors import LedgerUnavailable
from veilset.gate import Amount, Ledger, LedgerWarning
from veilset.gate.accounting import ledger, ledger_database
from veilset.gate.accounting.ledger_database import _engine, ledger_url

ROOT = Path(__file__).resolve().parents[3]
KILLED = 200 if THOROUGH else 60
"""60 releases are killed on each kind of database, 200 where there is time."""
RACES = 20 if THOROUGH else 4
"""4 races are run on each kind of database, 20 where there is time."""
ONE = Amount(Fraction(1))


def run(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run one of the programs beside these tests in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"}
    words = [sys.executable, str(ROOT / "tests" / program), *map(str, arguments)]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)


def test_whoever_is_killed_has_paid_for_what_was_looked_at(ledger_address: str, tmp_path: Path) -> None:
    """Never less is recorded than was looked at, never more than was reserved; the ledger verifies every time."""
    finished = run("ledger_crashes.py", ledger_address, tmp_path, KILLED, 7)
    assert finished.returncode == 0, finished.stderr
    states = json.loads(finished.stdout)
    assert sum(states.values()) == KILLED
    assert set(states) == {"before the reservation", "interrupted", "settled"}
    assert min(states.values()) >= KILLED // 20


def test_writing_down_after_the_look_is_found_out(tmp_path: Path) -> None:
    """The control: a ledger that is told afterwards knows of less than was looked at."""
    finished = run("ledger_crashes.py", f"sqlite:///{tmp_path / 'late.db'}", tmp_path, KILLED, 7, "late")
    assert finished.returncode != 0
    assert "AssertionError" in finished.stderr


def test_a_race_has_as_many_winners_as_the_budget_has_shares(ledger_address: str) -> None:
    """32 processes ask for 1/20 each of a budget of 1 at the same moment, several times."""
    finished = run("ledger_races.py", ledger_address, 32, RACES)
    assert finished.returncode == 0, finished.stderr
    assert json.loads(finished.stdout) == {
        "races": [{"got": 20, "refused": 12, "left": "0"}] * RACES,
        "flaws": [],
    }


def test_two_who_make_a_ledger_at_once_make_one(ledger_address: str) -> None:
    """Nobody fails, and all write to the same one."""
    program = (
        "import sys; from veilset import Ledger; "
        "Ledger(sys.argv[1]).create(sys.argv[2], epsilon=1); print('made')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, ledger_address, f"dataset {number}"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    outcomes = [process.communicate() for process in started]
    assert [out for out, _ in outcomes] == ["made\n"] * 4, outcomes
    assert len(Ledger(ledger_address).balances()) == 4


def test_a_full_disk_is_a_clear_line(tmp_path: Path) -> None:
    """Nothing is lost, nothing is overspent, and it goes on when there is room again."""
    address = f"sqlite:///{tmp_path / 'budget.db'}"
    stores = Ledger(address).dataset("stores", epsilon=4)
    stores.reserve(ONE)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    try:
        with pytest.raises(LedgerUnavailable, match="cannot be used"):
            stores.reserve(ONE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert stores.ledger.flaws() == []
    assert stores.left == Amount(Fraction(3))
    stores.reserve(ONE)
    assert stores.left == Amount(Fraction(2))


def test_a_file_that_may_only_be_read_can_be_shown_and_not_spent_from(tmp_path: Path) -> None:
    """As the system says it."""
    path = tmp_path / "budget.db"
    Ledger(f"sqlite:///{path}").dataset("stores", epsilon=4)
    only_read = Ledger(f"sqlite:///file:{path}?mode=ro&uri=true")
    stores = only_read.dataset("stores")
    assert stores.left == Amount(Fraction(4))
    with pytest.raises(LedgerUnavailable, match="readonly"):
        stores.reserve(ONE)


def test_a_file_that_is_no_database_is_a_clear_line(tmp_path: Path) -> None:
    """It is not touched."""
    path = tmp_path / "budget.db"
    path.write_text("not a database " * 100)
    with pytest.raises(LedgerUnavailable, match="not a database"):
        Ledger(f"sqlite:///{path}")
    assert path.read_text() == "not a database " * 100


def test_an_entry_that_cannot_be_read_is_a_clear_line(ledger_address: str) -> None:
    """Whoever wrote it: the ledger is not taken for an empty one, and nothing is spent."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=4)
    odd = stores.reserve(ONE).entry.to_row() | {"number": 3, "reference": "odd", "epsilon": "a lot"}
    engine = _engine(ledger_url(ledger_address))
    with engine.begin() as connection:
        connection.execute(ledger_database._ENTRIES.insert().values(odd))
    engine.dispose()
    for spend in (lambda: stores.left, lambda: stores.reserve(ONE)):
        with pytest.raises(LedgerUnavailable, match=r"damaged \(an entry cannot be read\)"):
            spend()


def test_a_child_process_is_told_to_open_connections_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where processes can be forked; where they cannot, there is nothing to tell."""
    register = Mock()
    monkeypatch.setattr(os, "register_at_fork", register, raising=False)
    loaded = runpy.run_path(ledger_database.__file__)
    register.assert_called_once_with(after_in_child=loaded["_forget_connections"])
    monkeypatch.delattr(os, "register_at_fork")
    runpy.run_path(ledger_database.__file__)
    register.assert_called_once()


def test_a_server_that_dies_in_the_middle_loses_nothing() -> None:
    """What was reserved is there when it comes back; meanwhile nothing can be spent, and a release is settled late."""
    server = Postgres()
    try:
        stores = Ledger(server.address()).dataset("stores", epsilon=4)
        reserved = stores.reserve(ONE)
        server.kill()
        with pytest.raises(LedgerUnavailable, match="cannot be used"):
            stores.reserve(ONE)
        with pytest.warns(LedgerWarning, match="all that was reserved for it stays spent"):
            reserved.settle(Amount(Fraction(1, 2)))
        server.start()
        assert stores.left == Amount(Fraction(3))
        assert stores.ledger.flaws() == []
        stores.reserve(ONE)
        assert stores.left == Amount(Fraction(2))
    finally:
        server.stop()


def test_a_release_is_handed_out_though_it_cannot_be_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is paid for; all of the reservation stays spent, and the owner is told."""
    stores = Ledger(f"sqlite:///{tmp_path / 'budget.db'}").dataset("stores", epsilon=4)

    def fails(*_: object) -> None:
        raise LedgerUnavailable("no answer")

    monkeypatch.setattr(Ledger, "append", fails)
    with pytest.warns(LedgerWarning, match="stays spent"):
        release = vs.items([["a"]] * 50, k=1, epsilon=1, method="em", public_items=True, account=stores)
    assert len(release) == 1
    assert stores.left == Amount(Fraction(3))


def test_a_clock_that_was_set_back_changes_nothing(
    ledger_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner is told, and entries stay in order."""
    stores = Ledger(ledger_address).dataset("stores", epsilon=4)
    stores.reserve(ONE)

    clock = Mock(wraps=datetime)
    clock.now.return_value = datetime(2001, 1, 1, tzinfo=UTC)
    monkeypatch.setattr(ledger, "datetime", clock)
    with pytest.warns(LedgerWarning, match="set the clock"):
        stores.reserve(ONE)
    assert stores.left == Amount(Fraction(2))
    times = [entry.at for entry in stores.ledger.entries()]
    assert times == sorted(times)
    assert stores.ledger.flaws() == []


def test_an_older_ledger_is_brought_forward(ledger_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One version after another, with all that is in it; who has not been upgraded is told so."""
    old = Ledger(ledger_address).dataset("stores", epsilon=4)
    old.reserve(ONE)

    def second_version(connection: object) -> None:
        connection.execute(text("ALTER TABLE veilset_heads ADD COLUMN motto TEXT"))  # type: ignore[attr-defined]

    newer = (*ledger_database.MIGRATIONS, second_version)
    with monkeypatch.context() as upgraded:
        upgraded.setattr(ledger_database, "MIGRATIONS", newer)
        stores = Ledger(ledger_address).dataset("stores")
        assert stores.left == Amount(Fraction(3))
        assert stores.ledger.flaws() == []
    with pytest.raises(LedgerUnavailable, match="written by a newer veilset"):
        Ledger(ledger_address)


def test_a_migration_that_fails_leaves_everything_as_it_was(
    ledger_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the middle of it, the old version is still whole."""
    Ledger(ledger_address).dataset("stores", epsilon=4)

    def half_done(connection: object) -> None:
        connection.execute(text("ALTER TABLE veilset_heads ADD COLUMN motto TEXT"))  # type: ignore[attr-defined]
        connection.execute(text("SELECT nonsense"))  # type: ignore[attr-defined]

    with monkeypatch.context() as upgraded:
        upgraded.setattr(ledger_database, "MIGRATIONS", (*ledger_database.MIGRATIONS, half_done))
        with pytest.raises(LedgerUnavailable):
            Ledger(ledger_address)
    assert Ledger(ledger_address).dataset("stores").left == Amount(Fraction(4))
    engine = _engine(ledger_url(ledger_address))
    with engine.connect() as connection:
        assert "motto" not in connection.execute(text("SELECT * FROM veilset_heads")).mappings().one()
    engine.dispose()


@pytest.mark.parametrize("address", ["mysql://db/x", "sqlite://", "sqlite:///:memory:", "://"])
def test_an_address_that_is_none_says_what_one_looks_like(address: str) -> None:
    """Nothing of it is printed: it may hold a password."""
    with pytest.raises(vs.BadCall, match="a ledger is a SQLite file"):
        Ledger(address)


def test_a_password_is_never_shown() -> None:
    """Neither in messages nor in the ledger's own name."""
    with pytest.raises(LedgerUnavailable) as told:
        Ledger("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(told.value)
    assert "me:***@" in str(told.value)
