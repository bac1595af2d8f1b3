"""The trade between accuracy and protection as one HTML page that works offline."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from veilset.plan import Plan, Trade
from veilset.plan.trade import TradePoint, belief_in_words
from veilset.render import page
from veilset.writing import write_whole


def write_plan_report(trade: Trade, path: str | Path, *, plan: Plan | None = None) -> None:
    """Write a self-contained page; it needs no network and no other file."""
    write_whole(path, plan_report_html(trade, plan))


def plan_report_html(trade: Trade, plan: Plan | None = None) -> str:
    """The page that `write_plan_report` writes: the answer, the trade, and what a plan says of each method."""
    return page.filled_page(
        "plan_report.html",
        title="Which epsilon?",
        sentence=escape(trade.sentence()),
        reasons=escape(f"{trade.reasons()} {trade.odds()}"),
        trade_rows="\n".join(_trade_row(point, trade) for point in trade.points),
        methods=_methods(plan) if plan is not None else _needs(trade),
        facts=page.definitions(_public_facts(trade)),
        data=_curves(trade, plan),
    )


def _trade_row(point: TradePoint, trade: Trade) -> str:
    enough = ' class="enough"' if point.epsilon == trade.epsilon else ""
    cells = (
        f"{point.epsilon:g}",
        f"{point.found:.0%}",
        f"{point.error:.1%}",
        belief_in_words(point.epsilon),
    )
    return f"<tr{enough}>{''.join(map(_number, cells))}</tr>"


def _methods(plan: Plan) -> str:
    """What to expect of each method at the epsilon that was given."""
    head = ("method", "right", "mean error", "95 % half width", "k-th support")
    rows = [
        (
            each.forecast.method,
            f"{each.forecast.found:.0%}",
            f"{each.forecast.relative_error:.1%}",
            f"± {each.forecast.half_width:,}",
            f"{each.forecast.kth_support:,}",
        )
        for each in plan.methods
    ]
    return _section(f"What to expect at epsilon {plan.epsilon}", head, rows)


def _needs(trade: Trade) -> str:
    """What each method needs; nothing, where one was asked."""
    if len(trade.needs) == 1:
        return ""
    head = ("method", "epsilon needed", "for what is right", "for the error")
    rows = [
        (need.label(), *map(_epsilon, (need.epsilon, need.epsilon_for_found, need.epsilon_for_error)))
        for need in trade.needs
    ]
    return _section("What each method needs", head, rows)


def _epsilon(epsilon: float | None) -> str:
    return "none is enough" if epsilon is None else f"{epsilon:g}"


def _section(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    heads = f"<th>{escape(head[0])}</th>" + "".join(
        f'<th class="number">{escape(name)}</th>' for name in head[1:]
    )
    lines = "\n".join(f"<tr><td>{escape(row[0])}</td>{''.join(map(_number, row[1:]))}</tr>" for row in rows)
    return (
        f"<section>\n<h2>{escape(title)}</h2>\n<table>\n<thead><tr>{heads}</tr></thead>\n"
        f"<tbody>\n{lines}\n</tbody></table>\n</section>"
    )


def _number(text: str) -> str:
    return f'<td class="number">{escape(text)}</td>'


def _public_facts(trade: Trade) -> list[tuple[str, str]]:
    return [
        ("transactions", f"about {trade.facts.rows:,}"),
        ("items", f"{trade.facts.items:,}"),
        ("items in a transaction", f"{trade.facts.length:g} on average"),
        ("wanted", f"the top {trade.k} itemsets"),
        *([("delta", f"{float(trade.delta):g}")] if trade.delta > 0 else []),
        ("method", trade.method),
        ("assumed", trade.assumption),
    ]


def _curves(trade: Trade, plan: Plan | None) -> dict[str, Any]:
    """What the page draws; epsilons with a line of their own need no tick."""
    given = None if plan is None else float(plan.epsilon)
    return {
        "points": [
            {
                "epsilon": each.epsilon,
                "found": each.found,
                "error": min(each.error, 1.0),
                "belief": each.belief,
                "words": [
                    f"{each.found:.0%} right",
                    f"mean error {each.error:.1%}",
                    f"at most {belief_in_words(each.epsilon)}",
                ],
            }
            for each in trade.points
        ],
        "ticks": [each.epsilon for each in trade.points if each.epsilon not in (trade.epsilon, given)],
        "needed": trade.epsilon,
        "given": given,
        "want_found": float(trade.want_found),
        "want_error": float(trade.want_error),
    }
