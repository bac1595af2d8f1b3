"""The supports of what was found: one noisy count for each itemset, or marginals of groups of items that hold them all.

Counts of k itemsets have noise of scale k; a marginal of g items has noise of scale 1 in each of 2^g cells, times the
number of marginals that share epsilon. Which errs less is known before anything is asked, from the itemsets alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import Curator, DiscreteLaplace, NoisyHistogram
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.shared.bases import Basis, basis_set
from veilset.methods.shared.marginals import WIDEST_IN_SIGMA, plain_supports_in_marginal
from veilset.methods.shared.noisy_values import SURE
from veilset.methods.shared.several_marginals import Measured, over_bases
from veilset.results.estimates import Estimates, by_support

LARGEST_GROUP = 12
"""Groups of up to 12 items: their marginal has 4,096 cells."""


@dataclass(frozen=True, slots=True)
class SupportPlan:
    """How supports are asked for: by the marginals of these groups, or where there are none, one by one."""

    known: list[Itemset]
    k: int
    groups: list[Basis]

    @classmethod
    def of(cls, known: list[Itemset], *, k: int, sensitivity: int, epsilon: Fraction) -> "SupportPlan":
        """Whichever has the smaller mean variance over the itemsets that are known."""
        groups = groups_of(known)
        counts = DiscreteLaplace(min(k, len(known)) * sensitivity, epsilon)
        noise = DiscreteLaplace(sensitivity, epsilon / len(groups))
        deviations = deviations_within(groups, known, noise)
        errs_less = len(deviations) == len(known) and np.mean(deviations**2) < 2 * float(counts.scale) ** 2
        return cls(known, k, groups if errs_less else [])


def ask_planned_supports(curator: Curator, plan: SupportPlan, *, epsilon: Fraction) -> Estimates:
    """Supports of the itemsets, at most k of them."""
    if not plan.groups:
        counts = curator.ask_supports(Itemsets.of(plan.known[: plan.k]), epsilon=epsilon)
        return Estimates.of(counts)
    for_each = epsilon / len(plan.groups)
    marginals = [curator.ask_marginal(group, epsilon=for_each) for group in plan.groups]
    scale = float(marginals[0].mechanism.scale)
    estimates = rounded_estimates(within(plan.groups, marginals, plan.known), scale=scale)
    if len(plan.known) <= plan.k:
        return estimates
    return estimates.take(np.array(by_support(estimates.itemsets, estimates.supports)[: plan.k]))


def groups_of(known: Sequence[Itemset]) -> list[Basis]:
    """Groups of items that hold all items and pairs among the itemsets, and so the itemsets, as far as they fit.

    >>> groups_of([(1,), (2,), (3,), (4,), (1, 2), (1, 3), (2, 3), (1, 2, 3)])
    [(1, 2, 3, 4)]
    """
    items = sorted({item for itemset in known for item in itemset})
    pairs = sorted({pair for itemset in known for pair in combinations(itemset, 2)})
    return basis_set(items, pairs, largest=LARGEST_GROUP)


def within(
    groups: Sequence[Basis], marginals: Sequence[NoisyHistogram], known: Sequence[Itemset]
) -> dict[Itemset, Measured]:
    """What the marginals say of the itemsets that are known, as far as a group holds them."""
    told = [
        plain_supports_in_marginal(answer.values, scale=float(answer.mechanism.scale)) for answer in marginals
    ]
    measured = over_bases(groups, told, max_size=max(len(itemset) for itemset in known))
    return {itemset: measured[itemset] for itemset in known if itemset in measured}


def deviations_within(
    groups: Sequence[Basis], known: Sequence[Itemset], noise: DiscreteLaplace
) -> FloatArray:
    """How far marginals with that noise will err on the itemsets that are known, as far as a group holds them."""
    blank = [NoisyHistogram(np.zeros(2 ** len(group), np.int64), noise) for group in groups]
    return np.array([each.deviation for each in within(groups, blank, known).values()])


def rounded_estimates(measured: dict[Itemset, Measured], *, scale: float) -> Estimates:
    """As whole numbers, with intervals that hold what a sum of cells with Laplace noise of a scale errs by in 95 %."""
    values = np.array(list(measured.values()))
    widths = sure_width(values[:, 1] ** 2 / (2 * scale**2)) * values[:, 1]
    return Estimates.within(
        Itemsets.of(measured),
        np.rint(values[:, 0]).astype(np.int64),
        np.ceil(widths).astype(np.int64),
    )


def sure_width(cells: FloatArray) -> FloatArray:
    """The 95 % half width of the noise of that many cells together, in its standard deviations.

    2.12 for the Laplace noise of one; the more cells, the nearer to the 1.96 of the normal law.

    >>> sure_width(np.array([1.0, 2.0, 1000.0])).round(2).tolist()
    [2.12, 2.05, 1.96]
    """
    return SURE + (WIDEST_IN_SIGMA - SURE) / cells**0.8
