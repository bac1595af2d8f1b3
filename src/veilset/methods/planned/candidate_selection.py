"""Which items and itemsets are measured level by level, and at what price.

Post-processing: everything here follows from earlier answers and public numbers. Each function is asked by the method,
with what its answers say, and by its forecast, with what a model of the data expects of them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.itemsets import Itemset, joined
from veilset.methods.planned.capped_counts import error_of_average_cap
from veilset.methods.planned.companions import Companions
from veilset.methods.planned.histogram_laws import Total
from veilset.methods.planned.knowledge import Knowledge, itemset_sizes
from veilset.methods.planned.overlap import Cap, Overlap
from veilset.methods.planned.prior import Prior
from veilset.methods.planned.scouting import Scouting
from veilset.methods.planned.settings import Settings


@dataclass(frozen=True, slots=True)
class Price:
    """What capped counts cost, and the cap that they are counted under."""

    epsilon: Fraction
    cap: Cap


@dataclass(frozen=True, slots=True)
class KeptItems:
    """Which items are kept: at most `most`, each with a capped count of `least` or more."""

    least: float
    most: int


@dataclass(frozen=True, slots=True, eq=False)
class LevelCandidates:
    """Itemsets of one size that may be in the answer, their priors, and the prior chances of each to be there."""

    itemsets: list[Itemset]
    prior: Prior
    chances: FloatArray

    @property
    def total(self) -> Total:
        """What their supports add up to, as their subsets tell."""
        settings = self.prior.settings
        expected = float(self.prior.expected.sum()) * math.exp(settings.usual_lift)
        return Total(expected, settings.expected_total_within)

    def companions(self, known: Mapping[Itemset, float], number: int) -> Companions:
        """What transactions contain beside each, by the supports that are known of smaller itemsets."""
        return Companions.of(self.itemsets, self.prior.expected, known, number)


def price_of_items(scouting: Scouting, overlap: Overlap, remaining: Fraction) -> Price:
    """What the supports of all items get: no more than is good enough at the threshold."""
    share = remaining * scouting.settings.share_for_items
    epsilon = enough(overlap, share, scouting.threshold, noise=scouting.noise(share))
    return Price(epsilon, overlap.best_cap(support=scouting.threshold, noise=scouting.noise(epsilon)))


def is_good_enough(scouting: Scouting, error: float) -> bool:
    """Whether an error at the threshold need not be made smaller, since what is near it is measured twice."""
    return error <= scouting.settings.good_enough * scouting.threshold


def choose_items_to_keep(scouting: Scouting, price: Price, *, kth_count: float) -> KeptItems:
    """Those that may matter, where the k-th of the items has this capped count."""
    settings, cap = scouting.settings, price.cap
    scale = scouting.noise(price.epsilon, cap=cap.most)
    least = max(kth_count, scouting.floor * cap.kept) - settings.items_within_noise * scale
    return KeptItems(least, min(settings.items_per_k * scouting.k, max(settings.most_items, scouting.k)))


def extended(known: Knowledge, *, size: int, support: float, settings: Settings) -> list[Itemset]:
    """Itemsets of a size all of whose subsets may be in the answer; of pairs, all of the kept items."""
    is_smaller = itemset_sizes(known.itemsets) == size - 1
    if size > 2:
        is_smaller &= known.at_least(support) > settings.worth_extending
    subsets = [known.itemsets[place] for place in np.flatnonzero(is_smaller).tolist()]
    return joined(subsets[: settings.most_items] if size == 2 else subsets)


def slacks_of_bounds(known: Knowledge, *, size: int, settings: Settings) -> dict[Itemset, float]:
    """What the bound of an itemset of a size by each of its subsets is uncertain by: for items, their median error."""
    places = np.flatnonzero(itemset_sizes(known.itemsets) == size - 1)
    slacks = settings.slack_in_deviations * known.deviations[places]
    if size == 2:
        slacks = np.full(places.size, np.median(slacks))
    return dict(zip([known.itemsets[place] for place in places.tolist()], slacks.tolist(), strict=True))


def choose_candidates(
    scouting: Scouting, itemsets: list[Itemset], prior: Prior, *, support: float, remaining: Fraction
) -> LevelCandidates | None:
    """The likeliest of the itemsets of one size, in their order, as many as can be measured well; None if none is."""
    settings = scouting.settings
    chances = prior.chances(len(itemsets[0]), support)
    order = np.argsort(-chances, kind="stable")
    order = order[chances[order] > settings.least_likely]
    contained = np.cumsum(prior.expected[order]) / scouting.number
    noise = scouting.noise(remaining * settings.most_share) / support
    best = np.sort(order[: how_many_candidates(contained, scouting.k, noise=noise, settings=settings)])
    if best.size == 0:
        return None
    return LevelCandidates([itemsets[place] for place in best.tolist()], prior.take(best), chances[best])


def how_many_candidates(contained: FloatArray, k: int, *, noise: float, settings: Settings) -> int:
    """How many are measured, where a transaction contains `contained` of the first 1, 2, ... on average.

    `noise` is that of a count under a cap of 1, as a part of the support. More than twice k only where the error will
    be negligible: else noise grows faster than what they add.

    >>> contained, settings = np.arange(1, 1001) / 100, Settings()
    >>> [how_many_candidates(contained, 10, noise=noise, settings=settings) for noise in (0.1, 0.03, 0.001)]
    [20, 40, 160]
    """
    *more, fewest = settings.candidates_per_k
    for times in more:
        last = min(times * k, contained.size) - 1
        if last >= 0 and error_of_average_cap(contained[last], noise) < settings.negligible:
            return times * k
    return fewest * k


def is_too_little(scouting: Scouting, remaining: Fraction) -> bool:
    """Whether too little of epsilon remains to measure candidates, after the largest support of their size."""
    settings = scouting.settings
    histogram = scouting.price(settings.share_for_overlap)
    after = remaining - scouting.price(settings.share_for_largest)
    return after < settings.least_histograms_left * histogram


def is_too_rare(scouting: Scouting, largest: float, *, support: float) -> bool:
    """Whether no itemset of a size can be in the answer, by the noisy support of the most frequent one."""
    settings = scouting.settings
    scale = scouting.noise(scouting.price(settings.share_for_largest))
    return largest < support - settings.largest_within_noise * scale


def price_of_candidates(
    scouting: Scouting,
    overlap: Overlap,
    candidates: LevelCandidates,
    known: Knowledge,
    *,
    support: float,
    remaining: Fraction,
) -> Price:
    """What candidates get, and the best cap for supports well above the one in question."""
    settings = scouting.settings
    share = share_of_candidates(candidates.chances, known.at_least(support), scouting.k, settings=settings)
    epsilon = part_of_share(
        overlap,
        remaining,
        share,
        support,
        of_answer=float(candidates.chances.sum()) / scouting.k,
        noise=scouting.noise(remaining * share),
    )
    cap = overlap.best_cap(support=settings.values_matter * support, noise=scouting.noise(epsilon))
    return Price(epsilon, cap)


def share_of_candidates(new: FloatArray, old: FloatArray, k: int, *, settings: Settings) -> Fraction:
    """The share of what remains for new candidates, by their chances; the rest is for the refinement.

    The error of n uncertain itemsets under noise in proportion to 1 / epsilon, added up, is n / epsilon^2: least where
    each part has a share in proportion to the cube root of its n. Half as much again for what comes last, which has
    to make up for the candidates of larger sizes as well.
    """
    of_new = float((new * (1 - new)).sum()) ** (1 / 3)
    of_old = float((old * (1 - old)).sum()) + settings.always_uncertain * k
    of_rest = settings.weight_of_refinement * of_old ** (1 / 3)
    share = Fraction(round(100 * of_new / (of_new + of_rest)), 100)
    return min(max(share, settings.least_share), settings.most_share)


def part_of_share(
    overlap: Overlap,
    remaining: Fraction,
    share: Fraction,
    support: float,
    *,
    of_answer: float,
    noise: float,
) -> Fraction:
    """What candidates get of what remains: up to a share, under which the noise of a count is `noise`.

    Where the error would be x times what is good enough, 1 / x of the share will do, or as large a part of it as they
    are expected to make up of the answer, `of_answer`: the rest is better kept for what can be told apart. Where it
    would be more than the support, a little says how frequent they are on average.
    """
    settings = overlap.settings
    error = overlap.best_cap(support=support, noise=noise).error / support
    if error > 1:
        return remaining * settings.least_share
    if error > settings.good_enough:
        part = min(1.0, max(settings.good_enough / error, of_answer))
        return remaining * max(settings.least_share, share * Fraction(round(100 * part), 100))
    return enough(overlap, remaining * share, support, noise=noise)


def enough(overlap: Overlap, epsilon: Fraction, support: float, *, noise: float) -> Fraction:
    """No more of epsilon, under which the noise of a count is `noise`, than is good enough."""
    settings = overlap.settings
    error = overlap.best_cap(support=support, noise=noise).error
    part = Fraction(min(100, round(100 * error / (settings.good_enough * support))), 100)
    return epsilon * max(part, settings.least_part)


def still_possible(known: Knowledge, *, support: float, settings: Settings) -> Int64Array:
    """The places of those that may be in the answer; the others are forgotten."""
    chances = known.at_least(settings.possible_from * support)
    return np.flatnonzero(chances > settings.out_of_question)
