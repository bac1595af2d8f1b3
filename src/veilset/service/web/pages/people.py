"""Pages for people as users: logging in, one's own tokens and password, who there is."""

import secrets
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Form, Query, Request, Response

from veilset.errors import BadCall
from veilset.service.core import Service
from veilset.service.people import LoginRefused
from veilset.service.permissions import ROLES, SCOPES, Principal
from veilset.service.web.api.people import count_login, password_login
from veilset.service.web.api.routing import NameInPath
from veilset.service.web.door import COOKIE, PUBLIC, TheService, Who, needs
from veilset.service.web.pages.filling import Text, given_fields, page_router, shown_page, to_page

if TYPE_CHECKING:
    from veilset.service.provider import LoginProvider  # needs what only the extra `oidc` installs

LOGIN_COOKIE = "veilset_login"
SECONDS_FOR_PROVIDER = 600
"""600 seconds to log in with the provider."""

people_pages = page_router()


@people_pages.get("/login", **needs(PUBLIC))
def login_page(request: Request, next: str = "/") -> Response:  # noqa: A002 - its name in the address
    """Where to log in."""
    return _login_page(request, next=next)


@people_pages.post("/login", **needs(PUBLIC))
def login_form(
    request: Request,
    service: TheService,
    name: Annotated[str, Form(max_length=100)],
    password: Annotated[str, Form(max_length=1000)],
    next: Annotated[str, Form(max_length=300)] = "/",  # noqa: A002
) -> Response:
    """Log in; the cookie is for this service only, and no script can read it."""
    try:
        who = password_login(request, service, name, password)
    except LoginRefused as refusal:
        return _login_page(request, message=str(refusal), next=next, status=401)
    is_ours = next.startswith("/") and not next.startswith(("//", "/\\"))
    response = to_page(next if is_ours else "/")
    _remember(response, service, who)
    return response


def _remember(response: Response, service: Service, who: Principal) -> None:
    """Start a session: a cookie that no script reads and no other site sends."""
    session = service.people.start_session(who.name)
    response.set_cookie(
        COOKIE,
        session.secret,
        max_age=int(3600 * service.settings.session_hours),
        httponly=True,
        samesite="strict",
        secure=service.settings.behind_https,
    )


@people_pages.get("/login/provider", **needs(PUBLIC))
def provider_login(request: Request, service: TheService) -> Response:
    """On to the provider of logins; the browser keeps a cookie, so that nobody else can end this login."""
    count_login(request)
    provider = _provider_of(request)
    try:
        begun = provider.begin()
    except LoginRefused as refusal:
        return _login_page(request, message=str(refusal), status=401)
    response = to_page(begun.address)
    response.set_cookie(
        LOGIN_COOKIE,
        begun.browser,
        max_age=SECONDS_FOR_PROVIDER,
        path="/login/provider",
        httponly=True,
        samesite="lax",  # the provider's page leads back here
        secure=service.settings.behind_https,
    )
    return response


@people_pages.get("/login/provider/callback", **needs(PUBLIC))
def provider_callback(
    request: Request,
    service: TheService,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=2000)] = "",
) -> Response:
    """Back from the provider. A page leads on, since a cookie for this site alone is not sent on the way back."""
    count_login(request)
    provider = _provider_of(request)
    try:
        found = provider.finish(state=state, code=code, browser=request.cookies.get(LOGIN_COOKIE, ""))
        who = service.people.of_provider(found.subject, found.name, found.role)
    except LoginRefused as refusal:
        service.events.note("login refused", how="provider")
        return _login_page(request, message=str(refusal), status=401)
    service.events.note("login", who=who.name, how="provider")
    response = shown_page(request, "logged_in.html", name=who.name)
    response.delete_cookie(LOGIN_COOKIE, path="/login/provider")
    _remember(response, service, who)
    return response


def _provider_of(request: Request) -> "LoginProvider":
    provider: LoginProvider | None = request.app.state.provider
    if provider is None:
        raise LookupError("this service knows no provider of logins; log in with a password")
    return provider


def _login_page(request: Request, *, message: str = "", next: str = "/", status: int = 200) -> Response:  # noqa: A002
    has_provider = request.app.state.provider is not None
    return shown_page(
        request, "login.html", status=status, message=message, next=next, has_provider=has_provider
    )


@people_pages.post("/logout", **needs("self"))
def logout_form(request: Request, service: TheService) -> Response:
    """Log out."""
    service.people.end_session(request.cookies.get(COOKIE, ""))
    response = to_page("/login")
    response.delete_cookie(COOKIE)
    return response


@people_pages.get("/people", **needs("users.manage"))
def people_page(request: Request, service: TheService, message: str = "") -> Response:
    """All users."""
    return shown_page(request, "people.html", users=service.people.all(), roles=ROLES, message=message[:300])


@people_pages.post("/people", **needs("users.manage"))
def new_user_form(
    request: Request, who: Who, service: TheService, name: Text, role: Text, sees_releases: Text = ""
) -> Response:
    """Make a user, with a password that is shown once."""
    password = secrets.token_urlsafe(15)
    try:
        service.people.add(name.strip(), role=role, password=password, sees_releases=bool(sees_releases))
    except BadCall as refusal:
        texts = {"users": service.people.all(), "roles": ROLES, "message": str(refusal)}
        return shown_page(request, "people.html", status=400, **texts)
    service.events.note("user made", who=who.name, user=name, role=role)
    return shown_page(
        request, "told_once.html", what=f"the password of {name.strip()}", secret=password, back="/people"
    )


@people_pages.post("/people/{name}", **needs("users.manage"))
def change_user_form(
    who: Who, service: TheService, name: NameInPath, is_active: Text = "", sees_releases: Text = ""
) -> Response:
    """Lock a user out or let them in; let an auditor read releases."""
    changes: dict[str, Any] = {
        field: value == "yes" for field, value in given_fields(is_active=is_active).items()
    }
    changes |= {field: value == "yes" for field, value in given_fields(sees_releases=sees_releases).items()}
    service.people.change(name, **changes)
    service.events.note("user changed", who=who.name, user=name)
    return to_page("/people")


@people_pages.get("/me", **needs("self"))
def me_page(request: Request, who: Who, service: TheService) -> Response:
    """My tokens and my password."""
    return shown_page(request, "me.html", tokens=service.people.tokens(who.name), scopes=SCOPES, message="")


@people_pages.post("/me/tokens", **needs("self"))
def new_token_form(request: Request, who: Who, service: TheService, label: Text, scope: Text) -> Response:
    """Make a token, shown once."""
    token = service.people.make_token(who.name, label=label, scope=scope, days=30)
    service.events.note("token made", who=who.name, scope=scope)
    return shown_page(
        request, "told_once.html", what="your token, good for 30 days", secret=token, back="/me"
    )


@people_pages.post("/me/tokens/{token}/revoke", **needs("self"))
def revoke_form(who: Who, service: TheService, token: str) -> Response:
    """End a token."""
    service.people.revoke(who.name, token)
    return to_page("/me")


@people_pages.post("/me/password", **needs("self"))
def password_form(request: Request, who: Who, service: TheService, old: Text, new: Text) -> Response:
    """Change my password; all my logins end."""
    try:
        service.people.check_password(who.name, old)
        service.people.change(who.name, password=new)
    except (BadCall, LoginRefused) as refusal:
        tokens = service.people.tokens(who.name)
        return shown_page(request, "me.html", status=400, tokens=tokens, scopes=SCOPES, message=str(refusal))
    service.events.note("password changed", who=who.name)
    return to_page("/login")
