"""Every random decision behind the gate, each with its law: whatever a question answers was drawn by one of these.

A question hands over exact values and the mechanism that was paid for; what comes back may leave. So this list is where
an audit can stand: it sees the exact values, the noise that they really get, and all that an attacker could learn.

* `counts`: every count with discrete Laplace or discrete Gaussian noise.
* `best`: candidates by the exponential mechanism, one after another without replacement.
* `place`: one of some scores by the exponential mechanism.
* `subset`: one set of candidates, of all that there are, by the exponential mechanism.
* `labels`: which supports reach a noisy threshold.
* `search`: step by step, the first of some candidates that reaches a noisy threshold, or that none does.
* `passing`: which of very many noisy counts, nearly all of them 0, reach a threshold, and their values.
* `named`: which items are named, and their noisy weights.

`keys` and `sample_keys` decide what is counted, never what leaves: which items of a long transaction, which
transactions of a person, which transactions of all.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate.approximate_mechanisms import DiscreteGaussian, ItemNaming
from veilset.gate.mechanisms import AboveThreshold, DiscreteLaplace, Exponential
from veilset.gate.selection.exponential import draw_place
from veilset.gate.selection.floored_supports import ExactScores, draw_from_domain, draw_listed
from veilset.gate.selection.free_refusals import SearchOutcome, SearchState, search_with_free_refusals
from veilset.gate.selection.item_discovery import NamedItems, named_items
from veilset.gate.selection.noisy_test import NoisyTest, PassedCounts, SparseCounts, draw_passing
from veilset.gate.selection.sparse_vector import Comparisons, in_blocks, sparse_vector
from veilset.gate.selection.subsets import draw_subset
from veilset.itemsets import Domain, Itemset, Itemsets
from veilset.raw.counts import ExactCounts, mute
from veilset.raw.cuts.row_keys import RowKeys

CountItemsets = Callable[[Itemsets], ExactCounts]
"""The exact supports of itemsets."""


class Noise(ABC):
    """Where the randomness of a release comes from, and every decision that is made by it."""

    is_private: bool
    """False for randomness that can be repeated: a release made with it protects nobody."""

    @abstractmethod
    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """The counts with independent noise, P(x) proportional to exp(-|x| / scale)."""

    @abstractmethod
    def discrete_gaussian(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """The counts with independent noise, P(x) proportional to exp(-x^2 / (2 scale^2))."""

    @abstractmethod
    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound)."""

    @abstractmethod
    def keys(self) -> RowKeys:
        """Uniform keys of all transactions, by a new secret."""

    def sample_keys(self, *, rate: Fraction) -> RowKeys:  # noqa: ARG002 - an audit needs the rate
        """The same; transactions are in a sample, at that rate, whose keys are low enough."""
        return self.keys()

    def counts(self, exact: ExactCounts, mechanism: DiscreteLaplace | DiscreteGaussian) -> Int64Array:
        """Every count with noise of its own."""
        if isinstance(mechanism, DiscreteLaplace):
            return self.discrete_laplace(exact, scale=mechanism.scale)
        return self.discrete_gaussian(exact, scale=mechanism.scale)

    def best(
        self, scores: ExactScores, mechanism: Exponential, *, domain: Domain | None = None
    ) -> tuple[Itemset, ...]:
        """Itemsets without replacement, P proportional to exp(rate * score): of a domain, or of those listed."""
        draws, rate = mechanism.draws, mechanism.rate
        if domain is None:
            return tuple(draw_listed(scores, draws, rate=rate, below=self.below))
        return tuple(draw_from_domain(scores, domain, draws, rate=rate, below=self.below))

    def place(self, scores: Int64Array, mechanism: Exponential, *, steps: int = 1) -> int:
        """One place, P proportional to exp(rate * score); scores are in steps, `steps` of them for a whole one."""
        return draw_place(scores, rate=mechanism.rate / steps, below=self.below)

    def subset(self, margins: Int64Array, mechanism: Exponential, *, least: int, most: int) -> list[int]:
        """The places of `least` to `most` candidates, P proportional to exp(-rate * loss of the set)."""
        return draw_subset(margins, least=least, most=most, rate=mechanism.rate, below=self.below)

    def labels(
        self, supports: Int64Array, mechanism: AboveThreshold, *, threshold: int, by_blocks: bool
    ) -> Comparisons:
        """Which supports reach a noisy threshold: one for all of them, or a new one for each block."""
        noisy = _SupportsAndThreshold(supports, threshold, self)
        compare = in_blocks if by_blocks else sparse_vector
        return compare(noisy, mechanism.wanted, sensitivity=mechanism.sensitivity, epsilon=mechanism.epsilon)

    def search(
        self, count: CountItemsets, mechanism: AboveThreshold, *, threshold: int, start: SearchState
    ) -> SearchOutcome:
        """What a search finds: step by step the first candidate that reaches one noisy threshold, or none."""
        noisy = _SearchedItemsets(count, threshold, self)
        most, sensitivity = mechanism.wanted, mechanism.sensitivity
        return search_with_free_refusals(
            noisy, start, most=most, sensitivity=sensitivity, epsilon=mechanism.epsilon
        )

    def passing(self, counts: SparseCounts, test: NoisyTest) -> PassedCounts:
        """Which of the counts, with noise, reach the threshold of a test, and their noisy values."""
        return draw_passing(
            counts,
            test,
            add_noise=lambda exact: self.discrete_laplace(exact, scale=test.scale),
            below=self.below,
        )

    def named(self, weights: ExactCounts, mechanism: ItemNaming) -> NamedItems:
        """The items whose noisy weight reaches the threshold, among those that some transaction holds."""
        draw = self.discrete_gaussian if mechanism.law == "gaussian" else self.discrete_laplace
        return named_items(weights, mechanism, add_noise=lambda exact: draw(exact, scale=mechanism.scale))


