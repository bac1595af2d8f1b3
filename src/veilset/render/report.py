"""A release as one HTML page that works offline: charts, tables, the budget and the promise.

Python escapes what it writes into the page and hands the charts their data as JSON; the page draws them. A
content security policy in the page keeps it from loading anything.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any

from veilset.arguments import a_path, instance
from veilset.gate import Charge, Item
from veilset.render import page
from veilset.render.pairs import (
    MOST_EDGES,
    hover_text,
    itemset_name,
    pair_grid,
    pair_network,
    released_pairs,
    share_of,
)
from veilset.results.noise_check import is_told_from_noise
from veilset.results.promise import as_sentence
from veilset.results.release import NOTHING_RELEASED, Release, ReleasedItemset
from veilset.wording import counted, shown_name
from veilset.writing import write_whole

MOST_RULES = 500

MOST_IN_A_LINE = 30
"""Characters of a name that fit into one line of a table, on a narrow screen."""

COLOURS = (
    *("#4c78a8", "#e29a54", "#5fa08a", "#9a86bd", "#cf7f78"),
    *("#7fb0c6", "#bfa04c", "#b57ca2", "#7a9457", "#8d97a3"),
)
"""One for each question of the budget; the last for all from its place on."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What all questions of one kind cost together."""

    question: str
    mechanism: str
    epsilon: Fraction


def write_report(release: Release, path: str | Path) -> None:
    """Write a self-contained page; it needs no network and no other file."""
    place = Path(a_path(path, "the path of the page"))
    instance(release, Release, "release", give="what mine or items returned")
    write_whole(place, report_html(release))


def report_html(release: Release) -> str:
    """The page that `write_report` writes."""
    rules = release.rules()
    spendings = _spendings(release.trace)
    return page.filled_page(
        "report.html",
        title="Frequent itemsets",
        banner=_banner(release),
        summary=escape(_release_summary(release)),
        empty="" if release.itemsets else f"<p>{escape(NOTHING_RELEASED)}</p>",
        notes=_folded_notes(release),
        number=f"{len(release):,}",
        itemset_rows="\n".join(_itemset_row(found, release) for found in release.itemsets),
        rules_caption=_rules_caption(rules.height),
        rule_rows="\n".join(_rule_row(rule) for rule in rules.head(MOST_RULES).iter_rows(named=True)),
        spending=escape(f"{_spent(release)} The smaller the share of a question, the noisier its answer."),
        budget_bar=_budget_bar(spendings, release.epsilon),
        budget_rows="\n".join(
            _budget_row(place, spending, release.epsilon) for place, spending in enumerate(spendings)
        ),
        promise=escape(str(release.promise)),
        facts=page.definitions(_release_facts(release)),
        data=_chart_data(release, has_rules=rules.height > 0),
    )


def _folded_notes(release: Release) -> str:
    """How the questions were chosen, for whoever wants to know: behind a line to click."""
    if not release.notes:
        return ""
    notes = "".join(f'<p class="soft">{escape(note)}</p>' for note in release.notes)
    return f"<details><summary>How these questions were chosen</summary>{notes}</details>"


def _banner(release: Release) -> str:
    """What a reader must know first: whether the release is private, how far, and on which condition."""
    if not release.is_private:
        not_private = (
            '<div class="banner" role="alert"><strong>NOT PRIVATE</strong><br>'
            "Made with noise that can be repeated. For tests and evaluation only: do not publish.</div>"
        )
        return "\n".join([not_private, *_noise_badge(release)])
    return "\n".join([*_condition(release), *_noise_badge(release), *_guarantee(release)])


def _noise_badge(release: Release) -> Iterator[str]:
    warning = release.noise_warning
    if warning is not None:
        yield '<span class="badge noise">nothing but noise</span>'
        yield f'<p class="condition noise" role="alert">{escape(as_sentence(warning))}</p>'


def _condition(release: Release) -> Iterator[str]:
    warning = release.promise.warning
    if warning is not None:
        yield '<span class="badge conditional">conditional promise: items declared public</span>'
        yield f'<p class="condition" role="alert">{escape(as_sentence(warning))}</p>'


def _guarantee(release: Release) -> Iterator[str]:
    is_conditional = release.promise.is_conditional
    kind, how = ("badge conditional", "private on this condition") if is_conditional else ("badge", "private")
    delta = f", delta = {_exactly(release.delta)}" if release.delta > 0 else ""
    yield f'<span class="{kind}">{how}, epsilon = {escape(_exactly(release.epsilon) + delta)}</span>'
    if release.delta > 0:
        yield (
            '<p class="meaning">Epsilon bounds what anybody can tell about one of those who are protected, except with '
            f"{escape(release.promise.meaning_of_delta())}.</p>"
        )


def _release_summary(release: Release) -> str:
    number = release.transactions
    transactions = counted(number.value, "transaction", separator=",")
    if not number.is_public:
        transactions = f"about {transactions} ({number.low:,} to {number.high:,})"
    itemsets = counted(len(release), "itemset", separator=",")
    return f"{itemsets} out of {transactions}, found by the method {release.method}."


def _itemset_row(found: ReleasedItemset, release: Release) -> str:
    is_told = is_told_from_noise(found, release.transactions)
    row = "<tr>" if is_told else '<tr class="untold" title="its interval reaches down to noise">'
    return (
        f"{row}<td>{_chips(found.items)}</td>"
        + _number_cell(len(found.items), str(len(found.items)), more="wide")
        + _number_cell(found.support, f"{found.support:,}")
        + _number_cell(found.low, f"{found.low:,} – {found.high:,}")
        + _number_cell(share_of(found, release), f"{share_of(found, release):.2%}")
        + "</tr>"
    )


