"""The prior of larger itemsets where supports are told: by what is known of their subsets at the end.

Post-processing: everything here follows from noisy answers.

While itemsets are looked for, the prior of one takes the supports of its subsets as known (`planned.prior`). They are
not: where noise is large, an item may be no more than noise, and so is what independence makes of it. Whoever then
tells a support from that prior is sure of what nobody knows. So supports are told by a prior that is as wide as its
subsets are uncertain, on a logarithmic scale. How much more frequent itemsets are than independence would have it is
not the best guess either but an average over all laws, by how well they explain the answers about all itemsets of a
size (empirical Bayes). What is impossible because a subset is too rare is left to the subsets (`FinePosterior.nested`).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.itemsets import Itemset
from veilset.methods.planned.knowledge import itemset_sizes
from veilset.methods.planned.measurements import log_sums, over_tilts
from veilset.methods.planned.posterior import Posterior
from veilset.methods.planned.prior import COARSE, LIFTS, WIDTHS, log_lift_law, unusual_lift
from veilset.methods.planned.settings import Settings

MOST_FOR_LIFTS, INDEPENDENT_LIFTS = 200, 40
"""200 itemsets of a size, at most, tell of its lifts; as much as 40 independent ones, for they share items."""


@dataclass(frozen=True, slots=True)
class LogSupport:
    """The logarithm of a support: what it is on average, and its variance."""

    mean: float
    variance: float


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedLogs:
    """Itemsets of one size, and the logarithm of the support that their subsets let expect of each: mean, deviation."""

    places: Int64Array
    means: FloatArray
    deviations: FloatArray

    def take(self, rows: Int64Array) -> "ExpectedLogs":
        """Of some of the itemsets."""
        return ExpectedLogs(self.places[rows], self.means[rows], self.deviations[rows])

    def log_chances(self, lift: float, width: float, grid: FloatArray, settings: Settings) -> FloatArray:
        """ln of the probability of each support of a grid, where lifts have this median and standard deviation."""
        logs = np.log(grid) - self.means[:, None] - lift
        chances = log_lift_law(logs, np.hypot(width, self.deviations)[:, None], settings)
        normed: FloatArray = chances - log_sums(chances)[:, None]
        return normed


def with_told_prior(posterior: Posterior, number: int, settings: Settings) -> Posterior:
    """The same answers, with the prior by which supports of larger itemsets are told."""
    log_prior = posterior.log_prior.copy()
    for expected in _expected_by_size(posterior, number):
        lift, width = _fitted_lift(posterior, expected, settings)
        log_prior[expected.places] = expected.log_chances(lift, width, posterior.grid, settings)
    return replace(posterior, log_prior=log_prior)


def _expected_by_size(posterior: Posterior, number: int) -> Iterator[ExpectedLogs]:
    """What is expected of the itemsets of each size all of whose subsets are known."""
    known, sizes = _log_supports(posterior), itemset_sizes(posterior.itemsets)
    for size in np.unique(sizes[sizes > 1]).tolist():
        found = {
            place: expected
            for place in np.flatnonzero(sizes == size).tolist()
            if (expected := expected_log(posterior.itemsets[place], known, number)) is not None
        }
        if found:
            means = np.array([each.mean for each in found.values()])
            deviations = np.sqrt([each.variance for each in found.values()])
            yield ExpectedLogs(np.array(list(found)), means, deviations)


def _log_supports(posterior: Posterior) -> dict[Itemset, LogSupport]:
    """What is known of each support, on a logarithmic scale."""
    logs = np.log(posterior.grid)
    means = posterior.chances @ logs
    variances = np.maximum(posterior.chances @ logs**2 - means**2, 0.0)
    each = map(LogSupport, means.tolist(), variances.tolist())
    return dict(zip(posterior.itemsets, each, strict=True))


def expected_log(itemset: Itemset, known: Mapping[Itemset, LogSupport], number: int) -> LogSupport | None:
    """What conditional independence makes of the subsets of an itemset; None where one of them is not known.

    As where itemsets are looked for: the average over pairs of subsets that lack one item each, at most the rarest.
    Each of n subsets is in 2 / n of the pairs, and as uncertain as it is known.

    >>> known = {(0,): LogSupport(math.log(200), 0.04), (1,): LogSupport(math.log(500), 0.0)}
    >>> expected = expected_log((0, 1), known, 1000)
    >>> round(math.exp(expected.mean)), expected.variance
    (100, 0.04)
    """
    size = len(itemset)
    subsets = [itemset[:place] + itemset[place + 1 :] for place in range(size)]
    shared = [tuple(item for item in a if item in b) for a, b in combinations(subsets, 2)] if size > 2 else []
    if not all(some in known for some in subsets + shared):
        return None
    in_common = sum(known[some].mean for some in shared) / len(shared) if shared else math.log(number)
    mean = 2 / size * sum(known[some].mean for some in subsets) - in_common
    variance = (2 / size) ** 2 * sum(known[some].variance for some in subsets)
    return LogSupport(min(mean, *(known[some].mean for some in subsets)), variance)


def _fitted_lift(posterior: Posterior, expected: ExpectedLogs, settings: Settings) -> tuple[float, float]:
    """Median and standard deviation of lifts, averaged over all laws by how well they explain the answers."""
    rows = np.linspace(0, expected.places.size - 1, min(expected.places.size, MOST_FOR_LIFTS)).astype(
        np.int64
    )
    some, coarse = expected.take(rows), posterior.grid[::COARSE]
    answers = posterior.log_joint[some.places] - posterior.log_prior[some.places][:, None, :]
    likelihoods = over_tilts(answers[:, :, ::COARSE])
    say = min(1.0, INDEPENDENT_LIFTS / rows.size)
    laws = np.array(list(product(LIFTS, WIDTHS)))
    log_weights = np.array(
        [
            say * _log_evidence(some.log_chances(lift, width, coarse, settings) + likelihoods)
            - unusual_lift(lift, width, settings)
            for lift, width in laws.tolist()
        ]
    )
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    lift = float(weights @ laws[:, 0])
    return lift, math.sqrt(float(weights @ (laws[:, 1] ** 2 + (laws[:, 0] - lift) ** 2)))


def _log_evidence(log_joint: FloatArray) -> float:
    """ln of how likely all answers are together."""
    return float(log_sums(log_joint).sum())
