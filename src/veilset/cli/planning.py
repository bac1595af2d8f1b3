"""The command that looks at no data: which epsilon it takes, and what to expect of one."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veilset.cli.options import AsJsonOption, ForceOption, MaxSizeOption, ReportOption, check_can_write

if TYPE_CHECKING:
    from veilset.plan import Facts, KnownFacts, Plan, Trade


def plan_command(
    facts: Annotated[
        Path | None,
        typer.Argument(
            metavar="FACTS",
            help="A .toml or .json file with rows, items, length, k and kth_support; or an earlier release.",
            show_default=False,
        ),
    ] = None,
    *,
    rows: Annotated[
        int | None, typer.Option("--rows", metavar="N", help="How many transactions, about.")
    ] = None,
    items: Annotated[
        int | None, typer.Option("--items", metavar="N", help="How many items there are.")
    ] = None,
    length: Annotated[
        float | None, typer.Option("--length", metavar="L", help="Items in a transaction, about.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", metavar="K", help="How many itemsets.")] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            "--epsilon", metavar="E", help="What to expect of it; left out, the one you need is told."
        ),
    ] = None,
    want_found: Annotated[
        str | None,
        typer.Option(metavar="S", help="The share of the itemsets that should be right; 90% if left out."),
    ] = None,
    want_error: Annotated[
        str | None,
        typer.Option(metavar="S", help="What a support may be wrong by on average; 10% if left out."),
    ] = None,
    max_size: MaxSizeOption = None,
    kth_support: Annotated[
        str | None,
        typer.Option(metavar="S", help="A guess of the k-th support: below 1 a share, else a count."),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(
            metavar="R", help="With --epsilon: the wanted half width, as a share of the k-th support."
        ),
    ] = None,
    delta: Annotated[
        str | None, typer.Option("--delta", metavar="D", help="Where items are to be found privately.")
    ] = None,
    all_methods: Annotated[bool, typer.Option("--all", help="Show every method.")] = False,
    report: ReportOption = None,
    force: ForceOption = False,
    as_json: AsJsonOption = False,
) -> None:
    """The epsilon you need, or the error to expect, from public facts alone: no data is read, nothing is spent."""
    from veilset.plan import KnownFacts  # noqa: PLC0415
    from veilset.plan.verb import METHODS_SHOWN, check_goes_together  # noqa: PLC0415
    from veilset.render import terminal  # noqa: PLC0415

    check_goes_together(
        epsilon, error=error, wanted=[each for each in (want_found, want_error) if each is not None]
    )
    check_can_write(report, suffixes=(".html",), data=facts, replaces=force)
    known = _known(facts, KnownFacts(rows, items, length, k, kth_support, max_size))
    asked = _Asked.of(known, delta=delta, source=facts, all_methods=all_methods)
    plan = (
        None if epsilon is None else asked.plan(epsilon, error=error, most=None if as_json else METHODS_SHOWN)
    )
    trade = asked.trade(epsilon, want_found, want_error) if plan is None or report is not None else None
    if trade is not None and report is not None:
        _write_report(trade, plan, report)
    if as_json:
        terminal.print_json(_document(plan, trade))
    elif plan is not None:
        terminal.print_plan(plan)
    elif trade is not None:
        terminal.print_trade(trade)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What every plan is asked with."""

    facts: "Facts"
    options: dict[str, Any]
    all_methods: bool

    @classmethod
    def of(
        cls, known: "KnownFacts", *, delta: str | None, source: Path | None, all_methods: bool
    ) -> "_Asked":
        facts, k = known.complete(None if source is None else str(source))
        options = {"k": k, "max_size": known.max_size, "kth_support": known.kth_support, "delta": delta}
        return cls(facts, options, all_methods)

    def plan(self, epsilon: str, *, error: float | None, most: int | None) -> "Plan":
        """What to expect of this epsilon."""
        from veilset.plan import make_plan  # noqa: PLC0415

        wanted: dict[str, Any] = {} if error is None else {"error": error}
        most_methods = None if self.all_methods else most
        return make_plan(self.facts, epsilon=epsilon, most_methods=most_methods, **wanted, **self.options)

    def trade(self, epsilon: str | None, found: str | None, error: str | None) -> "Trade":
        """Which epsilon is needed, and what others buy; the one that was given among them."""
        from veilset.plan.trade import USUAL_EPSILONS, plan_epsilon  # noqa: PLC0415

        wanted: dict[str, Any] = {"want_found": found, "want_error": error}
        return plan_epsilon(
            self.facts,
            epsilons=USUAL_EPSILONS if epsilon is None else (*USUAL_EPSILONS, epsilon),
            all_methods=self.all_methods,
            **{name: value for name, value in wanted.items() if value is not None},
            **self.options,
        )


def _known(path: Path | None, given: "KnownFacts") -> "KnownFacts":
    """What a file tells, where there is one, and what was given beside it."""
    from veilset.plan import read_facts  # noqa: PLC0415

    return given if path is None else read_facts(path, k=given.k, max_size=given.max_size).with_given(given)


def _write_report(trade: "Trade", plan: "Plan | None", path: Path) -> None:
    from veilset.render.plan_report import write_plan_report  # noqa: PLC0415

    write_plan_report(trade, path, plan=plan)


def _document(plan: "Plan | None", trade: "Trade | None") -> dict[str, Any]:
    """What --json prints: the plan at an epsilon, or the trade."""
    made = plan if plan is not None else trade
    return {} if made is None else made.to_dict()
