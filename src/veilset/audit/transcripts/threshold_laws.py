"""The laws of noisy counts that are told only where they reach a threshold: sparse counts, and names of items."""

import math
from collections.abc import Iterable

import numpy as np

from veilset.audit.transcripts.laws import DecisionLaw, Evidence
from veilset.audit.transcripts.tails import (
    gaussian_at_least,
    log_laplace,
    log_laplace_at_least,
    log_laplace_below,
)
from veilset.gate import ItemNaming, Noise
from veilset.gate.selection.item_discovery import NamedItems
from veilset.gate.selection.noisy_test import NoisyTest, PassedCounts, SparseCounts
from veilset.raw.counts import ExactCounts


class PassingLaw(DecisionLaw):
    """Every count has noise of its own and is told where it reaches the threshold; most counts are 0."""

    def __init__(self, counts: SparseCounts, test: NoisyTest) -> None:
        self.counts, self.test, self.scale = counts, test, float(test.scale)
        self.exact = dict(zip(counts.places.tolist(), counts.counts.values.tolist(), strict=True))

    def log_told(self, place: int, value: int) -> float:
        """The log of the chance that a place is told, with this value."""
        if value < self.test.threshold:
            return -math.inf
        return float(log_laplace(np.array([value - self.exact.get(place, 0)]), self.scale)[0])

    def log_silent(self, place: int) -> float:
        """The log of the chance that a place is not told."""
        return log_laplace_below(self.test.threshold - self.exact.get(place, 0), self.scale)

    def log_chance(self, outcome: PassedCounts) -> float:
        """Those that are told by their values; all others by not having reached the threshold."""
        told = dict(zip(outcome.places.tolist(), outcome.values.tolist(), strict=True))
        if any(not 0 <= place < self.counts.number for place in told):
            return -math.inf
        silent = self.exact.keys() - told.keys()
        zeros = self.counts.number - len(self.exact) - len(told.keys() - self.exact.keys())
        return (
            sum(self.log_told(place, value) for place, value in told.items())
            + sum(self.log_silent(place) for place in silent)
            + zeros * log_laplace_below(self.test.threshold, self.scale)
        )

    def telling(self, other: "PassingLaw") -> Iterable[PassedCounts]:
        """At each place what tells most, told if it can be: further questions are asked about what is told."""
        places = sorted(self.exact.keys() | other.exact.keys())
        told = {place: self.best_value(other, place) for place in places}
        everything = {place: value for place, (value, _) in told.items()}
        best = {place: value for place, (value, is_best) in told.items() if is_best}
        different = {tuple(each.items()): each for each in (best, everything, {})}
        return [_passed(each) for each in different.values()]

    def best_value(self, other: "PassingLaw", place: int) -> tuple[int, bool]:
        """The value at which a place tells most, and whether it tells at least as much as silence does."""
        mine, others = self.exact.get(place, 0), other.exact.get(place, 0)
        value = max(self.test.threshold, mine if mine != others else max(mine, self.test.threshold))
        of_value = self.log_told(place, value) - other.log_told(place, value)
        of_silence = self.log_silent(place) - other.log_silent(place)
        return value, of_value >= of_silence and (mine >= self.test.threshold or of_value > of_silence)

    def draw(self, noise: Noise) -> PassedCounts:
        """Those that pass."""
        return noise.passing(self.counts, self.test)


def _passed(told: dict[int, int]) -> PassedCounts:
    places = sorted(told)
    return PassedCounts(np.array(places, np.int64), np.array([told[place] for place in places], np.int64))


class NamesLaw(DecisionLaw):
    """Items that some transaction holds are named where their noisy weight reaches the threshold."""

    def __init__(self, weights: ExactCounts, mechanism: ItemNaming) -> None:
        self.weights, self.mechanism, self.scale = weights, mechanism, float(mechanism.scale)

    def held(self) -> set[int]:
        """The items that some transaction holds."""
        return set(np.flatnonzero(self.weights.values > 0).tolist())

    def log_chance(self, outcome: NamedItems) -> float:
        """Under Laplace noise; under Gaussian noise only whether it is possible at all."""
        told = dict(zip(outcome.items.tolist(), outcome.weights.tolist(), strict=True))
        if not told.keys() <= self.held() or min(told.values(), default=2**62) < self.mechanism.threshold:
            return -math.inf
        if self.mechanism.law == "gaussian":
            return 0.0
        return sum(self.log_of(item, told.get(item)) for item in sorted(self.held()))

    def log_of(self, item: int, told: int | None) -> float:
        """The log of the chance of what is told of an item: its noisy weight, or nothing."""
        weight = int(self.weights.values[item])
        if told is None:
            return log_laplace_below(self.mechanism.threshold - weight, self.scale)
        return float(log_laplace(np.array([told - weight]), self.scale)[0])

    def telling(self, other: "NamesLaw") -> Iterable[NamedItems]:
        """All items that are held in both databases, at their weights in this one or just named; or none of them."""
        items = np.array(sorted(self.held() & other.held()), np.int64)
        weights = np.maximum(self.weights.values[items], self.mechanism.threshold)
        none = np.zeros(0, np.int64)
        return [NamedItems(items, weights), NamedItems(none, none)]

    def cost(self, other: "NamesLaw", outcome: NamedItems) -> Evidence:
        """Of items in both databases, by their noise; of the others, the chance that one is named, which is delta."""
        if other.mechanism != self.mechanism:
            return Evidence(math.inf)
        both, alone = self.held() & other.held(), self.held() ^ other.held()
        silent = sum(math.log1p(-max(law.chance_named(item) for law in (self, other))) for item in alone)
        delta = -math.expm1(silent)
        if self.mechanism.law == "gaussian":
            places = sorted(both)
            moved = (self.weights.values - other.weights.values)[places].astype(np.float64)
            return Evidence(rho=float((moved**2).sum()) / (2 * self.scale**2), delta=delta)
        told = dict(zip(outcome.items.tolist(), outcome.weights.tolist(), strict=True))
        ratio = sum(self.log_of(item, told.get(item)) - other.log_of(item, told.get(item)) for item in both)
        return Evidence(ratio, delta=delta)

    def chance_named(self, item: int) -> float:
        """How likely an item is named."""
        weight = int(self.weights.values[item])
        if weight == 0:
            return 0.0
        least = self.mechanism.threshold - weight
        if self.mechanism.law == "gaussian":
            return gaussian_at_least(least, self.scale)
        return math.exp(log_laplace_at_least(least, self.scale))

    def draw(self, noise: Noise) -> NamedItems:
        """Those that are named."""
        return noise.named(self.weights, self.mechanism)
