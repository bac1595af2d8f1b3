"""Itemsets scored by their support, with a floor: what the exponential mechanism draws from.

Bhaskar et al. (2010) replace the support of an itemset by max(support, floor), so that all itemsets at the
floor, seen or not, are one class that never has to be listed. The floor here is

    floor = max(0, f_k - margin, f_limit)

with f_j the j-th largest support over the whole domain, limit = MOST_SCORED, and
margin = (ln(k / 0.05) + ln(size of the domain)) / rate. Margin and limit are public. One more transaction
raises every f_j, and so the floor, by 0 or 1; the same holds for max(support, floor). Scores are therefore
monotone with sensitivity 1, whatever the floor. The margin makes a draw from the block unlikely (5 %)
wherever the data allows it; the limit keeps the list short where it does not.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.gate.selection.exponential import draw_scores
from veilset.itemsets import Below, Domain, Itemset, Itemsets
from veilset.raw.cuts.truncation import KeepAll
from veilset.raw.engines import DrawKeys, Engine
from veilset.raw.engines.itemset_filter import ItemsetFilter

MOST_SCORED = 100_000
"""At most 100,000 itemsets are listed with a score of their own."""

_BLOCK_CHANCE = 0.05


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ExactScores:
    """Itemsets above the floor with their supports; private, like everything that is exact."""

    listed: dict[Itemset, int]
    floor: int

    def __repr__(self) -> str:
        return "ExactScores(private)"


def kth_support(engine: Engine, domain: Domain, k: int, *, min_count: int = 1) -> int:
    """The k-th largest support over the domain; 0 where it is below `min_count`, or no transaction holds k."""
    best = engine.top(k, _within(domain, min_count=min_count))
    return int(best.supports[k - 1]) if best.supports.size >= k else 0


def kth_support_of_all(engine: Engine, k: int, *, max_size: int) -> int:
    """The same over all itemsets of the items that the engine knows; 0 where it knows none."""
    number = len(engine.alphabet)
    return kth_support(engine, Domain(items=range(number), max_size=max_size), k) if number > 0 else 0


def floored_supports(engine: Engine, domain: Domain, k: int, *, rate: Fraction) -> ExactScores:
    """The floor, and every itemset above it."""
    margin = math.ceil((math.log(k / _BLOCK_CHANCE) + math.log(domain.size)) / rate)
    floor = max(0, kth_support(engine, domain, k) - margin)
    found = engine.top(MOST_SCORED, _within(domain, min_count=floor + 1))
    if found.supports.size == MOST_SCORED:
        floor = int(found.supports[-1])
    above = int(np.count_nonzero(found.supports > floor))
    offsets = found.offsets[: above + 1]
    itemsets = Itemsets(offsets, found.items[: offsets[-1]])
    return ExactScores(dict(zip(itemsets, found.supports[:above].tolist(), strict=True)), floor)


def draw_from_domain(
    scores: ExactScores, domain: Domain, k: int, *, rate: Fraction, below: Below
) -> Iterator[Itemset]:
    """k itemsets of the domain without replacement, P proportional to exp(rate * score) at each draw."""
    classes = _classes(scores)
    members = Counter({score: len(itemsets) for score, itemsets in classes.items()})
    members[scores.floor] = domain.size - len(scores.listed)
    taken: set[Itemset] = set()
    for score in draw_scores(members, draws=k, rate=rate, below=below):
        if score == scores.floor:
            chosen = _draw_unlisted(scores, domain, taken, below)
        else:
            chosen = _take_one(classes[score], below)
        taken.add(chosen)
        yield chosen


def draw_listed(scores: ExactScores, k: int, *, rate: Fraction, below: Below) -> Iterator[Itemset]:
    """k of the listed itemsets without replacement, P proportional to exp(rate * score) at each draw."""
    classes = _classes(scores)
    members = {score: len(itemsets) for score, itemsets in classes.items()}
    for score in draw_scores(members, draws=k, rate=rate, below=below):
        yield _take_one(classes[score], below)


def rank_distances(engine: Engine, domain: Domain, k: int, *, most: int, draw: DrawKeys) -> Int64Array:
    """How far the supports of the `most` most frequent items are from that of the k-th itemset."""
    supports = engine.item_supports(KeepAll(), draw).values
    return np.abs(np.sort(supports)[::-1][:most] - kth_support(engine, domain, k))


def margins_of_items(engine: Engine, domain: Domain, k: int, *, most: int, draw: DrawKeys) -> Int64Array:
    """How far the items of a domain are above its k-th itemset, or above the item of rank `most` if that is more."""
    supports = engine.item_supports(KeepAll(), draw).values[_codes(domain)]
    threshold = max(kth_support(engine, domain, k), int(np.sort(supports)[-most]))
    return supports - threshold


def _classes(scores: ExactScores) -> dict[int, list[Itemset]]:
    """The listed itemsets of each score."""
    classes: dict[int, list[Itemset]] = defaultdict(list)
    for itemset, score in scores.listed.items():
        classes[score].append(itemset)
    return classes


def _take_one(itemsets: list[Itemset], below: Below) -> Itemset:
    """Remove a uniformly chosen member of a class."""
    place = below(len(itemsets))
    itemsets[place], itemsets[-1] = itemsets[-1], itemsets[place]
    return itemsets.pop()


def _draw_unlisted(scores: ExactScores, domain: Domain, taken: set[Itemset], below: Below) -> Itemset:
    """A uniform member of the block: any itemset of the domain that is neither listed nor taken."""
    while True:
        itemset = domain.draw(below)
        if itemset not in scores.listed and itemset not in taken:
            return itemset


def _within(domain: Domain, *, min_count: int) -> ItemsetFilter:
    """The itemsets of the domain that enough transactions hold."""
    return ItemsetFilter(
        min_count=min_count, min_size=domain.min_size, max_size=domain.max_size, items=_codes(domain)
    )


def _codes(domain: Domain) -> Int32Array:
    return np.array(domain.items, dtype=np.int32)
