"""The datasets of a service: what they are made of, who is protected, which items may be named, who may spend what.

What may be spent in all stands in the ledger, under the same name. Here stand the parts of it that analysts may spend.
"""

import json
import time
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sql

from veilset.errors import BadCall
from veilset.gate import Amount, exact_delta, exact_epsilon
from veilset.service.database import ALLOWANCES, DATASETS, JOBS, ServiceDatabase
from veilset.service.permissions import Principal
from veilset.service.settings import ServiceSettings

ItemRule = Literal["list", "public", "private"]

MOST_LISTED = 2_000_000
"""2,000,000 characters of a list of items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What an owner says of a dataset.

    Attributes:
        file: the name of a file in one of the folders of data.
        items: which items may be named: those of a public `list`, those of the data because they are `public` anyway,
            or those that enough persons have, found `private`ly.
        alphabet: the public list, a name on each line.
        per_owner: how many transactions of one person count, where persons have several.
        rows: about how many transactions there are, where that is public; for forecasts.
        number_of_items: about how many items there are, where that is public.
        length: about how many items a transaction has, where that is public.
    """

    file: str
    items: ItemRule
    unit: Literal["transaction", "person"]
    title: str = ""
    alphabet: str = ""
    format: str | None = None
    owner: str | None = None
    basket: str | None = None
    item: str | None = None
    separator: str | None = None
    per_owner: int | None = None
    rows: int | None = None
    number_of_items: int | None = None
    length: float | None = None


@dataclass(frozen=True, slots=True)
class RegisteredDataset:
    """A dataset as the service knows it; its state is `reading`, `ready` or `unreadable`."""

    name: str
    told: Registration
    state: str
    detail: str

    @property
    def facts(self) -> dict[str, float]:
        """What its owner said in public of how much data there is."""
        told = {"rows": self.told.rows, "items": self.told.number_of_items, "length": self.told.length}
        return {name: float(value) for name, value in told.items() if value is not None}


class Catalogue:
    """All datasets."""

    def __init__(self, database: ServiceDatabase, settings: ServiceSettings) -> None:
        self._database, self._settings = database, settings

    def path_of(self, file: str) -> Path:
        """A file of a folder of data; a name that leads elsewhere is refused."""
        for folder in self._settings.data_folders:
            path = (folder / file).resolve()
            if path.is_file() and path.is_relative_to(folder.resolve()):
                return path
        raise BadCall("there is no such file in the folders of data; upload it first, or put it there")

    def files(self) -> list[str]:
        """The files that datasets can be made of."""
        found = [path.name for folder in self._settings.data_folders for path in folder.glob("[!.]*")]
        return sorted(set(found))

    def add(self, name: str, told: Registration) -> None:
        """A new dataset, still to be read."""
        _check_registration(told)
        self.path_of(told.file)
        row = {"name": name, "about": json.dumps(asdict(told)), "state": "reading", "detail": ""}
        with self._database.writing() as connection:
            if connection.execute(sql.select(DATASETS.c.name).where(DATASETS.c.name == name)).first():
                raise BadCall(f"there is a dataset {name!r} already; take another name")
            connection.execute(DATASETS.insert().values(**row, made=time.time()))

    def get(self, name: str) -> RegisteredDataset:
        """A dataset; LookupError where there is none."""
        with self._database.reading() as connection:
            row = connection.execute(sql.select(DATASETS).where(DATASETS.c.name == name)).first()
        if row is None:
            raise LookupError(f"there is no dataset {name!r}")
        return RegisteredDataset(row.name, Registration(**json.loads(row.about)), row.state, row.detail)

    def seen_by(self, who: Principal) -> list[RegisteredDataset]:
        """The datasets that somebody has to do with: an analyst, those with an allowance."""
        with self._database.reading() as connection:
            names = [row.name for row in connection.execute(sql.select(DATASETS.c.name).order_by("name"))]
        return [self.get(name) for name in names if self.is_seen_by(who, name)]

    def is_seen_by(self, who: Principal, name: str) -> bool:
        """Whether somebody has to do with a dataset."""
        return who.role != "analyst" or self.allowance(name, who.name) is not None

    def set_state(self, name: str, state: str, detail: str = "") -> None:
        """What came of reading it."""
        with self._database.writing() as connection:
            values = {"state": state, "detail": detail}
            connection.execute(DATASETS.update().where(DATASETS.c.name == name).values(**values))

    def tell_facts(self, name: str, facts: dict[str, Any]) -> None:
        """Say in public about how much data there is."""
        told = json.loads(json.dumps(asdict(self.get(name).told))) | facts
        with self._database.writing() as connection:
            connection.execute(
                DATASETS.update().where(DATASETS.c.name == name).values(about=json.dumps(told))
            )

    def allow(self, name: str, user: str, *, epsilon: str, delta: str = "0") -> Amount:
        """What a user may spend on a dataset, in all; an epsilon of 0 takes it away."""
        self.get(name)
        amount = Amount(
            Fraction(0) if epsilon.strip() in {"0", "0.0"} else exact_epsilon(epsilon),
            Fraction(0) if delta.strip() in {"0", "0.0", ""} else exact_delta(delta),
        )
        mine = ALLOWANCES.c.dataset == name, ALLOWANCES.c.user == user
        with self._database.writing() as connection:
            connection.execute(ALLOWANCES.delete().where(*mine))
            if amount.epsilon > 0:
                values = {"dataset": name, "user": user, **amount.to_dict()}
                connection.execute(ALLOWANCES.insert().values(**values))
        return amount

    def allowance(self, name: str, user: str) -> Amount | None:
        """What a user may spend on a dataset, in all; None where nothing was said."""
        with self._database.reading() as connection:
            return allowance_in(connection, name, user)

    def allowances(self, name: str) -> dict[str, Amount]:
        """What each user may spend on a dataset."""
        with self._database.reading() as connection:
            rows = connection.execute(
                sql.select(ALLOWANCES).where(ALLOWANCES.c.dataset == name).order_by("user")
            )
            return {row.user: Amount(Fraction(row.epsilon), Fraction(row.delta)) for row in rows}

    def is_used(self, name: str) -> bool:
        """Whether anybody asked for a release of it."""
        query = sql.select(JOBS.c.id).where(JOBS.c.dataset == name, JOBS.c.task != "read")
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None


def allowance_in(connection: sql.Connection, name: str, user: str) -> Amount | None:
    """The same, within a transaction."""
    query = sql.select(ALLOWANCES).where(ALLOWANCES.c.dataset == name, ALLOWANCES.c.user == user)
    row = connection.execute(query).first()
    return None if row is None else Amount(Fraction(row.epsilon), Fraction(row.delta))


def _check_registration(told: Registration) -> None:
    if (told.items == "list") != bool(told.alphabet.strip()):
        raise BadCall("a list of items goes with the rule 'list' and with no other; give both or neither")
    if len(told.alphabet) > MOST_LISTED:
        raise BadCall(f"the list of items is longer than {MOST_LISTED} characters; give a shorter one")
    if "/" in told.file or "\\" in told.file or "\0" in told.file or told.file.startswith("."):
        raise BadCall("a file is named without its folder; give the name of one in the folders of data")
