"""What is known of supports, as probabilities: measured more than once, they multiply.

Post-processing: everything here follows from noisy answers. A support is one of SUPPORTS_IN_GRID values, evenly spaced
on a logarithmic scale up to the most transactions there may be; released supports are looked at on a finer grid of
their own. For each itemset the logarithm of the probability of each tilt and support is kept, up to a constant.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.itemsets import Itemset, Itemsets, subset_pairs
from veilset.methods.planned.measurements import LOG_TILTS, Measurement, over_tilts
from veilset.methods.planned.prior import ItemPrior, Prior
from veilset.results.estimates import Estimates

SUPPORTS_IN_GRID = 320
FINE_STEPS = 161
"""Values of the grid that one released support is looked at with."""
LEFT_OUT = 1e-5
"""Of the probability, what lies beyond each end of such a grid."""
LEAST_POSSIBLE = 1e-6
"""Of the probability, less than this is left where the answers about nested itemsets contradict each other."""
LOWER_TAILS = 26
"""26 lower tails from nothing to 5 % are tried for the shortest interval of 95 %."""
SAY_OF_PRIOR = 0.7
"""Where supports are told, 0.7 of the logarithm of a prior that was fitted to counts is believed. What is more frequent
than expected has more companions, so a cap takes more of it, and subsets and counts err together: such a prior makes
too little of how far supports may be from it."""
DOUBT_OF_NESTED = 3.0
"""Where an itemset is compared with a subset or a superset, that is taken to be known 3 times less well: both are
counted under the same caps, so they err together."""
LEAST_TOLD = 2.0
"""Less than 2 cannot be told from nothing."""
ZOOMS = 3
"""Times that a grid is laid around what the one before it says."""


def grid_to(number: int) -> FloatArray:
    """The values that a support can have among a number of transactions."""
    return np.geomspace(1, max(number, 10), SUPPORTS_IN_GRID)


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """A measurement, and the places in a posterior of the itemsets that it is about."""

    places: Int64Array
    measurement: Measurement

    def moved(self, by: int) -> "Answered":
        """The same where the itemsets stand later."""
        return Answered(self.places + by, self.measurement)

    def among(self, kept: Int64Array) -> "Answered":
        """What it says of the itemsets that are kept, at their places among these."""
        place_of = {place: new for new, place in enumerate(kept.tolist())}
        rows = [row for row, place in enumerate(self.places.tolist()) if place in place_of]
        places = [place_of[place] for place in self.places[rows].tolist()]
        return Answered(np.array(places, np.int64), self.measurement.take(rows))


@dataclass(frozen=True, eq=False)
class Posterior:
    """Itemsets, ln of the prior probability of each support, and all measurements.

    `log_joint` is ln of the probability of each tilt and support, after all measurements. Supports are told by
    `log_tilts`, ln of the probability of each tilt before them; while itemsets are looked for, by the usual law.
    """

    itemsets: list[Itemset]
    log_prior: FloatArray
    log_joint: FloatArray
    grid: FloatArray
    answered: tuple[Answered, ...] = ()
    log_tilts: FloatArray = field(default_factory=LOG_TILTS.copy)

    @classmethod
    def unmeasured(
        cls,
        itemsets: list[Itemset],
        log_prior: FloatArray,
        grid: FloatArray,
        *,
        log_tilts: FloatArray = LOG_TILTS,
    ) -> "Posterior":
        """Where nothing was measured: the prior."""
        log_joint = log_prior[:, None, :] + log_tilts[:, None]
        return cls(itemsets, log_prior, log_joint, grid, log_tilts=log_tilts)

    @classmethod
    def measured(
        cls,
        itemsets: list[Itemset],
        measurement: Measurement,
        grid: FloatArray,
        *,
        prior: Prior | ItemPrior | None = None,
    ) -> "Posterior":
        """After a first measurement: with a prior that is fitted to it, or with none."""
        log_prior, log_joint = np.zeros((len(itemsets), grid.size)), measurement.log_likelihoods()
        log_joint += LOG_TILTS[:, None]
        if prior is not None:
            log_prior = prior.fitted(over_tilts(log_joint), grid)
            log_joint += log_prior[:, None, :]
        return cls(itemsets, log_prior, log_joint, grid, (Answered(np.arange(len(itemsets)), measurement),))

    def __add__(self, other: "Posterior") -> "Posterior":
        """Of both; no itemset may be in both."""
        return replace(
            self,
            itemsets=self.itemsets + other.itemsets,
            log_prior=np.concatenate([self.log_prior, other.log_prior]),
            log_joint=np.concatenate([self.log_joint, other.log_joint]),
            answered=self.answered + tuple(each.moved(len(self.itemsets)) for each in other.answered),
        )

    def updated(self, places: Int64Array, measurement: Measurement) -> "Posterior":
        """After some of the itemsets were measured."""
        log_joint = self.log_joint.copy()
        log_joint[places] += measurement.log_likelihoods()
        answered = (*self.answered, Answered(places, measurement))
        return replace(self, log_joint=log_joint, answered=answered)

    def take(self, places: Int64Array) -> "Posterior":
        """Of some itemsets."""
        return replace(
            self,
            itemsets=[self.itemsets[place] for place in places.tolist()],
            log_prior=self.log_prior[places],
            log_joint=self.log_joint[places],
            answered=tuple(each.among(places) for each in self.answered),
        )

    @cached_property
    def chances(self) -> FloatArray:
        """The probability of each support."""
        return normed(over_tilts(self.log_joint))

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

    def fine(self, places: Int64Array) -> "FinePosterior":
        """What is known of some supports, each on a fine grid of its own."""
        some = self.take(places)
        fine = some.on_grids(np.tile(self.grid, (len(some.itemsets), 1)))
        for _ in range(ZOOMS):
            fine = some.on_grids(np.geomspace(*fine.ends(), FINE_STEPS, axis=1))
        return fine

    def on_grids(self, supports: FloatArray) -> "FinePosterior":
        """What is known of each support where it may be one of a row, evenly spaced on a logarithmic scale.

        So is the grid of the prior, which therefore is a probability for each of the row, up to a constant. An item
        that is either frequent or no more than noise is as well told as one that is known closely.
        """
        log_prior = np.empty_like(supports)
        for place, row in enumerate(supports):
            says = SAY_OF_PRIOR if len(self.itemsets[place]) > 1 else 1.0
            log_prior[place] = says * np.interp(row, self.grid, self.log_prior[place])
        log_joint = log_prior[:, None, :] + self.log_tilts[:, None]
        for each in self.answered:
            log_joint[each.places] += each.measurement.log_likelihoods_at(supports[each.places], self.grid)
        return FinePosterior(self.itemsets, supports, normed(over_tilts(log_joint)))


@dataclass(frozen=True, eq=False)
class FinePosterior:
    """Itemsets, the supports that each may have, in rows, and the probability of each."""

    itemsets: list[Itemset]
    supports: FloatArray
    chances: FloatArray

    @cached_property
    def means(self) -> FloatArray:
        """The expected support of each itemset."""
        means: FloatArray = (self.chances * self.supports).sum(axis=1)
        return means

    @cached_property
    def deviations(self) -> FloatArray:
        """The standard deviation of each support."""
        squares = (self.chances * (self.supports - self.means[:, None]) ** 2).sum(axis=1)
        deviations: FloatArray = np.sqrt(squares)
        return deviations

    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Between which supports each lies, but for LEFT_OUT at either end; one support further out than that."""
        below, last_place = self.chances.cumsum(axis=1), self.supports.shape[1] - 1
        first = np.maximum((below < LEFT_OUT).sum(axis=1) - 1, 0)
        last = np.minimum((below < 1 - LEFT_OUT).sum(axis=1) + 1, last_place)
        rows = np.arange(len(below))
        return self.supports[rows, first], self.supports[rows, last]

    def shortest(self, chance: float) -> tuple[FloatArray, FloatArray]:
        """The ends of the shortest interval that holds each support with that chance.

        Where the likeliest support is at an end of what is possible, the interval starts there: the middle of what is
        likely would leave that end out.
        """
        lower = np.linspace(0.0, 1.0 - chance, LOWER_TAILS)
        below = np.cumsum(self.chances, axis=1) - self.chances / 2
        low, high = np.empty_like(self.means), np.empty_like(self.means)
        for place, (row, supports) in enumerate(zip(below, self.supports, strict=True)):
            starts, ends = np.interp(lower, row, supports), np.interp(lower + chance, row, supports)
            best = int(np.argmin(ends - starts))
            low[place], high[place] = starts[best], ends[best]
        return low, high

    def nested(self) -> "FinePosterior":
        """The same, knowing that no itemset is rarer than a superset: each is compared with the nearest of both kinds.

        Of the supersets that is the most frequent one, of the subsets the rarest.
        """
        above, below = self._nearest()
        chances = self.chances.copy()
        for place, superset in above.items():
            chances[place] *= self._at_most(superset, self.supports[place])
        for place, subset in below.items():
            chances[place] *= 1 - self._at_most(subset, self.supports[place])
        total = chances.sum(axis=1, keepdims=True)
        # Where answers contradict each other, they are left as they are.
        is_possible = total > LEAST_POSSIBLE
        return FinePosterior(
            self.itemsets,
            self.supports,
            np.where(is_possible, chances / np.maximum(total, 1e-300), self.chances),
        )

    def _nearest(self) -> tuple[dict[int, int], dict[int, int]]:
        """For the place of each itemset, that of its most frequent superset, and of its rarest subset."""
        above: dict[int, int] = {}
        below: dict[int, int] = {}
        for part, whole in subset_pairs(Itemsets.of(self.itemsets)):
            if part not in above or self.means[whole] > self.means[above[part]]:
                above[part] = whole
            if whole not in below or self.means[part] < self.means[below[whole]]:
                below[whole] = part
        return above, below

    def _at_most(self, place: int, supports: FloatArray) -> FloatArray:
        """The probability that the support of an itemset is at most each of some supports."""
        reached = np.cumsum(self.chances[place]) - self.chances[place] / 2
        mean = self.means[place]
        doubted = mean + DOUBT_OF_NESTED * (self.supports[place] - mean)
        at_most: FloatArray = np.interp(supports, doubted, reached, left=0.0, right=1.0)
        return at_most

    @cached_property
    def medians(self) -> FloatArray:
        """The support that each itemset is as likely to exceed as to fall short of."""
        below = np.cumsum(self.chances, axis=1) - self.chances / 2
        return np.array(
            [np.interp(0.5, row, supports) for row, supports in zip(below, self.supports, strict=True)]
        )

    def estimates(self) -> Estimates:
        """Supports that are as likely too high as too low, and the shortest interval that holds each by 95 %.

        The least support of a grid is 1, which stands for none as well: who may have 1 may have 0.
        """
        low, high = self.shortest(0.95)
        low = np.where(low < LEAST_TOLD, 0.0, low)
        return Estimates(
            Itemsets.of(self.itemsets),
            np.rint(self.medians).astype(np.int64),
            np.floor(low).astype(np.int64),
            np.ceil(high).astype(np.int64),
        )


def normed(logs: FloatArray) -> FloatArray:
    """Probabilities in rows, from their logarithms up to a constant."""
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    result: FloatArray = chances / chances.sum(axis=1, keepdims=True)
    return result
