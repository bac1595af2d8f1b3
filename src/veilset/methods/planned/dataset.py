"""planned, for a whole dataset: rows made up so that they have the supports that the miner found.

Task: publish a dataset. Ours; more in docs/methods/planned.md.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the preliminaries (`methods.shared.preliminaries`): 1/50 for the number of transactions, unless it is public;
2. of few items, 1/100 for the support of the 120th itemset, sensitivity c; if it says that a marginal of them errs
   little, all that remains goes there (`planned.few_items`), and what follows is not asked;
3. 1/50 each for two histograms of lengths, in which a transaction counts in one class: sensitivity c each;
4. 1/100 for the support of the 400th itemset, and where that is too rare to be known well, as much for that of the
   200th: sensitivity c each;
5. all else as the miner asks for the 400, 200 or 120 most frequent itemsets (see `planned`). Where it measures sizes
   one after another, 3/20 of what that leaves goes to the most frequent items: a containment histogram, sensitivity c,
   and counts under a cap m, L1 sensitivity c m. The refinement has the rest.

Lists, caps and shares follow from earlier answers and public numbers alone, and the budget refuses what would exceed
epsilon. Rows are made from these answers (`planned.synthesis`) with public seeded randomness: post-processing.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import Curator
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.methods.planned.capped_counts import EveryItem, ask_capped_supports, error_of_average_cap
from veilset.methods.planned.companions import Companions
from veilset.methods.planned.dense import ask_dense
from veilset.methods.planned.few_items import (
    MOST_FEW,
    ask_cells,
    marginal_is_best,
    records_in_cells,
)
from veilset.methods.planned.knowledge import itemset_sizes
from veilset.methods.planned.levelwise import ask_levelwise
from veilset.methods.planned.overlap import ask_overlap
from veilset.methods.planned.posterior import Posterior
from veilset.methods.planned.refinement import ask_groups, ask_refinement
from veilset.methods.planned.refinement_errors import price_of_overlaps
from veilset.methods.planned.row_lengths import row_lengths
from veilset.methods.planned.scouting import DenseScouting, Scouting, ask_scouting
from veilset.methods.planned.settings import DEFAULT
from veilset.methods.planned.synthesis import WantedSupports, synthesised
from veilset.methods.planned.told_prior import with_told_prior
from veilset.methods.shared.preliminaries import Preliminaries, ask_preliminaries
from veilset.request import PublishRequest, Request
from veilset.results.estimates import Estimates
from veilset.results.published import Published
from veilset.wording import counted

NAME = "planned"
NUMBERS_OF_ITEMSETS = (400, 200, 120)
"""400 itemsets are looked for, or 200, where the rarest of them will be known well; else 120."""
SHARE_FOR_A_NUMBER = Fraction(1, 100)
"""1/100 of epsilon for the support that tells whether 400 will be known well, and as much for 200."""
KNOWN_WELL = 0.01
"""0.01 of its support is an error with which the rarest itemset is known well."""
PART_FOR_A_SIZE = 1 / 3
"""1/3 of epsilon is about what the itemsets of one size get."""
SHARE_FOR_ROW_LENGTHS = Fraction(1, 50)
"""1/50 of epsilon for each of two histograms of lengths."""
SHARE_FOR_FREQUENT_ITEMS = Fraction(3, 20)
"""3/20 of what the levels leave for supports of the most frequent items; the rest is for the refinement."""
FREQUENT_ITEMS = 40
"""40 items at most are measured for that."""
FINE_LENGTHS = 65
"""Lengths below 65 items are counted one by one."""
MOST_ROWS_MADE = 250_000
"""250,000 rows are made up at most; for more transactions, each is published several times."""
TAXONOMY_UNUSED = "the taxonomy was not used: items are combined by the supports of itemsets"


@dataclass(frozen=True, slots=True, eq=False)
class FoundSupports:
    """What the miner found out: supports of itemsets, from which support on they are listed, and of every item."""

    estimates: Estimates
    listed_from: float
    every_item: EveryItem | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MadeRecords:
    """Different records, how many copies there are of each, and notes on how they were made."""

    records: Itemsets
    copies: Int64Array
    notes: tuple[str, ...]


def planned_dataset(
    curator: Curator, request: PublishRequest, *, epsilon: Fraction, most_few: int = MOST_FEW
) -> Published:
    """A dataset whose itemsets have the supports that `planned` finds; of few items, one with their marginal."""
    domain = curator.domain(max_size=DEFAULT.max_size)
    sought = Request.of(k=min(NUMBERS_OF_ITEMSETS[-1], domain.size))
    first, is_best = ask_preliminaries(curator, sought, domain=domain, epsilon=epsilon), False
    if curator.alphabet_size <= most_few:
        first, is_best = ask_whether_marginal(curator, first, domain=domain, epsilon=epsilon)
    if is_best:
        made = ask_records_of_few(curator, first)
    else:
        made = ask_records_of_many(curator, sought, first, domain=domain, epsilon=epsilon)
    notes = made.notes if request.taxonomy is None else (*made.notes, TAXONOMY_UNUSED)
    return Published.of(curator, made.records, made.copies, method=NAME, notes=notes)


def ask_records_of_few(curator: Curator, first: Preliminaries) -> MadeRecords:
    """Records from the marginal of all items, or of nearly all."""
    cells = ask_cells(curator, remaining=first.remaining)
    others = f"; {counted(len(cells.rarer), 'rarer item')} put in at random" if cells.rarer else ""
    note = f"records from the marginal of {counted(len(cells.items), 'item')}{others}"
    return MadeRecords(*records_in_cells(cells, number=first.number), (note,))


def ask_records_of_many(
    curator: Curator, sought: Request, first: Preliminaries, *, domain: Domain, epsilon: Fraction
) -> MadeRecords:
    """Records that reproduce what the miner finds."""
    first = ask_number_of_itemsets(curator, first, domain=domain, epsilon=epsilon)
    price, number = epsilon * SHARE_FOR_ROW_LENGTHS, max(first.number.value, 1)
    overlap = ask_overlap(curator, None, number=number, epsilon=price, settings=DEFAULT)
    fine = curator.ask_lengths(limit=FINE_LENGTHS, epsilon=price)
    found = ask_found(curator, sought, first.less(2 * price), domain=domain, epsilon=epsilon)
    times = -(-number // MOST_ROWS_MADE)
    lengths = row_lengths(overlap, fine, rows=max(first.number.value, 0) // times)
    wanted = wanted_supports(found, lengths, alphabet_size=curator.alphabet_size, times=times)
    records, copies = records_of(synthesised(wanted), lengths.size)
    return MadeRecords(records, copies * times, found.notes)


def ask_whether_marginal(
    curator: Curator, first: Preliminaries, *, domain: Domain, epsilon: Fraction
) -> tuple[Preliminaries, bool]:
    """Whether a marginal of all items is best, by the support of the rarest itemset that is looked for."""
    price, noise = epsilon * SHARE_FOR_A_NUMBER, curator.unit.transactions / float(epsilon)
    support = curator.ask_kth_support(first.k, domain=domain, epsilon=price).value
    first = first.less(price)
    return first, marginal_is_best(curator.alphabet_size, support, first, noise=noise, part=PART_FOR_A_SIZE)


def ask_number_of_itemsets(
    curator: Curator, first: Preliminaries, *, domain: Domain, epsilon: Fraction
) -> Preliminaries:
    """As many itemsets as can be known well, by the support of the rarest of them."""
    price, noise = (
        epsilon * SHARE_FOR_A_NUMBER,
        curator.unit.transactions / (PART_FOR_A_SIZE * float(epsilon)),
    )
    for k in (k for k in NUMBERS_OF_ITEMSETS[:-1] if k <= domain.size):
        support = curator.ask_kth_support(k, domain=domain, epsilon=price).value
        first = first.less(price)
        contained = DEFAULT.cap_over_average * k * max(support, 0) / max(first.number.value, 1)
        if error_of_average_cap(contained, noise) <= KNOWN_WELL * support:
            return replace(first, k=k)
    return first


def ask_found(
    curator: Curator,
    sought: Request,
    first: Preliminaries,
    *,
    domain: Domain,
    epsilon: Fraction,
) -> FoundSupports:
    """Ask what the miner asks; and where it measures sizes one after another, the most frequent items once more."""
    scouting = ask_scouting(curator, sought, first, domain=domain, epsilon=epsilon, settings=DEFAULT)
    if isinstance(scouting, DenseScouting):
        answer = ask_dense(curator, scouting)
        rarest = int(answer.estimates.supports.min(initial=scouting.number))
        return FoundSupports(answer.estimates, rarest, None, answer.notes)
    levels = ask_levelwise(curator, scouting)
    for_items = levels.remaining * SHARE_FOR_FREQUENT_ITEMS
    progress = ask_refinement(curator, scouting, replace(levels, remaining=levels.remaining - for_items))
    posterior = _ask_frequent_items(curator, scouting, progress.posterior, epsilon=for_items)
    told = with_told_prior(posterior, scouting.number, scouting.settings)
    estimates = told.fine(np.arange(len(told.itemsets))).estimates()
    listed_from = posterior.kth_support(scouting.k)
    return FoundSupports(estimates, listed_from, progress.every_item, progress.notes)


def _ask_frequent_items(
    curator: Curator, scouting: Scouting, posterior: Posterior, *, epsilon: Fraction
) -> Posterior:
    """Measure the most frequent items once more: the miner is sure of them, and need not know how frequent they are."""
    items = np.flatnonzero(itemset_sizes(posterior.itemsets) == 1)
    places = np.sort(items[np.argsort(-posterior.means[items], kind="stable")[:FREQUENT_ITEMS]])
    (group,) = ask_groups(curator, scouting, posterior, places)
    remaining = epsilon - price_of_overlaps(scouting, [group])
    typical = float(np.median(posterior.means[places]))
    cap = group.overlap.best_cap(support=typical, noise=scouting.noise(remaining))
    measured = ask_capped_supports(
        curator,
        group.itemsets,
        group.overlap,
        cap,
        epsilon=remaining,
        grid=posterior.grid,
        companions=Companions.at(places, posterior, scouting.number),
    )
    return posterior.updated(group.places, measured)


def wanted_supports(
    found: FoundSupports, lengths: Int64Array, *, alphabet_size: int, times: int
) -> WantedSupports:
    """Supports for rows each of which is published some times; none is above that of a part."""
    rows = lengths.size
    supports = dict(zip(found.estimates.itemsets, found.estimates.supports.tolist(), strict=True))
    told = np.zeros(alphabet_size) if found.every_item is None else found.every_item.above_noise()
    for itemset, support in supports.items():
        if len(itemset) == 1:
            told[itemset[0]] = support
    items = np.clip(np.rint(told / times), 0, rows).astype(np.int64)
    larger: dict[Itemset, int] = {}
    for itemset in sorted((each for each in supports if len(each) > 1), key=len):
        parts = [itemset[:place] + itemset[place + 1 :] for place in range(len(itemset))]
        bounds = [int(items[part[0]]) if len(part) == 1 else larger.get(part, rows) for part in parts]
        larger[itemset] = max(0, min(round(supports[itemset] / times), *bounds))
    return WantedSupports(lengths, items, larger, max(1, round(found.listed_from / times)))


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
