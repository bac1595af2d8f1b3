"""Capped counts: how they are asked for, and what they say about supports.

Privacy argument. A transaction that contains n of the itemsets counts for each in full where n is at most the cap m,
else m / n: L1 sensitivity c m, c the transactions of one privacy unit. Where there is a delta, and Gaussian noise is
predicted to err less, it counts sqrt(m / n): L2 sensitivity c sqrt(m). These are the only questions here.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import Curator, GaussianCounts, NoisyCounts, NormalisedCounts
from veilset.itemsets import Itemsets
from veilset.methods.planned.companions import Companions
from veilset.methods.planned.leaning import counted_by_itemset
from veilset.methods.planned.measurements import Measurement
from veilset.methods.planned.overlap import Cap, Overlap, root_weights_under, weights_under


@dataclass(frozen=True, slots=True, eq=False)
class EveryItem:
    """The supports of all items of the alphabet as they were first measured, and the scale of their noise."""

    supports: FloatArray
    scale: float

    @classmethod
    def of(
        cls, counts: NormalisedCounts, overlap: Overlap, cap: Cap, *, noise: float, grid: FloatArray
    ) -> "EveryItem":
        """What capped counts say of the support of each item, rare or not; `noise` is its scale under a cap of 1."""
        kept = max(overlap.kept(cap.most), 1e-6)
        values, counted_of_grid = counts.values / counts.mechanism.steps, overlap.counted(grid, cap.most)
        supports = np.where(
            values < counted_of_grid[0], values / kept, np.interp(values, counted_of_grid, grid)
        )
        return cls(supports, cap.most * noise / kept)

    def above_noise(self) -> FloatArray:
        """The supports that stand out from noise on as many zeros; 0 in place of the others."""
        noise = self.scale * math.log(max(self.supports.size, 2))
        return np.where(self.supports >= noise, self.supports, 0.0)


def ask_capped_supports(
    curator: Curator,
    itemsets: Itemsets,
    overlap: Overlap,
    cap: Cap,
    *,
    epsilon: Fraction,
    grid: FloatArray,
    companions: Companions,
) -> Measurement:
    """Pay for supports of chosen itemsets under a cap, and say what they tell of each."""
    if cap.is_root:
        rooted = curator.ask_root_counts(itemsets, most=cap.most, epsilon=epsilon)
        measured, weights = (
            measurement_of_roots(rooted, overlap, cap, grid=grid),
            root_weights_under(cap.most),
        )
    else:
        counts = curator.ask_capped_counts(itemsets, most=cap.most, epsilon=epsilon)
        measured, weights = measurement_of(counts, overlap, cap, grid=grid), weights_under(cap.most)
    return replace(measured, counted=counted_by_itemset(overlap, grid, weights, companions))


def measurement_of(
    counts: NoisyCounts | NormalisedCounts, overlap: Overlap, cap: Cap, *, grid: FloatArray
) -> Measurement:
    """What counts under a cap say of supports; both may be in steps, of which a whole transaction has several."""
    noise = counts.mechanism
    return Measurement(
        counts.values / noise.steps,
        np.array([math.sqrt(2) * float(noise.scale) / noise.steps]),
        overlap.counted_by_tilt(grid, weights_under(cap.most)),
        unevenness=overlap.unevenness(weights_under(cap.most)),
    )


def measurement_of_roots(
    counts: GaussianCounts, overlap: Overlap, cap: Cap, *, grid: FloatArray
) -> Measurement:
    """What counts under a cap in the L2 norm say, whose noise is normal."""
    noise = counts.mechanism
    return Measurement(
        counts.values / noise.steps,
        np.array([float(noise.scale) / noise.steps]),
        overlap.counted_by_tilt(grid, root_weights_under(cap.most)),
        unevenness=overlap.unevenness(root_weights_under(cap.most)),
        is_normal=True,
    )


def error_of_average_cap(contained: float, noise: float) -> float:
    """The error of supports where a transaction contains that many of the itemsets on average, before more is known.

    It fits under a cap of twice as many and one; `noise` is the scale under a cap of 1.
    """
    return math.sqrt(2) * (1 + 2 * contained) * noise


def error_of_fitting_cap(contained: float, noise: float, *, support: float, unevenness: float) -> float:
    """The same where a cap is larger the less noise there is, because what it takes away is known less well.

    What a cap of n times the average one takes away of a support is about exp(-n) of it, and uneven: least is noise
    and loss together where they are about equal.

    >>> round(error_of_fitting_cap(1, 10, support=100, unevenness=0.4)), round(error_of_average_cap(1, 10))
    (42, 42)
    >>> round(error_of_fitting_cap(1, 1, support=10_000, unevenness=0.4)), round(error_of_average_cap(1, 1))
    (29, 4)
    """
    average = error_of_average_cap(contained, noise)
    return average * max(1.0, math.log(max(unevenness * support / max(average, 1e-9), 1.0)))
