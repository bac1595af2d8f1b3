"""What a method is expected to know of itemsets, as normal laws around their true supports in a model of the data.

`Expected` stands where the method has a posterior: it answers the same questions, so that the method's own decisions
can be made from it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.forecast import Stage, World, laws
from veilset.forecast.model import model_lengths
from veilset.itemsets import Itemset, Itemsets
from veilset.methods.planned.histogram_laws import MOST
from veilset.methods.planned.overlap import Cap, Overlap
from veilset.methods.planned.refinement_choice import ByMarginals
from veilset.methods.planned.scouting import Scouting
from veilset.methods.planned.settings import Settings
from veilset.methods.shared.bases import Basis

Stages = tuple[Stage, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """Itemsets that will be known: true supports, deviations of what is known of them, chances to be known at all."""

    itemsets: list[Itemset]
    supports: FloatArray
    deviations: FloatArray
    present: FloatArray

    @property
    def means(self) -> FloatArray:
        """The supports: answers are followed without their noise."""
        return self.supports

    def __add__(self, other: "Expected") -> "Expected":
        """Both."""
        return Expected(
            self.itemsets + other.itemsets,
            np.append(self.supports, other.supports),
            np.append(self.deviations, other.deviations),
            np.append(self.present, other.present),
        )

    def take(self, places: Int64Array) -> "Expected":
        """Some of them."""
        return Expected(
            [self.itemsets[place] for place in places.tolist()],
            self.supports[places],
            self.deviations[places],
            self.present[places],
        )

    def updated(self, places: Int64Array, deviations: FloatArray) -> "Expected":
        """After one more answer about some of them, by inverse variance."""
        after = self.deviations.copy()
        after[places] = after[places] * deviations / np.hypot(after[places], deviations)
        return replace(self, deviations=after)

    def perhaps(self, updated: "Expected", chances: FloatArray) -> "Expected":
        """After answers that each gets with a chance: deviations on average."""
        deviations = chances * updated.deviations + (1 - chances) * self.deviations
        return replace(self, deviations=deviations)

    def at_least(self, support: float) -> FloatArray:
        """How likely each will seem to reach a support."""
        return laws.normal_distribution((self.supports - support) / self.deviations)

    def kth_support(self, k: int) -> float:
        """The support of the k-th of them; 0 where there are fewer, as anything may be the k-th then."""
        if self.supports.size < k:
            return 0.0
        return float(np.partition(self.supports, -k)[-k])


@dataclass(frozen=True, slots=True, eq=False)
class ForecastProgress:
    """What will be known, the questions so far, and what remains of epsilon; whether larger itemsets may matter.

    With a support of `kept_from` an item is chosen over ones that nobody holds; `marginals` are the refinement, where
    that is settled.
    """

    expected: Expected
    kept_from: int
    stages: Stages
    remaining: Fraction
    may_grow: bool = True
    lengths: Overlap | None = None
    marginals: ByMarginals | None = None

    def then(self, expected: Expected, *stages: Stage, remaining: Fraction) -> "ForecastProgress":
        """After more questions."""
        return replace(self, expected=expected, stages=self.stages + stages, remaining=remaining)

    def stopped(self, *stages: Stage, remaining: Fraction) -> "ForecastProgress":
        """With no larger itemsets to look for."""
        return replace(self, stages=self.stages + stages, remaining=remaining, may_grow=False)

    def chosen_from(self, k: int) -> int:
        """The support with which an itemset is chosen over ones that nobody holds, by what is known of the k-th."""
        kth = np.argsort(-self.expected.supports, kind="stable")[:k][-1]
        scale = float(self.expected.deviations[kth]) / math.sqrt(2)
        candidates = len(self.expected.itemsets)
        return max(self.kept_from, laws.support_to_be_first(scale, k=k, candidates=candidates))


def model_supports(world: World, itemsets: Sequence[Itemset]) -> FloatArray:
    """Of itemsets, in the model: items are independent."""
    listed = Itemsets.of(itemsets)
    supports: FloatArray = world.rows * np.multiply.reduceat(world.shares[listed.items], listed.offsets[:-1])
    return supports


def model_overlap(world: World, itemsets: Sequence[Itemset], settings: Settings) -> Overlap:
    """How many of some itemsets transactions contain, from how many of their items they contain."""
    lengths = model_lengths(world, 1 + max(map(max, itemsets)), epsilon=Fraction(1)).values
    supports, sizes = model_supports(world, itemsets), np.array([len(itemset) for itemset in itemsets])
    numbers = np.zeros(lengths.size)
    for size in np.unique(sizes).tolist():
        every_one = np.array([math.comb(length, size) for length in range(lengths.size)])
        total = float(supports[sizes == size].sum())
        numbers += every_one * min(1.0, total / max(float(every_one @ lengths), 1.0))
    numbers = np.minimum(numbers, min(len(itemsets), MOST))
    below, part = np.floor(numbers).astype(np.int64), numbers % 1
    transactions = np.bincount(below, lengths * (1 - part), minlength=MOST + 2).astype(np.float64)
    transactions += np.bincount(below + 1, lengths * part, minlength=MOST + 2)
    return Overlap.known(transactions[1 : MOST + 1], settings)


def deviations_under_cap(supports: FloatArray, cap: Cap, epsilon: Fraction, settings: Settings) -> FloatArray:
    """Of supports counted under a cap: noise, scaled up, and the uneven loss."""
    noise = math.sqrt(2) * cap.most / float(epsilon) / cap.kept
    deviations: FloatArray = np.hypot(noise, settings.unevenness * (1 - cap.kept) * supports)
    return deviations


def known_by_marginals(
    world: World, scouting: Scouting, bases: Sequence[Basis], chances: FloatArray, *, scale: float
) -> Expected:
    """All itemsets within marginals, known where all their items are, which have these chances.

    Deviations are over all marginals that cover an itemset; `scale` is the noise of one cell.
    """
    precisions: dict[Itemset, float] = {}
    for basis in bases:
        for size in range(1, min(len(basis), world.domain.max_size) + 1):
            precision = (scale * scouting.settings.noise_of_marginal(len(basis), size)) ** -2
            for itemset in combinations(basis, size):
                precisions[itemset] = precisions.get(itemset, 0.0) + precision
    itemsets = list(precisions)
    deviations = np.array([1 / math.sqrt(precision) for precision in precisions.values()])
    present = np.array([chances[list(itemset)].prod() for itemset in itemsets])
    return Expected(itemsets, model_supports(world, itemsets), deviations, present)
