"""Results as notebooks show them: a table, a badge, the cost. HTML without scripts that loads nothing.

Colours are those of the notebook, light or dark, but for badges and bars, which can be read on both. Names of items are
escaped, and what nobody could see in them is written out.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from veilset.gate import Item
from veilset.wording import counted, shown_name

MOST_SHOWN = 20
"""Rows of a result in a notebook; frames and files have all of them."""

_LONGEST_NAME = 40
_MOST_NAMES = 12
"""Items of a record that are named; the others are counted, and stand in its tooltip."""

_STYLE = """
.veilset { font-size: 13px; line-height: 1.45; }
.veilset p { margin: .3em 0; max-width: 60em; }
.veilset table { border-collapse: collapse; margin: .4em 0; font-size: inherit; color: inherit; }
.veilset th, .veilset td { padding: .15em .7em; text-align: left; vertical-align: middle; border: 0; }
.veilset tr { background: none; border-bottom: 1px solid rgba(128, 128, 128, .3); }
.veilset .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.veilset .names { max-width: 30em; overflow-wrap: anywhere; }
.veilset .soft { opacity: .75; }
.veilset .badge { padding: .1em .6em; border-radius: 1em; color: #ffffff; font-weight: 600; white-space: nowrap; }
.veilset .good { background: #1d7a4f; } .veilset .doubt { background: #9a5b00; } .veilset .bad { background: #b3261e; }
.veilset .track { position: relative; width: 12em; height: .9em; background: rgba(128, 128, 128, .15); }
.veilset .track span { position: absolute; top: 0; bottom: 0; }
.veilset .bar { left: 0; background: #4a86c8; }
.veilset .interval { background: rgba(201, 112, 28, .75); top: 35% !important; bottom: 35% !important; min-width: 2px; }
"""


@dataclass(frozen=True, slots=True)
class ShownRow:
    """Items, how often they were seen, and what else a row says; `low` and `high` are its interval, if it has one."""

    items: Sequence[Item]
    value: int
    texts: tuple[str, ...]
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Badge:
    """A word or two on a coloured ground: good, doubt or bad."""

    text: str
    colour: str


def result_html(
    summary: str,
    badges: Iterable[Badge],
    columns: Sequence[str],
    rows: Sequence[ShownRow],
    lines: Iterable[str],
) -> str:
    """One result: what it is, its badges, a table if it has rows, and lines of text below it."""
    shown = " ".join(f'<span class="badge {badge.colour}">{escape(badge.text)}</span>' for badge in badges)
    return "\n".join(
        [
            f'<div class="veilset"><style>{_STYLE}</style>',
            f"<p><strong>{escape(summary)}</strong> {shown}</p>",
            *(_table(columns, rows) if rows else []),
            *(f'<p class="soft">{escape(line)}</p>' for line in lines),
            "</div>",
        ]
    )


def _table(columns: Sequence[str], rows: Sequence[ShownRow]) -> Iterator[str]:
    most = max(max(row.value, row.high or 0) for row in rows)
    heads = "".join(f'<th class="number">{escape(column)}</th>' for column in columns)
    yield f"<table><thead><tr><th>items</th>{heads}<th></th></tr></thead><tbody>"
    for row in rows:
        cells = "".join(f'<td class="number">{escape(text)}</td>' for text in row.texts)
        yield f'<tr><td class="names">{names_html(row.items)}</td>{cells}<td>{_bar(row, max(most, 1))}</td></tr>'
    yield "</tbody></table>"


def _bar(row: ShownRow, most: int) -> str:
    interval = ""
    if row.low is not None and row.high is not None:
        left, width = row.low / most, (row.high - row.low) / most
        interval = f'<span class="interval" style="left: {left:.1%}; width: {width:.1%}"></span>'
    return (
        f'<div class="track"><span class="bar" style="width: {row.value / most:.1%}"></span>{interval}</div>'
    )


def names_html(items: Sequence[Item]) -> str:
    """Names of items, cut where they are long or many; then a tooltip has all of it.

    >>> names_html(["<b>", "milk"])
    '<bdi>&lt;b&gt;</bdi>, <bdi>milk</bdi>'
    """
    names = [shown_name(item) for item in items]
    shown = ", ".join(f"<bdi>{escape(_cut(name))}</bdi>" for name in names[:_MOST_NAMES])
    if len(names) > _MOST_NAMES:
        shown += f" and {counted(len(names) - _MOST_NAMES, 'item')} more"
    elif not names:
        shown = "(no items)"
    is_cut = len(names) > _MOST_NAMES or any(len(name) > _LONGEST_NAME for name in names)
    return f'<span title="{escape(", ".join(names))}">{shown}</span>' if is_cut else shown


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1].rstrip() + "…"
