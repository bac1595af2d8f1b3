"""Releases as Plotly figures, for notebooks: intervals, a network of pairs, a heatmap of pairs.

Imported when somebody asks for a plot. Plotly reads labels as HTML: names are escaped, and what nobody could see in
them is written out.
"""

from collections.abc import Callable
from html import escape
from typing import Any

import plotly.graph_objects as go

from veilset.errors import BadCall
from veilset.render.pairs import (
    MOST_EDGES,
    by_weight,
    hover_text,
    itemset_name,
    lift_of,
    pair_grid,
    pair_network,
    released_pairs,
)
from veilset.results.release import Release
from veilset.wording import counted, shown

MOST_INTERVALS = 40
"""Itemsets in a plot of intervals."""

MEASURES = ("support", "lift")
"""What a heatmap shows of a pair."""

_LONGEST_LABEL = 30
_LONGEST_HOVER = 200
_INK, _EDGE, _COLD, _NEUTRAL, _WARM = "#2f6db5", "#9fb3cc", "#eef3f9", "#f5f6f8", "#c9701c"
_NO_AXIS = {"visible": False, "range": [-1.15, 1.15]}


def release_figure(release: Release, kind: str = "intervals", *, measure: str = "support") -> Any:  # noqa: ANN401 - plotly has no types
    """What `Release.plot` returns."""
    if not isinstance(kind, str) or kind not in _DRAWINGS:  # type: ignore[redundant-expr]
        raise BadCall(f"there is no plot of the kind {shown(kind)}; give one of {', '.join(_DRAWINGS)}")
    if not isinstance(measure, str) or measure not in MEASURES:  # type: ignore[redundant-expr]
        raise BadCall(f"there is no measure {shown(measure)} of pairs; give one of {', '.join(MEASURES)}")
    if measure != "support" and kind != "heatmap":
        raise BadCall(
            f"a plot of the kind {kind!r} shows supports; measure={measure!r} goes with kind='heatmap'"
        )
    figure = _DRAWINGS[kind](release, measure)
    if not figure.data:
        figure.add_annotation(text=_why_empty(release, kind, measure), showarrow=False, font={"size": 14})
        figure.update_layout(xaxis={"visible": False}, yaxis={"visible": False}, height=220)
    standing = f"{release.standing}, mostly noise" if release.is_mostly_noise else release.standing
    title = f"{figure.layout.title.text} ({standing})"
    figure.update_layout(
        template="plotly_white", showlegend=False, title={"text": title, "font": {"size": 16}}
    )
    return figure


def _intervals(release: Release, _measure: str) -> Any:  # noqa: ANN401
    """A dot and a line for each of the most frequent itemsets."""
    shown = release.itemsets[:MOST_INTERVALS]
    figure = go.Figure(
        layout={
            "title": {
                "text": _first_of(len(shown), len(release), "itemset", "noisy supports, 95 % intervals")
            }
        }
    )
    if not shown:
        return figure
    figure.add_scatter(
        mode="markers",
        x=[found.support for found in shown],
        y=list(range(len(shown))),
        text=[_label(hover_text(found, release), longest=_LONGEST_HOVER) for found in shown],
        hovertemplate="%{text}<extra></extra>",
        marker={"color": _INK, "size": 8},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [found.high - found.support for found in shown],
            "arrayminus": [found.support - found.low for found in shown],
            "thickness": 1.5,
        },
    )
    labels = [_label(itemset_name(found)) for found in shown]
    return figure.update_layout(
        xaxis={"title": {"text": "transactions"}, "rangemode": "tozero", "side": "top"},
        yaxis={**_named_places(labels), "range": [len(shown) - 0.5, -0.5]},
        height=190 + 21 * len(shown),
        margin={"t": 120},
    )


