"""What noisy counts of single items say about their supports: a posterior with a prior learned from all items.

Post-processing: everything here follows from noisy answers. Three things make the posterior of an item:

- a prior of supports: the law that explains the noisy counts of all items best (empirical Bayes, by expectation
  maximisation with smoothing). An item that is listed because its noise was high is drawn back by it, so that
  intervals include selection as far as the prior is right;
- counts under caps, each with Laplace noise. What a cap leaves of an average support is known from how many of the
  items transactions contain (`planned.overlap`);
- its departure: an item of longer transactions than the average one loses more under every cap. Where a cap leaves
  the share `kept` of an average support, the count of this item is exp(departure * (1 - kept)) times the average one.
  Departures have a normal law, one for all items; its mean and deviation are those that explain best how counts under
  different caps disagree. An item has one departure in all its counts: these errors do not average out.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import NoisyCounts, NormalisedCounts
from veilset.methods.planned.overlap import Cap, Overlap

GRID_SUPPORTS, FEWEST = 240, 0.3
"""240 supports on a logarithmic scale; the least of them, less than one transaction, stands for none."""
FINE_SUPPORTS = 161
"""161 supports are in the finer grid of an item that is released."""
EVERY_OTHER = slice(None, None, 2)
"""Every other support is enough to learn the law of departures."""
OTHER_BINS = 150
"""150 bins for the noisy counts of the items that are no candidates."""
ROUNDS_OF_LEARNING, SMOOTHED_OVER = 30, 6
"""30 rounds of expectation maximisation, with 6 neighbours on either side to smooth the prior over."""
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(5)
LOG_WEIGHTS = np.log(NODE_WEIGHTS / NODE_WEIGHTS.sum())
"""Departures, in standard deviations from their mean, that stand for all, and ln of how likely each is."""
DEPARTURE_MEANS = (-0.5, -0.35, -0.2, -0.1, 0.0, 0.1, 0.2, 0.35)
DEPARTURE_SPREADS = (0.03, 0.08, 0.15, 0.25, 0.4, 0.65, 0.9)
"""The laws of departures to choose from: means and standard deviations."""
USUAL_SPREAD, SPREAD_WITHIN, MEAN_WITHIN = 0.25, 0.7, 0.2
"""0.25 is the usual standard deviation of departures, 0.7 that of its logarithm, and 0.2 that of their mean."""
MISFIT = 0.1
"""0.1 of what a cap takes away is how far one count of an item departs from what its other counts make of it."""
CORRECTIONS = np.linspace(-0.6, 0.6, 13)
"""How far a noisy total may move the mean of departures."""
CANDIDATES_TO_LEARN_FROM = 200
"""200 candidates are learned from as they are; 200 of the others stand for the rest."""
MOST_TO_COMPARE, SHARED_EVIDENCE = 100, 0.25
"""100 items that were counted more than once are enough to learn departures from; they tell as much as a quarter of
them would if the histograms were exact, whose errors all of them have in common."""


def supports_up_to(number: int) -> FloatArray:
    """The values that a support can have among a number of transactions."""
    return np.geomspace(FEWEST, max(number, 10), GRID_SUPPORTS)


@dataclass(frozen=True, slots=True)
class Departures:
    """The law of how far items depart from the average one: mean and standard deviation."""

    mean: float = 0.0
    spread: float = USUAL_SPREAD

    @property
    def log_prior(self) -> float:
        """ln of how usual such a law is, before any answer."""
        return (
            -((self.mean / MEAN_WITHIN) ** 2) / 2
            - (math.log(self.spread / USUAL_SPREAD) / SPREAD_WITHIN) ** 2 / 2
        )

    @property
    def nodes(self) -> FloatArray:
        """Departures that stand for all; `LOG_WEIGHTS` tells how likely they are."""
        nodes: FloatArray = self.mean + self.spread * NODES
        return nodes


@dataclass(frozen=True, slots=True, eq=False)
class CountsUnderCap:
    """Noisy counts of some items in whole transactions, with Laplace noise of a scale.

    `places` are those of the items among all candidates; `kept` is what the cap leaves of each support of the grid.
    """

    places: Int64Array
    values: FloatArray
    scale: float
    grid: FloatArray
    kept: FloatArray

    @classmethod
    def of(
        cls,
        counts: NoisyCounts | NormalisedCounts,
        places: Int64Array,
        overlap: Overlap,
        cap: Cap,
        *,
        grid: FloatArray,
    ) -> "CountsUnderCap":
        """From an answer of the gate, whose counts are in steps."""
        noise = counts.mechanism
        kept = np.clip(overlap.counted(grid, cap.most) / grid, 1e-6, 1.0)
        return cls(places, counts.values / noise.steps, float(noise.scale) / noise.steps, grid, kept)

    def at(self, rows: Int64Array, places: Int64Array) -> "CountsUnderCap":
        """Some of the counts, of items that have these places now."""
        return replace(self, places=places, values=self.values[rows])

    def log_likelihoods(self, supports: FloatArray, law: Departures) -> FloatArray:
        """ln of how likely each count is: a row of supports for each item; departures are the last axis."""
        kept = np.interp(supports, self.grid, self.kept)[..., None]
        counted = supports[..., None] * np.minimum(kept * np.exp(law.nodes * (1 - kept)), 1.0)
        width = np.hypot(self.scale, MISFIT * (1 - kept) * counted)
        likelihoods: FloatArray = -np.abs(self.values[:, None, None] - counted) / width - np.log(width)
        return likelihoods


@dataclass(frozen=True, slots=True, eq=False)
class OtherItems:
    """Items that are no candidates: bins of their noisy counts, and how many items are in each."""

    counts: CountsUnderCap
    sizes: Int64Array

    @classmethod
    def of(cls, counts: CountsUnderCap) -> "OtherItems":
        """In bins of about as many items each; counts in one bin, which come in order, are taken for their mean."""
        values = np.sort(counts.values)
        edges = np.unique(np.linspace(0, values.size, min(OTHER_BINS, values.size) + 1).astype(np.int64))
        sizes = np.diff(edges)
        means = np.add.reduceat(values, edges[:-1]) / sizes if sizes.size else values
        return cls(replace(counts, places=np.arange(sizes.size), values=means), sizes)


@dataclass(frozen=True, slots=True, eq=False)
class ItemPosterior:
    """Candidate items, all that was counted of them, and the prior that was learned from all items.

    `unsure` is the standard deviation of the mean of departures: an error that all items have in common.
    """

    items: Int64Array
    others: OtherItems
    counts: tuple[CountsUnderCap, ...]
    law: Departures
    log_prior: FloatArray
    chances: FloatArray
    unsure: float = 0.0

    @classmethod
    def of(
        cls,
        items: Int64Array,
        others: OtherItems,
        counts: Sequence[CountsUnderCap],
        law: Departures | None = None,
    ) -> "ItemPosterior":
        """Learn the prior of supports from all counts under a law of departures."""
        law, grid = law or Departures(), others.counts.grid
        likelihoods = _log_likelihoods(counts, _rows_of(grid, items.size), law)
        of_others = _log_likelihoods([others.counts], _rows_of(grid, others.sizes.size), law)
        places, stand_for = _some_of(items.size)
        sizes = np.append(stand_for, others.sizes).astype(np.float64)
        log_prior = _learned_prior(np.vstack([likelihoods[places], of_others]), sizes)
        return cls(items, others, tuple(counts), law, log_prior, _normed(log_prior + likelihoods))

    @property
    def grid(self) -> FloatArray:
        """The values that a support can have."""
        return self.others.counts.grid

    @property
    def means(self) -> FloatArray:
        """The expected support of each item."""
        means: FloatArray = self.chances @ self.grid
        return means

    @property
    def deviations(self) -> FloatArray:
        """The standard deviation of each support."""
        variances = self.chances @ self.grid**2 - self.means**2
        deviations: FloatArray = np.sqrt(np.maximum(variances, 1e-9))
        return deviations

    def at_least(self, support: float) -> FloatArray:
        """The probability that each item reaches a support."""
        reached: FloatArray = self.chances[:, self.grid >= support].sum(axis=1)
        return np.clip(reached, 0.0, 1.0)

    def kth_support(self, k: int) -> float:
        """The support that about k of the items are expected to reach."""
        reaching = self.chances[:, ::-1].cumsum(axis=1)[:, ::-1].sum(axis=0)
        log_support = np.interp(-k, -reaching, np.log(self.grid))
        return math.exp(float(log_support))

    def others_above(self, chance: float, k: int) -> int:
        """How many of the items that are no candidates reach the k-th support with more than a chance."""
        supports = _rows_of(self.grid, self.others.sizes.size)
        chances = _normed(self.log_prior + _log_likelihoods([self.others.counts], supports, self.law))
        reaching = (self.chances.sum(axis=0) + self.others.sizes @ chances)[::-1].cumsum()[::-1]
        bar = math.exp(float(np.interp(-k, -reaching, np.log(self.grid))))
        is_above = chances[:, self.grid >= bar].sum(axis=1) > chance
        return int(self.others.sizes[is_above].sum())

    def then(self, counts: CountsUnderCap) -> "ItemPosterior":
        """After some of the items were counted once more, which tells of departures, too."""
        after = ItemPosterior.of(self.items, self.others, [*self.counts, counts], self.law)
        return ItemPosterior.of(self.items, self.others, after.counts, after.likeliest_law())

    def likeliest_law(self) -> Departures:
        """The law of departures under which counts of the same items agree best."""
        times = np.bincount(np.concatenate([each.places for each in self.counts]))
        several = np.flatnonzero(times > 1)
        if several.size == 0:
            return self.law
        chosen = np.linspace(0, several.size - 1, min(several.size, MOST_TO_COMPARE)).astype(np.int64)
        log_chances = self._under_laws(several[chosen])

        def how_well(law: Departures) -> float:
            together = log_chances(law)
            most = together.max(axis=1)
            explained = most + np.log(np.exp(together - most[:, None]).sum(axis=1))
            return SHARED_EVIDENCE * float(explained.sum()) + law.log_prior

        return max((Departures(*law) for law in product(DEPARTURE_MEANS, DEPARTURE_SPREADS)), key=how_well)

    def with_total(self, places: Int64Array, total: float, scale: float) -> "ItemPosterior":
        """With departures whose mean is such that the supports of some items add up to about a noisy total."""
        deviation = math.hypot(scale, float(np.sqrt((self.deviations[places] ** 2).sum())))
        log_chances, coarse = self._under_laws(places), self.grid[EVERY_OTHER]
        laws = [replace(self.law, mean=self.law.mean + by) for by in CORRECTIONS.tolist()]
        sums = np.array([float((_normed(log_chances(law)) @ coarse).sum()) for law in laws])
        fits = -((CORRECTIONS / MEAN_WITHIN) ** 2) / 2 - np.abs(sums - total) / deviation
        weights = np.exp(fits - fits.max())
        weights /= weights.sum()
        by = float(weights @ CORRECTIONS)
        unsure = math.sqrt(max(float(weights @ CORRECTIONS**2) - by * by, 0.0))
        law = replace(self.law, mean=self.law.mean + by)
        return replace(ItemPosterior.of(self.items, self.others, self.counts, law), unsure=unsure)

    def _under_laws(self, places: Int64Array) -> Callable[[Departures], FloatArray]:
        """ln of the probability of every other support of some items, up to a constant, as the law has it."""
        counts, grid = _restricted(self.counts, places, self.items.size), self.grid[EVERY_OTHER]
        supports, log_prior = _rows_of(grid, places.size), self.log_prior[EVERY_OTHER]
        return lambda law: log_prior + _log_likelihoods(counts, supports, law)

    def intervals(self, places: Int64Array) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Expected supports of some items, and both ends of the middle 95 %, on a finer grid for each of them."""
        counts = _restricted(self.counts, places, self.items.size)
        below = self._over_means(counts, _rows_of(self.grid, places.size)).cumsum(axis=1)
        first = np.maximum((below < 1e-5).sum(axis=1) - 1, 0)
        last = np.minimum((below < 1 - 1e-5).sum(axis=1) + 1, self.grid.size - 1)
        supports = np.geomspace(self.grid[first], self.grid[last], FINE_SUPPORTS).T
        chances = self._over_means(counts, supports)
        means: FloatArray = (chances * supports).sum(axis=1)
        return means, _quantiles(chances, supports, 0.025), _quantiles(chances, supports, 0.975)

    def _over_means(self, counts: Sequence[CountsUnderCap], supports: FloatArray) -> FloatArray:
        """The probability of each support, over what the mean of departures may be."""
        log_prior = np.interp(np.log(supports), np.log(self.grid), self.log_prior)
        chances = np.zeros(supports.shape)
        for by, weight in ((-1.0, 1 / 6), (0.0, 2 / 3), (1.0, 1 / 6)):
            law = replace(self.law, mean=self.law.mean + by * math.sqrt(3) * self.unsure)
            chances += weight * _normed(log_prior + _log_likelihoods(counts, supports, law))
        return chances


