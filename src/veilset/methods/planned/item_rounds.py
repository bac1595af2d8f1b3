"""Which items are counted again, how many rounds that takes, and what is left for the items that are certain.

Post-processing: everything here follows from earlier answers and public numbers. What a plan would lead to is foretold:
supports are drawn from the posterior, the counts that the plan asks for are imitated with the noise that they would
have, and the answer that they would give is compared with the drawn supports. More items counted means that
transactions contain more of them, so that each is counted with more noise; fewer means that some have no chance.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.methods.planned.histogram_laws import NUMBERS
from veilset.methods.planned.overlap import CAPS, Overlap
from veilset.methods.planned.posterior import Posterior

CERTAIN = 0.98
"""0.98 is the chance to be in the answer above which an item is certain."""
HARDLY_POSSIBLE = 0.003
"""0.003 is the chance to be in the answer below which an item is not counted again."""
ITEMS_PER_K = (
    Fraction(1, 4),
    Fraction(1, 2),
    Fraction(1),
    Fraction(2),
    Fraction(4),
    Fraction(8),
    Fraction(16),
    Fraction(32),
)
"""From a quarter of k to 32 k items are counted again."""
PARTS_FOR_UNCERTAIN = tuple(Fraction(parts, 5) for parts in range(6))
"""From nothing to all of what remains is for items that are uncertain; what is left is for the certain ones."""
NARROWER = 4
"""4 times fewer items are counted in a second round."""
DRAWS = 24
"""24 draws of supports from the posterior tell one plan from another."""
LEAST_DEVIATION = 1e-4
"""0.0001 is the least standard deviation of a support: what is known exactly would be divided by nothing."""
UNCERTAIN_LOSS = 0.3
"""0.3 of what a sum of supports loses under a cap is how uncertain that loss is."""
WEIGHT_OF_SUPPORTS = 0.2
"""0.2: a mean relative error of supports counts a fifth as much as an equal share of wrong items."""


@dataclass(frozen=True, slots=True)
class CountingRound:
    """A number of items that are counted again, at a price."""

    items: int
    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class CountingPlan:
    """Rounds of counting what is uncertain, and what is left for the items that are certain."""

    rounds: tuple[CountingRound, ...]
    for_certain: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Counting:
    """What is needed to predict the error of counts: lengths, the total of all supports, and the price of a histogram.

    `unit_transactions` is how many transactions one privacy unit has.
    """

    overlap: Overlap
    unit_transactions: int
    for_overlap: Fraction

    def kept(self, together: float) -> FloatArray:
        """What each cap leaves of an average support, where the supports of the counted items add up to `together`.

        A transaction of n items that contains one of the counted items contains as many of the others as their share
        of all occurrences says.
        """
        held = NUMBERS * self.overlap.transactions
        occurrences = max(float(held.sum()), 1.0)
        contained = 1 + (NUMBERS - 1) * min(1.0, together / occurrences)
        kept: FloatArray = np.minimum(1.0, np.array(CAPS)[:, None] / contained) @ held / occurrences
        return np.maximum(kept, 1e-6)

    def error(self, together: float, support: float, epsilon: Fraction) -> float:
        """The error of a support under the best cap, where the supports of the counted items add up to `together`."""
        if epsilon <= self.for_overlap:
            return math.inf
        noise = self.unit_transactions / float(epsilon - self.for_overlap)
        kept = self.kept(together)
        uneven = self.overlap.settings.unevenness * (1 - kept) * support
        return float(np.hypot(math.sqrt(2) * np.array(CAPS) * noise / kept, uneven).min())

    def cap_of_sum(self, together: float, epsilon: Fraction) -> tuple[int, float]:
        """What one transaction may add to a sum of supports of about that size, and what that leaves of the sum."""
        noise = self.unit_transactions / float(epsilon)
        kept = self.kept(together)
        errors = (
            np.hypot(math.sqrt(2) * np.array(CAPS) * noise, UNCERTAIN_LOSS * (1 - kept) * together) / kept
        )
        best = int(np.argmin(errors))
        return CAPS[best], float(kept[best])


@lru_cache(maxsize=64)
def _error_of_counts(counting: Counting, together: float, support: float, epsilon: Fraction) -> float:
    """The same, remembered: the first round of a plan counts the same items in every draw."""
    return counting.error(together, support, epsilon)


@dataclass(frozen=True, slots=True, eq=False)
class ItemZones:
    """The bar, the chance of each item to reach it, and where uncertain (the most so first) and certain items are."""

    bar: float
    chances: FloatArray
    uncertain: Int64Array
    certain: Int64Array

    @classmethod
    def of(cls, posterior: Posterior, k: int) -> "ItemZones":
        """By what is known of the items."""
        bar = posterior.kth_support(k)
        chances = posterior.at_least(bar)
        is_certain = chances >= CERTAIN
        uncertain = np.flatnonzero(~is_certain & (chances > HARDLY_POSSIBLE))
        if uncertain.size == 0 and not is_certain.any():
            uncertain = np.argsort(-chances, kind="stable")[:k]
        order = np.argsort(-(chances * (1 - chances))[uncertain], kind="stable")
        return cls(bar, chances, uncertain[order], np.flatnonzero(is_certain))


def possible_plans(k: int, zones: ItemZones, remaining: Fraction, least: Fraction) -> Iterator[CountingPlan]:
    """Every plan to choose from; a question gets no less than `least`."""
    numbers = sorted({min(math.ceil(times * k), zones.uncertain.size) for times in ITEMS_PER_K} - {0})
    for part in PARTS_FOR_UNCERTAIN:
        epsilon = remaining * part
        if epsilon < least or (remaining - epsilon < least and part < 1):
            continue
        if part < 1 and zones.certain.size == 0:
            continue
        for number in numbers:
            yield CountingPlan((CountingRound(number, epsilon),), remaining - epsilon)
            if number > k and epsilon >= 2 * least:
                half = epsilon / 2
                yield CountingPlan(
                    (CountingRound(number, half), CountingRound(number // NARROWER, half)),
                    remaining - epsilon,
                )
    if zones.certain.size > 0:
        yield CountingPlan((), remaining)


def choose_plan(
    posterior: Posterior, zones: ItemZones, counting: Counting, k: int, *, remaining: Fraction
) -> CountingPlan:
    """The plan that is predicted to lose least."""
    prediction = Prediction.of(posterior, zones, counting, k)
    return min(possible_plans(k, zones, remaining, 3 * counting.for_overlap), key=prediction.loss)


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What is known of items in numbers, and supports drawn from it, a row for each draw."""

    zones: ItemZones
    counting: Counting
    k: int
    means: FloatArray
    deviations: FloatArray
    drawn: FloatArray
    noise: FloatArray

    @classmethod
    def of(cls, posterior: Posterior, zones: ItemZones, counting: Counting, k: int) -> "Prediction":
        """Draws are the same for every plan, and for every run: they only serve to compare plans."""
        chances, grid, means = posterior.chances, posterior.grid, posterior.means
        deviations = np.maximum(posterior.deviations, LEAST_DEVIATION)
        rng = np.random.default_rng(0)
        uniform, below = rng.random((DRAWS, means.size)), chances.cumsum(axis=1)
        places = np.array([(below < row[:, None]).sum(axis=1) for row in uniform])
        drawn = grid[np.minimum(places, grid.size - 1)]
        noise = rng.laplace(size=(2, DRAWS, means.size)) / math.sqrt(2)
        return cls(zones, counting, k, means, deviations, drawn, noise)

    def loss(self, plan: CountingPlan) -> float:
        """The share of wrong items in the answer, and a part of the relative error of supports."""
        means = np.tile(self.means, (DRAWS, 1))
        variances = np.tile(self.deviations**2, (DRAWS, 1))
        lost = np.mean([self._lost(plan, draw, means[draw], variances[draw]) for draw in range(DRAWS)])
        return float(lost)

    def _lost(self, plan: CountingPlan, draw: int, means: FloatArray, variances: FloatArray) -> float:
        """In one draw; changes means and variances to what they would be known as."""
        zones, supports = self.zones, self.drawn[draw]
        places = zones.uncertain
        for noise, each in zip(self.noise, plan.rounds, strict=False):
            places = places[: each.items]
            self._count(places, each.epsilon, noise[draw], supports, means, variances, support=zones.bar)
            distance = np.abs(means[places] - zones.bar) / np.sqrt(variances[places])
            places = places[np.argsort(distance, kind="stable")]
        if plan.for_certain > 0:
            certain = zones.certain
            support = float(np.median(self.means[certain]))
            self._count(
                certain, plan.for_certain, self.noise[0][draw], supports, means, variances, support=support
            )
        best = np.argpartition(-means, self.k - 1)[: self.k]
        kth = np.partition(supports, supports.size - self.k)[supports.size - self.k]
        wrong = float(np.mean(supports[best] < kth))
        errors = np.minimum(np.sqrt(variances[best]) / np.maximum(means[best], 1.0), 1.0)
        return wrong + WEIGHT_OF_SUPPORTS * float(errors.mean())

    def _count(
        self,
        places: Int64Array,
        epsilon: Fraction,
        noise: FloatArray,
        supports: FloatArray,
        means: FloatArray,
        variances: FloatArray,
        *,
        support: float,
    ) -> None:
        """Put into means and variances what counts at these places would tell."""
        error = _error_of_counts(self.counting, float(self.means[places].sum()), support, epsilon)
        if math.isinf(error):
            return
        counted = supports[places] + error * noise[places]
        before, after = 1 / variances[places], 1 / error**2
        means[places] = (means[places] * before + counted * after) / (before + after)
        variances[places] = 1 / (before + after)
