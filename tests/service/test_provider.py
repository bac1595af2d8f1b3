"""Logins by a provider of OpenID Connect: a small one, on this machine, that can be told to cheat."""

import base64
import hashlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest
import uvicorn
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from service_cases import Site, make_team, wait_until
from veilset.errors import BadCall
from veilset.service.settings import ProviderSettings, ServiceSettings

CLIENT = {"client_id": "veilset", "client_secret": "shared with the provider"}
ROLES_BY_GROUP = {"owner": "curators", "analyst": "data-team"}
KEY, OTHER_KEY = (RSAKey.generate_key(2048, {"kid": "key-1"}) for _ in range(2))
ANNA = {"sub": "248289761001", "preferred_username": "anna@example.org", "groups": ["data-team", "everybody"]}


@dataclass
class Provider:
    """What a provider of logins does; `claims` and `key` are what it signs next, and with what."""

    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    key: Any = field(default_factory=lambda: KEY)
    alg: str = "RS256"
    called: str = ""
    asked: dict[str, str] = field(default_factory=dict)

    def app(self) -> Starlette:
        """Its three addresses."""
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self.describe),
                Route("/keys", self.keys),
                Route("/token", self.token, methods=["POST"]),
            ]
        )

    async def describe(self, _: Request) -> JSONResponse:
        """Where everything is."""
        places = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/keys"}
        told = {name: self.issuer + path for name, path in places.items()}
        return JSONResponse({"issuer": self.called or self.issuer, **told})

    async def keys(self, _: Request) -> JSONResponse:
        """What its signatures are checked with."""
        return JSONResponse(KeySet([KEY]).as_dict(private=False))

    async def token(self, request: Request) -> JSONResponse:
        """A token for a code; the verifier must be the one that the login began with."""
        given = dict(parse_qsl((await request.body()).decode()))
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if challenge != self.asked["code_challenge"] or given.get("code") != "the-code":
            return JSONResponse({"error": "invalid_grant"}, 400)
        signed = jwt.encode({"alg": self.alg, "kid": "key-1"}, self.claims, self.key, algorithms=[self.alg])
        return JSONResponse({"access_token": "x", "token_type": "Bearer", "id_token": signed})


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """A provider on the network of this machine."""
    made = Provider()
    server = uvicorn.Server(uvicorn.Config(made.app(), port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    made.issuer = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    yield made
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def service(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service that knows it."""
    told = {"issuer": provider.issuer, "address": "http://localhost:8484", "roles": ROLES_BY_GROUP, **CLIENT}
    team = make_team(
        tmp_path_factory.mktemp("provided"),
        is_read=True,
        logins_per_minute=10_000,
        oidc=ProviderSettings.of(told),
    )
    with Site(team, has_workers=False) as site:
        yield site
    team.service.close()


def begun(client: httpx.Client, provider: Provider, **changes: Any) -> str:  # noqa: ANN401 - any claim
    """Begin a login; the provider will sign what it should, with these changes. Returns the state."""
    answer = client.get("/login/provider")
    assert answer.status_code == 303
    asked = {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}
    assert asked["redirect_uri"] == "http://localhost:8484/login/provider/callback"
    assert asked["code_challenge_method"] == "S256"
    provider.asked, provider.key, provider.alg, provider.called = asked, KEY, "RS256", ""
    honest: dict[str, Any] = {"iss": provider.issuer, "aud": "veilset", "nonce": asked["nonce"], **ANNA}
    honest |= {"iat": int(time.time()), "exp": int(time.time()) + 300}
    provider.claims = {name: value for name, value in (honest | changes).items() if value is not None}
    return asked["state"]


def finished(client: httpx.Client, state: str, code: str = "the-code") -> httpx.Response:
    """Back from the provider."""
    return client.get("/login/provider/callback", params={"state": state, "code": code})


def test_a_person_logs_in_and_has_the_role_of_their_group(service: Site, provider: Provider) -> None:
    """Made at the first login; who has another group later has another role, and the same name."""
    with service.client() as client:
        assert "/login/provider" in client.get("/login").text
        answer = finished(client, begun(client, provider))
        assert answer.status_code == 200
        cookie = answer.headers["set-cookie"]
        assert "SameSite=strict" in cookie
        assert "HttpOnly" in cookie
        me = client.get("/api/v1/me").json()
        assert (me["name"], me["role"]) == ("anna-example.org", "analyst")
    with service.client() as client:
        renamed = {"groups": "curators", "preferred_username": "olga"}
        assert finished(client, begun(client, provider, **renamed)).status_code == 200
        me = client.get("/api/v1/me").json()
        assert (me["name"], me["role"]) == ("anna-example.org", "owner")
        service.team.service.people.change("anna-example.org", is_active=False)
        assert finished(client, begun(client, provider)).status_code == 401


@pytest.mark.parametrize(
    "changes",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"iss": "https://elsewhere.example"},
        {"aud": "another-service"},
        {"aud": ["veilset", "another-service"]},
        {"azp": "another-service"},
        {"exp": 1000},
        {"exp": None},
        {"sub": None},
        {"sub": "1", "groups": []},
        {"sub": "1", "groups": ["strangers"]},
        {"sub": "1", "groups": 7},
        {"sub": "1", "preferred_username": "olga"},
        {"sub": "1", "preferred_username": "<script>"},
        {"sub": "1", "preferred_username": ""},
    ],
)
def test_what_is_not_for_this_login_is_refused(
    service: Site, provider: Provider, changes: dict[str, Any]
) -> None:
    """Another nonce, issuer, service or time; no role; the name of somebody who has a password here."""
    with service.client() as client:
        answer = finished(client, begun(client, provider, **changes))
        assert answer.status_code == 401
        assert 'role="alert"' in answer.text
        assert client.get("/api/v1/me").status_code == 401
    assert service.team.service.events.latest()[0]["what"] in {"login refused", "refused"}


@pytest.mark.parametrize("cheat", ["another key", "a shared secret", "nothing"])
def test_what_the_provider_did_not_sign_is_refused(service: Site, provider: Provider, cheat: str) -> None:
    """With another key, with what both know, or not at all."""
    with service.client() as client:
        state = begun(client, provider)
        if cheat == "another key":
            provider.key = OTHER_KEY
        elif cheat == "a shared secret":
            from joserfc.jwk import OctKey  # noqa: PLC0415

            provider.key, provider.alg = OctKey.import_key(CLIENT["client_secret"]), "HS256"
        else:
            provider.claims = {}
        assert finished(client, state).status_code == 401


def test_a_login_ends_where_it_began_and_once(service: Site, provider: Provider) -> None:
    """A state that nobody began, that was used, or that another browser began is worth nothing; a wrong code, too."""
    with service.client() as client, service.client() as other:
        assert finished(client, "nothing").status_code == 401
        assert finished(other, begun(client, provider)).status_code == 401
        state = begun(client, provider)
        assert finished(client, state, code="another-code").status_code == 401
        assert finished(client, state).status_code == 401
        assert client.get("/login/provider/callback", params={"error": "access_denied"}).status_code == 401


def test_a_provider_that_calls_itself_something_else_is_not_used(service: Site, provider: Provider) -> None:
    """Nor one that cannot be reached: the page says so."""
    service.app.state.provider.forget()
    provider.called = "https://elsewhere.example"
    with service.client() as client:
        assert client.get("/login/provider").status_code == 401
    provider.called = ""


def test_a_service_without_a_provider_says_so(quiet_site: Site) -> None:
    """And its login page does not offer one."""
    with quiet_site.client() as client:
        assert client.get("/login/provider").status_code == 404
        assert "/login/provider" not in client.get("/login").text


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "http://id.example.org"},
        {"address": "ftp://localhost"},
        {"roles": {}},
        {"roles": {"root": "x"}},
        {"client_secret": "env:NOT_IN_THE_ENVIRONMENT"},
        {"unknown": "x"},
    ],
)
def test_settings_of_a_provider_are_checked(change: dict[str, Any]) -> None:
    """Https, roles that exist, nothing that is not known, nothing missing; no secret is printed."""
    told = {"issuer": "https://id.example.org", "address": "https://x.example.org", "roles": ROLES_BY_GROUP}
    good = {**told, **CLIENT}
    assert CLIENT["client_secret"] not in repr(ServiceSettings(oidc=ProviderSettings.of(good)))
    with pytest.raises(BadCall):
        ProviderSettings.of({**good, **change})
    with pytest.raises(BadCall, match="client_id is missing"):
        ProviderSettings.of({name: value for name, value in good.items() if name != "client_id"})
