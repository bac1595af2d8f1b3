"""Every random decision behind the gate, each with its law: whatever a question answers was drawn by one of these.

A question hands over exact values and the mechanism that was paid for; what comes back may leave. So this list is where
an audit can stand: it sees the exact values, the noise that they really get, and all that an attacker could learn.

* `counts`: every count with discrete Laplace or discrete Gaussian noise.
* `best`: candidates by the exponential mechanism, one after another without replacement.
* `place`: one of some scores by the exponential mechanism.
* `subset`: one set of candidates, of all that there are, by the exponential mechanism.
* `labels`: which supports reach a noisy threshold.
* `passing`: which of very many noisy counts, nearly all of them 0, reach a threshold, and their values.
* `named`: which items are named, and their noisy weights.

`keys` and `sample_keys` decide what is counted, never what leaves: which items of a long transaction, which
transactions of a person, which transactions of all.
"""

from abc import ABC, abstractmethod
from fractions import Fraction

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate.approximate_mechanisms import DiscreteGaussian, ItemNaming
from veilset.gate.mechanisms import AboveThreshold, DiscreteLaplace, Exponential
from veilset.gate.selection.exponential import draw_place
from veilset.gate.selection.floored_supports import ExactScores, draw_from_domain, draw_listed
from veilset.gate.selection.item_discovery import NamedItems, named_items
from veilset.gate.selection.noisy_test import NoisyTest, PassedCounts, SparseCounts, draw_passing
from veilset.gate.selection.sparse_vector import Comparisons, in_blocks, sparse_vector
from veilset.gate.selection.subsets import draw_subset
from veilset.itemsets import Domain, Itemset
from veilset.raw.counts import ExactCounts, mute
from veilset.raw.cuts.rows import Keys


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
    def keys(self, number: int) -> Keys:
        """Uniform 32-bit keys."""

    def sample_keys(self, number: int, *, rate: Fraction) -> Keys:  # noqa: ARG002 - an audit needs the rate
        """Uniform 32-bit keys; transactions are in a sample, at that rate, whose keys are low enough."""
        return self.keys(number)

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
