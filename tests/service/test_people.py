"""Users, passwords, tokens, sessions."""

import time
from unittest.mock import patch

import pytest
import sqlalchemy as sql

from service_cases import PASSWORD, Team
from veilset.errors import BadCall
from veilset.service.database import TOKENS, USERS
from veilset.service.people import LoginRefused


def test_a_password_opens_and_another_does_not(team: Team) -> None:
    """Who they are is told, too."""
    assert team.service.people.check_password("anna", PASSWORD).role == "analyst"
    for name, password in (("anna", "something else"), ("nobody", PASSWORD), ("anna", "x" * 10_000_000)):
        with pytest.raises(LoginRefused, match="not accepted"):
            team.service.people.check_password(name, password)


def test_five_wrong_passwords_lock_a_user_out_for_a_while(team: Team) -> None:
    """Then the right one is refused as well; later it opens again."""
    for _ in range(5):
        with pytest.raises(LoginRefused):
            team.service.people.check_password("anna", "wrong password")
    with pytest.raises(LoginRefused):
        team.service.people.check_password("anna", PASSWORD)
    later = time.time() + 60 * 16
    with patch("veilset.service.people.time.time", return_value=later):
        assert team.service.people.check_password("anna", PASSWORD).name == "anna"


def test_a_right_password_in_between_forgives_wrong_ones(team: Team) -> None:
    """Only wrong ones in a row count."""
    for _ in range(3):
        for _ in range(4):
            with pytest.raises(LoginRefused):
                team.service.people.check_password("anna", "wrong password")
        team.service.people.check_password("anna", PASSWORD)


def test_neither_passwords_nor_tokens_are_stored(team: Team) -> None:
    """What is stored is a hash of Argon2."""
    token = team.service.people.make_token("anna", label="x", scope="ask", days=1)
    with team.service.database.reading() as connection:
        stored = [row.password for row in connection.execute(sql.select(USERS))]
        stored += [row.hash for row in connection.execute(sql.select(TOKENS))]
    assert all(each.startswith("$argon2id$") for each in stored)
    assert token.split("_", 2)[2] not in "".join(stored)


def test_a_token_opens_until_it_is_revoked_or_its_time_is_over(team: Team) -> None:
    """Also one that was verified a moment before."""
    people = team.service.people
    token = people.make_token("anna", label="x", scope="ask", days=1)
    assert [people.of_token(token) is not None for _ in range(2)] == [True, True]
    assert people.of_token(token[:-1] + ("a" if token[-1] != "a" else "b")) is None
    with patch("veilset.service.people.time.time", return_value=time.time() + 86401):
        assert people.of_token(token) is None
    people.revoke("anna", token.split("_")[1])
    assert people.of_token(token) is None


def test_a_token_of_somebody_who_is_locked_out_for_good_opens_nothing(team: Team) -> None:
    """Neither does a session."""
    people = team.service.people
    token = people.make_token("anna", label="x", scope="full", days=1)
    session = people.start_session("anna")
    people.change("anna", is_active=False)
    assert people.of_token(token) is None
    assert people.of_session(session.secret) is None


def test_a_scope_is_a_limit_on_top_of_a_role(team: Team) -> None:
    """A token for reading cannot ask, and one that may everything can do no more than its user."""
    people = team.service.people
    reads = people.of_token(people.make_token("olga", label="x", scope="read", days=1))
    full = people.of_token(people.make_token("anna", label="x", scope="full", days=1))
    assert reads is not None
    assert full is not None
    assert (reads.may("datasets.see"), reads.may("releases.ask"), reads.may("users.manage")) == (
        True,
        False,
        False,
    )
    assert (full.may("releases.ask"), full.may("users.manage")) == (True, False)


def test_an_auditor_reads_releases_only_where_that_was_granted(team: Team) -> None:
    """Traces can be read anyway."""
    people = team.service.people
    before = people.check_password("adam", PASSWORD)
    people.change("adam", sees_releases=True)
    after = people.check_password("adam", PASSWORD)
    assert (before.may("releases.read"), after.may("releases.read")) == (False, True)
    assert before.may("traces.read")


def test_the_last_owner_cannot_be_lost(team: Team) -> None:
    """Neither by another role nor by being locked out."""
    for change in ({"role": "analyst"}, {"is_active": False}):
        with pytest.raises(BadCall, match="needs an active owner"):
            team.service.people.change("olga", **change)
    assert team.service.people.check_password("olga", PASSWORD).role == "owner"


@pytest.mark.parametrize("name", ["<b>", "../x", "", "a" * 61, "a b", "a/b", "ä"])
def test_a_name_that_cannot_stand_in_an_address_is_refused(team: Team, name: str) -> None:
    """Whoever it is for."""
    with pytest.raises(BadCall, match="not possible"):
        team.service.people.add(name, role="analyst", password=PASSWORD)


def test_the_first_owner_gets_a_password_once(team: Team) -> None:
    """Where there are users, none is made."""
    assert team.service.people.first_password() is None
