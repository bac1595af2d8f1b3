"""The laws of the decisions behind the gate, each written down from its definition, without drawing anything.

A law knows the exact values and the mechanism that a decision was handed. It tells how likely an outcome is, and which
outcomes tell most in favour of itself against another law. The laws of comparisons, tests and names are in modules of
their own.
"""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, permutations
from typing import Any

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.audit.transcripts.tails import log_laplace
from veilset.gate import DiscreteGaussian, DiscreteLaplace, Exponential, Noise
from veilset.gate.selection.floored_supports import ExactScores
from veilset.itemsets import Domain, Itemset
from veilset.raw.counts import ExactCounts

MOST_TRIED = 3000
"""At most 3,000 outcomes of a decision are compared one by one; where there are more, those that move furthest."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """By how much an outcome tells two databases apart: the log of a ratio, rho where noise is Gaussian, and delta."""

    epsilon: float = 0.0
    rho: float = 0.0
    delta: float = 0.0

    def __add__(self, other: "Evidence") -> "Evidence":
        return Evidence(self.epsilon + other.epsilon, self.rho + other.rho, self.delta + other.delta)


class DecisionLaw(ABC):
    """How likely each outcome of a decision is."""

    @abstractmethod
    def log_chance(self, outcome: Any) -> float:  # noqa: ANN401 - whatever the decision answers
        """The log of the probability of an outcome; minus infinity where it is impossible."""

    @abstractmethod
    def telling(self, other: Any) -> Iterable[Any]:  # noqa: ANN401 - a law of the same kind
        """Outcomes, among them the one that tells most for this law against the other."""

    @abstractmethod
    def draw(self, noise: Noise) -> Any:  # noqa: ANN401
        """An outcome, by the gate's own code."""

    def cost(self, other: Any, outcome: Any) -> Evidence:  # noqa: ANN401
        """By how much an outcome tells for this law against the other."""
        return Evidence(difference(self.log_chance(outcome), other.log_chance(outcome)))


def difference(one: float, other: float) -> float:
    """The log of a ratio; infinite where only the second is impossible."""
    if one == -math.inf:
        return -math.inf
    return one - other


class CountsLaw(DecisionLaw):
    """Counts with discrete Laplace noise: likeliest where they are, and there they tell most."""

    def __init__(self, exact: ExactCounts, mechanism: DiscreteLaplace) -> None:
        self.exact, self.mechanism = exact, mechanism

    def log_chance(self, outcome: Int64Array) -> float:
        """Noise is independent from count to count."""
        if outcome.size != self.exact.values.size:
            return -math.inf
        return float(log_laplace(outcome - self.exact.values, float(self.mechanism.scale)).sum())

    def telling(self, other: "CountsLaw") -> Iterable[Int64Array]:  # noqa: ARG002
        """The exact counts: every count that differs tells its whole distance there."""
        return [self.exact.values]

    def draw(self, noise: Noise) -> Int64Array:
        """Counts with noise."""
        return noise.counts(self.exact, self.mechanism)


class GaussianCountsLaw(CountsLaw):
    """Counts with discrete Gaussian noise, which tells without a limit, but seldom: it is measured by rho."""

    def __init__(self, exact: ExactCounts, mechanism: DiscreteGaussian) -> None:
        self.exact, self.gaussian = exact, mechanism

    def log_chance(self, outcome: Int64Array) -> float:
        """Up to a constant, which is the same on both sides."""
        if outcome.size != self.exact.values.size:
            return -math.inf
        return -_squares(outcome - self.exact.values) / (2 * float(self.gaussian.scale) ** 2)

    def draw(self, noise: Noise) -> Int64Array:
        """Counts with noise."""
        return noise.counts(self.exact, self.gaussian)

    def cost(self, other: "GaussianCountsLaw", outcome: Int64Array) -> Evidence:
        """Rho, whatever came out: the squared distance over twice the squared scale."""
        if outcome.size != other.exact.values.size or other.gaussian.scale != self.gaussian.scale:
            return Evidence(math.inf)
        distance = _squares(self.exact.values - other.exact.values)
        return Evidence(rho=distance / (2 * float(self.gaussian.scale) ** 2))


def _squares(values: Int64Array) -> float:
    return float((values.astype(np.float64) ** 2).sum())


class PlaceLaw(DecisionLaw):
    """One place, with P proportional to exp(rate * score)."""

    def __init__(self, scores: Int64Array, mechanism: Exponential, steps: int) -> None:
        self.scores, self.mechanism, self.steps = scores, mechanism, steps
        logs = float(mechanism.rate / steps) * scores.astype(np.float64)
        self.logs: FloatArray = logs - log_sum(logs)

    def log_chance(self, outcome: int) -> float:
        """Of one place."""
        return float(self.logs[outcome]) if outcome < self.logs.size else -math.inf

    def telling(self, other: "PlaceLaw") -> Iterable[int]:  # noqa: ARG002
        """All of them."""
        return range(self.scores.size)

    def draw(self, noise: Noise) -> int:
        """One place."""
        return noise.place(self.scores, self.mechanism, steps=self.steps)


