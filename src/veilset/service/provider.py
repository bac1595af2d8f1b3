"""Logins by a provider of OpenID Connect: authorization code with PKCE, state, nonce, and roles by a claim.

A login that was begun is known by its state, once, for ten minutes, and only to the browser that began it. What comes
back is taken where the provider signed it, for this client, with the nonce of this login. Who a person is here follows
from the provider's own number for them (`sub`), never from a name that they could choose.
"""

import hmac
import re
import secrets
import time
from dataclasses import dataclass
from threading import Lock
from typing import Any

import requests
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from veilset.service.people import LoginRefused
from veilset.service.settings import ProviderSettings

SECONDS_TO_LOG_IN = 600
"""600 seconds from a click on the login page to the answer of the provider."""

_SECONDS_DESCRIBED = 3600
_SECONDS_TO_ANSWER = 10
_MOST_BEGUN = 10_000
_SIGNATURES = ["RS256", "PS256", "ES256", "EdDSA"]
"""Signatures by a key that only the provider has; none by a shared secret, and not none at all."""
_LEEWAY = 60


@dataclass(frozen=True, slots=True)
class Identity:
    """Who somebody is, by the provider's word."""

    subject: str
    name: str
    role: str


@dataclass(frozen=True, slots=True)
class LoginBegun:
    """Where a browser is sent, and what it must bring back in a cookie."""

    address: str
    browser: str


@dataclass(frozen=True, slots=True)
class _Waiting:
    nonce: str
    verifier: str
    browser: str
    until: float


class LoginProvider:
    """A provider of OpenID Connect, as the settings of the service name it."""

    def __init__(self, settings: ProviderSettings) -> None:
        self.settings = settings
        self._begun: dict[str, _Waiting] = {}
        self._lock = Lock()
        self._described: tuple[float, dict[str, Any]] = (0.0, {})

    def begin(self) -> LoginBegun:
        """A new login: a state, a nonce and a verifier of its own."""
        state, browser = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        waiting = _Waiting(
            secrets.token_urlsafe(32),
            secrets.token_urlsafe(48),
            browser,
            time.monotonic() + SECONDS_TO_LOG_IN,
        )
        address, _ = self._session().create_authorization_url(
            self._description()["authorization_endpoint"],
            state=state,
            nonce=waiting.nonce,
            code_verifier=waiting.verifier,
        )
        with self._lock:
            now = time.monotonic()
            self._begun = {name: each for name, each in self._begun.items() if each.until > now}
            if len(self._begun) >= _MOST_BEGUN:
                self._begun.clear()
            self._begun[state] = waiting
        return LoginBegun(str(address), browser)

    def finish(self, *, state: str, code: str, browser: str) -> Identity:
        """Who logged in; LoginRefused unless this browser began this login, and the provider vouches for them."""
        with self._lock:
            waiting = self._begun.pop(state, None)
        if waiting is None or waiting.until < time.monotonic():
            raise LoginRefused("this login was not begun here, or too long ago; log in again")
        if not hmac.compare_digest(waiting.browser.encode(), browser.encode()):
            raise LoginRefused("this login was begun in another browser; log in again")
        return self._identity(self._claims(self._id_token(code, waiting.verifier), waiting.nonce))

    def _session(self) -> Any:  # noqa: ANN401 - authlib has no types
        told = self.settings
        return OAuth2Session(
            told.client_id,
            told.client_secret,
            scope=told.scope,
            redirect_uri=told.callback,
            code_challenge_method="S256",
        )

    def _id_token(self, code: str, verifier: str) -> str:
        endpoint = self._description()["token_endpoint"]
        try:
            token = self._session().fetch_token(
                endpoint, code=code, code_verifier=verifier, timeout=_SECONDS_TO_ANSWER
            )
            return str(token["id_token"])
        except Exception:  # noqa: BLE001 - authlib, requests and JSON each have errors of their own
            raise LoginRefused("the provider did not confirm this login; log in again") from None

    def _claims(self, id_token: str, nonce: str) -> dict[str, Any]:
        told = self.settings
        checks = jwt.JWTClaimsRegistry(
            leeway=_LEEWAY,
            iss={"essential": True, "value": told.issuer},
            aud={"essential": True, "value": told.client_id},
            sub={"essential": True},
            exp={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        try:
            claims = jwt.decode(id_token, self._keys(), algorithms=_SIGNATURES).claims
            checks.validate(claims)
        except (JoseError, ValueError, TypeError, KeyError):
            self.forget()  # its keys may have changed: the next login asks for them
            raise LoginRefused("what the provider signed is not for this login; log in again") from None
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if (several or "azp" in claims) and claims.get("azp") != told.client_id:
            raise LoginRefused("what the provider signed is for another service; log in again")
        return claims

    def _identity(self, claims: dict[str, Any]) -> Identity:
        """The first role of the settings whose word the claim holds."""
        told = self.settings
        held = claims.get(told.role_claim, [])
        words = {held} if isinstance(held, str) else set(map(str, held if isinstance(held, list) else []))
        role = next((role for role, word in told.roles.items() if word in words), None)
        if role is None:
            raise LoginRefused("your account has no role in this service; ask its owner for one")
        name = re.sub(r"[^A-Za-z0-9._-]", "-", str(claims.get(told.name_claim, claims["sub"])))
        return Identity(f"{told.issuer} {claims['sub']}", name[:60], role)

    def _description(self) -> dict[str, Any]:
        """What the provider says of itself; it must be the one of the settings that says so."""
        until, described = self._described
        if until < time.monotonic():
            described = _fetched(self.settings.issuer.rstrip("/") + "/.well-known/openid-configuration")
            if described.get("issuer") != self.settings.issuer:
                raise LoginRefused("the provider calls itself something else than the settings do")
            described["keys"] = _fetched(str(described["jwks_uri"]))
            self._described = (time.monotonic() + _SECONDS_DESCRIBED, described)
        return described

    def _keys(self) -> KeySet:
        return KeySet.import_key_set(self._description()["keys"])

    def forget(self) -> None:
        """Ask the provider anew for its addresses and keys, which change now and then."""
        self._described = (0.0, {})


def _fetched(address: str) -> dict[str, Any]:
    try:
        answer = requests.get(address, timeout=_SECONDS_TO_ANSWER, allow_redirects=False)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
    except (requests.RequestException, ValueError):
        raise LoginRefused("the provider of logins cannot be reached; try again later") from None
    return found
