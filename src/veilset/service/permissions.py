"""Who may what: one table, read by the door of every route and by whoever asks for it."""

from dataclasses import dataclass
from typing import Literal, get_args

Role = Literal["owner", "analyst", "auditor"]
ROLES: tuple[Role, ...] = get_args(Role)

_ALL: frozenset[Role] = frozenset(ROLES)
_OWNER: frozenset[Role] = frozenset({"owner"})
_ASKERS: frozenset[Role] = frozenset({"owner", "analyst"})
_CHECKERS: frozenset[Role] = frozenset({"owner", "auditor"})

PERMISSIONS: dict[str, frozenset[Role]] = {
    "self": _ALL,
    "datasets.see": _ALL,
    "datasets.manage": _OWNER,
    "forecasts.see": _ASKERS,
    "releases.see": _ALL,
    "releases.read": _ALL,
    "releases.ask": _ASKERS,
    "traces.read": _ALL,
    "ledger.see": _CHECKERS,
    "audit.see": _CHECKERS,
    "events.see": _CHECKERS,
    "metrics.see": _CHECKERS,
    "users.manage": _OWNER,
}
"""Each permission and the roles that have it. An auditor has `releases.read` only where an owner granted it."""

IN_WORDS: dict[str, str] = {
    "self": "see and change one's own password and tokens",
    "datasets.see": "see the datasets one has to do with, and what is left of their budgets",
    "datasets.manage": "register data, say what may be spent and by whom",
    "forecasts.see": "see what a release would be worth before it is asked for",
    "releases.see": "see who asked for what, when, and what it cost",
    "releases.read": "read what was released (an auditor: where an owner granted it)",
    "releases.ask": "ask for a release and cancel one's own requests",
    "traces.read": "read which questions a release asked, at which price, and what is promised",
    "ledger.see": "read every entry of the ledger, and verify it",
    "audit.see": "see how the test of the noise went",
    "events.see": "read who did what and who was refused",
    "metrics.see": "read how many requests there were, for monitoring",
    "users.manage": "make users, change roles, lock users out",
}
"""The same in words."""

_READING = frozenset(name for name in PERMISSIONS if name.endswith((".see", ".read")))

SCOPES: dict[str, frozenset[str]] = {
    "read": _READING,
    "ask": _READING | {"releases.ask"},
    "full": frozenset(PERMISSIONS),
}
"""What a token may do at most, whoever made it."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: a user, with a role, within a scope.

    Attributes:
        csrf: what a page must send along with a change; None for tokens, which no browser sends by itself.
    """

    name: str
    role: Role
    sees_releases: bool = True
    scope: str = "full"
    csrf: str | None = None

    def may(self, permission: str) -> bool:
        """Whether the role has the permission, and the token's scope does not exclude it."""
        if self.role not in PERMISSIONS[permission] or permission not in SCOPES[self.scope]:
            return False
        return permission != "releases.read" or self.role != "auditor" or self.sees_releases
