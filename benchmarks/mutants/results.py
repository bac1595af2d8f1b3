"""What came out so far, one JSON value a line, so that a run that was stopped goes on where it was.

What was killed or ran out of time on these sources and tests is not run again; a survivor is where more tests may run
now than then. With `trust` it is enough that the module is the same: changes that other tests killed stay killed.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.mutants.changes import Change
from benchmarks.mutants.warm import KILLED, SURVIVED, TIMEOUT

EQUIVALENT = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one change: `by` which test, after how many seconds, with up to how many `allowed`."""

    key: str
    outcome: str
    by: str
    seconds: float
    allowed: float
    tests: int
    module_digest: str
    suite_digest: str


@dataclass(frozen=True, slots=True)
class Now:
    """What there is now: digests of modules and of all sources and tests, and how many seconds of tests may run."""

    modules: Mapping[str, str]
    suite: str
    allowed: float
    trust: bool


def digest_of(text: str) -> str:
    """A short name for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Store:
    """A file of results; the last one of a change counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self._results = {each.key: each for each in (Result(**json.loads(line)) for line in lines)}

    def add(self, result: Result) -> None:
        """Keep a result, on disk as well."""
        self._results[result.key] = result
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")

    def known(self, changes: Iterable[Change], now: Now) -> dict[str, Result]:
        """The results, by key, that still hold."""
        found = {}
        for change in changes:
            result = self._results.get(change.key)
            if result is None or result.module_digest != now.modules[change.module]:
                continue
            same_suite = result.suite_digest == now.suite
            noticed = result.outcome in {KILLED, TIMEOUT} and (same_suite or now.trust)
            if noticed or (result.outcome == SURVIVED and same_suite and result.allowed >= now.allowed):
                found[change.key] = result
        return found


def equivalents(path: Path = EQUIVALENT) -> dict[str, str]:
    """The reason for each change that changes no behaviour, by its key."""
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    return {f"{row['module']} | {row['where']} | {row['change']}": row["reason"] for row in rows}
