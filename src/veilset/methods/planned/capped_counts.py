"""Shared supports: how they are asked for, and what they say about supports.

Privacy argument. A transaction that holds n of the itemsets counts for each in full where n is at most the cap m, else
m / n: L1 sensitivity c m, c the transactions of one privacy unit. That is the only question here.
"""

from fractions import Fraction

from veilset.arrays import FloatArray
from veilset.gate import Curator, NoisyCounts, NormalisedCounts
from veilset.itemsets import Itemsets
from veilset.methods.planned.overlap import UNEVEN, Cap, Overlap
from veilset.methods.planned.posterior import measured, weighed


def ask_capped(
    curator: Curator, itemsets: Itemsets, overlap: Overlap, cap: Cap, *, epsilon: Fraction, grid: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Pay for supports under a cap: how likely they make each support of the grid, and their sums (`weighed`)."""
    counts = curator.ask_capped_counts(itemsets, most=cap.most, epsilon=epsilon)
    return told_by(counts, overlap.counted(grid, cap.most), kept=cap.kept, grid=grid)


def told_by(
    counts: NoisyCounts | NormalisedCounts, counted: FloatArray, *, kept: float, grid: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What supports under a cap say, of which `counted` is counted on average for each of the grid."""
    noise = counts.mechanism
    values, scale, uneven = counts.values / noise.steps, float(noise.scale) / noise.steps, UNEVEN * (1 - kept)
    answers = measured(values, counted, scale=scale, uneven=uneven)
    return answers, weighed(values, counted, scale=scale, uneven=uneven, grid=grid)


def unit_of(curator: Curator, epsilon: Fraction) -> float:
    """The scale of the noise of a count that a transaction moves by 1."""
    return curator.unit.transactions / float(epsilon)
