"""The API for people: logins, tokens, users."""

from typing import Annotated, Any

from fastapi import Path, Request

from veilset.service.core import Service
from veilset.service.permissions import IN_WORDS, PERMISSIONS, ROLES, Principal
from veilset.service.web.api.routing import NameInPath, api_router
from veilset.service.web.bodies import Login, Me, NewToken, NewUser, Token, TokenRow, UserChange, UserRow
from veilset.service.web.door import PUBLIC, TheService, Who, address_of, needs, too_many

SESSION_DAYS = 0.5
"""A token from a login ends after half a day."""

people_api = api_router("people")


@people_api.post("/login", **needs(PUBLIC))
def log_in(request: Request, service: TheService, body: Login) -> Token:
    """A token for half a day, for a name and a password."""
    who = password_login(request, service, body.name, body.password)
    return Token(token=service.people.make_token(who.name, label="login", scope="full", days=SESSION_DAYS))


def password_login(request: Request, service: Service, name: str, password: str) -> Principal:
    """Who logs in; tries are counted by address, and wrong ones by name."""
    count_login(request)
    try:
        who = service.people.check_password(name, password)
    except Exception:
        service.events.note("login refused", who=name[:60])
        raise
    service.events.note("login", who=who.name)
    return who


def count_login(request: Request) -> None:
    """One more login that an address tries; HTTPException where it tried too many."""
    limit, address = request.app.state.door.logins, address_of(request)
    if limit.is_over(address):
        raise too_many(request, "too many logins from your address; wait a minute")
    limit.count(address)


@people_api.get("/me", **needs("self"))
def me(who: Who) -> Me:
    """Who I am, and what I may."""
    may = [name for name in PERMISSIONS if who.may(name)]
    return Me(name=who.name, role=who.role, scope=who.scope, may=may)


@people_api.get("/permissions", **needs("self"))
def permission_table() -> list[dict[str, Any]]:
    """Who may what."""
    return [
        {"permission": name, "in_words": IN_WORDS[name], "roles": [role for role in ROLES if role in roles]}
        for name, roles in PERMISSIONS.items()
    ]


@people_api.get("/tokens", **needs("self"))
def list_tokens(who: Who, service: TheService) -> list[TokenRow]:
    """My tokens, without their secrets."""
    return [TokenRow(**row) for row in service.people.tokens(who.name)]


@people_api.post("/tokens", status_code=201, **needs("self"))
def make_token(who: Who, service: TheService, body: NewToken) -> Token:
    """A new token of mine, told once."""
    service.events.note("token made", who=who.name, scope=body.scope)
    return Token(
        token=service.people.make_token(who.name, label=body.label, scope=body.scope, days=body.days)
    )


@people_api.delete("/tokens/{token}", status_code=204, **needs("self"))
def revoke_token(
    who: Who, service: TheService, token: Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
) -> None:
    """End a token of mine."""
    service.people.revoke(who.name, token)
    service.events.note("token revoked", who=who.name)


@people_api.get("/users", **needs("users.manage"))
def list_users(service: TheService) -> list[UserRow]:
    """All users."""
    return [UserRow(**row) for row in service.people.all()]


@people_api.post("/users", status_code=201, **needs("users.manage"))
def makeuser_row(who: Who, service: TheService, body: NewUser) -> UserRow:
    """A new user."""
    service.people.add(body.name, role=body.role, password=body.password, sees_releases=body.sees_releases)
    service.events.note("user made", who=who.name, user=body.name, role=body.role)
    return user_row(service, body.name)


@people_api.patch("/users/{name}", **needs("users.manage"))
def changeuser_row(who: Who, service: TheService, name: NameInPath, body: UserChange) -> UserRow:
    """Change a role, lock a user out, let an auditor read releases, set a new password."""
    changes = {field: value for field, value in body.model_dump().items() if value is not None}
    if changes:
        service.people.change(name, **changes)
        service.events.note("user changed", who=who.name, user=name, fields=",".join(sorted(changes)))
    return user_row(service, name)


def user_row(service: Service, name: str) -> UserRow:
    """A user as it is listed; LookupError where there is none."""
    found = [row for row in service.people.all() if row["name"] == name]
    if not found:
        raise LookupError(f"there is no user {name!r}")
    return UserRow(**found[0])
