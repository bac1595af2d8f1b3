"""Who may what: every route, with no token, a wrong one, and one of each role."""

import re
from pathlib import Path
from typing import Annotated

import pytest
from fastapi import APIRouter, Form
from fastapi.routing import APIRoute

from service_cases import PASSWORD, Site, Team
from veilset.service.permissions import IN_WORDS, PERMISSIONS, ROLES, Principal
from veilset.service.web.application import check_guarded, create_app
from veilset.service.web.door import COOKIE, PUBLIC, GuardedRoute, RateLimit, needs, permission_of

WRONG = "vst_0123456789abcdef_this-is-nobody-s-token"
FILLED = {
    "name": "nothing",
    "user": "nobody",
    "job": "0" * 32,
    "first": "0" * 32,
    "second": "1" * 32,
    "token": "0" * 16,
    "form": "json",
}


def routes_of(site: Site) -> list[tuple[str, str, str]]:
    """Every route: its method, an address that it answers, its permission."""
    return [
        (method, re.sub(r"{(\w+)}", lambda found: FILLED[found[1]], route.path), permission_of(route))
        for route in site.app.routes
        if isinstance(route, APIRoute)
        for method in sorted(route.methods or ())
    ]


def statuses(site: Site, token: str | None) -> dict[tuple[str, str, str], int]:
    """What every route answers to a token."""
    with site.client(token=token) as client:
        return {
            (method, path, permission): client.request(method, path, headers={"x-test": "1"}).status_code
            for method, path, permission in routes_of(site)
            if path != "/logout"
        }


@pytest.mark.parametrize("token", [None, WRONG])
def test_nothing_but_health_and_login_answers_without_a_role(quiet_site: Site, token: str | None) -> None:
    """The API refuses, pages lead to the login; the style of the login page is for everybody."""
    quiet_site.app.state.door.wrong_tokens = RateLimit(10_000)
    found = statuses(quiet_site, token)
    public = {path for (_, path, permission) in found if permission == PUBLIC}
    logins = {"/login", "/api/v1/login", "/login/provider", "/login/provider/callback"}
    assert public == {"/health", "/static/nothing", *logins}
    for (method, path, permission), status in found.items():
        if permission != PUBLIC:
            expected = 401 if path.startswith(("/api/", "/metrics")) else 303
            assert (method, path, status) == (method, path, expected)


@pytest.mark.parametrize("role", ROLES)
def test_every_route_lets_in_whom_the_table_says_and_nobody_else(quiet_site: Site, role: str) -> None:
    """An auditor to whom no releases were granted does not read any."""
    found = statuses(quiet_site, quiet_site.team.tokens[role])
    who = Principal("x", role, sees_releases=False)  # type: ignore[arg-type]
    wrong = {
        (method, path): status
        for (method, path, permission), status in found.items()
        if permission != PUBLIC and (status == 403) == who.may(permission)
    }
    assert wrong == {}
    assert not {status for status in found.values() if status >= 500}


def test_a_route_without_a_permission_stops_the_application(team: Team) -> None:
    """Whether it is of the right kind or not."""
    with pytest.raises(TypeError, match="says no permission"):
        APIRouter(route_class=GuardedRoute).add_api_route("/open", lambda: None)
    app = create_app(team.service)
    app.add_api_route("/open", lambda: None)
    with pytest.raises(TypeError, match="/open is not behind the door"):
        check_guarded(app.routes)


def test_every_permission_is_said_in_words_and_used_by_a_route(quiet_site: Site) -> None:
    """And no route needs one that does not exist."""
    used = {permission for _, _, permission in routes_of(quiet_site)} - {PUBLIC}
    assert used == set(PERMISSIONS) == set(IN_WORDS)


def test_a_refusal_is_written_down_without_what_was_sent(quiet_site: Site) -> None:
    """Who, which route, which status."""
    with quiet_site.client("analyst") as client:
        client.post("/api/v1/users", json={"name": "secret-name", "password": "secret-password"})
    newest = quiet_site.team.service.events.latest()[0]
    assert (newest["who"], newest["what"]) == ("anna", "refused")
    assert newest["about"] == {"status": "403", "method": "POST", "route": "/api/v1/users"}


def test_a_broken_body_is_not_even_read_for_nobody(quiet_site: Site) -> None:
    """The door comes first."""
    with quiet_site.client() as client:
        assert client.post("/api/v1/releases", content=b"{{{").status_code == 401
    with quiet_site.client("analyst") as client:
        assert client.post("/api/v1/releases", content=b"{{{").status_code == 422


