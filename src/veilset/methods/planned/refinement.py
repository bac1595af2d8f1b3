"""What may or may not be in the answer, once more, with all that is left of epsilon.

Privacy argument. Histograms of how many of some itemsets transactions hold have sensitivity c, the transactions of one
privacy unit. Supports under a cap m, by groups that share epsilon, have L1 sensitivity c m each. Joint patterns of w
groups of items, of which a transaction shows one, have sensitivity c and a share of 1 / w each. Whether patterns are
asked for or supports alone, the groups, caps and shares follow from earlier answers.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned.capped_counts import ask_capped, unit_of
from veilset.methods.planned.levelwise import ALWAYS_UNSURE, SHARE_FOR_OVERLAP, TOO_LITTLE, Known
from veilset.methods.planned.overlap import Overlap, ask_overlap
from veilset.methods.planned.posterior import Posterior, measured, weighed
from veilset.methods.planned.scouting import LARGEST_BASIS, Aim
from veilset.methods.shared.bases import Basis, basis_set
from veilset.methods.shared.marginals import averaged, noise_of_marginal

SURE_BELOW, SURE_ABOVE = 0.02, 0.98
"""An itemset is measured again where its chance to be in the answer is between the two."""
UNSURE_FOR_EACH = 2
"""This many times k are measured again, at the most."""
LIKELY, LIKELY_ENOUGH = 0.5, 0.25
"""The chance to be in the answer: of what is taken to be there, and of what bases are made for."""
PRECISE = 0.01
"""No more is paid for what is unsure than makes the error this part of the support; the rest is for what is sure."""
MOST_IN_BASES, MOST_PAIRS_IN_BASES = 60, 150
"""With more, there would be so many bases that patterns cannot win."""


def ask_again(curator: Curator, aim: Aim, known: Known) -> Known:
    """Measure again what is unsure, by the strategy that is predicted to err less."""
    posterior, support = known.posterior, aim.support(known.posterior)
    chances = posterior.at_least(support)
    unsure = unsure_ones(chances, aim.k)
    groups = ask_groups(curator, aim, posterior, unsure)
    left = known.left - len(groups) * aim.epsilon * SHARE_FOR_OVERLAP
    error = capped_error(groups, chances, support, left, unit=curator.unit.transactions)
    bases, errors = bases_for(posterior.itemsets, chances, unit=unit_of(curator, left))
    told = unsure[np.isfinite(errors[unsure])]
    pattern_error = float(errors[told].mean()) if 2 * told.size >= unsure.size else math.inf
    if pattern_error < error:
        untold = np.setdiff1d(unsure, told)
        part = part_for_untold(
            float(errors[told].sum()), posterior.means()[untold], aim, unit=unit_of(curator, left)
        )
        posterior, left = told_by_some(
            curator, aim, posterior, untold, chances, support, left=left, part=part
        )
        posterior = updated_by_marginals(curator, aim, posterior, bases, epsilon=left)
        story = f"again by joint patterns of {len(bases)} groups of items: error {pattern_error:.0f}, not {error:.0f}"
        return known.then(posterior, left=Fraction(0), story=story)
    sure = np.setdiff1d(np.flatnonzero(chances > LIKELY), unsure)
    for_unsure = part_for_unsure(left, error / support, sure.size, least=aim.epsilon * SHARE_FOR_OVERLAP)
    posterior = told_by_groups(curator, posterior, groups, chances, support, epsilon=for_unsure)
    story = f"again the {unsure.size} that were unsure: error about {error:.0f}"
    if for_unsure < left:
        posterior, _ = told_by_some(
            curator, aim, posterior, sure, chances, support, left=left - for_unsure, part=Fraction(1)
        )
        story = f"{story}, so that the {sure.size} others could be measured again, too"
    return known.then(posterior, left=Fraction(0), story=story)


def told_by_some(
    curator: Curator,
    aim: Aim,
    posterior: Posterior,
    places: Int64Array,
    chances: FloatArray,
    support: float,
    *,
    left: Fraction,
    part: Fraction,
) -> tuple[Posterior, Fraction]:
    """Ask for the supports of some itemsets with a part of what is left, and how much is left then."""
    if places.size == 0:
        return posterior, left
    groups = ask_groups(curator, aim, posterior, places)
    left -= len(groups) * aim.epsilon * SHARE_FOR_OVERLAP
    posterior = told_by_groups(curator, posterior, groups, chances, support, epsilon=left * part)
    return posterior, left * (1 - part)


def part_for_untold(by_patterns: float, means: FloatArray, aim: Aim, *, unit: float) -> Fraction:
    """Of what is left, for the supports of what patterns do not tell; their errors, added up, are `by_patterns`.

    Errors a / part and b / (1 - part) add up to the least where parts are as the square roots of a and b. Under a cap
    of twice what a transaction holds on average, and one, it counts in full; `unit` is the noise with all there is.
    Neither gets less than a twentieth.
    """
    if means.size == 0:
        return Fraction(0)
    by_supports = means.size * math.sqrt(2) * (1 + 2 * float(means.sum()) / aim.number) * unit
    part = math.sqrt(by_supports) / (math.sqrt(by_supports) + math.sqrt(by_patterns))
    return Fraction(min(max(round(100 * part), 5), 95), 100)


def part_for_unsure(left: Fraction, error: float, sure: int, *, least: Fraction) -> Fraction:
    """What is left, or so much of it that an error, given as a part of the support, becomes precise.

    All of it where nothing is sure, or too little would remain to measure that: TOO_LITTLE times the least price.

    >>> half, least = Fraction(1, 2), Fraction(1, 100)
    >>> part_for_unsure(half, 0.0025, 3, least=least), part_for_unsure(half, 0.3, 3, least=least)
    (Fraction(1, 8), Fraction(1, 2))
    """
    part = left * Fraction(min(100, math.ceil(100 * error / PRECISE)), 100)
    return part if sure > 0 and left - part >= TOO_LITTLE * least else left


def unsure_ones(chances: FloatArray, k: int) -> Int64Array:
    """What may or may not be in the answer, the most unsure first; where all is sure, the likeliest k."""
    unsure = np.flatnonzero((chances > SURE_BELOW) & (chances < SURE_ABOVE))
    if unsure.size == 0:
        return np.argsort(-chances, kind="stable")[:k]
    return unsure[np.argsort(-(chances * (1 - chances))[unsure], kind="stable")][: UNSURE_FOR_EACH * k]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Itemsets that are measured together: their places among beliefs, and how transactions hold them."""

    places: Int64Array
    itemsets: Itemsets
    overlap: Overlap


