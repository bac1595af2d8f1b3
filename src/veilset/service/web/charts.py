"""Plots as plain numbers that templates draw as SVG: attributes, no inline styles, which the policy forbids."""

from dataclasses import dataclass
from typing import Any

from veilset.render.pairs import MOST_EDGES, pair_network, released_pairs, share_of
from veilset.results.noise_check import is_told_from_noise
from veilset.results.release import Release, ReleasedItemset
from veilset.wording import shown_name

WIDTH_OF_NETWORK, HEIGHT_OF_NETWORK = 720, 460


@dataclass(frozen=True, slots=True)
class Bar:
    """An itemset, and where its support and its interval lie between 0 and 1000."""

    found: ReleasedItemset
    share: float
    at: float
    low: float
    width: float
    is_told: bool


def bars(release: Release) -> list[Bar]:
    """A row for each itemset, on one scale."""
    most = max([1, *(found.high for found in release.itemsets)])
    return [
        Bar(
            found,
            share_of(found, release),
            1000 * found.support / most,
            1000 * found.low / most,
            max(1000 * (found.high - found.low) / most, 4),
            is_told_from_noise(found, release.transactions),
        )
        for found in release.itemsets
    ]


def network(release: Release) -> dict[str, Any] | None:
    """Items as dots and released pairs as lines, in the plane of the picture; None where there is no pair."""
    pairs = released_pairs(release)[:MOST_EDGES]
    if not pairs:
        return None
    drawn = pair_network(pairs, release)
    supports = [edge["support"] for edge in drawn["edges"]]
    weakest, spread = min(supports), max(max(supports) - min(supports), 1)
    nodes = [
        {**node, "x": _across(node["x"]), "y": _down(node["y"]), "name": _short_name(node["name"])}
        for node in drawn["nodes"]
    ]
    edges = [
        {
            "start": nodes[edge["from"]],
            "end": nodes[edge["to"]],
            "width": round(1.5 + 6 * (edge["support"] - weakest) / spread, 1),
            "hover": edge["hover"],
        }
        for edge in drawn["edges"]
    ]
    return {"nodes": nodes, "edges": edges, "width": WIDTH_OF_NETWORK, "height": HEIGHT_OF_NETWORK}


def _across(x: float) -> float:
    return round(WIDTH_OF_NETWORK * (0.5 + 0.4 * x), 1)


def _down(y: float) -> float:
    return round(HEIGHT_OF_NETWORK * (0.52 - 0.42 * y), 1)


def _short_name(name: str) -> str:
    shown = shown_name(name)
    return shown if len(shown) <= 22 else f"{shown[:21]}…"
