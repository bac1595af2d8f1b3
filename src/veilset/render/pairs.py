"""Released pairs as a network and as a grid, for pages and for plots; and itemsets in words."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Item
from veilset.results.release import Release, ReleasedItemset
from veilset.wording import shown_name

MOST_EDGES = 60
"""Pairs that a network shows legibly; where there are more, a grid shows them."""

MOST_ITEMS_IN_GRID = 40


def released_pairs(release: Release) -> list[ReleasedItemset]:
    """The released itemsets of two items, the most frequent first."""
    return [found for found in release.itemsets if len(found.items) == 2]


def pair_network(pairs: Sequence[ReleasedItemset], release: Release) -> dict[str, Any]:
    """Items as nodes, pairs as edges."""
    place = {item: number for number, item in enumerate(by_weight(pairs))}
    single = {
        found.items[0]: hover_text(found, release) for found in release.itemsets if len(found.items) == 1
    }
    edges = np.array([[place[item] for item in pair.items] for pair in pairs])
    points = node_places(len(place), edges)
    return {
        "nodes": [
            {"name": shown_name(item), "x": x, "y": y, "hover": single.get(item, shown_name(item))}
            for item, (x, y) in zip(place, points.tolist(), strict=True)
        ],
        "edges": [
            {"from": start, "to": end, "support": pair.support, "hover": hover_text(pair, release)}
            for (start, end), pair in zip(edges.tolist(), pairs, strict=True)
        ],
    }


def pair_grid(pairs: Sequence[ReleasedItemset], release: Release) -> dict[str, Any]:
    """Pair supports as a symmetric matrix over the items with most of them; None where not released."""
    items = by_weight(pairs)[:MOST_ITEMS_IN_GRID]
    known = {frozenset(pair.items): pair for pair in pairs}
    cells = [[known.get(frozenset((row, column))) for column in items] for row in items]
    return {
        "names": [shown_name(item) for item in items],
        "supports": [[pair and pair.support for pair in row] for row in cells],
        "hovers": [["" if pair is None else hover_text(pair, release) for pair in row] for row in cells],
    }


def lift_of(pair: ReleasedItemset, release: Release) -> float | None:
    """How many times more often two items come together than by chance; None where one alone was not released."""
    alone = {found.items[0]: share_of(found, release) for found in release.itemsets if len(found.items) == 1}
    first, second = (alone.get(item, 0.0) for item in pair.items)
    return share_of(pair, release) / (first * second) if first > 0 and second > 0 else None


def by_weight(pairs: Sequence[ReleasedItemset]) -> list[Item]:
    """The items of the pairs, those with the largest supports together first."""
    weight: dict[Item, int] = {}
    for pair in pairs:
        for item in pair.items:
            weight[item] = weight.get(item, 0) + pair.support
    return sorted(weight, key=weight.__getitem__, reverse=True)


def node_places(number: int, edges: Int64Array) -> FloatArray:
    """Places in [-1, 1] for the nodes of a network, after Fruchterman and Reingold (1991).

    All nodes push each other away, edges pull their ends together, and the middle pulls everything a little.
    """
    angles = np.arange(number) * 2.399963  # the golden angle: a start without two nodes in one place
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points *= np.sqrt(np.arange(1, number + 1) / number)[:, None]
    pull = np.zeros((number, number))
    pull[edges[:, 0], edges[:, 1]] = pull[edges[:, 1], edges[:, 0]] = 1
    ideal = 1.6 / np.sqrt(number)
    for step in np.linspace(0.15, 0.002, 400):
        apart = points[:, None, :] - points[None, :, :]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        strength = ideal**2 / distance**2 - pull * distance / ideal
        move = (apart * strength[:, :, None]).sum(axis=1) - points
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        points += move / length * np.minimum(length, step)
    points -= (points.min(axis=0) + points.max(axis=0)) / 2
    scaled: FloatArray = points / np.abs(points).max()
    return scaled


def share_of(found: ReleasedItemset, release: Release) -> float:
    """The share of transactions that hold an itemset, by its noisy support."""
    return found.support / max(release.transactions.value, 1)


def itemset_name(found: ReleasedItemset) -> str:
    """The names of its items, as they may be shown."""
    return " + ".join(shown_name(item) for item in found.items)


def hover_text(found: ReleasedItemset, release: Release) -> str:
    """All that is known of an itemset, in a line."""
    return f"{itemset_name(found)}: {found.support:,} ({found.low:,} to {found.high:,}), {share_of(found, release):.2%}"
