"""How the refinement measures what may or may not be in the answer: by which questions, at which shares.

Post-processing: everything here follows from earlier answers and public numbers. Each function is asked by the method,
with what its answers say, and by its forecast, with what a model of the data expects of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import BoolArray, FloatArray, Int64Array
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned.candidate_selection import Price
from veilset.methods.planned.capped_counts import error_of_average_cap, error_of_fitting_cap
from veilset.methods.planned.knowledge import Knowledge, itemset_sizes
from veilset.methods.planned.overlap import Overlap
from veilset.methods.planned.scouting import Scouting
from veilset.methods.planned.settings import Settings
from veilset.methods.shared.bases import Basis, basis_set

PARTS_OF_CERTAIN = (1, 2, 4, 8)
"""All certain itemsets, or the most frequent half, quarter or eighth of them, may be covered by marginals."""


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """The chance of each itemset to reach the support in question; and the places of those that may or may not.

    Where all is settled, none is uncertain, and the likeliest stand in.
    """

    support: float
    chances: FloatArray
    uncertain: Int64Array
    is_settled: bool = False

    @classmethod
    def of(cls, known: Knowledge, scouting: Scouting) -> "Membership":
        """By what is known before the refinement."""
        support, settings = scouting.support_in_question(known), scouting.settings
        chances = known.at_least(support)
        uncertain = uncertain_places(chances, scouting.k, settings=settings)
        return cls(support, chances, uncertain, not is_uncertain(chances, settings).any())


@dataclass(frozen=True, slots=True, eq=False)
class CappedGroup:
    """Itemsets that are counted under one cap: their places among all that are known, and how they overlap."""

    places: Int64Array
    itemsets: Itemsets
    overlap: Overlap


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """Groups of items, and the error that their marginals would leave each itemset; infinite where none covers it."""

    bases: list[Basis]
    errors: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ByMarginals:
    """Marginals of bases; a part of what remains is for capped counts of the uncertain itemsets not covered."""

    bases: list[Basis]
    error: float
    uncovered: Int64Array
    part_for_uncovered: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class ByCappedCounts:
    """Capped counts of the uncertain itemsets; what they do not need is for the certain ones.

    These are measured by marginals of `bases_of_certain`, or where there are none of these, by capped counts.
    """

    for_uncertain: Fraction
    certain: Int64Array
    for_certain: Fraction
    bases_of_certain: list[Basis]


@dataclass(frozen=True, slots=True, eq=False)
class RefinementChoice:
    """The choice, and the error that was predicted for capped counts of the uncertain itemsets."""

    choice: ByMarginals | ByCappedCounts
    capped_error: float


def is_uncertain(chances: FloatArray, settings: Settings) -> BoolArray:
    """Whether each may or may not be in the answer."""
    return (chances > settings.certain_below) & (chances < settings.certain_above)


def uncertain_places(chances: FloatArray, k: int, *, settings: Settings) -> Int64Array:
    """What may or may not be in the answer, the most uncertain first; where all is certain, the likeliest k."""
    uncertain = np.flatnonzero(is_uncertain(chances, settings))
    if uncertain.size == 0:
        return np.argsort(-chances, kind="stable")[:k]
    order = np.argsort(-(chances * (1 - chances))[uncertain], kind="stable")
    return uncertain[order][: settings.uncertain_per_k * k]


def items_and_larger(known: Knowledge, places: Int64Array) -> list[Int64Array]:
    """Places of items, and of larger itemsets: those are in longer transactions, which lose more under a cap."""
    is_item = itemset_sizes(known.itemsets)[places] == 1
    return [some for some in (places[is_item], places[~is_item]) if some.size > 0]


def choose_refinement(
    scouting: Scouting,
    known: Knowledge,
    membership: Membership,
    groups: Sequence[CappedGroup],
    *,
    remaining: Fraction,
) -> RefinementChoice:
    """Marginals, where they are predicted to err less than capped counts of the uncertain itemsets, in groups."""
    capped_error = predicted_error(scouting, membership, groups, remaining)
    cover = choose_cover(known.itemsets, membership.chances, scouting.noise(remaining), scouting.settings)
    choice = _by_marginals(scouting, known, membership, cover, remaining=remaining)
    if choice is not None and choice.error < capped_error:
        return RefinementChoice(choice, capped_error)
    by_counts = _by_capped_counts(scouting, known, membership, remaining, error=capped_error)
    return RefinementChoice(by_counts, capped_error)


def _by_marginals(
    scouting: Scouting, known: Knowledge, membership: Membership, cover: Cover, *, remaining: Fraction
) -> ByMarginals | None:
    """Marginals, if they cover enough of what is uncertain."""
    uncertain = membership.uncertain
    covered = uncertain[np.isfinite(cover.errors[uncertain])]
    if covered.size < scouting.settings.least_covered * uncertain.size:
        return None
    errors, uncovered = cover.errors[covered], np.setdiff1d(uncertain, covered)
    part = part_for_uncovered(scouting, known.means[uncovered], remaining, by_marginals=float(errors.sum()))
    return ByMarginals(cover.bases, float(errors.mean()), uncovered, part)


def _by_capped_counts(
    scouting: Scouting, known: Knowledge, membership: Membership, remaining: Fraction, *, error: float
) -> ByCappedCounts:
    """Capped counts of the uncertain itemsets; for the certain ones what remains, by the questions that err less."""
    settings = scouting.settings
    likely = np.flatnonzero(membership.chances > settings.likely)
    certain = np.setdiff1d(likely, membership.uncertain)
    for_uncertain = part_for_uncertain(remaining, error / membership.support, certain.size, settings=settings)
    for_certain = remaining - for_uncertain
    if for_certain == 0:
        return ByCappedCounts(remaining, certain, for_certain, [])
    by_counts = _error_of_certain_by_counts(scouting, known, certain, for_certain)
    covers = _covers_of_certain(scouting, known, certain, for_certain)
    by_marginals = [relative_error(known, certain, cover.errors[certain]) for cover in covers]
    if covers and min(by_marginals) < by_counts:
        return ByCappedCounts(for_uncertain, certain, for_certain, covers[int(np.argmin(by_marginals))].bases)
    if math.isinf(by_counts):
        return ByCappedCounts(remaining, certain, Fraction(0), [])
    return ByCappedCounts(for_uncertain, certain, for_certain, [])


def _covers_of_certain(
    scouting: Scouting, known: Knowledge, certain: Int64Array, epsilon: Fraction
) -> list[Cover]:
    """Marginals that cover all certain itemsets, or the more frequent half of them, and so on."""
    order = certain[np.argsort(-known.means[certain], kind="stable")]
    numbers = {math.ceil(order.size / parts) for parts in PARTS_OF_CERTAIN}
    covers = []
    for number in sorted(numbers):
        is_covered = np.zeros(len(known.itemsets))
        is_covered[order[:number]] = 1.0
        cover = choose_cover(known.itemsets, is_covered, scouting.noise(epsilon), scouting.settings)
        covers += [cover] if cover.bases else []
    return covers


def _error_of_certain_by_counts(
    scouting: Scouting, known: Knowledge, certain: Int64Array, epsilon: Fraction
) -> float:
    """`relative_error` of the certain itemsets after capped counts; infinite where too little remains for these."""
    histogram, settings = scouting.price(scouting.settings.share_for_overlap), scouting.settings
    if epsilon < settings.least_histograms_left * histogram:
        return math.inf
    groups = items_and_larger(known, certain)
    noise = scouting.noise((epsilon - len(groups) * histogram) / len(groups))
    return sum(
        relative_error(known, places, _errors_by_counts(scouting, known, places, noise)) for places in groups
    )


def _errors_by_counts(scouting: Scouting, known: Knowledge, places: Int64Array, noise: float) -> FloatArray:
    """The errors of some itemsets under a cap that fits each of them; `noise` is the scale under a cap of 1."""
    supports, contained = known.means[places], float(known.means[places].sum()) / scouting.number
    unevenness = scouting.settings.unevenness
    return np.array(
        [
            error_of_fitting_cap(contained, noise, support=support, unevenness=unevenness)
            for support in supports.tolist()
        ]
    )


def relative_error(known: Knowledge, places: Int64Array, errors: FloatArray) -> float:
    """What the errors of some itemsets, as parts of their supports, add up to once they are measured with `errors`."""
    before = np.maximum(known.deviations[places], 1e-9)
    together = 1 / np.sqrt(before**-2.0 + np.maximum(errors, 1e-9) ** -2.0)
    return float((together / np.maximum(known.means[places], 1.0)).sum())


def price_of_overlaps(scouting: Scouting, groups: Sequence[CappedGroup]) -> Fraction:
    """What the containment histograms of groups cost."""
    return len(groups) * scouting.price(scouting.settings.share_for_overlap)


def part_for_uncovered(
    scouting: Scouting, means: FloatArray, remaining: Fraction, *, by_marginals: float
) -> Fraction:
    """The part of what remains for capped counts of what marginals, whose errors add up to that, do not cover.

    Errors a / part and b / (1 - part) add up to the least where parts are as the square roots of a and b. Neither gets
    less than a twentieth.
    """
    if means.size == 0:
        return Fraction(0)
    contained = float(means.sum()) / scouting.number
    by_counts = means.size * error_of_average_cap(contained, scouting.noise(remaining))
    part = math.sqrt(by_counts) / (math.sqrt(by_counts) + math.sqrt(by_marginals))
    least = scouting.settings.least_for_either
    return min(max(Fraction(round(100 * part), 100), least), 1 - least)


def part_for_uncertain(remaining: Fraction, error: float, certain: int, *, settings: Settings) -> Fraction:
    """All that remains, or as much of it as makes an error, given as a part of the support, precise.

    All of it where nothing is certain.

    >>> half, settings = Fraction(1, 2), Settings()
    >>> part_for_uncertain(half, 0.0075, 3, settings=settings)
    Fraction(1, 8)
    >>> part_for_uncertain(half, 0.3, 3, settings=settings), part_for_uncertain(half, 0.0075, 0, settings=settings)
    (Fraction(1, 2), Fraction(1, 2))
    """
    part = Fraction(min(100, math.ceil(100 * error / settings.precise)), 100)
    return remaining * part if certain > 0 else remaining


def predicted_error(
    scouting: Scouting, membership: Membership, groups: Sequence[CappedGroup], remaining: Fraction
) -> float:
    """The error of an average itemset of the groups, if they get all that remains."""
    prices = prices_of_groups(scouting, membership, groups, remaining)
    errors = [price.cap.error for price in prices]
    return float(np.average(errors, weights=[group.places.size for group in groups]))


def prices_of_groups(
    scouting: Scouting, membership: Membership, groups: Sequence[CappedGroup], epsilon: Fraction
) -> list[Price]:
    """What each group gets of epsilon, and its best cap."""
    shares = shares_of_groups(scouting, membership, groups, epsilon)
    return [
        Price(share, group.overlap.best_cap(support=membership.support, noise=scouting.noise(share)))
        for group, share in zip(groups, shares, strict=True)
    ]


def shares_of_groups(
    scouting: Scouting, membership: Membership, groups: Sequence[CappedGroup], epsilon: Fraction
) -> list[Fraction]:
    """All of epsilon, in proportion to the cube root of (how many are uncertain) * (noise at equal shares)^2."""
    weights, noise = [], scouting.noise(epsilon) * len(groups)
    for group in groups:
        chances = membership.chances[group.places]
        uncertain = float((chances * (1 - chances)).sum())
        uncertain += scouting.settings.always_uncertain * chances.size
        cap = group.overlap.best_cap(support=membership.support, noise=noise)
        weights.append(round(1000 * (uncertain * (cap.noise / cap.kept) ** 2) ** (1 / 3)) + 1)
    return [epsilon * Fraction(weight, sum(weights)) for weight in weights]


def choose_cover(itemsets: Sequence[Itemset], chances: FloatArray, noise: float, settings: Settings) -> Cover:
    """Groups of items whose marginals cover what may well be in the answer; `noise` is that of one marginal alone."""
    likely = [itemsets[place] for place in np.flatnonzero(chances > settings.likely_enough).tolist()]
    items = sorted({item for itemset in likely for item in itemset})
    pairs = sorted({pair for itemset in likely for pair in combinations(itemset, 2)})
    if not items or len(items) > settings.most_in_bases or len(pairs) > settings.most_pairs_in_bases:
        return Cover([], np.full(len(itemsets), np.inf))
    bases = basis_set(items, pairs, largest=settings.largest_basis)
    scale = len(bases) * noise
    errors = [_error_by_marginals(itemset, bases, scale=scale, settings=settings) for itemset in itemsets]
    return Cover(bases, np.array(errors))


def _error_by_marginals(
    itemset: Itemset, bases: Sequence[Basis], *, scale: float, settings: Settings
) -> float:
    """The error of an itemset over all marginals that cover it, by inverse variance, with noise of a scale."""
    covering = [len(basis) for basis in bases if set(itemset) <= set(basis)]
    precision = sum(1 / settings.noise_of_marginal(size, len(itemset)) ** 2 for size in covering)
    return scale / math.sqrt(precision) if covering else math.inf