def ask_groups(curator: Curator, aim: Aim, posterior: Posterior, places: Int64Array) -> list[Group]:
    """Items, and larger itemsets: these are held by longer transactions, which lose more under a cap."""
    means, is_item = (
        posterior.means(),
        np.array([len(posterior.itemsets[place]) == 1 for place in places.tolist()]),
    )
    groups = []
    for some in (places[is_item], places[~is_item]):
        if some.size > 0:
            itemsets = Itemsets.of(posterior.itemsets[place] for place in some.tolist())
            overlap = ask_overlap(
                curator,
                itemsets,
                number=aim.number,
                total=float(means[some].sum()),
                epsilon=aim.epsilon * SHARE_FOR_OVERLAP,
            )
            groups.append(Group(some, itemsets, overlap))
    return groups


def capped_error(
    groups: list[Group], chances: FloatArray, support: float, left: Fraction, *, unit: float
) -> float:
    """The error of an average itemset of the groups, if they get all that is left; `unit` is the noise at epsilon 1."""
    shares = shares_of(groups, chances, support, left, unit=unit / float(left))
    errors = [
        group.overlap.best_cap(support=support, unit=unit / float(share)).error
        for group, share in zip(groups, shares, strict=True)
    ]
    return float(np.average(errors, weights=[group.places.size for group in groups]))