def _network(release: Release, _measure: str) -> Any:  # noqa: ANN401
    """Items as dots, pairs as lines, the wider the more common."""
    pairs = released_pairs(release)
    shown = pairs[:MOST_EDGES]
    figure = go.Figure(
        layout={"title": {"text": _first_of(len(shown), len(pairs), "pair", "wider is more common")}}
    )
    if not shown:
        return figure
    drawn = pair_network(shown, release)
    nodes, edges = drawn["nodes"], drawn["edges"]
    most = max(1, *(edge["support"] for edge in edges))
    for edge in edges:
        ends = nodes[edge["from"]], nodes[edge["to"]]
        figure.add_scatter(
            mode="lines",
            x=[end["x"] for end in ends],
            y=[end["y"] for end in ends],
            line={"color": _EDGE, "width": 1 + 7 * edge["support"] / most},
            hoverinfo="skip",
        )
    figure.add_scatter(  # lines tell nothing when pointed at: their middles do
        mode="markers",
        x=[(nodes[edge["from"]]["x"] + nodes[edge["to"]]["x"]) / 2 for edge in edges],
        y=[(nodes[edge["from"]]["y"] + nodes[edge["to"]]["y"]) / 2 for edge in edges],
        marker={"size": 14, "opacity": 0},
        text=[_label(edge["hover"], longest=_LONGEST_HOVER) for edge in edges],
        hovertemplate="%{text}<extra></extra>",
    )
    figure.add_scatter(
        mode="markers+text",
        x=[node["x"] for node in nodes],
        y=[node["y"] for node in nodes],
        text=[_label(node["name"]) for node in nodes],
        hovertext=[_label(node["hover"], longest=_LONGEST_HOVER) for node in nodes],
        hovertemplate="%{hovertext}<extra></extra>",
        textposition="top center",
        marker={"color": _INK, "size": 11},
    )
    return figure.update_layout(xaxis=_NO_AXIS, yaxis=_NO_AXIS, height=560)


def _heatmap(release: Release, measure: str) -> Any:  # noqa: ANN401
    """A cell for each released pair of the items that are in most of them."""
    pairs = released_pairs(release)
    figure = go.Figure(layout={"title": {"text": f"{measure.capitalize()} of released pairs"}})
    grid = pair_grid(pairs, release)
    values = grid["supports"] if measure == "support" else _lifts(release)
    if all(value is None for row in values for value in row):
        return figure
    most = max(value for row in values for value in row if value is not None)
    figure.add_heatmap(
        z=values,
        **_colours(measure, most),
        text=[[_label(text, longest=_LONGEST_HOVER) for text in row] for row in grid["hovers"]],
        hovertemplate="%{text}<br>" + measure + " %{z:.3~g}<extra></extra>",
        hoverongaps=False,
        xgap=1,
        ygap=1,
        colorbar={"title": {"text": measure}, "thickness": 12},
    )
    labels = _named_places([_label(name) for name in grid["names"]])
    return figure.update_layout(
        xaxis={**labels, "tickangle": -60},
        yaxis={**labels, "autorange": "reversed"},
        height=240 + 20 * len(grid["names"]),
    )


def _colours(measure: str, most: float) -> dict[str, Any]:
    """The stronger the colour, the more common; lifts have another colour below 1, where items avoid each other."""
    if measure == "support":
        return {"colorscale": [[0, _COLD], [1, _INK]]}
    top = max(most, 2.0)
    return {"zmin": 0, "zmax": top, "colorscale": [[0, _INK], [1 / top, _NEUTRAL], [1, _WARM]]}


def _lifts(release: Release) -> list[list[float | None]]:
    """The lift of each cell of the grid of pairs; None where it is not known."""
    pairs = released_pairs(release)
    items = by_weight(pairs)[: len(pair_grid(pairs, release)["names"])]
    known = {frozenset(pair.items): lift_of(pair, release) for pair in pairs}
    return [[known.get(frozenset((row, column))) for column in items] for row in items]


def _named_places(labels: list[str]) -> dict[str, Any]:
    """An axis with a name at each place."""
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": labels,
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
    }


def _label(text: str, *, longest: int = _LONGEST_LABEL) -> str:
    """A text as Plotly shall show it, cut where it is long.

    >>> _label("<b>milk</b>")
    '&lt;b&gt;milk&lt;/b&gt;'
    """
    return escape(text if len(text) <= longest else text[: longest - 1].rstrip() + "…", quote=False)


def _first_of(shown: int, number: int, noun: str, about: str) -> str:
    """How many are shown of how many, and what of them."""
    first = f"The {shown} most frequent of " if shown < number else ""
    return f"{first}{counted(number, noun, separator=',')}: {about}"


def _why_empty(release: Release, kind: str, measure: str) -> str:
    """What to do where there is nothing to draw."""
    if not release.itemsets:
        return "Nothing was released: a larger epsilon or more data may show something."
    if kind == "heatmap" and measure == "lift" and released_pairs(release):
        return "No pair was released together with both of its items: lift is not known."
    return "No pairs were released: a larger k, or a larger epsilon, may show some."


_DRAWINGS: dict[str, Callable[[Release, str], Any]] = {
    "intervals": _intervals,
    "network": _network,
    "heatmap": _heatmap,
}
