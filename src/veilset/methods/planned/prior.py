"""What is likely of a support before it is measured.

Post-processing: everything here follows from noisy answers. The prior of an itemset of several items comes from the
posterior of its subsets: a log-normal law around what independence would make of them, bounded by the rarest of them;
its two parameters are those that explain the noisy answers best (empirical Bayes). A small share of itemsets departs
from it as it likes: items that are nearly always bought together would else be taken for noise. The prior of single
items is the law of supports that explains the noisy answers about all of them, so that an item which stands out by its
noise alone is taken for what most items are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.itemsets import Itemset
from veilset.methods.planned.measurements import LOG_TILTS, Measurement, over_tilts
from veilset.methods.planned.settings import Settings

FIRST_ITEMS, OTHER_BINS = 400, 200
"""400 items, those of the largest counts, tell of the law of supports each by itself; the others in 200 bins."""
STEPS_TO_LAW, SMOOTH_STEPS = 20, 6
"""20 steps to the law of items, whose probabilities are smoothed over 6 values of the grid."""
HARDLY = 1e-12
"""Of the law of items, what no answer speaks for."""
COARSE = 3
"""To fit a prior, every third value of the grid is enough."""
MOST_TO_FIT = 2_000
"""Answers are enough to fit a prior to; of more, some are taken."""
LIFTS = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
WIDTHS = (0.25, 0.5, 0.8, 1.2, 1.8)
"""ln of how much more frequent an itemset is than independence would have it: median and standard deviation."""
IMPOSSIBLE = -60.0
"""ln of the probability of what is above its bound, up to a constant."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemPrior:
    """The law of the supports of all items: ln of the probability of each value of a grid."""

    log_chances: FloatArray

    @classmethod
    def explaining(cls, measured: Measurement) -> "ItemPrior":
        """The law that explains the answers about all items: expectation and maximisation, with smoothing.

        The most frequent items are few, and each matters; of the others, those in the middle of bins stand for all.
        Each step ends with a smoothed law, so that the law stays as smooth as supports are on a logarithmic scale.
        """
        order = np.argsort(-measured.values, kind="stable")
        alone = min(order.size, FIRST_ITEMS)
        edges = np.linspace(alone, order.size, min(order.size - alone, OTHER_BINS) + 1).astype(np.int64)
        chosen = np.append(order[:alone], order[(edges[:-1] + edges[1:]) // 2])
        sizes = np.append(np.ones(alone), np.diff(edges))
        likelihoods = over_tilts(measured.take(chosen.tolist()).log_likelihoods() + LOG_TILTS[:, None])
        likely = np.exp(likelihoods - likelihoods.max(axis=1, keepdims=True))
        law: FloatArray = np.full(likely.shape[1], 1 / likely.shape[1])
        for _ in range(STEPS_TO_LAW):
            law = _smoothed(law * ((sizes / (likely @ law)) @ likely))
            law = law / law.sum() + HARDLY
        return cls(np.log(law))

    def fitted(self, likelihoods: FloatArray, grid: FloatArray) -> FloatArray:
        """The same law for each item: it was fitted to all of them already."""
        return np.broadcast_to(self.log_chances, (len(likelihoods), grid.size)).copy()


def _smoothed(law: FloatArray) -> FloatArray:
    """A law with each probability spread over its neighbours."""
    reach = 3 * SMOOTH_STEPS
    kernel = np.exp(-((np.arange(-reach, reach + 1) / SMOOTH_STEPS) ** 2) / 2)
    return np.convolve(np.pad(law, reach, mode="edge"), kernel / kernel.sum(), mode="valid")


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """What is likely before an itemset is measured: a support around `expected`, at most `bound`.

    Once it is measured, a support beyond the bound is possible up to a `slack`, as the bound is known no better.
    """

    expected: FloatArray
    bound: FloatArray
    slack: FloatArray
    settings: Settings

    @classmethod
    def below(
        cls, rarest: FloatArray, *, expected: FloatArray, slack: FloatArray, settings: Settings
    ) -> "Prior":
        """Of itemsets whose rarest subsets have these supports, known up to some slack."""
        return cls(expected, settings.bound_over_rarest * rarest, slack, settings)

    def log_chances(self, lift: float, width: float, grid: FloatArray) -> FloatArray:
        """ln of the probability of each support."""
        logs = np.log(grid) - np.log(np.maximum(self.expected, 0.5))[:, None] - lift
        lifts = log_lift_law(logs, np.array([[width]]), self.settings)
        chances = np.where(grid <= (self.bound + self.slack)[:, None], lifts, IMPOSSIBLE)
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
        return Prior(self.expected[places], self.bound[places], self.slack[places], self.settings)

    def fitted(self, likelihoods: FloatArray, grid: FloatArray) -> FloatArray:
        """ln of the prior probabilities, with the lift and width that explain the answers best."""
        some = np.linspace(0, len(likelihoods) - 1, min(len(likelihoods), MOST_TO_FIT)).astype(np.int64)
        likely = np.exp(likelihoods[some, ::COARSE] - likelihoods[some].max(axis=1, keepdims=True))
        prior, coarse = self.take(some), grid[::COARSE]

        def how_well(lift: float, width: float) -> float:
            together = (np.exp(prior.log_chances(lift, width, coarse)) * likely).sum(axis=1)
            return float(np.log(together + 1e-300).sum()) - unusual_lift(lift, width, self.settings)

        lift, width = max(product(LIFTS, WIDTHS), key=lambda law: how_well(*law))
        return self.log_chances(lift, width, grid)


def log_lift_law(logs: FloatArray, widths: FloatArray, settings: Settings) -> FloatArray:
    """ln of the law of lifts, up to a constant, at logarithms of them: surprising ones are wider than usual ones."""
    share, wide = settings.surprising_share, np.maximum(settings.surprising_width, widths)
    usual = math.log(1 - share) - np.log(widths) - (logs / widths) ** 2 / 2
    surprising = math.log(share) - np.log(wide) - (logs / wide) ** 2 / 2
    # As np.logaddexp would, which takes twice as long.
    law: FloatArray = np.maximum(usual, surprising) + np.log(1 + np.exp(-np.abs(usual - surprising)))
    return law


def unusual_lift(lift: float, width: float, settings: Settings) -> float:
    """How far a law of lifts is from the usual one."""
    return (lift - settings.usual_lift) ** 2 / 2 + math.log(width / settings.usual_width) ** 2


def _normal(z: FloatArray) -> FloatArray:
    """The normal distribution function."""
    return np.array([math.erf(value / math.sqrt(2)) for value in z.tolist()]) / 2 + 0.5


def prior_of(
    itemsets: Sequence[Itemset],
    known: dict[Itemset, float],
    number: int,
    *,
    slacks: Mapping[Itemset, float],
    settings: Settings,
) -> Prior:
    """What the supports of their subsets make of itemsets of two or more items.

    Expected is what conditional independence says, on average over the pairs of subsets that lack one item each; the
    bound is the rarest subset, and its slack for its own error.
    """
    expected, rarest, slack = [], [], []
    for itemset in itemsets:
        subsets = [itemset[:place] + itemset[place + 1 :] for place in range(len(itemset))]
        logs = [
            math.log(known[a] * known[b] / (known[_common(a, b)] if len(a) > 1 else number))
            for a, b in combinations(subsets, 2)
        ]
        scarce = min(subsets, key=known.__getitem__)
        rarest.append(known[scarce])
        slack.append(slacks[scarce])
        expected.append(min(math.exp(sum(logs) / len(logs)), rarest[-1]))
    return Prior.below(
        np.array(rarest), expected=np.array(expected), slack=np.array(slack), settings=settings
    )


def _common(a: Itemset, b: Itemset) -> Itemset:
    return tuple(item for item in a if item in set(b))
