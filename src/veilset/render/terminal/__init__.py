"""How results look in a terminal: the only importer of rich. Results go to stdout, the rest to stderr.

Nothing is computed here, and nothing is loaded but what prints: what is shown is handed in. What prints one kind of
result is loaded when it is asked for, since a command prints one kind, or nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from veilset.render.terminal.streams import print_json, print_line, progress, quietly, stage, warn

if TYPE_CHECKING:
    from veilset.render.terminal.audits import print_noise_tests, print_verdicts
    from veilset.render.terminal.checks import print_check
    from veilset.render.terminal.comparisons import print_comparison
    from veilset.render.terminal.ledgers import print_dataset, print_datasets
    from veilset.render.terminal.plans import print_plan, print_trade
    from veilset.render.terminal.results import print_exact, print_published, print_release
    from veilset.render.terminal.rules import print_rules
    from veilset.render.terminal.tables import print_facts, print_study

_HOMES = {
    "print_check": "checks",
    "print_comparison": "comparisons",
    "print_dataset": "ledgers",
    "print_datasets": "ledgers",
    "print_exact": "results",
    "print_facts": "tables",
    "print_noise_tests": "audits",
    "print_plan": "plans",
    "print_published": "results",
    "print_release": "results",
    "print_rules": "rules",
    "print_study": "tables",
    "print_trade": "plans",
    "print_verdicts": "audits",
}

__all__ = [
    "print_check",
    "print_comparison",
    "print_dataset",
    "print_datasets",
    "print_exact",
    "print_facts",
    "print_json",
    "print_line",
    "print_noise_tests",
    "print_plan",
    "print_published",
    "print_release",
    "print_rules",
    "print_study",
    "print_trade",
    "print_verdicts",
    "progress",
    "quietly",
    "stage",
    "warn",
]


def __getattr__(name: str) -> object:
    """What prints a kind of result, from the module that it is in."""
    if name not in _HOMES:
        raise AttributeError(f"{__name__} has no {name}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