def _rule_row(rule: dict[str, Any]) -> str:
    return (
        f"<tr><td>{_chips(rule['antecedents'])}</td><td>{_chips(rule['consequents'])}</td>"
        + _number_cell(rule["confidence"], f"{rule['confidence']:.0%}")
        + _number_cell(
            rule["confidence_low"],
            f"{rule['confidence_low']:.0%} – {rule['confidence_high']:.0%}",
            more="wide",
        )
        + _number_cell(rule["lift"], f"{rule['lift']:.2f}")
        + _number_cell(rule["lift_low"], f"{rule['lift_low']:.2f} – {rule['lift_high']:.2f}", more="wide")
        + _number_cell(rule["support"], f"{rule['support']:.2%}", more="wide")
        + "</tr>"
    )


def _rules_caption(number: int) -> str:
    shown = f" The {MOST_RULES} of highest confidence out of {number:,}." if number > MOST_RULES else ""
    return (
        "Of the transactions that hold the items on the left, the confidence is the share that hold those on "
        f"the right, too; the lift is how many times more that is than among all transactions. Computed from the noisy "
        f"supports above, so as uncertain as they are: the intervals hold the true value with 95 % confidence.{shown}"
    )


def _spent(release: Release) -> str:
    share = "All" if release.spent == release.epsilon else _percent(release.spent, release.epsilon)
    spent = f"{share} of epsilon {_exactly(release.epsilon)} was spent"
    return (
        f"{spent}."
        if release.delta == 0
        else f"{spent}, and delta {_exactly(release.delta)} for naming the items."
    )


def _budget_bar(spendings: Sequence[Spending], total: Fraction) -> str:
    return "".join(
        f'<span title="{escape(spending.question)}" '
        f'style="width: {_percent(spending.epsilon, total)}; background: {_colour(place)}"></span>'
        for place, spending in enumerate(spendings)
    )


def _budget_row(place: int, spending: Spending, total: Fraction) -> str:
    return (
        f'<tr><td><span class="swatch" style="background: {_colour(place)}"></span>'
        f"{escape(spending.question)}</td>"
        f'<td class="wide">{escape(spending.mechanism)}</td>'
        f'<td class="number" title="epsilon {escape(_exactly(spending.epsilon))}">'
        f"{_percent(spending.epsilon, total)}</td></tr>"
    )


def _spendings(trace: Iterable[Charge]) -> list[Spending]:
    """The trace with equal questions added up."""
    by_question: dict[str, list[Charge]] = {}
    for charge in trace:
        by_question.setdefault(charge.question, []).append(charge)
    return [
        Spending(question, _mechanism(charges), _cost(charges)) for question, charges in by_question.items()
    ]


def _colour(place: int) -> str:
    return COLOURS[min(place, len(COLOURS) - 1)]


def _mechanism(charges: Sequence[Charge]) -> str:
    sentence = charges[0].mechanism.sentence()
    return sentence if len(charges) == 1 else f"asked {len(charges)} times: {sentence}"


def _cost(charges: Iterable[Charge]) -> Fraction:
    return sum((charge.mechanism.epsilon for charge in charges), Fraction(0))


def _release_facts(release: Release) -> list[tuple[str, str]]:
    promised = [
        ("protected", release.promise.unit),
        ("indistinguishable", release.promise.neighbours),
        ("epsilon", _exactly(release.epsilon)),
        *([("delta", _exactly(release.delta))] if release.delta > 0 else []),
        *(("assumed", assumption) for assumption in release.promise.assumptions),
    ]
    return [
        *(promised if release.is_private else []),
        ("made with", f"veilset {release.version}, method {release.method}"),
        *([("made on", release.origin.date)] if release.origin is not None else []),
        *([("paid by", release.ledger.sentence())] if release.ledger is not None else []),
    ]


def _chart_data(release: Release, *, has_rules: bool) -> dict[str, Any]:
    """What the page's charts draw."""
    pairs = released_pairs(release)
    is_network = 0 < len(pairs) <= MOST_EDGES
    return {
        "itemsets": [
            {
                "name": itemset_name(found),
                "size": len(found.items),
                "support": found.support,
                "low": found.low,
                "high": found.high,
                "hover": hover_text(found, release),
            }
            for found in release.itemsets
        ],
        "has": {"itemsets": len(release) > 0, "pairs": bool(pairs), "rules": has_rules},
        "pairs_caption": (
            "Items joined by a line were released as a pair; the wider the line, the more common the pair."
            if is_network
            else "Released pairs, by the items that are in most of them; the stronger the colour, the more common."
        ),
        "network": pair_network(pairs, release) if is_network else None,
        "grid": pair_grid(pairs, release) if len(pairs) > MOST_EDGES else None,
    }


def _chips(items: Iterable[Item]) -> str:
    return " ".join(_chip(shown_name(item)) for item in items)


def _chip(name: str) -> str:
    """A name in a frame; one that may need several lines also shows when it is pointed at."""
    title = f' title="{escape(name)}"' if len(name) > MOST_IN_A_LINE else ""
    return f'<span class="item"{title}>{escape(name)}</span>'


def _number_cell(value: float, text: str, *, more: str = "") -> str:
    return f'<td class="{f"number {more}".strip()}" data-value="{value}">{text}</td>'


def _percent(part: Fraction, whole: Fraction) -> str:
    return f"{float(part / whole):.2%}"


def _exactly(value: Fraction) -> str:
    """A number without rounding: a decimal if it is one, else a fraction.

    >>> _exactly(Fraction(1, 10)), _exactly(Fraction(1, 3))
    ('0.1', '1/3 (about 0.333333)')
    """
    decimal = f"{float(value):g}"
    return decimal if Fraction(decimal) == value else f"{value} (about {decimal})"
