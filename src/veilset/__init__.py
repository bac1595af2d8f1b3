"""Publish which sets of items are common, under differential privacy.

    import veilset as vs
    baskets = vs.read("retail.dat")                  # files and tables -> transactions
    release = vs.mine(baskets, k=100, epsilon=1)     # truncate, count, add noise, choose
    release.to_frame()                               # noisy supports with 95 % intervals
    release.rules(min_confidence=0.5)                # association rules with intervals, at no further cost
    print(release.promise)                           # what is protected, in words

Raw data leaves only through a question that was paid for: see docs/how-it-works.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from veilset._version import __version__

if TYPE_CHECKING:
    from veilset.api import items, mine, publish
    from veilset.errors import BadCall, BadInput, BudgetExceeded, LedgerUnavailable, VeilsetError
    from veilset.exact import ExactResult, mine_exact
    from veilset.gate import Ledger, SecureNoise, SeededNoise
    from veilset.methods import METHODS
    from veilset.opening import open_curator
    from veilset.raw.read import read, write_encoded
    from veilset.raw.transactions import Alphabet, Transactions
    from veilset.render.report import write_report
    from veilset.results.published import Published
    from veilset.results.release import Release

_HOMES = {
    "METHODS": "veilset.methods",
    "Alphabet": "veilset.raw.transactions",
    "BadCall": "veilset.errors",
    "BadInput": "veilset.errors",
    "BudgetExceeded": "veilset.errors",
    "ExactResult": "veilset.exact",
    "Ledger": "veilset.gate",
    "LedgerUnavailable": "veilset.errors",
    "Published": "veilset.results.published",
    "Release": "veilset.results.release",
    "SecureNoise": "veilset.gate",
    "SeededNoise": "veilset.gate",
    "Transactions": "veilset.raw.transactions",
    "VeilsetError": "veilset.errors",
    "items": "veilset.api",
    "mine": "veilset.api",
    "mine_exact": "veilset.exact",
    "open_curator": "veilset.opening",
    "publish": "veilset.api",
    "read": "veilset.raw.read",
    "write_encoded": "veilset.raw.read",
    "write_report": "veilset.render.report",
}

__all__ = [
    "METHODS",
    "Alphabet",
    "BadCall",
    "BadInput",
    "BudgetExceeded",
    "ExactResult",
    "Ledger",
    "LedgerUnavailable",
    "Published",
    "Release",
    "SecureNoise",
    "SeededNoise",
    "Transactions",
    "VeilsetError",
    "__version__",
    "items",
    "mine",
    "mine_exact",
    "open_curator",
    "publish",
    "read",
    "write_encoded",
    "write_report",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `veilset --version` should not wait for a compiler."""
    if name not in _HOMES:
        raise AttributeError(f"module 'veilset' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
