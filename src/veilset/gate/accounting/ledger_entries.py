"""Entries of a ledger: rows that are never changed, each chained to the one before by its hash.

Everything a ledger knows follows from its entries. A total, a reservation, what was really charged in the end, the file
that a release was written to: each is an entry of its own, and what turns out otherwise later is one more entry. The
hash of an entry covers all it says and the hash before it, so that an edited or a removed one shows.

A release carries the hash of its entry into the public, so nothing in it may depend on the data: the digest of what was
read is left out of the chain, and so is every entry that only some data would make. A seal of its own, which stays in
the ledger, covers the digest.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Literal

EntryKind = Literal["create", "raise", "close", "link", "declare", "reserve", "settle", "file"]
"""What an entry does: see `Entry`."""

START = "0" * 64
"""What stands in the place of a hash before the first entry."""

FINEST = 10**15
"""Fractions with larger denominators are rounded up to a multiple of 1 / 10^15, so that sums stay short."""


class EntryExists(Exception):  # noqa: N818 - reads as what happened
    """A release has one reservation and one settlement; this would be a second one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of a ledger.

    | kind | epsilon and delta are |
    |---|---|
    | `create` | all that may be spent on a dataset |
    | `raise` | the same, from now on |
    | `close` | 0: nothing may be spent any more |
    | `link` | 0: the dataset has people of another one, which pays for it, too |
    | `declare` | 0: the owner says that data read before, under another name, is about other people |
    | `reserve` | what a release may cost: spent until it is settled |
    | `settle` | what the reserved release did cost |
    | `file` | 0: where a release was written to, by name and digest |

    Attributes:
        reference: names a release; its reservation, settlement and files have it in common.
        data: a keyed digest of what was read; tells nothing to whoever does not have the data.
        seal: a hash of the digest and of the entry's hash; neither leaves the ledger.
        details: everything else, as JSON values.
    """

    kind: EntryKind
    dataset: str
    partition: str = ""
    reference: str = ""
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    at: str = ""
    who: str = ""
    data: str = ""
    details: str = "{}"
    number: int = 0
    previous: str = START
    hash: str = ""
    seal: str = ""

    @property
    def told(self) -> dict[str, Any]:
        """The details, read."""
        told: dict[str, Any] = json.loads(self.details)
        return told

    def after(self, *, number: int, previous: str) -> "Entry":
        """The entry at its place: behind a number of others, the last of which has that hash."""
        placed = replace(self, number=number + 1, previous=previous)
        hashed = replace(placed, hash=placed.expected_hash())
        return replace(hashed, seal=hashed.expected_seal())

    def expected_hash(self) -> str:
        """The hash of all that may be published of the entry, the hash of the one before it included."""
        said = json.dumps(self.to_public_row() | {"hash": ""}, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(said.encode()).hexdigest()

    def expected_seal(self) -> str:
        """The hash of what may not: the digest of the data."""
        return hashlib.sha256(f"{self.hash} {self.data}".encode()).hexdigest()

    def to_public_row(self) -> dict[str, Any]:
        """The entry without what depends on the data."""
        return {name: value for name, value in self.to_row().items() if name not in {"data", "seal"}}

    def to_row(self) -> dict[str, Any]:
        """The entry as a database stores it: fractions as exact text."""
        return asdict(self) | {"epsilon": str(self.epsilon), "delta": str(self.delta)}

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> "Entry":
        """The entry that `to_row` wrote; an error of Python's where it is damaged."""
        row["epsilon"], row["delta"] = _fraction(row["epsilon"]), _fraction(row["delta"])
        if not isinstance(json.loads(row["details"]), dict) or not isinstance(row["number"], int):
            raise TypeError
        return cls(**row)


def _fraction(text: str) -> Fraction:
    """What `str` of a fraction wrote; thousands of them are read for a sum."""
    numerator, _, denominator = text.partition("/")
    return Fraction(int(numerator), int(denominator or 1))


def details_of(**told: object) -> str:
    """Details as an entry keeps them; what is None is left out."""
    return json.dumps({name: value for name, value in told.items() if value is not None}, sort_keys=True)


def storable(spent: Fraction) -> Fraction:
    """What was spent, as it is written down: exact, or rounded up where its denominator is very large.

    >>> storable(Fraction(1, 3)), storable(Fraction(1, 10**16))
    (Fraction(1, 3), Fraction(1, 1000000000000000))
    """
    if spent.denominator <= FINEST:
        return spent
    return Fraction(-(-spent * FINEST // 1), FINEST)


def flaws_of_chain(entries: Iterable[Entry], *, number: int, head: str) -> list[str]:
    """What shows that entries were edited or removed, in words; `number` and `head` are what the ledger counts."""
    flaws, previous, expected = [], START, 1
    for entry in entries:
        if entry.number != expected:
            flaws.append(f"entry {expected} is missing: entry {entry.number} stands in its place")
        elif entry.previous != previous:
            flaws.append(f"entry {entry.number} does not follow the one before it: one of both was changed")
        if entry.hash != entry.expected_hash() or entry.seal != entry.expected_seal():
            flaws.append(f"entry {entry.number} was changed after it was written")
        previous, expected = entry.hash, entry.number + 1
    if expected - 1 != number:
        flaws.append(f"the ledger counts {number} entries, but the last one is entry {expected - 1}")
    elif previous != head:
        flaws.append(f"entry {number}, the last one, is not the one that was written last")
    return flaws
