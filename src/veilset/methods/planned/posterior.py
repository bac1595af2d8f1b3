"""What noisy answers say about supports, as probabilities over a grid: measured more than once, they multiply.

Post-processing: everything here follows from noisy answers. A support is one of GRID values between 1 and the
number of transactions, evenly spaced on a logarithmic scale. Of each itemset the logarithm of the probability of
each value is kept, up to a constant. Prior beliefs about itemsets of several items come from the beliefs about
their parts: a log-normal law around what independence would make of them, bounded by the rarest part; its two
parameters are those that explain the noisy answers best (empirical Bayes).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.shared.marginals import WIDEST_IN_SIGMA
from veilset.results.estimates import Estimates

GRID = 320
COARSE = 3
"""To fit a prior, every third value of the grid is enough."""
MOST_TO_FIT = 2_000
LIFTS = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
WIDTHS = (0.25, 0.5, 0.8, 1.2, 1.8)
"""ln of how much more frequent an itemset is than independence would have it: median and standard deviation."""
USUAL_LIFT, USUAL_WIDTH = 0.5, 0.6
"""Before any answer; `fitted` departs from it as far as answers make it."""
VAGUE_FOR_PAIRS, VAGUE = (0.7, 1.5), (0.3, 0.7)
"""Lift and width while nothing of a size is known: pairs can be anything, larger itemsets follow from pairs."""
IMPOSSIBLE = -60.0


def grid_to(number: int) -> FloatArray:
    """The values that a support can have."""
    return np.geomspace(1, max(number, 10), GRID)


def measured(
    values: FloatArray, counted: FloatArray, *, scale: float | FloatArray, uneven: float
) -> FloatArray:
    """ln of how likely noisy values are for each support of the grid, of which `counted` is counted on average.

    Laplace noise of a scale (a column of scales, where they differ), and an error in proportion to what is counted.
    """
    width = np.hypot(scale, uneven * counted)
    chances: FloatArray = -np.abs(values[:, None] - counted) / width - np.log(width)
    return chances


def weighed(
    values: FloatArray, counted: FloatArray, *, scale: float | FloatArray, uneven: float, grid: FloatArray
) -> FloatArray:
    """The supports that noisy values stand for, times their precision (1 / variance), beside that precision.

    Such sums tell where a support lies between two values of the grid, which is where little noise would put it.
    """
    supports = np.interp(values, counted, grid)
    kept = np.maximum(np.interp(supports, grid, counted / grid), 1e-9)
    precision = 1 / (2 * (np.ravel(scale) / kept) ** 2 + (uneven * supports) ** 2)
    return np.stack([supports * precision, precision], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """What is believed before an itemset is measured: around `expected`, at most `bound`."""

    expected: FloatArray
    bound: FloatArray

    def log_chances(self, lift: float, width: float, grid: FloatArray) -> FloatArray:
        """ln of the probability of each support."""
        z = (np.log(grid) - np.log(np.maximum(self.expected, 0.5))[:, None] - lift) / width
        chances = np.where(grid <= self.bound[:, None], -z * z / 2, IMPOSSIBLE)
        normed: FloatArray = chances - np.log(np.exp(chances).sum(axis=1, keepdims=True))
        return normed

    def chances(self, size: int, support: float) -> FloatArray:
        """The probability that each is so frequent, before any of this size was measured."""
        lift, width = VAGUE_FOR_PAIRS if size == 2 else VAGUE
        middle = np.log(np.maximum(self.expected, 0.5)) + lift
        up_to_bound = _normal((np.log(self.bound) - middle) / width)
        up_to_support = _normal((math.log(support) - middle) / width)
        reached: FloatArray = np.clip(1 - up_to_support / np.maximum(up_to_bound, 1e-12), 0.0, 1.0)
        return reached

    def take(self, places: Int64Array) -> "Prior":
        """Of some itemsets."""
        return Prior(self.expected[places], self.bound[places])

    def fitted(self, answers: FloatArray, grid: FloatArray) -> FloatArray:
        """ln of the prior probabilities, with the lift and width that explain the answers best."""
        some = np.linspace(0, len(answers) - 1, min(len(answers), MOST_TO_FIT)).astype(np.int64)
        likely = np.exp(answers[some, ::COARSE] - answers[some].max(axis=1, keepdims=True))
        prior, coarse = self.take(some), grid[::COARSE]

        def how_well(lift: float, width: float) -> float:
            together = (np.exp(prior.log_chances(lift, width, coarse)) * likely).sum(axis=1)
            usual = (lift - USUAL_LIFT) ** 2 / 2 + math.log(width / USUAL_WIDTH) ** 2
            return float(np.log(together + 1e-300).sum()) - usual

        lift, width = max(product(LIFTS, WIDTHS), key=lambda law: how_well(*law))
        return self.log_chances(lift, width, grid)


def _normal(z: FloatArray) -> FloatArray:
    """The normal distribution function."""
    return np.array([math.erf(value / math.sqrt(2)) for value in z.tolist()]) / 2 + 0.5


def prior_of(itemsets: Sequence[Itemset], known: dict[Itemset, float], number: int, *, slack: float) -> Prior:
    """What the supports of their parts make of itemsets of two or more items.

    Expected is what conditional independence says, on average over the pairs of parts that lack one item each; the
    bound is the rarest part, and some slack for its own error.
    """
    expected, bound = [], []
    for itemset in itemsets:
        parts = [itemset[:place] + itemset[place + 1 :] for place in range(len(itemset))]
        rarest = min(known[part] for part in parts)
        logs = [
            math.log(known[a] * known[b] / (known[_common(a, b)] if len(a) > 1 else number))
            for a, b in combinations(parts, 2)
        ]
        expected.append(min(math.exp(sum(logs) / len(logs)), rarest))
        bound.append(1.1 * rarest + slack)
    return Prior(np.array(expected), np.array(bound))


def _common(a: Itemset, b: Itemset) -> Itemset:
    return tuple(item for item in a if item in set(b))


@dataclass(frozen=True, eq=False)
class Posterior:
    """Itemsets, and ln of the probability of each support, one row each.

    `sums` are what `weighed` says of every measurement, added up; zeros where there was none.
    """

    itemsets: list[Itemset]
    log_chances: FloatArray
    grid: FloatArray
    sums: FloatArray

    @classmethod
    def of(
        cls,
        itemsets: list[Itemset],
        log_chances: FloatArray,
        grid: FloatArray,
        sums: FloatArray | None = None,
    ) -> "Posterior":
        """Beliefs about itemsets; with the sums of `weighed`, where something was measured."""
        return cls(itemsets, log_chances, grid, np.zeros((len(itemsets), 2)) if sums is None else sums)

    def __add__(self, other: "Posterior") -> "Posterior":
        """Of both; no itemset may be in both."""
        return Posterior(
            self.itemsets + other.itemsets,
            np.vstack([self.log_chances, other.log_chances]),
            self.grid,
            np.vstack([self.sums, other.sums]),
        )

    def told(self, places: Int64Array, answers: FloatArray, sums: FloatArray | None = None) -> "Posterior":
        """After more was measured about some of them."""
        log_chances, all_sums = self.log_chances.copy(), self.sums.copy()
        log_chances[places] += answers
        if sums is not None:
            all_sums[places] += sums
        return Posterior(self.itemsets, log_chances, self.grid, all_sums)

    def take(self, places: Int64Array) -> "Posterior":
        """About some of them."""
        itemsets = [self.itemsets[place] for place in places.tolist()]
        return Posterior(itemsets, self.log_chances[places], self.grid, self.sums[places])

    @cached_property
    def chances(self) -> FloatArray:
        """The probability of each support."""
        chances = np.exp(self.log_chances - self.log_chances.max(axis=1, keepdims=True))
        normed: FloatArray = chances / chances.sum(axis=1, keepdims=True)
        return normed

    def at_least(self, support: float) -> FloatArray:
        """The probability that each itemset is so frequent."""
        reached: FloatArray = self.chances[:, self.grid >= support].sum(axis=1)
        return np.clip(reached, 0.0, 1.0)

    def means(self) -> FloatArray:
        """The expected support of each itemset."""
        means: FloatArray = self.chances @ self.grid
        return means

    def deviations(self) -> FloatArray:
        """The standard deviation of what is believed of each."""
        deviations: FloatArray = np.sqrt(np.maximum(self.chances @ self.grid**2 - self.means() ** 2, 0.0))
        return deviations

    def kth_support(self, k: int) -> float:
        """The least support that no more than k of the itemsets are expected to reach."""
        reaching = self.chances[:, ::-1].cumsum(axis=1)[:, ::-1].sum(axis=0)
        place = int(np.searchsorted(-reaching, -k))
        return float(self.grid[min(place, self.grid.size - 1)])

    def estimates(self, places: Int64Array) -> Estimates:
        """Expected supports of some itemsets, and how far the middle 95 % of what is believed reach from them.

        Where measurements are finer than the grid, their mean weighted by precision takes its place.
        """
        chances, (weighted, precision) = self.chances[places], self.sums[places].T
        means = chances @ self.grid
        below = chances.cumsum(axis=1)
        low = self.grid[(below < 0.025).sum(axis=1)]
        high = self.grid[np.minimum((below < 0.975).sum(axis=1), self.grid.size - 1)]
        step = means * math.log(self.grid[1] / self.grid[0])
        deviation = 1 / np.sqrt(np.maximum(precision, 1e-30))
        is_fine = deviation < step
        supports = np.where(is_fine, weighted / np.maximum(precision, 1e-30), means)
        reach = np.maximum(np.maximum(means - low, high - means), step)
        return Estimates(
            Itemsets.of(self.itemsets[place] for place in places.tolist()),
            np.rint(supports).astype(np.int64),
            np.ceil(np.where(is_fine, WIDEST_IN_SIGMA * deviation, reach)).astype(np.int64),
        )