@mute
class _SupportsAndThreshold:
    """What is compared, with noise from a source."""

    exact: Int64Array
    exact_threshold: int
    noise: Noise

    @property
    def number(self) -> int:
        """How many supports there are."""
        return self.exact.size

    def threshold(self, scale: Fraction) -> int:
        """The threshold with new noise."""
        exact = ExactCounts(np.array([self.exact_threshold], dtype=np.int64))
        return int(self.noise.discrete_laplace(exact, scale=scale)[0])

    def supports(self, start: int, end: int, scale: Fraction) -> Int64Array:
        """Some of the supports, each with new noise."""
        return self.noise.discrete_laplace(ExactCounts(self.exact[start:end]), scale=scale)


class _SearchedItemsets:
    """What a search compares, with noise from a source; no itemset is counted twice."""

    def __init__(self, count: CountItemsets, threshold: int, noise: Noise) -> None:
        self._count, self._threshold, self._noise = count, threshold, noise
        self._known: dict[Itemset, int] = {}
        self._listed: tuple[Itemsets, Int64Array] | None = None

    def threshold(self, scale: Fraction) -> int:
        """The threshold with noise."""
        exact = ExactCounts(np.array([self._threshold], dtype=np.int64))
        return int(self._noise.discrete_laplace(exact, scale=scale)[0])

    def supports(self, candidates: Itemsets, start: int, end: int, scale: Fraction) -> Int64Array:
        """Some of the supports, each with new noise."""
        if self._listed is None or self._listed[0] is not candidates:
            self._listed = candidates, self._supports_of(list(candidates))
        return self._noise.discrete_laplace(ExactCounts(self._listed[1][start:end]), scale=scale)

    def _supports_of(self, candidates: list[Itemset]) -> Int64Array:
        unknown = [itemset for itemset in candidates if itemset not in self._known]
        if unknown:
            counted = self._count(Itemsets.of(unknown)).values.tolist()
            self._known |= dict(zip(unknown, counted, strict=True))
        return np.array([self._known[itemset] for itemset in candidates], dtype=np.int64)
