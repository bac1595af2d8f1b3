"""How results look in a terminal: the only importer of rich. Results go to stdout, the rest to stderr.

Nothing is computed here, and nothing is loaded but what prints: what is shown is handed in.
"""

from veilset.render.terminal.audits import print_noise_tests, print_verdicts
from veilset.render.terminal.checks import print_check
from veilset.render.terminal.comparisons import print_comparison
from veilset.render.terminal.ledgers import print_dataset, print_datasets
from veilset.render.terminal.plans import print_plan, print_trade
from veilset.render.terminal.results import print_exact, print_published, print_release
from veilset.render.terminal.rules import print_rules
from veilset.render.terminal.streams import print_json, print_line, progress, quietly, stage, warn
from veilset.render.terminal.tables import print_facts, print_study

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
