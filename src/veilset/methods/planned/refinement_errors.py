"""The errors that questions of the refinement would leave: capped counts of groups, and marginals.

Post-processing: everything here follows from earlier answers and public numbers. Each function is asked by the method,
with what its answers say, and by its forecast, with what a model of the data expects of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned.candidate_selection import Price
from veilset.methods.planned.capped_counts import error_of_average_cap, error_of_fitting_cap
from veilset.methods.planned.histogram_laws import NUMBERS
from veilset.methods.planned.knowledge import Knowledge
from veilset.methods.planned.membership import Membership, items_and_larger
from veilset.methods.planned.overlap import Overlap
from veilset.methods.planned.scouting import Scouting
from veilset.methods.planned.settings import Settings
from veilset.methods.planned.thinning import thinned
from veilset.methods.shared.bases import Basis, basis_set


@dataclass(frozen=True, slots=True, eq=False)
class CappedGroup:
    """Itemsets that are counted under one cap: their places among all that are known, and how they overlap."""

    places: Int64Array
    itemsets: Itemsets
    overlap: Overlap

    @classmethod
    def of_items(cls, known: Knowledge, places: Int64Array, lengths: Overlap) -> "CappedGroup":
        """Single items, as if they were any part of all items, of which the lengths tell how they overlap."""
        share = float(known.means[places].sum()) / max(float(NUMBERS @ lengths.transactions), 1e-9)
        itemsets = Itemsets.of(known.itemsets[place] for place in places.tolist())
        return cls(places, itemsets, thinned(lengths, share))


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """Groups of items, and the error that their marginals would leave each itemset; infinite where none covers it."""

    bases: list[Basis]
    errors: FloatArray


def price_of_overlaps(scouting: Scouting, groups: Sequence[CappedGroup] | Sequence[Int64Array]) -> Fraction:
    """What the containment histograms of groups cost, which may be known by their places alone."""
    return len(groups) * scouting.price(scouting.settings.share_for_overlap)


def predicted_error(
    scouting: Scouting, membership: Membership, groups: Sequence[CappedGroup], epsilon: Fraction
) -> float:
    """The error of an average itemset of the groups at the support in question, if they share epsilon."""
    prices = prices_of_groups(scouting, membership, groups, epsilon)
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


def errors_under_caps(
    scouting: Scouting,
    known: Knowledge,
    membership: Membership,
    groups: Sequence[CappedGroup],
    epsilon: Fraction,
) -> FloatArray:
    """The errors of all known itemsets after capped counts of groups that share epsilon; infinite outside of these."""
    errors = np.full(len(known.itemsets), np.inf)
    prices = prices_of_groups(scouting, membership, groups, epsilon)
    for group, price in zip(groups, prices, strict=True):
        noise = scouting.noise(price.epsilon)
        supports = np.maximum(known.means[group.places], 1.0)
        errors[group.places] = group.overlap.errors_under(price.cap, supports, noise=noise)
    return errors


def errors_by_fitting_caps(
    scouting: Scouting, known: Knowledge, places: Int64Array, epsilon: Fraction
) -> FloatArray:
    """The same for items, and larger itemsets, at some places, before it is known how they overlap.

    Each group has a cap that fits it; epsilon is shared in proportion to the cube root of (how many) * (noise at equal
    shares)^2.
    """
    errors, groups = np.full(len(known.itemsets), np.inf), items_and_larger(known, places)
    contained = [float(known.means[some].sum()) / scouting.number for some in groups]
    weights = [
        (some.size * error_of_average_cap(each, 1.0) ** 2) ** (1 / 3)
        for some, each in zip(groups, contained, strict=True)
    ]
    for some, each, weight in zip(groups, contained, weights, strict=True):
        noise = scouting.noise(epsilon) * sum(weights) / weight
        errors[some] = [
            error_of_fitting_cap(each, noise, support=support, unevenness=scouting.settings.unevenness)
            for support in known.means[some].tolist()
        ]
    return errors


def deviations_after(known: Knowledge, errors: FloatArray) -> FloatArray:
    """The deviations of all known itemsets once each is measured with an error, by inverse variance."""
    before = np.maximum(known.deviations, 1e-9)
    after: FloatArray = 1 / np.sqrt(before**-2.0 + np.maximum(errors, 1e-9) ** -2.0)
    return after


def choose_cover(itemsets: Sequence[Itemset], chances: FloatArray, noise: float, settings: Settings) -> Cover:
    """Groups of items whose marginals cover what may well be in the answer; `noise` is that of one marginal alone."""
    likely = [itemsets[place] for place in np.flatnonzero(chances > settings.likely_enough).tolist()]
    items = sorted({item for itemset in likely for item in itemset})
    pairs = sorted({pair for itemset in likely for pair in combinations(itemset, 2)})
    if not items or len(items) > settings.most_in_bases or len(pairs) > settings.most_pairs_in_bases:
        return Cover([], np.full(len(itemsets), np.inf))
    bases = basis_set(items, pairs, largest=settings.largest_basis)
    return Cover(bases, errors_by_marginals(itemsets, bases, noise=noise, settings=settings))


def errors_by_marginals(
    itemsets: Sequence[Itemset], bases: Sequence[Basis], *, noise: float, settings: Settings
) -> FloatArray:
    """The error of each itemset over all marginals that cover it, by inverse variance; infinite where none does.

    The marginals share epsilon; `noise` is the scale of one that has all of it.
    """
    within = [set(basis) for basis in bases]
    errors = []
    for itemset in itemsets:
        covering = [len(basis) for basis in within if basis.issuperset(itemset)]
        precision = sum(1 / settings.noise_of_marginal(size, len(itemset)) ** 2 for size in covering)
        errors.append(len(bases) * noise / math.sqrt(precision) if covering else math.inf)
    return np.array(errors)