def told_by_groups(
    curator: Curator,
    posterior: Posterior,
    groups: list[Group],
    chances: FloatArray,
    support: float,
    *,
    epsilon: Fraction,
) -> Posterior:
    """Ask for the supports of the itemsets of all groups, which share epsilon, and add what they say."""
    for group, share in zip(
        groups, shares_of(groups, chances, support, epsilon, unit=unit_of(curator, epsilon)), strict=True
    ):
        cap = group.overlap.best_cap(support=support, unit=unit_of(curator, share))
        told = ask_capped(curator, group.itemsets, group.overlap, cap, epsilon=share, grid=posterior.grid)
        posterior = posterior.told(group.places, *told)
    return posterior


def shares_of(
    groups: list[Group], chances: FloatArray, support: float, left: Fraction, *, unit: float
) -> list[Fraction]:
    """What is left, in proportion to the cube root of (how many are unsure) * (noise at equal shares)^2.

    `unit` is the noise of a count that has all that is left.
    """
    weights = []
    for group in groups:
        some = chances[group.places]
        unsure = float((some * (1 - some)).sum()) + ALWAYS_UNSURE * some.size
        cap = group.overlap.best_cap(support=support, unit=unit * len(groups))
        weights.append(round(1000 * (unsure * (cap.most / cap.kept) ** 2) ** (1 / 3)) + 1)
    return [left * Fraction(weight, sum(weights)) for weight in weights]


def bases_for(itemsets: list[Itemset], chances: FloatArray, *, unit: float) -> tuple[list[Basis], FloatArray]:
    """Groups of items whose joint patterns tell about what may be in the answer, and the error each itemset would have.

    Infinite where patterns would say nothing about it; `unit` is the noise of one pattern with all there is.
    """
    untold = np.full(len(itemsets), np.inf)
    likely = [itemsets[place] for place in np.flatnonzero(chances > LIKELY_ENOUGH).tolist()]
    items = sorted({item for itemset in likely for item in itemset})
    pairs = sorted({pair for itemset in likely for pair in combinations(itemset, 2)})
    if not items or len(items) > MOST_IN_BASES or len(pairs) > MOST_PAIRS_IN_BASES:
        return [], untold
    bases = basis_set(items, pairs, largest=LARGEST_BASIS)
    scales = len(bases) * unit
    for place, itemset in enumerate(itemsets):
        holding = [len(basis) for basis in bases if set(itemset) <= set(basis)]
        if holding:
            precision = sum(1 / noise_of_marginal(size, len(itemset)) ** 2 for size in holding)
            untold[place] = scales / math.sqrt(precision)
    return bases, untold


def updated_by_marginals(
    curator: Curator, aim: Aim, posterior: Posterior, bases: list[Basis], *, epsilon: Fraction
) -> Posterior:
    """Ask for the joint patterns of all bases, and add what they say, also about itemsets that were not known."""
    patterns = [curator.ask_marginal(basis, epsilon=epsilon / len(bases)) for basis in bases]
    told = averaged(bases, patterns, number=aim.first.number, max_size=aim.domain.max_size)
    known, grid = set(posterior.itemsets), posterior.grid
    new = [itemset for itemset in told if itemset not in known]
    posterior += Posterior.of(new, np.zeros((len(new), grid.size)), grid)
    place_of = {itemset: place for place, itemset in enumerate(posterior.itemsets)}
    values, deviations = np.array(list(told.values())).T
    scale = deviations[:, None] / math.sqrt(2)
    answers = measured(values, grid, scale=scale, uneven=0.0)
    sums = weighed(values, grid, scale=scale, uneven=0.0, grid=grid)
    return posterior.told(np.array([place_of[itemset] for itemset in told]), answers, sums)
