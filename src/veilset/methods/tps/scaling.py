"""Normalised supports of chosen items, scaled up to what they stand for: it is asked what normalising took away.

Privacy argument. Three questions, with a share of their own each (`prices`); items, caps, limits and averages are
public or follow from earlier noisy answers. Neighbours differ by one privacy unit of at most c transactions:

1. a histogram of lengths in 11 classes: a transaction is in one, sensitivity c. Where transactions were restricted to
   some items, of how many of these they hold;
2. the sum of the supports of the chosen items, where one transaction adds at most m: sensitivity c m;
3. how unlike long and short transactions are in the chosen items (`tps.unlikeness`), once: where transactions were
   restricted, its share goes to the histogram.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from veilset.arrays import Int64Array
from veilset.gate import Curator, NoisyCount, NormalisedCounts
from veilset.itemsets import Itemsets
from veilset.methods.shared.discovery import LENGTH_CLASSES
from veilset.methods.shared.noisy_values import MeasuredGroup, NoisyValues
from veilset.methods.shared.shrinkage import Shrunk, shrunk, shrunk_in_groups
from veilset.methods.tps.drawn_supports import DrawnSupports
from veilset.methods.tps.leanings import SupportClasses
from veilset.methods.tps.lengths import (
    USUAL_MIDDLE,
    USUAL_OF_CHOSEN,
    LengthLaws,
    drawn_lengths,
    scale_of,
)
from veilset.methods.tps.unlikeness import USUAL_TILT_SPREAD, ask_spread
from veilset.results.estimates import Estimates

SHARE_FOR_HISTOGRAM, SHARE_FOR_TOTAL, SHARE_FOR_UNLIKENESS = Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)
"""1/4 of what scaling costs is for lengths, 1/2 for the sum, 1/4 for unlikeness."""
LEAST_MEAN = 1e-3
"""0.001 of a transaction is left of a support, at the least."""


@dataclass(frozen=True, slots=True)
class ScalingPrices:
    """What the questions cost; `unlikeness` is nothing where it is not asked."""

    lengths: Fraction
    total: Fraction
    unlikeness: Fraction

    @classmethod
    def of(cls, epsilon: Fraction, *, is_restricted: bool) -> Self:
        """All of epsilon.

        >>> ScalingPrices.of(Fraction(1, 25), is_restricted=True).lengths
        Fraction(1, 50)
        """
        unlikeness = Fraction(0) if is_restricted else epsilon * SHARE_FOR_UNLIKENESS
        total = epsilon * SHARE_FOR_TOTAL
        return cls(epsilon - total - unlikeness, total, unlikeness)


@dataclass(frozen=True, slots=True, eq=False)
class NormalisedAnswers:
    """Noisy normalised supports, the places of the chosen ones, and these calm."""

    noisy: NoisyValues
    places: Int64Array
    calm: Shrunk
    limit: int

    @classmethod
    def of(cls, counts: NormalisedCounts, chosen: Sequence[int], *, largest: int) -> Self:
        """As they were counted."""
        place_of = {item: place for place, item in enumerate(counts.items.tolist())}
        places = np.array([place_of[item] for item in chosen], np.int64)
        steps = counts.mechanism.steps
        noisy = NoisyValues.laplace(counts.values / steps, float(counts.mechanism.scale) / steps)
        calm = shrunk(noisy, places, largest=largest)
        return cls(noisy, places, calm, counts.limit)

    @property
    def error(self) -> float:
        """The standard deviation of the sum of the chosen ones, as a part of it."""
        return float(np.linalg.norm(self.calm.deviations) / np.maximum(self.calm.means, LEAST_MEAN).sum())

    def drawn(self, lengths: LengthLaws, *, number: int) -> DrawnSupports:
        """What the supports of classes of them may be."""
        error = float(np.linalg.norm(self.noisy.deviations))
        values = self.noisy.values.copy()
        values[self.places] = np.maximum(self.calm.means, LEAST_MEAN)
        laws = lengths.explaining_sum(float(self.noisy.values.sum()), error)
        return DrawnSupports.of(laws, SupportClasses.of(values, self.places), number=number)

    def supports(self, drawn: DrawnSupports, spread: float, *, largest: int) -> Shrunk:
        """The supports of the chosen items, class by class; those that were not chosen tell of the law of all."""
        groups, chosen = [], []
        members, everywhere = drawn.classes.members, drawn.classes.everywhere
        for each in range(drawn.classes.sizes.size):
            alike = np.flatnonzero(everywhere == each)
            groups.append(MeasuredGroup(self.noisy.take(alike), drawn.kept(each, spread)))
            chosen.append(np.searchsorted(alike, self.places[members == each]))
        found = shrunk_in_groups(groups, chosen, largest=largest)
        return found.take(np.argsort(np.argsort(members, kind="stable"), kind="stable"))


def scaled_up(
    curator: Curator,
    counts: NormalisedCounts,
    chosen: Sequence[int],
    *,
    number: NoisyCount,
    largest: int,
    epsilon: Fraction,
    spread: float = USUAL_TILT_SPREAD,
) -> tuple[Estimates, float]:
    """The supports of chosen items, none above the largest that is possible, and how far their tilts are apart.

    Where transactions were restricted, that is as told before.
    """
    is_restricted = counts.items.size < curator.alphabet_size
    prices = ScalingPrices.of(epsilon, is_restricted=is_restricted)
    measured = NormalisedAnswers.of(counts, chosen, largest=largest)
    lengths = ask_length_laws(curator, counts, number=number, epsilon=prices.lengths)
    drawn = ask_total_of_chosen(
        curator, measured.drawn(lengths, number=number.value), measured, chosen, prices.total
    )
    if not is_restricted:
        order = np.argsort(-measured.calm.means, kind="stable")
        spread = ask_spread(curator, drawn, np.array(chosen)[order], epsilon=prices.unlikeness)
    is_whole = counts.limit >= counts.items.size
    found = measured.calm if is_whole else measured.supports(drawn, spread, largest=largest)
    return found.estimates(Itemsets.of((item,) for item in chosen)), spread


def ask_length_laws(
    curator: Curator, counts: NormalisedCounts, *, number: NoisyCount, epsilon: Fraction
) -> LengthLaws:
    """What a histogram of lengths makes likely: of how many of the counted items transactions hold."""
    is_restricted = counts.items.size < curator.alphabet_size
    items = Itemsets.of((item,) for item in counts.items.tolist()) if is_restricted else None
    histogram = curator.ask_containment(items, classes=LENGTH_CLASSES, epsilon=epsilon)
    middle = USUAL_OF_CHOSEN if is_restricted else USUAL_MIDDLE
    return LengthLaws.of(
        drawn_lengths(histogram, number, longest=counts.items.size, middle=middle), counts.limit
    )


def ask_total_of_chosen(
    curator: Curator,
    drawn: DrawnSupports,
    measured: NormalisedAnswers,
    chosen: Sequence[int],
    epsilon: Fraction,
) -> DrawnSupports:
    """Weighed by the noisy sum of the supports of the chosen items."""
    noise = math.sqrt(2) * curator.unit.transactions / float(epsilon)
    cap = drawn.choose_cap(noise).most
    total = curator.ask_total(np.array(chosen), most=cap, epsilon=epsilon)
    return drawn.explaining_total(float(total.value), scale_of(total), cap=cap, error=measured.error)
