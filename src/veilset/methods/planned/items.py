"""planned for single items, the default of `veilset items`: all items are counted, then the uncertain ones again. Ours.

Task: the k most frequent items, with their supports. More in docs/methods/planned-items.md.

Privacy argument. Neighbours differ by one privacy unit of at most c transactions. Costs add up to epsilon:

1. the preliminaries (`methods.shared.preliminaries`): the number of transactions, unless it is public;
2. 1/50 of epsilon for the support of the k-th item, sensitivity c, and 3/100 for the histogram of lengths, in which a
   transaction is in one class: sensitivity c; where nearly all are in one, 1/100 for the lengths of that class;
3. half of what remains for the counts of all items under a cap m on what one transaction counts: one of n > m items
   counts m / n for each. L1 sensitivity c m; and 1/100 of epsilon, where enough items stand out from noise, for how
   unlike long and short transactions are in these (`planned.tilts`);
4. the rest, but for 5, for items that are counted again, in one or more rounds: in each, 3/200 of epsilon for the
   histogram of how many of these items transactions contain, sensitivity c, and their counts under a cap of its own,
   L1 sensitivity c m;
5. 1/50 of epsilon for the sum of the supports of the released items, where one transaction adds at most m: c m.

Which items are counted again, every cap and every share follow from earlier answers and public numbers
(`planned.item_rounds`). The budget refuses what would exceed epsilon. Posteriors (those of the miner, with what
`planned.item_posterior` adds), the choice of the items and their intervals are post-processing.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator
from veilset.itemsets import Itemsets
from veilset.methods.planned.capped_counts import EveryItem, ask_capped_supports, measurement_of
from veilset.methods.planned.companions import Companions
from veilset.methods.planned.histogram_laws import Total
from veilset.methods.planned.item_posterior import NoisySum, corrected_by_sum
from veilset.methods.planned.item_rounds import UNCERTAIN_LOSS, Counting, ItemZones, choose_plan
from veilset.methods.planned.lengths import ask_item_overlap
from veilset.methods.planned.measurements import Measurement
from veilset.methods.planned.overlap import Overlap, ask_overlap
from veilset.methods.planned.posterior import Posterior, grid_to
from veilset.methods.planned.prior import ItemPrior
from veilset.methods.planned.settings import DEFAULT, Settings
from veilset.methods.planned.tilts import ask_tilts
from veilset.methods.shared.preliminaries import ask_preliminaries
from veilset.request import Request
from veilset.results.estimates import Estimates
from veilset.results.release import Release
from veilset.wording import counted

NAME = "planned"
SHARE_FOR_BAR = Fraction(1, 50)
"""1/50 of epsilon for the support of the k-th item."""
SHARE_FOR_SUM = Fraction(1, 50)
"""1/50 of epsilon for the sum of the supports of the released items."""
SHARE_FOR_ALL_ITEMS = Fraction(1, 2)
"""1/2 of what remains for the counts of all items: as much as it takes to know which are worth counting again."""
BAR_IN_SCALES = 0.5
"""0.5 scales of noise below its noisy value, or above 0, is the k-th support that the cap of all items is best for."""
MOST_LOOKED_AT = 2000
"""2,000 items are candidates at most, or twice k where that is more."""
CANDIDATES_PER_K = 2
"""2 candidates for each of the k items at least."""
LEAST_CHANCE = 0.0015
"""0.0015 is the chance to be in the answer below which an item is no candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSearch:
    """What every step needs: how many items are wanted among how many transactions, all of epsilon, and the tuning.

    There are at most `most` transactions.
    """

    k: int
    number: int
    most: int
    epsilon: Fraction
    unit_transactions: int
    settings: Settings

    @property
    def for_overlap(self) -> Fraction:
        """What a histogram of contained items costs."""
        return self.epsilon * self.settings.share_for_overlap

    def noise(self, epsilon: Fraction) -> float:
        """The scale of the noise of counts under a cap of 1."""
        return self.unit_transactions / float(epsilon)


def planned_items(
    curator: Curator, request: Request, *, epsilon: Fraction, settings: Settings = DEFAULT
) -> Release:
    """The k most frequent items: all are counted, then those that it is best to count again."""
    first = ask_preliminaries(curator, request, domain=curator.domain(max_size=1), epsilon=epsilon)
    if first.k == 0:
        return first.release(curator, Estimates.none(), method=NAME)
    search = ItemSearch(
        k=first.k,
        number=max(first.number.value, 1),
        most=first.most,
        epsilon=epsilon,
        unit_transactions=curator.unit.transactions,
        settings=settings,
    )
    for_sum = epsilon * SHARE_FOR_SUM
    lengths, posterior, remaining = ask_all_items(curator, search, first.remaining - for_sum)
    search = replace(search, settings=lengths.settings)
    counting = Counting(lengths, search.unit_transactions, search.for_overlap)
    posterior, notes = ask_again(curator, search, counting, posterior, remaining)
    released = likeliest(posterior, search.k)
    total = ask_sum(curator, counting, posterior, released, for_sum)
    known = corrected_by_sum(posterior, released, total)
    told = known.fine(np.arange(len(known.itemsets)))
    return first.release(curator, told.estimates(), method=NAME, notes=notes)