class BestLaw(DecisionLaw):
    """Candidates without replacement, with P proportional to exp(rate * score) at each draw.

    Of a domain, all itemsets take part, with the floor for a score where they are not listed.
    """

    def __init__(self, scores: ExactScores, mechanism: Exponential, domain: Domain | None) -> None:
        self.scores, self.mechanism, self.domain = scores, mechanism, domain
        self.members = Counter(scores.listed.values())
        if domain is not None:
            self.members[scores.floor] += domain.size - len(scores.listed)

    def log_chance(self, outcome: tuple[Itemset, ...]) -> float:
        """Draw by draw; what was drawn no longer takes part."""
        if len(set(outcome)) < len(outcome):
            return -math.inf
        left, log_chance, rate = self.members.copy(), 0.0, float(self.mechanism.rate)
        for itemset in outcome:
            score = self.score(itemset)
            if score is None or left[score] < 1:
                return -math.inf
            total = log_sum(
                np.array([math.log(number) + rate * each for each, number in left.items() if number > 0])
            )
            log_chance += rate * score - total
            left[score] -= 1
        return log_chance

    def score(self, itemset: Itemset) -> int | None:
        """The score of a candidate; None where it takes no part."""
        if itemset in self.scores.listed:
            return self.scores.listed[itemset]
        if self.domain is None or not _is_in(itemset, self.domain):
            return None
        return self.scores.floor

    def telling(self, other: "BestLaw") -> Iterable[tuple[Itemset, ...]]:
        """Every sequence of candidates that either law lists and of some that neither does, or the extreme ones."""
        draws = self.mechanism.draws
        listed = {**self.scores.listed, **other.scores.listed}
        pool = [*listed, *islice(_unlisted(self.domain, listed), draws)]
        if len(pool) < draws:
            return []
        if math.perm(len(pool), draws) <= MOST_TRIED:
            return permutations(pool, draws)
        gains = {itemset: (self.score(itemset) or 0) - (other.score(itemset) or 0) for itemset in pool}
        furthest = sorted(pool, key=lambda itemset: -gains[itemset])
        likeliest = sorted(pool, key=lambda itemset: (-(self.score(itemset) or 0), -gains[itemset]))
        return [tuple(furthest[:draws]), tuple(furthest[-draws:]), tuple(likeliest[:draws])]

    def draw(self, noise: Noise) -> tuple[Itemset, ...]:
        """Some candidates."""
        return noise.best(self.scores, self.mechanism, domain=self.domain)


def _is_in(itemset: Itemset, domain: Domain) -> bool:
    return domain.min_size <= len(itemset) <= domain.max_size and set(itemset) <= set(domain.items)


def _unlisted(domain: Domain | None, listed: dict[Itemset, int]) -> Iterator[Itemset]:
    if domain is None:
        return iter(())
    sizes = range(domain.min_size, min(domain.max_size, len(domain.items)) + 1)
    every = (itemset for size in sizes for itemset in combinations(domain.items, size))
    return (itemset for itemset in every if itemset not in listed)


class SubsetLaw(DecisionLaw):
    """One set of `least` to `most` candidates, with P proportional to exp(-rate * loss)."""

    def __init__(self, margins: Int64Array, mechanism: Exponential, least: int, most: int) -> None:
        self.margins, self.mechanism, self.least, self.most = margins, mechanism, least, most
        rate, worst = float(mechanism.rate), self.sets_within(-1)
        logs = []
        for loss in sorted({0, *np.abs(margins).tolist()}):
            within = self.sets_within(loss)
            if within > worst:
                logs.append(math.log(within - worst) - rate * loss)
            worst = within
        self.log_total = log_sum(np.array(logs))

    def sets_within(self, loss: int) -> int:
        """How many sets lose at most that: they take all that are more above, and any of those that are as near."""
        if loss < 0:
            return 0
        taken = int(np.count_nonzero(self.margins > loss))
        free = int(np.count_nonzero(np.abs(self.margins) <= loss))
        sizes = range(max(0, self.least - taken), min(free, self.most - taken) + 1)
        return sum(math.comb(free, size) for size in sizes)

    def log_chance(self, outcome: Sequence[int]) -> float:
        """By the loss of the set: how far the worst misplaced candidate is from the threshold."""
        chosen = set(outcome)
        if not self.least <= len(chosen) <= self.most or not chosen <= set(range(self.margins.size)):
            return -math.inf
        margins = enumerate(self.margins.tolist())
        loss: int = max([0, *(-margin if place in chosen else margin for place, margin in margins)])
        return -float(self.mechanism.rate) * loss - self.log_total

    def telling(self, other: "SubsetLaw") -> Iterable[list[int]]:
        """Every set, or those that are best for either law, less one candidate or with one more."""
        number = self.margins.size
        sizes = range(self.least, self.most + 1)
        if sum(math.comb(number, size) for size in sizes) <= MOST_TRIED:
            return [list(chosen) for size in sizes for chosen in combinations(range(number), size)]
        best = [set(np.flatnonzero(law.margins >= 0).tolist()) for law in (self, other)]
        return [sorted(chosen ^ {place}) for chosen in best for place in range(number)]

    def draw(self, noise: Noise) -> list[int]:
        """One set."""
        return noise.subset(self.margins, self.mechanism, least=self.least, most=self.most)


def log_sum(logs: FloatArray) -> float:
    """The log of a sum of exponentials."""
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()))