def test_a_cookie_alone_changes_nothing(quiet_site: Site) -> None:
    """A page of another site can make a browser send it, but not what our pages send along."""
    with quiet_site.browser("anna") as browser:
        assert browser.get("/api/v1/me").json()["name"] == "anna"
        body = {"label": "x", "scope": "ask"}
        assert browser.post("/api/v1/tokens", json=body).status_code == 403
        assert browser.post("/me/tokens", data=body).status_code == 403
        csrf = re.findall(r'name="csrf" value="([^"]+)"', browser.get("/me").text)[0]
        assert browser.post("/me/tokens", data={**body, "csrf": csrf + "x"}).status_code == 403
        elsewhere = {"origin": "https://elsewhere.example"}
        assert browser.post("/me/tokens", data={**body, "csrf": csrf}, headers=elsewhere).status_code == 403
        assert browser.post("/me/tokens", data={**body, "csrf": csrf}).status_code == 200
        assert browser.post("/api/v1/tokens", json=body, headers={"x-csrf-token": csrf}).status_code == 201


def test_no_script_reads_the_cookie_and_no_other_site_sends_it(quiet_site: Site) -> None:
    """HttpOnly, SameSite; Secure where the service is reached by https."""
    with quiet_site.client() as client:
        answer = client.post("/login", data={"name": "anna", "password": PASSWORD})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(COOKIE)
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


@pytest.mark.parametrize(
    "leads_to", ["//elsewhere.example", "https://elsewhere.example", "/\\elsewhere.example"]
)
def test_a_login_leads_to_no_other_site(quiet_site: Site, leads_to: str) -> None:
    """Whatever the address of the login page says."""
    with quiet_site.client() as client:
        answer = client.post("/login", data={"name": "anna", "password": PASSWORD, "next": leads_to})
    assert answer.headers["location"] == "/"


def test_logins_of_an_address_are_counted(quiet_site: Site) -> None:
    """Right and wrong ones."""
    limit, quiet_site.app.state.door.logins = quiet_site.app.state.door.logins, RateLimit(2)
    try:
        with quiet_site.client() as client:
            body = {"name": "anna", "password": PASSWORD}
            answers = [client.post("/api/v1/login", json=body).status_code for _ in range(3)]
    finally:
        quiet_site.app.state.door.logins = limit
    assert answers == [200, 200, 429]


def test_wrong_tokens_of_an_address_are_counted(quiet_site: Site) -> None:
    """Guessing is slow."""
    before, quiet_site.app.state.door.wrong_tokens = quiet_site.app.state.door.wrong_tokens, RateLimit(2)
    try:
        with quiet_site.client(token=WRONG) as client:
            answers = [client.get("/api/v1/me").status_code for _ in range(3)]
    finally:
        quiet_site.app.state.door.wrong_tokens = before
    assert answers == [401, 401, 429]


def test_every_answer_says_what_a_browser_may_do(quiet_site: Site) -> None:
    """Pages, the API, problems: no inline script, no inline style, nothing from elsewhere, no frame."""
    with quiet_site.client("owner") as client:
        for path in ("/", "/api/v1/me", "/nowhere", "/static/app.js"):
            policy = client.get(path).headers["content-security-policy"]
            assert "script-src 'self'" in policy
            assert "unsafe" not in policy
            assert "default-src 'none'" in policy


def test_pages_hold_nothing_that_the_policy_forbids(quiet_site: Site) -> None:
    """No script but a file, no style attribute, no handler, no address elsewhere."""
    with quiet_site.client("owner") as client:
        for path in (
            "/",
            "/welcome",
            "/register",
            "/data/stores",
            "/ask/stores",
            "/ledger",
            "/people",
            "/me",
        ):
            html = client.get(path).text
            assert not re.search(
                r"<script(?! src=\"/static)|<style|\sstyle=|\son\w+=|https?://|javascript:", html
            ), path


def unused(csrf: Annotated[str, Form()]) -> None:
    """A form, as a route has it."""


def test_needs_marks_a_route() -> None:
    """What it says is what the door asks for."""
    router = APIRouter(route_class=GuardedRoute)
    router.add_api_route("/x", unused, methods=["POST"], **needs("self"))
    assert permission_of(router.routes[0]) == "self"  # type: ignore[arg-type]


def permission_rows() -> str:
    """The table of docs/service.md."""
    return "".join(
        f"| {name} | {IN_WORDS[name]} | {' | '.join('yes' if role in roles else '' for role in ROLES)} |\n"
        for name, roles in PERMISSIONS.items()
    )


def test_the_documentation_has_the_table() -> None:
    """As the doors have it."""
    page = Path(__file__).resolve().parents[3] / "docs" / "service.md"
    assert permission_rows() in page.read_text(encoding="utf-8")
