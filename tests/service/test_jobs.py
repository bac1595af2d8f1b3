"""Requests: asked for once, paid for once, told on a schedule. No worker runs here."""

import threading
import time
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import pytest

from ledgers import Postgres
from service_cases import ANALYST, AUDITOR, OWNER, Team, make_team
from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import Amount
from veilset.service.core import NotReady
from veilset.service.jobs import Balances, KeyReused
from veilset.service.people import NotAllowed
from veilset.service.permissions import Principal
from veilset.service.release_job import new_job

ROUNDS = 100


def test_a_request_that_is_sent_again_is_the_same_request(team: Team) -> None:
    """It waits once, and is paid for once."""
    first, second = team.ask(key="monday-1"), team.ask(key="monday-1")
    assert first.id == second.id
    assert team.service.budget("stores").spent == Amount(Fraction(1, 10))


def test_a_key_stands_for_one_request_of_one_user(team: Team) -> None:
    """Another request with it is refused; another user may have the same."""
    mine = team.ask(key="monday-1")
    with pytest.raises(KeyReused, match="take a new key"):
        team.ask(key="monday-1", k=4)
    assert team.ask(OWNER, key="monday-1").id != mine.id


def test_what_waits_counts_as_spent(team: Team) -> None:
    """By the dataset, and by whoever asked."""
    team.ask(key="monday-1", epsilon="30")
    assert team.service.budget("stores").left == Amount(Fraction(70))
    assert team.service.allowance_left("stores", "anna") == Amount(Fraction(20))
    with pytest.raises(
        BudgetExceeded, match="of your allowance for 'stores', epsilon 50, epsilon 20 is left"
    ):
        team.ask(key="monday-2", epsilon="21")
    with pytest.raises(BudgetExceeded, match="epsilon 70 is left of epsilon 100"):
        team.ask(OWNER, key="monday-3", epsilon="71")


def test_what_was_cancelled_in_the_queue_costs_nothing(team: Team) -> None:
    """It never reaches a worker."""
    job = team.ask(key="monday-1", epsilon="30")
    team.service.cancel(ANALYST, job.id)
    assert team.service.jobs.claim("a worker") is None
    assert team.service.jobs.get(job.id).state == "cancelled"
    assert team.service.budget("stores").left == Amount(Fraction(100))


def test_nobody_is_told_of_an_end_before_its_moment(team: Team) -> None:
    """Whenever the work ended, and however: only how many moments have passed can be told."""
    job = team.ask(key="monday-1")
    team.service.jobs.claim("a worker")
    team.service.jobs.end(job.id, "failed", "a message", "a detail")
    told = team.service.told(team.service.jobs.get(job.id), OWNER)
    assert (told["state"], told["message"], told["detail"]) == ("waiting", "", "")
    assert told["told_at"] == job.requested + 30
    with patch("veilset.service.jobs.time.time", return_value=job.requested + 30.01):
        told = team.service.told(team.service.jobs.get(job.id), OWNER)
        assert (told["state"], told["message"], told["detail"]) == ("failed", "a message", "a detail")
        assert team.service.told(team.service.jobs.get(job.id), ANALYST)["detail"] == ""


def test_a_price_is_not_told_before_its_moment(team: Team) -> None:
    """Until then all that was reserved counts, in the budget and in refusals."""
    job = team.ask(key="monday-1", epsilon="40")
    reserved = team.service.ledger.dataset("stores").for_release(reference=job.id).reserve(job.price)
    team.service.jobs.claim("a worker")
    before = team.service.budget("stores").left
    reserved.settle(Amount(Fraction(1)))
    team.service.jobs.end(job.id, "done")
    assert team.service.budget("stores").left == before == Amount(Fraction(60))
    assert team.service.allowance_left("stores", "anna") == Amount(Fraction(10))
    with pytest.raises(BudgetExceeded, match="epsilon 10 is left"):
        team.ask(key="monday-2", epsilon="11")
    with patch("veilset.service.jobs.time.time", return_value=job.requested + 31):
        assert team.service.budget("stores").left == Amount(Fraction(99))
        assert team.service.allowance_left("stores", "anna") == Amount(Fraction(49))


def test_late_ends_wait_for_the_next_moment(team: Team) -> None:
    """31 seconds of work are told after 60."""
    job = team.ask(key="monday-1")
    with patch("veilset.service.jobs.time.time", return_value=job.requested + 31):
        team.service.jobs.end(job.id, "done")
    ended = team.service.jobs.get(job.id)
    assert ended.told_at(30) == job.requested + 60