def ask_all_items(
    curator: Curator, search: ItemSearch, remaining: Fraction
) -> tuple[Overlap, Posterior, Fraction]:
    """Lengths of transactions, counts of all items under the cap that is best at the bar, and what remains then."""
    settings, domain = search.settings, curator.domain(max_size=1)
    for_bar = search.epsilon * SHARE_FOR_BAR
    kth = curator.ask_kth_support(search.k, domain=domain, epsilon=for_bar)
    lengths, for_lengths = ask_item_overlap(
        curator, number=search.number, epsilon=search.epsilon, settings=settings
    )
    remaining -= for_bar + for_lengths
    for_counts = remaining * SHARE_FOR_ALL_ITEMS
    margin = BAR_IN_SCALES * search.noise(for_bar)
    bar = min(max(kth.value - margin, margin), search.number)
    cap = lengths.best_cap(support=bar, noise=search.noise(for_counts))
    counts = curator.ask_normalised_supports(cap.most, epsilon=for_counts)
    grid = grid_to(search.most)
    every_item = EveryItem.of(counts, lengths, cap, noise=search.noise(for_counts), grid=grid)
    tilts, for_tilts = ask_tilts(
        curator, lengths, every_item.above_noise(), epsilon=search.epsilon * settings.share_for_tilts
    )
    lengths = replace(lengths, settings=tilts.tuned(settings))
    measured = measurement_of(counts, lengths, cap, grid=grid)
    posterior = replace(_of_candidates(measured, grid, search.k), log_tilts=tilts.law)
    return lengths, posterior, remaining - for_counts - for_tilts


def _of_candidates(every_item: Measurement, grid: FloatArray, k: int) -> Posterior:
    """The posterior of the items that may be in the answer, the most frequent first."""
    order = np.argsort(-every_item.values, kind="stable")
    fewest = min(CANDIDATES_PER_K * k, order.size)
    items = order[: max(MOST_LOOKED_AT, fewest)].tolist()
    posterior = Posterior.measured(
        [(item,) for item in items], every_item.take(items), grid, prior=ItemPrior.explaining(every_item)
    )
    chances = posterior.at_least(posterior.kth_support(k))
    number = max(fewest, int((chances > LEAST_CHANCE).sum()))
    return posterior.take(np.arange(number))


def ask_again(
    curator: Curator, search: ItemSearch, counting: Counting, posterior: Posterior, remaining: Fraction
) -> tuple[Posterior, tuple[str, ...]]:
    """Count items again, by the plan that is predicted to lose least; after a round, by what is known then."""
    notes = []
    while remaining > 0:
        zones = ItemZones.of(posterior, search.k)
        plan = choose_plan(posterior, zones, counting, search.k, remaining=remaining)
        if len(plan.rounds) < 2 and plan.for_certain > 0:
            support = float(np.median(posterior.means[zones.certain]))
            posterior = _ask_counts(curator, search, posterior, zones.certain, support, plan.for_certain)
            remaining -= plan.for_certain
            notes.append(f"{counted(zones.certain.size, 'item')} certain to be in the answer: counted again")
        for each in plan.rounds[:1]:
            places = zones.uncertain[: each.items]
            posterior = _ask_counts(curator, search, posterior, places, zones.bar, each.epsilon)
            remaining -= each.epsilon
            notes.append(f"{counted(places.size, 'item')} that may be in the answer: counted again")
    return posterior, tuple(notes)


def _ask_counts(
    curator: Curator,
    search: ItemSearch,
    posterior: Posterior,
    places: Int64Array,
    support: float,
    epsilon: Fraction,
) -> Posterior:
    """Counts of the items at some places, under the cap that is best for a support; what they add up to is known."""
    itemsets = Itemsets.of(posterior.itemsets[place] for place in places.tolist())
    overlap = ask_overlap(
        curator,
        itemsets,
        number=search.number,
        epsilon=search.for_overlap,
        settings=search.settings,
        total=Total(max(float(posterior.means[places].sum()), 1.0), search.settings.known_total_within),
    )
    for_counts = epsilon - search.for_overlap
    cap = overlap.best_cap(support=support, noise=search.noise(for_counts))
    measured = ask_capped_supports(
        curator,
        itemsets,
        overlap,
        cap,
        epsilon=for_counts,
        grid=posterior.grid,
        companions=Companions.at(places, posterior, search.number),
    )
    return posterior.updated(places, measured)


def likeliest(posterior: Posterior, k: int) -> Int64Array:
    """The places of the k items that are most likely to be in the answer."""
    chances = posterior.at_least(posterior.kth_support(k))
    return np.lexsort((-posterior.means, -np.round(chances, 3)))[:k]


def ask_sum(
    curator: Curator,
    counting: Counting,
    posterior: Posterior,
    places: Int64Array,
    epsilon: Fraction,
) -> NoisySum:
    """The sum of the supports of the items at some places, which tells whether all of them are too high or too low."""
    most, kept = counting.cap_of_sum(float(posterior.means[places].sum()), epsilon)
    items = np.array([posterior.itemsets[place][0] for place in places.tolist()], np.int64)
    total = curator.ask_total(items, most=most, epsilon=epsilon)
    scale = most * counting.unit_transactions / float(epsilon)
    error = math.hypot(scale, UNCERTAIN_LOSS * (1 - kept) * total.value)
    return NoisySum(total.value / kept, error / kept)
