"""What noisy answers say about supports, as probabilities over a grid: measured more than once, they multiply.

Post-processing: everything here follows from noisy answers. A support is one of SUPPORTS_IN_GRID values between 1 and
the number of transactions, evenly spaced on a logarithmic scale. Of each itemset the logarithm of the probability of
each value is kept, up to a constant. The prior of an itemset of several items comes from the posterior of its subsets:
a log-normal law around what independence would make of them, bounded by the rarest of them; its two parameters are
those that explain the noisy answers best (empirical Bayes). A small share of itemsets departs from it as it likes:
items that are nearly always bought together would else be taken for noise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned.settings import Settings
from veilset.methods.shared.marginals import WIDEST_IN_SIGMA
from veilset.results.estimates import Estimates

SUPPORTS_IN_GRID = 320
COARSE = 3
"""To fit a prior, every third value of the grid is enough."""
MOST_TO_FIT = 2_000
"""Answers are enough to fit a prior to; of more, some are taken."""
LIFTS = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
WIDTHS = (0.25, 0.5, 0.8, 1.2, 1.8)
"""ln of how much more frequent an itemset is than independence would have it: median and standard deviation."""
IMPOSSIBLE = -60.0
"""ln of the probability of what is above its bound, up to a constant."""


def grid_to(number: int) -> FloatArray:
    """The values that a support can have among a number of transactions."""
    return np.geomspace(1, max(number, 10), SUPPORTS_IN_GRID)


def log_likelihoods(
    values: FloatArray, counted: FloatArray, *, scale: float | FloatArray, unevenness: float
) -> FloatArray:
    """ln of how likely noisy values are for each support of the grid, of which `counted` is counted on average.

    Laplace noise of a scale (a column of scales, where they differ), and an error in proportion to what is counted.
    """
    width = np.hypot(scale, unevenness * counted)
    likelihoods: FloatArray = -np.abs(values[:, None] - counted) / width - np.log(width)
    return likelihoods


def precision_sums(
    values: FloatArray,
    counted: FloatArray,
    *,
    scale: float | FloatArray,
    unevenness: float,
    grid: FloatArray,
) -> FloatArray:
    """The supports that noisy values stand for, times their precision (1 / variance), beside that precision.

    Such sums tell where a support lies between two values of the grid, which is where little noise would put it.
    """
    supports = np.interp(values, counted, grid)
    kept = np.maximum(np.interp(supports, grid, counted / grid), 1e-9)
    precision = 1 / (2 * (np.ravel(scale) / kept) ** 2 + (unevenness * supports) ** 2)
    return np.stack([supports * precision, precision], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """What noisy answers say of some supports, one row each: `log_likelihoods` and `precision_sums`."""

    log_likelihoods: FloatArray
    sums: FloatArray

    @classmethod
    def of(
        cls,
        values: FloatArray,
        counted: FloatArray,
        *,
        scale: float | FloatArray,
        grid: FloatArray,
        unevenness: float = 0.0,
    ) -> "Measurement":
        """Of noisy values, where `counted` of each support of the grid is counted on average."""
        return cls(
            log_likelihoods(values, counted, scale=scale, unevenness=unevenness),
            precision_sums(values, counted, scale=scale, unevenness=unevenness, grid=grid),
        )

    def take(self, places: Sequence[int]) -> "Measurement":
        """Of some supports."""
        return Measurement(self.log_likelihoods[places], self.sums[places])


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """What is likely before an itemset is measured: a support around `expected`, at most `bound`."""

    expected: FloatArray
    bound: FloatArray
    settings: Settings

    @classmethod
    def below(cls, rarest: FloatArray, *, expected: FloatArray, slack: float, settings: Settings) -> "Prior":
        """Of itemsets whose rarest subsets have these supports, known up to some slack."""
        return cls(expected, settings.bound_over_rarest * rarest + slack, settings)

    def log_chances(self, lift: float, width: float, grid: FloatArray) -> FloatArray:
        """ln of the probability of each support."""
        logs = np.log(grid) - np.log(np.maximum(self.expected, 0.5))[:, None] - lift
        share, wide = self.settings.surprising_share, self.settings.surprising_width
        usual = math.log((1 - share) / width) - (logs / width) ** 2 / 2
        surprising = math.log(share / wide) - (logs / wide) ** 2 / 2
        chances = np.where(grid <= self.bound[:, None], np.logaddexp(usual, surprising), IMPOSSIBLE)
        normed: FloatArray = chances - np.log(np.exp(chances).sum(axis=1, keepdims=True))
        return normed

    def usual(self, grid: FloatArray) -> FloatArray:
        """ln of the probability of each support, for itemsets that are not measured."""
        return self.log_chances(self.settings.usual_lift, self.settings.usual_width, grid)

    def chances(self, size: int, support: float) -> FloatArray:
        """The probability that each reaches a support, before any of this size was measured."""
        lift, width = self.settings.prior_law(size)
        middle = np.log(np.maximum(self.expected, 0.5)) + lift
        up_to_bound = _normal((np.log(self.bound) - middle) / width)
        up_to_support = _normal((math.log(support) - middle) / width)
        reached: FloatArray = np.clip(1 - up_to_support / np.maximum(up_to_bound, 1e-12), 0.0, 1.0)
        return reached

    def take(self, places: Int64Array) -> "Prior":
        """Of some itemsets."""
        return Prior(self.expected[places], self.bound[places], self.settings)

    def fitted(self, likelihoods: FloatArray, grid: FloatArray) -> FloatArray:
        """ln of the prior probabilities, with the lift and width that explain the answers best."""
        some = np.linspace(0, len(likelihoods) - 1, min(len(likelihoods), MOST_TO_FIT)).astype(np.int64)
        likely = np.exp(likelihoods[some, ::COARSE] - likelihoods[some].max(axis=1, keepdims=True))
        prior, coarse = self.take(some), grid[::COARSE]

        def how_well(lift: float, width: float) -> float:
            together = (np.exp(prior.log_chances(lift, width, coarse)) * likely).sum(axis=1)
            return float(np.log(together + 1e-300).sum()) - self._unusual(lift, width)

        lift, width = max(product(LIFTS, WIDTHS), key=lambda law: how_well(*law))
        return self.log_chances(lift, width, grid)

    def _unusual(self, lift: float, width: float) -> float:
        """How far a law is from the usual one."""
        usual = self.settings
        return (lift - usual.usual_lift) ** 2 / 2 + math.log(width / usual.usual_width) ** 2


def _normal(z: FloatArray) -> FloatArray:
    """The normal distribution function."""
    return np.array([math.erf(value / math.sqrt(2)) for value in z.tolist()]) / 2 + 0.5


def prior_of(
    itemsets: Sequence[Itemset],
    known: dict[Itemset, float],
    number: int,
    *,
    slack: float,
    settings: Settings,
) -> Prior:
    """What the supports of their subsets make of itemsets of two or more items.

    Expected is what conditional independence says, on average over the pairs of subsets that lack one item each; the
    bound is the rarest subset, and some slack for its own error.
    """
    expected, rarest = [], []
    for itemset in itemsets:
        subsets = [itemset[:place] + itemset[place + 1 :] for place in range(len(itemset))]
        logs = [
            math.log(known[a] * known[b] / (known[_common(a, b)] if len(a) > 1 else number))
            for a, b in combinations(subsets, 2)
        ]
        rarest.append(min(known[subset] for subset in subsets))
        expected.append(min(math.exp(sum(logs) / len(logs)), rarest[-1]))
    return Prior.below(np.array(rarest), expected=np.array(expected), slack=slack, settings=settings)


def _common(a: Itemset, b: Itemset) -> Itemset:
    return tuple(item for item in a if item in set(b))


@dataclass(frozen=True, eq=False)
class Posterior:
    """Itemsets, and ln of the probability of each support, one row each.

    `sums` are the `precision_sums` of all measurements, added up; zeros where there was none.
    """

    itemsets: list[Itemset]
    log_chances: FloatArray
    grid: FloatArray
    sums: FloatArray

    @classmethod
    def measured(
        cls,
        itemsets: list[Itemset],
        measurement: Measurement,
        grid: FloatArray,
        *,
        prior: Prior | None = None,
    ) -> "Posterior":
        """After a first measurement: with a prior that is fitted to it, or with none."""
        likelihoods = measurement.log_likelihoods
        fitted = 0.0 if prior is None else prior.fitted(likelihoods, grid)
        return cls(itemsets, fitted + likelihoods, grid, measurement.sums)

    @classmethod
    def unmeasured(cls, itemsets: list[Itemset], log_chances: FloatArray, grid: FloatArray) -> "Posterior":
        """Where nothing was measured: the prior."""
        return cls(itemsets, log_chances, grid, np.zeros((len(itemsets), 2)))

    def __add__(self, other: "Posterior") -> "Posterior":
        """Of both; no itemset may be in both."""
        return Posterior(
            self.itemsets + other.itemsets,
            np.vstack([self.log_chances, other.log_chances]),
            self.grid,
            np.vstack([self.sums, other.sums]),
        )

    def updated(self, places: Int64Array, measurement: Measurement) -> "Posterior":
        """After some of the itemsets were measured."""
        log_chances, sums = self.log_chances.copy(), self.sums.copy()
        log_chances[places] += measurement.log_likelihoods
        sums[places] += measurement.sums
        return Posterior(self.itemsets, log_chances, self.grid, sums)

    def take(self, places: Int64Array) -> "Posterior":
        """Of some itemsets."""
        itemsets = [self.itemsets[place] for place in places.tolist()]
        return Posterior(itemsets, self.log_chances[places], self.grid, self.sums[places])

    @cached_property
    def chances(self) -> FloatArray:
        """The probability of each support."""
        chances = np.exp(self.log_chances - self.log_chances.max(axis=1, keepdims=True))
        normed: FloatArray = chances / chances.sum(axis=1, keepdims=True)
        return normed

    @cached_property
    def means(self) -> FloatArray:
        """The expected support of each itemset."""
        means: FloatArray = self.chances @ self.grid
        return means

    @cached_property
    def deviations(self) -> FloatArray:
        """The standard deviation of each support."""
        deviations: FloatArray = np.sqrt(np.maximum(self.chances @ self.grid**2 - self.means**2, 0.0))
        return deviations

    def at_least(self, support: float) -> FloatArray:
        """The probability that each itemset reaches a support."""
        reached: FloatArray = self.chances[:, self.grid >= support].sum(axis=1)
        return np.clip(reached, 0.0, 1.0)

    def kth_support(self, k: int) -> float:
        """The least support that no more than k of the itemsets are expected to reach."""
        reaching = self.chances[:, ::-1].cumsum(axis=1)[:, ::-1].sum(axis=0)
        place = int(np.searchsorted(-reaching, -k))
        return float(self.grid[min(place, self.grid.size - 1)])

    def estimates(self, places: Int64Array) -> Estimates:
        """Expected supports of some itemsets, and how far the middle 95 % of their posterior reach from them.

        Where measurements are finer than the grid, their mean weighted by precision takes its place.
        """
        chances, (weighted, precision) = self.chances[places], self.sums[places].T
        means = chances @ self.grid
        step = means * math.log(self.grid[1] / self.grid[0])
        deviation = 1 / np.sqrt(np.maximum(precision, 1e-30))
        is_fine = deviation < step
        supports = np.where(is_fine, weighted / np.maximum(precision, 1e-30), means)
        reach = np.maximum(self._reach(chances, means), step)
        return Estimates.within(
            Itemsets.of(self.itemsets[place] for place in places.tolist()),
            np.rint(supports).astype(np.int64),
            np.ceil(np.where(is_fine, WIDEST_IN_SIGMA * deviation, reach)).astype(np.int64),
        )

    def _reach(self, chances: FloatArray, means: FloatArray) -> FloatArray:
        """From means to the farther end of the middle 95 %."""
        below = chances.cumsum(axis=1)
        low = self.grid[(below < 0.025).sum(axis=1)]
        high = self.grid[np.minimum((below < 0.975).sum(axis=1), self.grid.size - 1)]
        reach: FloatArray = np.maximum(means - low, high - means)
        return reach
