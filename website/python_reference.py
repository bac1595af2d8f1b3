"""The reference of the Python package: every public name stands on one page, its text is its docstring."""

import veilset

GROUPS = {
    "data": (
        "Data in",
        "Read data, see how it is read, make some.",
        ("read", "check", "describe", "generate", "write_encoded", "Transactions", "Alphabet", "DataCheck"),
    ),
    "releases": (
        "Releases",
        "Pay epsilon, get an answer that may be published.",
        (
            "mine",
            "items",
            "publish",
            "PrivateItemsets",
            "Release",
            "Published",
            "compare",
            "Comparison",
            "write_report",
        ),
    ),
    "planning": (
        "Before you spend",
        "What to expect, from public facts alone.",
        ("plan", "make_plan", "plan_epsilon", "Facts", "METHODS"),
    ),
    "budget": (
        "Budgets and services",
        "What may be spent over all releases, and who may ask.",
        ("Ledger", "connect", "open_curator", "SecureNoise", "SeededNoise"),
    ),
    "public-data": (
        "For public or made-up data",
        "Not private, and they say so.",
        ("exact", "mine_exact", "ExactResult", "evaluate", "evaluate_methods", "Study", "audit"),
    ),
    "errors": (
        "Errors",
        "What is raised, and when.",
        ("VeilsetError", "BadCall", "BadInput", "BudgetExceeded", "LedgerUnavailable"),
    ),
}
"""For each page: its title, one sentence, and the names on it."""

HOMES_OF_VERBS = {
    "audit": "veilset.audit.verb.refute",
    "evaluate": "veilset.evaluate.verb.study_methods",
    "exact": "veilset.exact.mine_exact",
    "plan": "veilset.plan.verb.plan_release",
    "compare": "veilset.results.comparison.compare_releases",
    "evaluate_methods": "veilset.evaluate.evaluate",
    "METHODS": "veilset.methods.METHODS",
}
"""Where the docstring of a name stands, for those that are called otherwise there."""


def python_reference() -> dict[str, str]:
    """For each page its Markdown, with a directive for each name that the build fills in."""
    return {page: _page(*group) for page, group in GROUPS.items()}


def _page(title: str, sentence: str, names: tuple[str, ...]) -> str:
    options = "\n    options:\n      heading: veilset.{0}\n      toc_label: {0}"
    parts = [f"# {title}", sentence, *(f"::: {home_of(name)}" + options.format(name) for name in names)]
    return "\n\n".join(parts) + "\n"


def home_of(name: str) -> str:
    """The full name of what a public name stands for."""
    return HOMES_OF_VERBS.get(name) or f"{veilset._HOMES[name]}.{name}"  # noqa: SLF001 - the one list of homes


def names_on_pages() -> list[str]:
    """All names that have a place in the reference."""
    return [name for _, _, names in GROUPS.values() for name in names]
