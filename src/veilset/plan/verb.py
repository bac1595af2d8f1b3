"""`veilset.plan(...)`: the epsilon that is needed, or what to expect of one."""

from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

from veilset.arguments import a_path, either, truth
from veilset.errors import BadCall
from veilset.gate import Delta, Epsilon
from veilset.plan import Facts, KnownFacts, Plan, Trade, make_plan, plan_epsilon, read_facts
from veilset.rationals import Rational
from veilset.request import Support


class PlanOptions(TypedDict, total=False):
    """What `plan_release` takes beside the facts and epsilon."""

    rows: int | None
    items: int | None
    length: float | None
    k: int | None
    want_found: Rational | None
    want_error: Rational | None
    max_size: int | None
    max_len: int | None
    kth_support: Support | None
    error: float | None
    delta: Delta | None
    all_methods: bool


@overload
def plan_release(
    facts: Facts | str | Path | None = None, *, epsilon: None = None, **options: Unpack[PlanOptions]
) -> Trade: ...


@overload
def plan_release(
    facts: Facts | str | Path | None = None, *, epsilon: Epsilon, **options: Unpack[PlanOptions]
) -> Plan: ...


def plan_release(  # noqa: PLR0913 - all keyword-only, each documented
    facts: Facts | str | Path | None = None,
    *,
    epsilon: Epsilon | None = None,
    rows: int | None = None,
    items: int | None = None,
    length: float | None = None,
    k: int | None = None,
    want_found: Rational | None = None,
    want_error: Rational | None = None,
    max_size: int | None = None,
    max_len: int | None = None,
    kth_support: Support | None = None,
    error: float | None = None,
    delta: Delta | None = None,
    all_methods: bool = False,
) -> Plan | Trade:
    """Which epsilon `mine` needs, or what to expect of one; no data is read and nothing is spent.

    Args:
        facts: public facts, or the path of a file of them, or of an earlier release; what is given beside it counts.
        epsilon: what to expect of it, by a Plan; if left out, a Trade tells which epsilon is needed.
        rows: about how many transactions there are.
        items: how many items there are.
        length: how many items a transaction has, about.
        k: how many itemsets.
        want_found: the wanted share of the true k best among the k released; 90 % if left out.
        want_error: what a released support may be wrong by on average; 10 % if left out.
        max_size: the most items in an itemset.
        max_len: another name of `max_size`: mlxtend's.
        kth_support: a guess of the k-th itemset's support, below 1 a share, else a count.
        error: with epsilon: the wanted half width of an interval, as a share of the k-th support.
        delta: the delta that the release would have, where its items are to be found privately.
        all_methods: whether every method is asked; by default the three that promise most, or the default one.

    >>> trade = plan_release(rows=100_000, items=169, length=4.4, k=10)
    >>> trade.sentence()
    'To have 9 of 10 itemsets right and errors under 10 %, you need epsilon 0.011 (by planned).'
    """
    size = either(max_size=max_size, max_len=max_len)
    given = KnownFacts(rows, items, length, k, kth_support, size)
    known = _told_by_facts(facts, given)
    complete, number = known.complete(None if facts is None or isinstance(facts, Facts) else str(facts))
    everyone = truth(all_methods, "all_methods")
    asked: dict[str, Any] = {
        "k": number,
        "max_size": known.max_size,
        "kth_support": known.kth_support,
        "delta": delta,
    }
    wanted = {"want_found": want_found, "want_error": want_error}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    check_goes_together(epsilon, error=error, wanted=wanted)
    if epsilon is None:
        return plan_epsilon(complete, all_methods=everyone, **asked, **wanted)  # type: ignore[arg-type]
    width: dict[str, Any] = {} if error is None else {"error": error}
    return make_plan(
        complete, epsilon=epsilon, most_methods=None if everyone else METHODS_SHOWN, **asked, **width
    )


METHODS_SHOWN = 3
"""At most 3 methods side by side, unless all are asked for."""


def check_goes_together(epsilon: object, *, error: object, wanted: object) -> None:
    """With an epsilon the error is told, without one the epsilon."""
    if epsilon is not None and wanted:
        raise BadCall(
            "--want-found and --want-error ask which epsilon is needed; leave --epsilon out, or leave them out"
        )
    if epsilon is None and error is not None:
        raise BadCall(
            "--error goes with --epsilon; to be told which epsilon is needed, give --want-error, such as 10%"
        )


def _told_by_facts(facts: Facts | str | Path | None, given: KnownFacts) -> KnownFacts:
    """What the facts tell, with what was given in their place."""
    if facts is None:
        return given
    if isinstance(facts, Facts):
        return KnownFacts(facts.rows, facts.items, facts.length).with_given(given)
    path = Path(a_path(facts, "facts"))
    return read_facts(path, k=given.k, max_size=given.max_size).with_given(given)
