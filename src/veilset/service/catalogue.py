"""The datasets of a service: what they are made of, who is protected, which items may be named, who may spend what.

What may be spent in all stands in the ledger, under the same name. Here stand the parts of it that analysts may spend.
"""

import json
import time
from dataclasses import dataclass, replace
from fractions import Fraction

import sqlalchemy as sql

from veilset.errors import BadCall
from veilset.gate import Amount, exact_delta, exact_epsilon
from veilset.service.database import ALLOWANCES, DATASETS, JOBS, ServiceDatabase
from veilset.service.permissions import Principal
from veilset.service.registrations import Registration, SourceKind, checked_registration, files_there
from veilset.service.settings import ServiceSettings
from veilset.wording import shown

_ALLOWANCE = sql.select(ALLOWANCES).where(
    ALLOWANCES.c.dataset == sql.bindparam("of"), ALLOWANCES.c.user == sql.bindparam("to")
)
"""Asked with every look at a dataset: put together once."""


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
        items = self.told.known_items or self.told.number_of_items
        told = {"rows": self.told.rows, "items": items, "length": self.told.length}
        return {name: float(value) for name, value in told.items() if value is not None}


class Catalogue:
    """All datasets."""

    def __init__(self, database: ServiceDatabase, settings: ServiceSettings) -> None:
        self._database, self._settings = database, settings

    def files(self) -> dict[SourceKind, list[str]]:
        """The files and folders that datasets can be made of."""
        return files_there(self._settings)

    def checked(self, name: str, told: Registration, *, others: set[str]) -> Registration:
        """What an owner says of a new dataset beside others, as it will be stored; BadCall where it cannot be."""
        with self._database.reading() as connection:
            if connection.execute(sql.select(DATASETS.c.name).where(DATASETS.c.name == name)).first():
                raise BadCall(f"there is a dataset {name!r} already; take another name")
        unknown = set(told.same_people_as) - others
        if unknown:
            raise BadCall(f"there is no dataset {shown(min(unknown))} whose people these could be")
        if others and not told.same_people_as and not told.different_people:
            raise BadCall(
                f"are people of this data in another dataset, too ({', '.join(sorted(others)[:5])})? Then budgets of "
                "both pay: say same_people_as; or say different_people, your word that nobody is in both"
            )
        return checked_registration(told, self._settings)

    def add(self, name: str, told: Registration) -> None:
        """A new dataset, still to be read."""
        row = {"name": name, "about": json.dumps(told.to_dict()), "state": "reading", "detail": ""}
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
        return RegisteredDataset(row.name, Registration.of(json.loads(row.about)), row.state, row.detail)

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

    def tell_items(self, name: str, number: int) -> None:
        """Note how many items data has that was read, where they are public."""
        told = replace(self.get(name).told, items_read=number)
        with self._database.writing() as connection:
            values = {"about": json.dumps(told.to_dict())}
            connection.execute(DATASETS.update().where(DATASETS.c.name == name).values(**values))

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
    row = connection.execute(_ALLOWANCE, {"of": name, "to": user}).first()
    return None if row is None else Amount(Fraction(row.epsilon), Fraction(row.delta))
