"""Queries of owners to databases: one that only reads, or none at all. Checked before anybody connects.

A query is parsed, and what is run is written anew from what was understood: no comment, quoting or second statement
that a parser and a database read in different ways reaches the database. Functions that sqlglot does not know are
refused: databases have some that read files, wait or write. A connection that cannot write is the second line of
defence, and an account of the database that may read nothing else is the third.
"""

import logging
import re

import sqlglot
from sqlglot import exp

from veilset.errors import BadCall

DIALECTS = {"sqlite": "sqlite", "postgresql": "postgres", "duckdb": "duckdb"}
"""The databases that a query can go to, and what their SQL is called."""

LONGEST_QUERY = 20_000
"""20,000 characters of a query."""

_NOT_READING = (exp.DDL, exp.DML, exp.Command, exp.Into, exp.Lock, exp.Copy, exp.Set, exp.Pragma)
_READS_FILES = (exp.ReadCSV, exp.ReadParquet)
_TABLE_NAME = re.compile(r"[\w $-]+")
"""A name of a table: with dots or slashes in it, DuckDB takes it for a file."""

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # what it says quotes the query

_ALLOWED = "a query is one SELECT (or WITH ... SELECT) that changes nothing; give such a one"


def kind_of_address(address: str) -> str:
    """Which database an address leads to; BadCall where it is none that a query can go to."""
    kind = re.split(r"[:+]", address, maxsplit=1)[0].lower()
    kind = "postgresql" if kind == "postgres" else kind
    if kind not in DIALECTS:
        raise BadCall(f"{kind!r} is no database that is read by a query; give one of {', '.join(DIALECTS)}")
    return kind


def only_reading(query: str, kind: str) -> str:
    """The query as it is run; BadCall unless it is one that only reads tables.

    >>> only_reading("select item, owner from sales -- all of them", "sqlite")
    'SELECT item, owner FROM sales'
    """
    if not query.strip() or len(query) > LONGEST_QUERY or "\0" in query:
        raise BadCall(f"a query has 1 to {LONGEST_QUERY} characters; {_ALLOWED}")
    try:
        parsed = [each for each in sqlglot.parse(query, dialect=DIALECTS[kind]) if each is not None]
    except (sqlglot.errors.SqlglotError, RecursionError):
        raise BadCall(f"the query is not understood as SQL of {kind}; {_ALLOWED}") from None
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Query):
        raise BadCall(f"this is not one query; {_ALLOWED}")
    for part in parsed[0].walk():
        _check_part(part)
    return parsed[0].sql(dialect=DIALECTS[kind], comments=False)


def _check_part(part: exp.Expr) -> None:
    if isinstance(part, _NOT_READING):
        raise BadCall(f"the query would do more than read ({part.key}); {_ALLOWED}")
    if isinstance(part, (exp.Anonymous, exp.AnonymousAggFunc, *_READS_FILES)):
        name = part.name if isinstance(part, exp.Anonymous) else part.key
        raise BadCall(f"the function {name[:60]!r} is not known to only read tables; do without it")
    if isinstance(part, (exp.Parameter, exp.Placeholder, exp.SessionParameter)):
        raise BadCall(f"a query stands for itself, without parameters; {_ALLOWED}")
    if isinstance(part, exp.Table) and not isinstance(part.this, exp.Func):
        names = [each.name for each in part.parts]
        if not all(_TABLE_NAME.fullmatch(name) for name in names):
            raise BadCall("a table is named by letters, digits and lines; a file is not read by a query")
