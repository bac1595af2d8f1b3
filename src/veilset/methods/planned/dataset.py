"""planned, for a whole dataset: rows made up so that they have the supports that the miner found.

Task: publish a dataset. Ours; more in docs/methods/planned.md.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the preliminaries (`methods.shared.preliminaries`): 1/50 for the number of transactions, unless it is public;
2. 1/50 each for two histograms of lengths, in which a transaction counts in one class: sensitivity c each;
3. all else as the miner asks for the 200 most frequent itemsets, or all where there are fewer (see `planned`). Where
   it selects few items that carry the answer, 1/8 goes first to the supports of all items, under a cap m on what one
   transaction counts: L1 sensitivity c m.

The budget refuses what would exceed epsilon. The cap follows from the lengths. Rows are made from these answers alone
(`planned.synthesis`), with public seeded randomness: post-processing.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.methods.planned.dense import ask_dense
from veilset.methods.planned.levelwise import EveryItem, ask_levelwise
from veilset.methods.planned.overlap import NUMBERS, Overlap, ask_overlap
from veilset.methods.planned.refinement import ask_refinement
from veilset.methods.planned.row_facts import row_lengths, shrunken
from veilset.methods.planned.scouting import DenseScouting, Scouting, ask_scouting
from veilset.methods.planned.settings import DEFAULT
from veilset.methods.planned.synthesis import WantedSupports, synthesised
from veilset.methods.shared.preliminaries import Preliminaries, ask_preliminaries
from veilset.request import PublishRequest, Request
from veilset.results.published import Published

NAME = "planned"
ITEMSETS = 200
"""200 itemsets are looked for, or all where there are fewer."""
SHARE_FOR_LENGTHS = Fraction(1, 50)
"""1/50 of epsilon for each of two histograms of lengths."""
SHARE_FOR_EVERY_ITEM = Fraction(1, 8)
"""1/8 of epsilon for the supports of all items, where the miner looks at few of them."""
FINE_LENGTHS = 65
"""Lengths below 65 items are counted one by one."""
WHOLE_ROWS = 0.9
"""0.9 of the rows, the longer ones counted more, are counted whole where the supports of all items are."""
MOST_ROWS = 500_000
"""500,000 rows are made up at most; for more transactions, each is published several times."""
MOST_SCALED = 3.0
"""3 times at most, supports of rare items are scaled up to fill rows."""
TAXONOMY_UNUSED = "the taxonomy was not used: items are combined by the supports of itemsets"


@dataclass(frozen=True, slots=True, eq=False)
class FoundSupports:
    """What the miner found out: supports of itemsets, from which support on they are listed, and of every item."""

    supports: dict[Itemset, float]
    listed_from: float
    every_item: EveryItem
    notes: tuple[str, ...]


def planned_dataset(curator: Curator, request: PublishRequest, *, epsilon: Fraction) -> Published:
    """A dataset whose itemsets have the supports that `planned` finds."""
    domain = curator.domain(max_size=DEFAULT.max_size)
    sought = Request.of(k=min(ITEMSETS, domain.size))
    first = ask_preliminaries(curator, sought, domain=domain, epsilon=epsilon)
    price, number = epsilon * SHARE_FOR_LENGTHS, max(first.number.value, 1)
    overlap = ask_overlap(curator, None, number=number, epsilon=price, settings=DEFAULT)
    fine = curator.ask_lengths(limit=FINE_LENGTHS, epsilon=price)
    found = ask_found(curator, sought, first.less(2 * price), overlap, domain=domain, epsilon=epsilon)
    copies = -(-max(first.number.value, 0) // MOST_ROWS)
    lengths = row_lengths(overlap, fine, rows=max(first.number.value, 0) // max(copies, 1))
    records, numbers = records_of(synthesised(wanted_supports(found, lengths, copies=copies)), lengths.size)
    notes = found.notes if request.taxonomy is None else (*found.notes, TAXONOMY_UNUSED)
    return Published.of(curator, records, numbers * copies, method=NAME, notes=notes)


def ask_found(
    curator: Curator,
    sought: Request,
    first: Preliminaries,
    overlap: Overlap,
    *,
    domain: Domain,
    epsilon: Fraction,
) -> FoundSupports:
    """Ask what the miner asks, and for the supports of all items where that does not include them."""
    scouting = ask_scouting(curator, sought, first, domain=domain, epsilon=epsilon, settings=DEFAULT)
    if isinstance(scouting, DenseScouting):
        return _ask_dense(curator, scouting, overlap)
    progress = ask_refinement(curator, scouting, ask_levelwise(curator, scouting))
    posterior = progress.posterior
    supports = dict(zip(posterior.itemsets, posterior.means.tolist(), strict=True))
    every_item = progress.every_item or EveryItem(np.zeros(curator.alphabet_size), 1.0)
    return FoundSupports(supports, posterior.kth_support(scouting.k), every_item, progress.notes)


def _ask_dense(curator: Curator, scouting: DenseScouting, overlap: Overlap) -> FoundSupports:
    """The supports of all items, then marginals of those that carry the answer."""
    for_items = scouting.price(SHARE_FOR_EVERY_ITEM)
    every_item = ask_every_item(curator, scouting, overlap, epsilon=for_items)
    answer = ask_dense(curator, replace(scouting, remaining=scouting.remaining - for_items))
    estimates = answer.estimates
    supports = dict(zip(estimates.itemsets, map(float, estimates.supports.tolist()), strict=True))
    listed_from = min(supports.values(), default=1.0)
    return FoundSupports(supports, listed_from, every_item, answer.notes)


def ask_every_item(
    curator: Curator, scouting: Scouting, overlap: Overlap, *, epsilon: Fraction
) -> EveryItem:
    """The supports of all items under a cap that leaves most of the rows whole."""
    held = np.cumsum(overlap.transactions * NUMBERS)
    cap = int(np.searchsorted(held, WHOLE_ROWS * held[-1])) + 1
    counts = curator.ask_normalised_supports(cap, epsilon=epsilon)
    kept = max(overlap.kept(cap), 1e-6)
    supports = counts.values / counts.mechanism.steps / kept
    return EveryItem(supports, scouting.noise(epsilon, cap=counts.limit) / kept)


def wanted_supports(found: FoundSupports, lengths: Int64Array, *, copies: int) -> WantedSupports:
    """Supports for rows of which each stands for some copies: none above a part's, rare items as room is left."""
    rows, times = lengths.size, max(copies, 1)
    ceiling = max(1, round(found.listed_from / times))
    items = _item_supports(found, lengths, times=times, ceiling=ceiling)
    larger: dict[Itemset, int] = {}
    for itemset in sorted((each for each in found.supports if len(each) > 1), key=len):
        parts = [itemset[:place] + itemset[place + 1 :] for place in range(len(itemset))]
        bounds = [int(items[part[0]]) if len(part) == 1 else larger.get(part, rows) for part in parts]
        larger[itemset] = max(0, min(round(found.supports[itemset] / times), *bounds))
    return WantedSupports(lengths, items, larger, ceiling)


