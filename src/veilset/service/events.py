"""What happened, for whoever checks later: who did what and who was refused. Nothing of the data, no secrets."""

import json
import logging
import time
from typing import Any

import sqlalchemy as sql

from veilset.service.database import EVENTS, ServiceDatabase

LOGGER = logging.getLogger("veilset.service")

_LONGEST = 200
"""200 characters of a value are enough to recognise it."""


class JsonLines(logging.Formatter):
    """One JSON object on each line."""

    def format(self, record: logging.LogRecord) -> str:
        """What is logged, with when and how serious it is."""
        told = getattr(record, "told", {})
        line = {
            "at": round(record.created, 3),
            "level": record.levelname,
            "what": record.getMessage(),
            **told,
        }
        return json.dumps(line, ensure_ascii=True)


class EventLog:
    """Events in the database of the service, and the same as lines of its log."""

    def __init__(self, database: ServiceDatabase) -> None:
        self._database = database

    def note(self, what: str, *, who: str = "", **about: object) -> None:
        """Write down one event: a word for what, names for the rest."""
        told = {name: _short(value) for name, value in about.items()}
        LOGGER.info(what, extra={"told": {"who": who, **told}})
        row = {"at": time.time(), "who": who, "what": what, "about": json.dumps(told)}
        with self._database.writing() as connection:
            connection.execute(EVENTS.insert().values(row))

    def latest(self, most: int = 200) -> list[dict[str, Any]]:
        """The last events, the newest first."""
        with self._database.reading() as connection:
            rows = connection.execute(sql.select(EVENTS).order_by(EVENTS.c.number.desc()).limit(most)).all()
        return [
            {"at": row.at, "who": row.who, "what": row.what, "about": json.loads(row.about)} for row in rows
        ]


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
