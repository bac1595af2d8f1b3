"""How a source is read, told to whoever owns it, before anything is spent. NOT private: for the owner's eyes only."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from veilset.errors import BadCall, BadInput
from veilset.exact import describe
from veilset.opening import shown_source
from veilset.raw.read import Format, HowRead, read_and_tell
from veilset.raw.read.databases import is_address
from veilset.raw.read.options import Options
from veilset.raw.read.vocabulary import AlphabetSource
from veilset.raw.transactions import Item, Transactions
from veilset.results.html import Badge, result_html
from veilset.wording import counted

NOT_PRIVATE = "NOT PRIVATE: how the data is read, for the eyes of whoever owns it; do not publish it"

LAYOUTS_IN_WORDS = {
    "fimi": "a line of item numbers is a transaction",
    "spmf": "a line of item numbers is a transaction",
    "basket": "a row of item names is a transaction",
    "long": "one item in each row; rows of the same {key} are a transaction",
    "list": "a list of items is a transaction",
    "table": "a row is a transaction; its items are column=value",
    "onehot": "a row is a transaction; its items are the columns that are true or 1",
    "encoded": "transactions that veilset wrote",
}

_ROLES = {
    "owner": "whose it is: the person protected",
    "basket": "which basket",
    "item": "the items",
    "multiplicity": "how many transactions a row stands for",
}

_TELLING_NAMES = {
    "owner": ("customer", "user", "owner", "person", "patient", "client", "member", "who", "household"),
    "basket": ("basket", "order", "receipt", "invoice", "transaction", "ticket", "visit", "session"),
    "item": ("item", "product", "sku", "article", "what", "code", "description", "page"),
}
"""Words in the names of columns from which a role is suggested, never taken."""


@dataclass(frozen=True, slots=True)
class CheckedColumn:
    """A column of the source: its name, its type, and what it is read as."""

    name: str
    kind: str
    role: str


@dataclass(frozen=True, slots=True, repr=False)
class DataCheck:
    """How a source is read, and what it holds in figures. NOT private.

    `problem` tells why it cannot be read as it was asked for; then there are no facts, and `next_step` helps.
    """

    source: str
    kind: str
    layout: str
    columns: tuple[CheckedColumn, ...]
    facts: dict[str, float] = field(default_factory=dict)
    protects: str | None = None
    remarks: tuple[str, ...] = ()
    problem: str | None = None
    next_step: str = ""

    def lines(self) -> list[str]:
        """What it says, a line each, but for the columns and the figures."""
        read_as = [] if self.problem else [f"read as: {self.layout}"]
        protects = [] if self.protects is None else [f"protected would be: {self.protects}"]
        problem = [] if self.problem is None else [f"cannot be read so: {self.problem}"]
        remarks = [f"note: {remark}" for remark in self.remarks]
        return [f"{self.source}: {self.kind}", *read_as, *protects, *problem, *remarks]

    def to_dict(self) -> dict[str, Any]:
        """The document that `veilset check --json` prints."""
        return {**asdict(self), "is_private": False}

    def __repr__(self) -> str:
        columns = [f"  {each.name} ({each.kind}): {each.role}" for each in self.columns]
        facts = [f"  {name.replace('_', ' ')}: {_figure(value)}" for name, value in self.facts.items()]
        return "\n".join([NOT_PRIVATE, *self.lines(), *columns, *facts, f"next: {self.next_step}"])

    def _repr_html_(self) -> str:
        _, *lines = repr(self).splitlines()
        return result_html("How the data is read", [Badge("NOT private", "bad")], (), [], lines)


def check(  # noqa: PLR0913 - what `read` takes
    source: Any,  # noqa: ANN401 - whatever `read` takes
    *,
    format: Format | None = None,  # noqa: A002 - as `read` calls it
    owner: str | None = None,
    basket: str | None = None,
    item: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    multiplicity: str | None = None,
    skip_bad_rows: bool = False,
    alphabet: AlphabetSource | None = None,
    query: str | None = None,
    columns: Sequence[Item] | None = None,
) -> DataCheck:
    """How `veilset.read` reads a source with these arguments, and what it holds. NOT private, and costs nothing.

    A table that can be read in several ways is no error here: its columns are shown, and what to say is suggested.

    >>> found = check([["milk", "bread"], ["milk"], []])
    >>> found.layout, found.facts["transactions"], found.facts["empty_transactions"]
    ('a list of items is a transaction', 3, 1)
    """
    options = Options(
        format, owner, basket, item, separator, header, multiplicity, skip_bad_rows, query, columns
    )
    name = shown_source(source) if isinstance(source, str) else _called(source)
    try:
        held = source if isinstance(source, Transactions) else read_and_tell(source, options, alphabet)
    except (BadInput, BadCall) as refused:
        if isinstance(refused, BadCall) and not options.how.columns:
            raise
        return _unread(name, options, str(refused))
    if isinstance(source, Transactions):
        options.how.kind, options.how.layout = "transactions that were read", "encoded"
    return _checked(name, options, held, source)


def _called(source: object) -> str:
    return str(source) if hasattr(source, "__fspath__") else f"a {type(source).__name__}"


def _checked(name: str, options: Options, held: Transactions, source: object) -> DataCheck:
    facts = describe(held)
    rows = {} if options.how.table_rows is None else {"rows_of_the_table": options.how.table_rows}
    files = {} if options.how.files == 1 else {"files": options.how.files}
    empty = int(np.count_nonzero(held.lengths == 0))
    return DataCheck(
        source=name,
        kind=_kind(options.how),
        layout=LAYOUTS_IN_WORDS[options.how.layout].format(key=_key(options)),
        columns=_columns(options),
        facts={**files, **rows, **facts, "empty_transactions": empty},
        protects=_protected(held),
        remarks=tuple(_remarks(held, empty)),
        next_step=_next_step(source, options, held),
    )


def _unread(name: str, options: Options, problem: str) -> DataCheck:
    how = options.how
    columns = tuple(CheckedColumn(column, kind, "") for column, kind in how.columns.items())
    return DataCheck(name, _kind(how), "", columns, problem=problem, next_step=_suggested(how))


def _kind(how: HowRead) -> str:
    separator = {None: "", "\t": ", cells separated by tabs"}.get(
        how.separator, f", cells separated by {how.separator!r}"
    )
    header = {None: "", True: ", the first row names the columns", False: ", no row of names"}[how.has_header]
    return f"{how.kind}{separator}{header}"


def _key(options: Options) -> str:
    return " and ".join(name for name in (options.owner, options.basket) if name is not None)


def _columns(options: Options) -> tuple[CheckedColumn, ...]:
    named = {
        getattr(options, role): words for role, words in _ROLES.items() if getattr(options, role) is not None
    }
    rest = {"onehot": "an item", "table": "items column=value", "list": "the items"}
    others = "not read" if options.item is not None else rest.get(options.how.layout, "not read")
    return tuple(
        CheckedColumn(name, kind, named.get(name, others)) for name, kind in options.how.columns.items()
    )


def _protected(held: Transactions) -> str:
    if held.owners is not None:
        return "one person, of whose transactions as many count as --per-owner (per_owner=) says"
    if held.is_by_person:
        return "one person"
    if held.is_by_basket:
        return (
            "one basket; name the column of persons with --owner (owner=), if there is one, to protect them"
        )
    return "one transaction; if one person can have several, name the column of persons with --owner (owner=)"


def _remarks(held: Transactions, empty: int) -> list[str]:
    remarks = []
    if len(held) == 0:
        remarks.append("there is no transaction")
    elif empty > len(held) / 2:
        remarks.append(f"{empty:,} of {counted(len(held), 'transaction', separator=',')} have no item")
    supports = np.bincount(held.items, minlength=len(held.alphabet)) if len(held.alphabet) else np.zeros(0)
    once = int(np.count_nonzero(supports == 1))
    if once > len(held.alphabet) / 2 and len(held.alphabet) > 20:
        remarks.append(
            f"{once:,} of {len(held.alphabet):,} items occur once: are they identifiers, or is the separator wrong?"
        )
    return remarks


def _next_step(source: object, options: Options, held: Transactions) -> str:
    """The command that makes a first release of it, or the call where it is in memory."""
    if not isinstance(source, str):
        per_owner = "" if held.owners is None else ', per_owner="auto"'
        return f"veilset.mine(data, epsilon=1, k=100, delta=1e-9{per_owner})"
    place = "ADDRESS" if is_address(source) else shlex.quote(source)
    items = [] if held.alphabet.is_given else ["--delta", "1e-9"]
    per_owner = "" if held.owners is None else " --per-owner auto"
    words = " ".join([place, *_as_options(options), *items])
    return f"veilset mine {words} --epsilon 1 --k 100{per_owner}"


def _as_options(options: Options) -> list[str]:
    """What was said about reading, as a command line says it."""
    names = ("format", "owner", "basket", "item", "separator", "multiplicity", "query")
    given = [(name, getattr(options, name)) for name in names]
    words = [word for name, value in given if value is not None for word in (f"--{name}", shlex.quote(value))]
    header = {None: [], True: ["--header"], False: ["--no-header"]}[options.header]
    return [*words, *header, *(["--skip-bad-rows"] if options.skip_bad_rows else [])]


def _suggested(how: HowRead) -> str:
    """Which columns to name, by what they are called; a suggestion, nothing is taken from it."""
    found: dict[str, str] = {}
    for role, words in _TELLING_NAMES.items():
        likely = [name for name in how.columns if any(word in name.lower() for word in words)]
        free = [name for name in likely if name not in found.values()]
        if free:
            found[role] = free[0]
    if "item" not in found or len(found) < 2:
        return (
            "name the columns: --owner COLUMN --item COLUMN (owner=, item=); or give --format table or onehot"
        )
    return "perhaps " + " ".join(f"--{role} {shlex.quote(name)}" for role, name in found.items())


def _figure(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
