"""What the owner of a service decides: where things lie, how much workers may use, when results are told."""

import os
import tomllib
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from veilset.errors import BadCall
from veilset.service.permissions import ROLES

LOCAL = ("127.0.0.1", "localhost", "::1")
"""Addresses that no other machine reaches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """A provider of OpenID Connect: the section `[service.oidc]`.

    Attributes:
        issuer: what the provider calls itself, an https address.
        client_id: what it calls this service.
        client_secret: what this service proves itself with; `env:NAME` takes it from the environment.
        address: where browsers find this service, as in `https://curator.example.org`.
        roles: the word of the claim that gives each role; the first role that fits is taken.
        role_claim: the claim that holds these words.
        name_claim: the claim that holds what a new user is called here.
        scope: what the provider is asked for.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    address: str
    roles: dict[str, str]
    role_claim: str = "groups"
    name_claim: str = "preferred_username"
    scope: str = "openid profile"

    @classmethod
    def of(cls, told: dict[str, Any]) -> "ProviderSettings":
        """Check what a file says."""
        known = {each.name: each.default is MISSING for each in fields(cls)}
        wrong = [name for name in told if name not in known]
        wrong += [name for name, is_needed in known.items() if is_needed and name not in told]
        if wrong:
            raise BadCall(
                f"{wrong[0]} is missing in [service.oidc], or unknown; there are {', '.join(known)}"
            )
        made = cls(**{**told, "client_secret": from_environment(str(told["client_secret"]))})
        for address in (made.issuer, made.address):
            parts = urlsplit(address)
            if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOCAL):
                raise BadCall(f"{address!r} is no https address; logins need one")
        unknown = set(made.roles) - set(ROLES)
        if unknown or not made.roles:
            raise BadCall(f"roles of [service.oidc] are {', '.join(ROLES)}; give words for some of them")
        return made

    @property
    def callback(self) -> str:
        """Where the provider sends browsers back to: tell it so."""
        return f"{self.address.rstrip('/')}/login/provider/callback"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """The settings of a service.

    Attributes:
        folder: where the service keeps what it stores: databases, data in the form that workers map, results.
        database: where users, datasets and requests are kept: a SQLite file or a PostgreSQL address.
        ledger: where budgets are kept.
        data_folders: where files may lie that datasets are made of; `folder/data` if none is named.
        connections: databases that owners may read by a query: a name for each, and its address.
        spark_paths: where data may lie that a cluster reads, such as `s3a://lake/baskets`.
        spark_master: the cluster that reads it: `sc://host:port`, or a master of Spark.
        host: the address to listen on.
        port: the port to listen on.
        behind_https: whether browsers reach the service by https; cookies are then for https only.
        workers: 1 process that looks at data at a time.
        worker_memory_mb: 4096 MB for each of them; who needs more fails.
        release_every: 30 seconds: results are told this long after the request, or a multiple of it.
        largest_upload_mb: 1024 MB in one uploaded file.
        session_hours: 12 hours until a login ends.
        lock_after: 5 wrong passwords in a row lock a user out.
        lock_minutes: 15 minutes of being locked out.
        logins_per_minute: 20 logins that one address may try in a minute.
        oidc: who else may say who somebody is; None: passwords only.
    """

    folder: Path = Path("veilset-service")
    database: str = field(default="", repr=False)
    ledger: str = field(default="", repr=False)
    data_folders: tuple[Path, ...] = ()
    connections: dict[str, str] = field(default_factory=dict, repr=False)
    spark_paths: tuple[str, ...] = ()
    spark_master: str = field(default="", repr=False)
    host: str = "127.0.0.1"
    port: int = 8484
    behind_https: bool = False
    workers: int = 1
    worker_memory_mb: int = 4096
    release_every: float = 30
    largest_upload_mb: int = 1024
    session_hours: float = 12
    lock_after: int = 5
    lock_minutes: float = 15
    logins_per_minute: int = 20
    oidc: ProviderSettings | None = None

    @classmethod
    def read(cls, path: Path | None) -> "ServiceSettings":
        """The section `[service]` of a file, and its `ledger`; what is not said keeps its default."""
        if path is None:
            return cls().complete()
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise BadCall(f"{path} cannot be read as TOML; give a file with a section [service]") from None
        told = dict(document.get("service", {}))
        if "ledger" in document:
            told.setdefault("ledger", document["ledger"])
        return cls.of(told, beside=path.parent)

    @classmethod
    def of(cls, told: dict[str, Any], *, beside: Path) -> "ServiceSettings":
        """Check what a file says; paths in it start from its folder."""
        defaults = {each.name: _default_of(each) for each in fields(cls)}
        unknown = told.keys() - defaults.keys()
        if unknown:
            raise BadCall(
                f"there is no setting {min(unknown)!r} of a service; there are {', '.join(defaults)}"
            )
        told = dict(told)
        provider = told.pop("oidc", None)
        for name, value in told.items():
            _check_kind(name, value, defaults[name])
        values = {
            **told,
            "oidc": None if provider is None else ProviderSettings.of(provider),
            "folder": beside / told.get("folder", defaults["folder"]),
            "data_folders": tuple(beside / each for each in told.get("data_folders", ())),
            "spark_paths": tuple(told.get("spark_paths", ())),
            "connections": {
                name: from_environment(str(address)) for name, address in told.get("connections", {}).items()
            },
        }
        return cls(**values).complete()

    def complete(self) -> "ServiceSettings":
        """The same, with what follows from the folder filled in."""
        for name in ("workers", "worker_memory_mb", "release_every", "largest_upload_mb", "lock_after"):
            if getattr(self, name) <= 0:
                raise BadCall(f"{name} = {getattr(self, name)} is not possible; give a number above 0")
        values: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        values["database"] = from_environment(self.database) or f"sqlite:///{self.folder / 'service.db'}"
        values["ledger"] = from_environment(self.ledger) or f"sqlite:///{self.folder / 'ledger.db'}"
        values["data_folders"] = self.data_folders or (self.folder / "data",)
        return ServiceSettings(**values)

    @property
    def uploads(self) -> Path:
        """Where uploaded files go: the first folder of data."""
        return self.data_folders[0]

    @property
    def needs_https(self) -> bool:
        """Whether other machines reach the service without https."""
        return self.host not in LOCAL and not self.behind_https

    def encoded_file(self, dataset: str) -> Path:
        """Where the data of a dataset lies in the form that workers map into memory."""
        return self.folder / "encoded" / f"{dataset}.arrow"

    def result_file(self, job: str) -> Path:
        """Where what was released for a request lies."""
        return self.folder / "results" / f"{job}.json"

    def make_folders(self) -> None:
        """Make the folders of the service, for nobody else to read."""
        for folder in (self.folder, *(self.folder / name for name in ("encoded", "results", "workers"))):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)
        for folder in self.data_folders:
            folder.mkdir(parents=True, exist_ok=True)


def _default_of(setting: Any) -> Any:  # noqa: ANN401 - a field, and whatever it holds
    return setting.default if setting.default_factory is MISSING else setting.default_factory()


def from_environment(text: str) -> str:
    """A setting as it stands there, or from the environment where it is `env:NAME`: for what is secret."""
    name = text.removeprefix("env:")
    if name == text:
        return text
    if name not in os.environ:
        raise BadCall(f"the settings refer to {name} in the environment, where it is not; set it")
    return os.environ[name]


def _check_kind(name: str, value: object, default: object) -> None:
    kinds: dict[type, tuple[type, ...]] = {float: (int, float), tuple: (list,), bool: (bool,)}
    wanted = (str,) if isinstance(default, Path) else kinds.get(type(default), (type(default),))
    if name == "release_every":
        wanted = (int, float)
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        raise BadCall(
            f"{name} = {value!r} is of the wrong kind; give {wanted[0].__name__}, such as {default!r}"
        )
