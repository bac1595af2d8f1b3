"""Publish which sets of items are common, under differential privacy.

    import veilset as vs
    baskets = vs.read("retail.dat")                  # files and tables -> transactions
    release = vs.mine(baskets, k=100, epsilon=1)     # truncate, count, add noise, choose
    release.to_frame()                               # noisy supports with 95 % intervals
    release.rules(min_confidence=0.5)                # association rules with intervals, at no further cost
    print(release.promise)                           # what is protected, in words

Every command is a verb here, too: read, check, mine, items, publish, exact, describe (`info`), compare, evaluate, plan,
audit, generate; `veilset.METHODS` lists the methods, each with a summary.

Raw data leaves only through a question that was paid for: see docs/how-it-works.md.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from veilset._version import __version__
from veilset.results.views import find_views_with

if TYPE_CHECKING:
    from veilset.api import items, mine, publish
    from veilset.audit.verb import refute as audit
    from veilset.checking import DataCheck, check
    from veilset.datasets import generate
    from veilset.errors import BadCall, BadInput, BudgetExceeded, LedgerUnavailable, VeilsetError
    from veilset.estimator import PrivateItemsets
    from veilset.evaluate import Study
    from veilset.evaluate import evaluate as evaluate_methods
    from veilset.evaluate.verb import study_methods as evaluate
    from veilset.exact import ExactResult, describe, mine_exact
    from veilset.exact import mine_exact as exact
    from veilset.gate import Ledger, SecureNoise, SeededNoise
    from veilset.methods import METHODS
    from veilset.opening import open_curator
    from veilset.plan import Facts, make_plan, plan_epsilon
    from veilset.plan.verb import plan_release as plan
    from veilset.raw.read import read, write_encoded
    from veilset.raw.transactions import Alphabet, Transactions
    from veilset.render.report import write_report
    from veilset.results.comparison import Comparison
    from veilset.results.comparison import compare_releases as compare
    from veilset.results.published import Published
    from veilset.results.release import Release
    from veilset.service.client import connect

_OTHER_NAMES = {"compare": "compare_releases", "evaluate_methods": "evaluate"}
"""What is called otherwise in its home."""

_VERBS_THAT_ARE_PACKAGES = ("audit", "evaluate", "exact", "plan")
"""Verbs whose name is that of the package that does the work, and which is called: see `veilset.callable_packages`."""

_HOMES = {
    "METHODS": "veilset.methods",
    "Alphabet": "veilset.raw.transactions",
    "BadCall": "veilset.errors",
    "BadInput": "veilset.errors",
    "BudgetExceeded": "veilset.errors",
    "Comparison": "veilset.results.comparison",
    "DataCheck": "veilset.checking",
    "ExactResult": "veilset.exact",
    "Facts": "veilset.plan",
    "Ledger": "veilset.gate",
    "LedgerUnavailable": "veilset.errors",
    "PrivateItemsets": "veilset.estimator",
    "Published": "veilset.results.published",
    "Release": "veilset.results.release",
    "SecureNoise": "veilset.gate",
    "SeededNoise": "veilset.gate",
    "Study": "veilset.evaluate",
    "Transactions": "veilset.raw.transactions",
    "VeilsetError": "veilset.errors",
    "check": "veilset.checking",
    "compare": "veilset.results.comparison",
    "connect": "veilset.service.client",
    "describe": "veilset.exact",
    "evaluate_methods": "veilset.evaluate",
    "generate": "veilset.datasets",
    "items": "veilset.api",
    "make_plan": "veilset.plan",
    "mine": "veilset.api",
    "mine_exact": "veilset.exact",
    "open_curator": "veilset.opening",
    "plan_epsilon": "veilset.plan",
    "publish": "veilset.api",
    "read": "veilset.raw.read",
    "write_encoded": "veilset.raw.read",
    "write_report": "veilset.render.report",
}

_VIEWS = {
    "plot": ("veilset.render.plots", "release_figure"),
    "report": ("veilset.render.report", "write_report"),
    "shell": ("veilset.cli", "run_here"),
    "transactions": ("veilset.exact", "published_transactions"),
}
"""Where results find what is made of them on higher floors than theirs."""

__all__ = [
    "METHODS",
    "Alphabet",
    "BadCall",
    "BadInput",
    "BudgetExceeded",
    "Comparison",
    "DataCheck",
    "ExactResult",
    "Facts",
    "Ledger",
    "LedgerUnavailable",
    "PrivateItemsets",
    "Published",
    "Release",
    "SecureNoise",
    "SeededNoise",
    "Study",
    "Transactions",
    "VeilsetError",
    "__version__",
    "audit",
    "check",
    "compare",
    "connect",
    "describe",
    "evaluate",
    "evaluate_methods",
    "exact",
    "generate",
    "items",
    "make_plan",
    "mine",
    "mine_exact",
    "open_curator",
    "plan",
    "plan_epsilon",
    "publish",
    "read",
    "write_encoded",
    "write_report",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `veilset --version` should not wait for a compiler."""
    if name in _VERBS_THAT_ARE_PACKAGES:
        return import_module(f"veilset.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'veilset' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), _OTHER_NAMES.get(name, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_VERBS_THAT_ARE_PACKAGES})


def _maker_of_view(name: str) -> Callable[..., Any]:
    """Import who makes a view of a result when somebody asks for it: plots need plotly, mining does not."""
    home, function = _VIEWS[name]
    maker: Callable[..., Any] = getattr(import_module(home), function)
    return maker


find_views_with(_maker_of_view)
