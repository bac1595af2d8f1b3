"""Workers: real processes, which are killed."""

import gzip
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import veilset as vs
from service_cases import ANALYST, OWNER, Team, make_team, wait_until
from veilset.gate import Amount, Booked
from veilset.service.documents import result_of
from veilset.service.registrations import Registration
from veilset.service.release_job import ReleaseJob

KILLED = 2


def booked(team: Team, job: str) -> Booked | None:
    """What the ledger says of a request."""
    return team.service.ledger.balances()["stores"].booked.get(job)


def wait_until_reserved(team: Team, job: str) -> None:
    """Its worker has paid, and looks."""
    wait_until(lambda: booked(team, job) is not None)


def test_a_request_is_answered_and_paid_for(working_team: Team) -> None:
    """The release says where it stands in the ledger, and the ledger who asked."""
    job = working_team.wait_until_told(working_team.ask(key="request-1", epsilon="1").id)
    assert (job.state, job.detail) == ("done", "")
    release = result_of(working_team.service.document(ANALYST, job.id))
    assert release.ledger is not None
    assert release.ledger.reference == job.id
    paid = booked(working_team, job.id)
    assert paid is not None
    assert (paid.reservation.who, paid.price) == ("anna", Amount(release.spent))
    assert working_team.service.ledger.flaws() == []


def test_a_dataset_is_published(working_team: Team) -> None:
    """And comes back as it was made."""
    asked = working_team.ask(key="publish-1", epsilon="1", k=None, task="publish")
    job = working_team.wait_until_told(asked.id)
    document = working_team.service.document(OWNER, job.id)
    published = result_of(document)
    assert isinstance(published, vs.Published)
    assert len(published) == document["transactions"]


def test_killed_workers_lose_nothing_silently_and_nothing_is_paid_twice(working_team: Team) -> None:
    """A request whose worker died in the middle has failed, its reservation is spent, and the next one is served."""
    spent = []
    for number in range(KILLED):
        job = working_team.ask(key=f"killed-{number}", epsilon="1")
        wait_until_reserved(working_team, job.id)
        for process in working_team.service.dispatcher.workers():
            os.kill(process, signal.SIGKILL)
        ended = working_team.wait_until_told(job.id)
        spent.append(booked(working_team, job.id))
        assert ended.state in {"failed", "done"}
        assert working_team.ask(key=f"killed-{number}", epsilon="1").id == job.id
    assert all(each is not None and each.price.epsilon == 1 for each in spent)
    assert any(each is not None and each.settlement is None for each in spent)
    assert working_team.service.ledger.flaws() == []
    after = working_team.wait_until_told(working_team.ask(key="after-kills").id)
    assert after.state == "done"


def test_a_worker_that_died_while_it_was_idle_costs_nothing(working_team: Team) -> None:
    """The next request finds it dead, goes back into the queue, and is served by another one."""
    working_team.wait_until_told(working_team.ask(key="idle-1").id)
    for process in working_team.service.dispatcher.workers():
        os.kill(process, signal.SIGKILL)
    assert working_team.wait_until_told(working_team.ask(key="idle-2").id).state == "done"


def test_data_that_cannot_be_read_is_told_to_its_owner(working_team: Team) -> None:
    """In the words of the library; who asks for a release of it is told that it is not ready."""
    uploads = working_team.service.settings.uploads
    (uploads / "broken.dat").write_text("1 2\nx y\n")
    told = Registration(file="broken.dat", items="public", unit="transaction", different_people=True)
    working_team.service.register(OWNER, "broken", told, epsilon="1", delta="0")
    working_team.wait_until_read("broken")
    dataset = working_team.service.catalogue.get("broken")
    assert dataset.state == "unreadable"
    assert "line 2" in dataset.detail


def test_a_file_that_unpacks_to_more_than_there_is_fails_alone(tmp_path: Path) -> None:
    """The worker has a limit; the server goes on."""
    team = make_team(tmp_path, worker_memory_mb=700, release_every=0.2)
    with gzip.open(team.service.settings.uploads / "bomb.dat.gz", "wb", compresslevel=1) as file:
        for _ in range(60):
            file.write(b"0" * (16 << 20))
    told = Registration(file="bomb.dat.gz", items="public", unit="transaction", different_people=True)
    team.service.register(OWNER, "bomb", told, epsilon="1", delta="0")
    team.service.dispatcher.start()
    team.wait_until_read("bomb")
    assert team.service.catalogue.get("bomb").state == "unreadable"
    team.wait_until_read("stores")
    assert team.service.catalogue.get("stores").state == "ready"
    team.service.close()


def abandoned(team: Team, key: str) -> ReleaseJob:
    """A request that a worker of an earlier server had taken."""
    job = team.ask(key=key, epsilon="1")
    taken = team.service.jobs.claim("a worker that is gone")
    assert taken is not None
    assert taken.id == job.id
    return taken


def state_after_restart(team: Team, job: ReleaseJob) -> str:
    """What a new server makes of it."""
    team.service.dispatcher.judge_abandoned()
    return team.service.jobs.get(job.id).state


def reserve(team: Team, job: ReleaseJob) -> Any:  # noqa: ANN401 - a reservation
    """What its worker did before it died."""
    return team.service.ledger.dataset("stores").for_release(reference=job.id).reserve(job.price)


def test_a_new_server_queues_again_what_nobody_began_to_pay(team: Team) -> None:
    """Nothing was looked at."""
    assert state_after_restart(team, abandoned(team, "abandoned-1")) == "queued"


def test_a_new_server_fails_what_was_reserved_and_not_finished(team: Team) -> None:
    """Nobody knows how far it had looked."""
    job = abandoned(team, "abandoned-1")
    reserve(team, job)
    assert state_after_restart(team, job) == "failed"
    assert team.service.budget("stores").left.epsilon == 99


def test_a_new_server_hands_out_what_was_finished(team: Team) -> None:
    """It was paid for, and lies there whole."""
    job = abandoned(team, "abandoned-1")
    reserve(team, job).settle(Amount(job.price.epsilon / 2))
    assert state_after_restart(team, job) == "failed"
    other = abandoned(team, "abandoned-2")
    reserve(team, other).settle(Amount(other.price.epsilon / 2))
    team.service.settings.result_file(other.id).write_text(json.dumps({"kind": "release"}))
    assert state_after_restart(team, other) == "done"


@pytest.mark.parametrize("is_reserved", [False, True])
def test_a_new_server_cancels_what_was_to_be_cancelled(team: Team, is_reserved: bool) -> None:
    """At the price that the ledger knows."""
    job = abandoned(team, "abandoned-1")
    if is_reserved:
        reserve(team, job)
    team.service.cancel(ANALYST, job.id)
    assert state_after_restart(team, job) == "cancelled"
    assert team.service.budget("stores").left.epsilon == (99 if is_reserved else 100)
