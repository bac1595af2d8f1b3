"""Users, their passwords, tokens and sessions.

A password, and the secret of a token, is stored as its Argon2 hash. Verifying one takes a moment on purpose, so a
token that was verified is remembered, by a digest and in memory only; whether it was revoked is looked up each time,
or was a moment ago and nothing was written since.
"""

import hashlib
import re
import secrets
import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sql
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from veilset.errors import BadCall, VeilsetError
from veilset.service.database import PROVIDED, SESSIONS, TOKENS, USERS, ServiceDatabase
from veilset.service.memory import MOST_REMEMBERED, ShortMemory
from veilset.service.permissions import ROLES, SCOPES, Principal
from veilset.service.settings import ServiceSettings
from veilset.wording import shown

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$"
"""Names of users and datasets: letters, digits, dots, lines; they stand in addresses."""

SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 200
"""10 characters at least; 200 at most, since hashing takes longer the longer it is."""

TOKEN_START = "vst"  # noqa: S105 - what every token starts with
LONGEST_TOKEN_DAYS = 366
_FIRST_OWNER = "admin"

_PASSWORDS = PasswordHasher()
_SECRETS = PasswordHasher(time_cost=1, memory_cost=8 * 1024, parallelism=1)
"""A secret of 256 random bits needs no slow hash; what it gets is slow enough to notice guessing."""
_NOBODY = _PASSWORDS.hash(secrets.token_hex(16))
"""What is verified where there is no such user: the answer takes as long."""


_OF_TOKEN = (
    sql.select(TOKENS.c.hash, TOKENS.c.scope, USERS.c.name, USERS.c.role, USERS.c.sees_releases)
    .join(USERS, USERS.c.name == TOKENS.c.user)
    .where(TOKENS.c.id == sql.bindparam("number"), TOKENS.c.expires > sql.bindparam("now"), USERS.c.is_active)
)
"""Asked with every request: put together once, since that takes longer than the answer."""

_OF_SESSION = (
    sql.select(SESSIONS.c.csrf, USERS.c.name, USERS.c.role, USERS.c.sees_releases)
    .join(USERS, USERS.c.name == SESSIONS.c.user)
    .where(
        SESSIONS.c.hash == sql.bindparam("digest"),
        SESSIONS.c.expires > sql.bindparam("now"),
        USERS.c.is_active,
    )
)


class NotAllowed(VeilsetError):  # noqa: N818 - reads as what happened
    """Somebody asked for what they may not have."""


class LoginRefused(NotAllowed):
    """A wrong name or password, or a user who is locked out; which of them is not said."""


@dataclass(frozen=True, slots=True)
class NewSession:
    """What a browser gets at login: the secret of its cookie, and what its pages send along with changes."""

    secret: str
    csrf: str


def checked_name(name: str, what: str = "a name") -> str:
    """A name that can stand in an address."""
    if not re.match(NAME_PATTERN, name):
        raise BadCall(
            f"{what} {shown(name)} is not possible; give up to 60 letters, digits, dots, lines and underscores"
        )
    return name