def _learned_prior(log_likelihoods: FloatArray, sizes: FloatArray) -> FloatArray:
    """ln of the probability of each support, as it explains rows of answers best that stand for some items each."""
    likelihoods = np.exp(log_likelihoods - log_likelihoods.max(axis=1, keepdims=True))
    number = likelihoods.shape[1]
    prior = np.full(number, 1 / number)
    for _ in range(ROUNDS_OF_LEARNING):
        weights = sizes / (likelihoods @ prior)
        prior = _smoothed(prior * (weights @ likelihoods))
        prior = prior / prior.sum() + 1e-12
    log_prior: FloatArray = np.log(prior)
    return log_prior


def _some_of(number: int) -> tuple[Int64Array, Int64Array]:
    """Places of some of a number of items, the first ones all among them, and how many items each stands for."""
    alone = min(number, CANDIDATES_TO_LEARN_FROM)
    edges = np.linspace(alone, number, min(number - alone, CANDIDATES_TO_LEARN_FROM) + 1).astype(np.int64)
    places = np.append(np.arange(alone), (edges[:-1] + edges[1:]) // 2)
    return places, np.append(np.ones(alone, np.int64), np.diff(edges))


def _smoothed(chances: FloatArray) -> FloatArray:
    """The average over neighbours in the grid, with weights that fall to both sides."""
    kernel = np.bartlett(2 * SMOOTHED_OVER + 3)[1:-1]
    padded = np.pad(chances, SMOOTHED_OVER, mode="edge")
    return np.convolve(padded, kernel / kernel.sum(), mode="valid")


def _rows_of(grid: FloatArray, number: int) -> FloatArray:
    """The same supports for each of a number of items."""
    return np.broadcast_to(grid, (number, grid.size))


def _log_likelihoods(counts: Sequence[CountsUnderCap], supports: FloatArray, law: Departures) -> FloatArray:
    """ln of how likely all counts of each item are, for its row of supports, over all departures."""
    together = np.zeros((*supports.shape, NODES.size)) + LOG_WEIGHTS
    for each in counts:
        together[each.places] += each.log_likelihoods(supports[each.places], law)
    most = together.max(axis=-1)
    summed: FloatArray = most + np.log(np.exp(together - most[..., None]).sum(axis=-1))
    return summed


def _normed(log_chances: FloatArray) -> FloatArray:
    """Probabilities, from their logarithms up to a constant in each row."""
    chances = np.exp(log_chances - log_chances.max(axis=1, keepdims=True))
    normed: FloatArray = chances / chances.sum(axis=1, keepdims=True)
    return normed


def _quantiles(chances: FloatArray, supports: FloatArray, part: float) -> FloatArray:
    """Where the probability of less is `part`, for each row; a value stands for what is around it."""
    below = chances.cumsum(axis=1) - chances / 2
    rows = zip(below, supports, strict=True)
    return np.array([float(np.interp(part, row, values)) for row, values in rows])


def _restricted(counts: Sequence[CountsUnderCap], places: Int64Array, number: int) -> list[CountsUnderCap]:
    """What was counted of the items at some places of a number of them; the places become 0, 1, ..."""
    new = np.full(number, -1)
    new[places] = np.arange(places.size)
    rows = [np.flatnonzero(new[each.places] >= 0) for each in counts]
    return [each.at(some, new[each.places[some]]) for each, some in zip(counts, rows, strict=True)]