def test_a_result_is_not_handed_out_before_its_moment(team: Team) -> None:
    """Even where its file lies there."""
    job = team.ask(key="monday-1")
    team.service.settings.result_file(job.id).write_text("{}")
    team.service.jobs.end(job.id, "done")
    with pytest.raises(NotReady, match="not yet"):
        team.service.document(OWNER, job.id)


def race(team: Team, dataset: str, balances: Balances) -> list[str]:
    """Two analysts ask for all of a dataset at the same moment: what each is told."""
    start, told = threading.Barrier(2), []

    def ask(who: str) -> None:
        job = new_job(who, dataset, "mine", {}, price=Amount(Fraction(1)), key=dataset)
        start.wait()
        try:
            team.service.jobs.ask(job, balances)
            told.append("wins")
        except BudgetExceeded:
            told.append("is refused")

    threads = [threading.Thread(target=ask, args=(who,)) for who in ("anna", "bert")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(told)


def test_of_two_who_ask_for_the_last_epsilon_one_wins(team: Team) -> None:
    """100 times."""
    for number in range(ROUNDS):
        team.service.ledger.create(f"last-{number}", epsilon=1)
    balances = team.service.ledger.balances()
    told = {tuple(race(team, f"last-{number}", lambda: balances)) for number in range(ROUNDS)}
    assert told == {("is refused", "wins")}


def test_without_the_lock_both_could_win(team: Team) -> None:
    """The control: who decides on what was true before the lock lets both in."""
    team.service.ledger.create("last", epsilon=1)
    before = team.service.ledger.balances()
    jobs = [new_job(who, "last", "mine", {}, price=Amount(Fraction(1)), key="k") for who in ("anna", "bert")]
    with patch("veilset.service.spending.unreserved", return_value=Amount()):
        for job in jobs:
            team.service.jobs.ask(job, lambda: before)
    assert len(team.service.jobs.of_datasets(["last"])) == 2


def test_postgresql_keeps_the_same_promise(postgres: Postgres, tmp_path: Path) -> None:
    """Tables, keys and the race."""
    address = postgres.address()
    team = make_team(tmp_path, is_read=True, database=address, ledger=address)
    assert team.ask(key="monday-1").id == team.ask(key="monday-1").id
    for number in range(5):
        team.service.ledger.create(f"last-{number}", epsilon=1)
        assert race(team, f"last-{number}", team.service.ledger.balances) == ["is refused", "wins"]
    team.service.close()


def test_an_analyst_without_an_allowance_sees_nothing_of_a_dataset(team: Team) -> None:
    """As if it did not exist."""
    job = team.ask(key="monday-1")
    bert = Principal("bert", "analyst")
    assert team.service.catalogue.seen_by(bert) == []
    with pytest.raises(LookupError, match="no dataset"):
        team.ask(bert, key="monday-2")
    with pytest.raises(LookupError, match="no such request"):
        team.service.seen_job(bert, job.id)
    team.service.catalogue.allow("stores", "bert", epsilon="1")
    assert [each.name for each in team.service.catalogue.seen_by(bert)] == ["stores"]
    with pytest.raises(NotAllowed, match="only who asked"):
        team.service.cancel(bert, job.id)


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        ({"k": None}, "how many itemsets"),
        ({"k": 10_001}, "at most 10000"),
        ({"delta": "1e-9"}, "no delta is needed"),
        ({"method": "none"}, "no method"),
        ({"task": "exact"}, "no task"),
        ({"task": "items", "max_size": 2}, "items are asked for by k"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"epsilon": "much"}, "not a number"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_it_waits(
    team: Team, wanted: dict[str, object], complaint: str
) -> None:
    """Nothing is written down."""
    with pytest.raises(BadCall, match=complaint):
        team.ask(key="monday-1", **wanted)  # type: ignore[arg-type]
    assert team.service.seen_jobs(OWNER) == []


def test_a_closed_dataset_takes_no_requests(team: Team) -> None:
    """Whoever asks."""
    team.service.ledger.close_dataset("stores")
    with pytest.raises(BudgetExceeded, match="it is closed"):
        team.ask(key="monday-1")


def test_events_tell_who_asked_and_nothing_of_secrets(team: Team) -> None:
    """The newest first."""
    team.ask(key="monday-1")
    newest = team.service.events.latest()[0]
    assert (newest["who"], newest["what"], newest["about"]["dataset"]) == (
        "anna",
        "release asked for",
        "stores",
    )
    assert newest["at"] <= time.time()


def test_an_auditor_sees_requests_of_all_datasets(team: Team) -> None:
    """Who asked for what."""
    job = team.ask(key="monday-1")
    assert [each.id for each in team.service.seen_jobs(AUDITOR)] == [job.id]