def checked_password(password: str) -> str:
    """A password of a length that can be hashed and not guessed at once."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise BadCall(f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters; give such a one")
    return password


class People:
    """All users of a service."""

    def __init__(self, database: ServiceDatabase, settings: ServiceSettings) -> None:
        self._database, self._settings = database, settings
        self._verified: dict[str, str] = {}
        self._memory = ShortMemory[Principal](lambda: database.writes)

    def first_password(self) -> str | None:
        """The password of the first owner, made where there is no user yet; told once, stored nowhere."""
        with self._database.reading() as connection:
            if connection.execute(sql.select(sql.func.count()).select_from(USERS)).scalar_one():
                return None
        password = secrets.token_urlsafe(15)
        self.add(_FIRST_OWNER, role="owner", password=password)
        return password

    def add(
        self, name: str, *, role: str, password: str, sees_releases: bool = False, subject: str | None = None
    ) -> None:
        """A new user; `subject` is what a provider of logins calls them."""
        checked_name(name, "the name")
        if role not in ROLES:
            raise BadCall(f"there is no role {shown(role)}; give one of {', '.join(ROLES)}")
        row = {
            "name": name,
            "role": role,
            "password": _PASSWORDS.hash(checked_password(password)),
            "sees_releases": sees_releases,
            "is_active": True,
            "failures": 0,
            "locked_until": 0.0,
        }
        with self._database.writing() as connection:
            if connection.execute(sql.select(USERS.c.name).where(USERS.c.name == name)).first():
                raise BadCall(f"there is a user {name!r} already; take another name")
            connection.execute(USERS.insert().values(row))
            if subject is not None:
                connection.execute(PROVIDED.insert().values(subject=subject, user=name))

    def all(self) -> list[dict[str, Any]]:
        """Every user, without what is secret."""
        with self._database.reading() as connection:
            rows = connection.execute(sql.select(USERS).order_by(USERS.c.name)).all()
        return [
            {
                "name": row.name,
                "role": row.role,
                "sees_releases": row.sees_releases,
                "is_active": row.is_active,
                "is_locked": row.locked_until > time.time(),
            }
            for row in rows
        ]

    def change(self, name: str, **changes: Any) -> None:  # noqa: ANN401 - columns of the table
        """Change what is stored of a user; one owner who is active must remain."""
        if not changes:
            raise BadCall("nothing is to be changed; say what")
        if "password" in changes:
            changes["password"] = _PASSWORDS.hash(checked_password(changes["password"]))
        with self._database.writing() as connection:
            done = connection.execute(USERS.update().where(USERS.c.name == name).values(**changes))
            if done.rowcount == 0:
                raise LookupError(f"there is no user {name!r}")
            owners = USERS.c.role == "owner", USERS.c.is_active
            if not connection.execute(
                sql.select(sql.func.count()).select_from(USERS).where(*owners)
            ).scalar():
                raise BadCall("a service needs an active owner; make another one first")
            if not {"password", "is_active", "role"}.isdisjoint(changes):
                connection.execute(SESSIONS.delete().where(SESSIONS.c.user == name))

    def check_password(self, name: str, password: str) -> Principal:
        """Who logs in; LoginRefused where the password is wrong or too many wrong ones were tried."""
        with self._database.reading() as connection:
            row = connection.execute(sql.select(USERS).where(USERS.c.name == name)).first()
        is_right = _fits(_PASSWORDS, _NOBODY if row is None else row.password, password[:LONGEST_PASSWORD])
        if row is None or not row.is_active or row.locked_until > time.time():
            raise LoginRefused("this name and password are not accepted; after several tries, wait a while")
        if not is_right:
            self._count_failure(name)
            raise LoginRefused("this name and password are not accepted; after several tries, wait a while")
        if row.failures:
            with self._database.writing() as connection:
                connection.execute(USERS.update().where(USERS.c.name == name).values(failures=0))
        return Principal(row.name, row.role, sees_releases=row.sees_releases)

    def of_provider(self, subject: str, name: str, role: str) -> Principal:
        """Who logs in by a provider; made at the first login. The role is what the provider says each time.

        A name that somebody has already, by a password or another provider's word, stays theirs.
        """
        with self._database.reading() as connection:
            known = connection.execute(
                sql.select(USERS)
                .join(PROVIDED, PROVIDED.c.user == USERS.c.name)
                .where(PROVIDED.c.subject == subject)
            ).first()
        if known is None:
            try:
                self.add(name, role=role, password=secrets.token_urlsafe(32), subject=subject)
            except BadCall:
                raise LoginRefused(
                    f"the name {shown(name)} is taken here, or not possible; ask an owner of the service"
                ) from None
            return Principal(name, role, sees_releases=False)  # type: ignore[arg-type]  # checked by `add`
        if not known.is_active:
            raise LoginRefused("you are locked out of this service; ask an owner")
        if known.role != role:
            self.change(known.name, role=role)
        return Principal(known.name, role, sees_releases=known.sees_releases)  # type: ignore[arg-type]

    def _count_failure(self, name: str) -> None:
        """One more wrong password; too many in a row lock the user out for a while."""
        with self._database.writing() as connection:
            failures = connection.execute(
                sql.select(USERS.c.failures).where(USERS.c.name == name)
            ).scalar_one()
            values: dict[str, Any] = {"failures": failures + 1}
            if failures + 1 >= self._settings.lock_after:
                values = {"failures": 0, "locked_until": time.time() + 60 * self._settings.lock_minutes}
            connection.execute(USERS.update().where(USERS.c.name == name).values(**values))

    def make_token(self, user: str, *, label: str, scope: str, days: float) -> str:
        """A new token, told once."""
        if scope not in SCOPES:
            raise BadCall(f"there is no scope {shown(scope)}; give one of {', '.join(SCOPES)}")
        if not 0 < days <= LONGEST_TOKEN_DAYS:
            raise BadCall(
                f"a token that ends in {days:g} days is not possible; give up to {LONGEST_TOKEN_DAYS}"
            )
        number, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        now = time.time()
        row = {"id": number, "user": user, "label": label[:100], "scope": scope, "made": now}
        with self._database.writing() as connection:
            connection.execute(
                TOKENS.insert().values(**row, hash=_SECRETS.hash(secret), expires=now + days * 86400)
            )
        return f"{TOKEN_START}_{number}_{secret}"

    def tokens(self, user: str) -> list[dict[str, Any]]:
        """The tokens of a user, without what is secret."""
        columns = [TOKENS.c[name] for name in ("id", "label", "scope", "made", "expires")]
        with self._database.reading() as connection:
            rows = connection.execute(
                sql.select(*columns).where(TOKENS.c.user == user).order_by(TOKENS.c.made)
            )
            return [dict(row._mapping) for row in rows]  # noqa: SLF001 - SQLAlchemy's name for it

    def revoke(self, user: str, token: str) -> None:
        """End a token of a user."""
        chosen = TOKENS.c.user == user, TOKENS.c.id == token
        with self._database.writing() as connection:
            if connection.execute(TOKENS.delete().where(*chosen)).rowcount == 0:
                raise LookupError("there is no such token of yours")

    def remembered(self, secret: str) -> Principal | None:
        """Whose token or session it is, where that was looked up a moment ago; asks no database."""
        return self._memory.recall(_digest_of(secret))

    def of_token(self, token: str) -> Principal | None:
        """Whose token it is; None where it is nobody's, or was revoked, or its time is over."""
        return self._memory.look_up(_digest_of(token), lambda: self._of_token(token))

    def _of_token(self, token: str) -> Principal | None:
        start, _, rest = token.partition("_")
        number, _, secret = rest.partition("_")
        if start != TOKEN_START or len(token) > 200 or not secret:
            return None
        with self._database.reading() as connection:
            row = connection.execute(_OF_TOKEN, {"number": number, "now": time.time()}).first()
        if row is None or not self._is_verified(row.hash, secret):
            return None
        return Principal(row.name, row.role, sees_releases=row.sees_releases, scope=row.scope)

    def _is_verified(self, stored: str, secret: str) -> bool:
        """Whether a secret fits a hash; once it did, a digest of it is compared."""
        digest = hashlib.sha256(secret.encode()).hexdigest()
        if secrets.compare_digest(self._verified.get(stored, ""), digest):
            return True
        if not _fits(_SECRETS, stored, secret):
            return False
        if len(self._verified) >= MOST_REMEMBERED:
            self._verified.clear()
        self._verified[stored] = digest
        return True

    def start_session(self, user: str) -> NewSession:
        """A login of a browser."""
        made = NewSession(secrets.token_urlsafe(32), secrets.token_urlsafe(24))
        ends = time.time() + 3600 * self._settings.session_hours
        row = {"hash": _digest_of(made.secret), "user": user, "csrf": made.csrf, "expires": ends}
        with self._database.writing() as connection:
            connection.execute(SESSIONS.delete().where(SESSIONS.c.expires < time.time()))
            connection.execute(SESSIONS.insert().values(row))
        return made

    def of_session(self, secret: str) -> Principal | None:
        """Whose session it is; None where it is nobody's or over."""
        return self._memory.look_up(_digest_of(secret), lambda: self._of_session(secret))

    def _of_session(self, secret: str) -> Principal | None:
        given = {"digest": _digest_of(secret), "now": time.time()}
        with self._database.reading() as connection:
            row = connection.execute(_OF_SESSION, given).first()
        if row is None:
            return None
        return Principal(row.name, row.role, sees_releases=row.sees_releases, csrf=row.csrf)

    def end_session(self, secret: str) -> None:
        """Log a browser out."""
        with self._database.writing() as connection:
            connection.execute(SESSIONS.delete().where(SESSIONS.c.hash == _digest_of(secret)))


def _digest_of(secret: str) -> str:
    """What is stored of the secret of a cookie; it has 256 random bits, which nobody guesses from a digest."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _fits(hasher: PasswordHasher, stored: str, given: str) -> bool:
    try:
        return hasher.verify(stored, given)
    except (VerificationError, InvalidHashError, UnicodeError):
        return False