def _item_supports(found: FoundSupports, lengths: Int64Array, *, times: int, ceiling: int) -> Int64Array:
    """The support of every item: as found, or else shrunken, and scaled to what lengths leave room for."""
    every_item, rows = found.every_item, lengths.size
    items: FloatArray = shrunken(every_item.supports, scale=every_item.scale, most=float(rows * times)) / times
    is_listed = np.zeros(items.size, np.bool_)
    for itemset, support in found.supports.items():
        if len(itemset) == 1:
            items[itemset[0]], is_listed[itemset[0]] = support / times, True
    room = max(float(lengths.sum()) - float(items[is_listed].sum()), 0.0)
    rest = float(items[~is_listed].sum())
    items[~is_listed] *= min(room / max(rest, 1e-9), MOST_SCALED)
    items[~is_listed] = np.minimum(items[~is_listed], ceiling)
    ends = np.floor(np.append(0.0, np.cumsum(np.clip(items, 0, rows))) + 0.5)  # rare items: whole rows now and then
    return np.minimum(np.diff(ends), rows).astype(np.int64)


def records_of(holders: dict[int, Int64Array], rows: int) -> tuple[Itemsets, Int64Array]:
    """The different rows that hold anything, and how many there are of each."""
    codes = np.repeat(np.array(list(holders), np.int64), [held.size for held in holders.values()])
    owner = np.concatenate([*holders.values(), np.zeros(0, np.int64)])
    order = np.lexsort((codes, owner))
    offsets = np.append(0, np.cumsum(np.bincount(owner, minlength=rows)))
    codes, lengths = codes[order], np.diff(offsets)
    parts, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    sizes = [np.zeros(0, np.int64)]
    for length in np.unique(lengths[lengths > 0]).tolist():
        starts = offsets[:-1][lengths == length]
        different, times = np.unique(codes[starts[:, None] + np.arange(length)], axis=0, return_counts=True)
        parts.append(different.ravel())
        numbers.append(times)
        sizes.append(np.full(times.size, length))
    ends = np.append(0, np.cumsum(np.concatenate(sizes)))
    return Itemsets(ends, np.concatenate(parts).astype(np.int32)), np.concatenate(numbers)
