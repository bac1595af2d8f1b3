"""Public facts about data that nobody looked at: handed in, or read from a file of facts or an earlier release."""

import json
import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from veilset.arguments import finite_or_infinite
from veilset.errors import BadCall, BadInput
from veilset.integers import whole
from veilset.request import MOST_TRANSACTIONS, Support
from veilset.results.release import Release
from veilset.wording import shown

_IN_WORDS = {
    "rows": "how many transactions there are (--rows N)",
    "items": "how many items there are (--items N)",
    "length": "how many items a transaction has (--length L)",
    "k": "how many itemsets you want (--k K)",
}
"""What a plan cannot do without."""

_MOST_ITEMS = 2**31 - 1
"""2,147,483,647: more items have no code."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is public, or can be guessed without a look; `length` is the mean number of items in a row."""

    rows: int
    items: int
    length: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", whole(self.rows, "rows, the number of transactions,"))
        object.__setattr__(self, "items", whole(self.items, "items, the number of items,"))
        object.__setattr__(self, "length", finite_or_infinite(self.length, "length, of a transaction,"))
        if self.rows < 1 or self.items < 1:
            raise BadCall(
                f"{shown(self.rows)} rows over {shown(self.items)} items hold nothing; give at least 1 of each"
            )
        if self.rows > MOST_TRANSACTIONS:
            raise BadCall(
                f"{shown(self.rows)} rows are more than anybody has; give at most {MOST_TRANSACTIONS}"
            )
        if self.items > _MOST_ITEMS:
            raise BadCall(f"{shown(self.items)} items are more than anybody has; give at most {_MOST_ITEMS}")
        if not 0 < self.length <= self.items:
            raise BadCall(
                f"a typical length of {self.length:g} is not possible with {self.items} items; "
                f"give a number above 0 and at most {self.items}"
            )


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """What of a plan is known so far; None where it is not."""

    rows: int | None = None
    items: int | None = None
    length: float | None = None
    k: int | None = None
    kth_support: Support | None = None
    max_size: int | None = None

    def with_given(self, given: "KnownFacts") -> "KnownFacts":
        """These facts, with what was given in their place: whoever says a number means it.

        A guess of the k-th support is for the k and the sizes that it stands beside.
        """
        changed = {each.name: getattr(given, each.name) for each in fields(given)}
        changed = {name: value for name, value in changed.items() if value is not None}
        is_for_other_k = self.k is not None and changed.get("k", self.k) != self.k
        if self.kth_support is not None and is_for_other_k and given.kth_support is None:
            raise BadCall(
                f"the k-th support of the file is for k = {self.k}; give --kth-support for k = {given.k}, "
                "or leave --k out"
            )
        return replace(self, **changed)

    def complete(self, source: str | None = None) -> tuple[Facts, int]:
        """The facts and k that every plan needs."""
        rows, items, length, k = self.rows, self.items, self.length, self.k
        if rows is None or items is None or length is None or k is None:
            missing = [words for name, words in _IN_WORDS.items() if getattr(self, name) is None]
            told = "a plan needs to know" if source is None else f"{source} does not tell"
            raise BadCall(f"{told} {_listed(missing)}; add {'it' if len(missing) == 1 else 'them'}")
        return Facts(rows, items, length), k


def read_facts(path: str | Path, *, k: int | None = None, max_size: int | None = None) -> KnownFacts:
    """The facts in a file: TOML or JSON with rows, items, length, k, kth_support; or a release that veilset wrote.

    A release tells about how many transactions there are, and, for the k and the sizes that it was made for or for
    fewer, the support of the k-th itemset. It does not tell how many items there are: it names the frequent ones.
    """
    path = Path(path)
    if not path.exists():
        raise BadInput(f"there is no file {path}; give a .toml or .json file of facts, or a release")
    if path.suffix in {".csv", ".parquet"}:
        return _told_by(Release.load(path), path, k=k, max_size=max_size)
    document = _document(path)
    if {"itemsets", "promise"} <= document.keys():
        return _told_by(Release.load(path), path, k=k, max_size=max_size)
    unknown = document.keys() - {each.name for each in fields(KnownFacts)}
    if unknown:
        raise BadInput(
            f"{path} says {_listed(sorted(unknown))}, which is no fact that a plan knows; "
            "it may say rows, items, length, k, kth_support and max_size"
        )
    return KnownFacts(**{name: _checked(path, name, value) for name, value in document.items()})


def _document(path: Path) -> dict[str, Any]:
    """What a TOML or JSON file holds."""
    if path.suffix not in {".toml", ".json"}:
        raise BadInput(
            f"{path} is no file of facts; name it .toml or .json, or give a release (.csv, .parquet)"
        )
    try:
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise BadInput(f"{path} cannot be read; write lines such as rows = 20000, items = 200, length = 8")
    return document


def _checked(path: Path, name: str, value: Any) -> Any:  # noqa: ANN401 - of the kind that the fact has
    """A fact of the right kind; whether it is possible is checked where it is used."""
    kinds: dict[str, tuple[type, ...]] = {"length": (int, float), "kth_support": (int, float, str)}
    is_of_its_kind = isinstance(value, kinds.get(name, (int,))) and not isinstance(value, bool)
    if not is_of_its_kind or (name == "length" and not value <= MOST_TRANSACTIONS):
        what = "a number" if name in kinds else "a whole number"
        raise BadInput(f"{path} says {name} = {value!r}; give {what}")
    return float(value) if name == "length" else value


def _told_by(release: Release, path: Path, *, k: int | None, max_size: int | None) -> KnownFacts:
    """What an earlier release makes public of the data."""
    if not release.is_private:
        raise BadInput(
            f"{path} was made with noise that can be repeated, so what it tells is not public; "
            "give facts that are, with --rows, --items and --length"
        )
    request = {} if release.origin is None else release.origin.request
    made_for = request.get("max_size")
    wanted = k or request.get("k") or len(release) or None
    size = made_for if max_size is None else max_size
    is_told = size == made_for and not release.is_mostly_noise
    supports = [found.support for found in release.itemsets] if is_told else []
    support = supports[wanted - 1] if wanted is not None and 0 < wanted <= len(supports) else 0
    return KnownFacts(rows=release.transactions.value, k=wanted, kth_support=support or None, max_size=size)


def _listed(names: list[str]) -> str:
    """Names in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
