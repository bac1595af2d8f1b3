"""What comes out of the gate: noisy values with the mechanism that made them; safe to show and store."""

from dataclasses import dataclass

from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Itemset, Itemsets
from veilset.raw.counts import Int64Array


@dataclass(frozen=True, slots=True)
class NoisyCount:
    """One count with noise; without a mechanism where it is public."""

    value: int
    mechanism: DiscreteLaplace | None


@dataclass(frozen=True, slots=True, eq=False)
class NoisyHistogram:
    """Counts of classes that exclude each other, each with noise: lengths, or patterns of some items."""

    values: Int64Array
    mechanism: DiscreteLaplace


@dataclass(frozen=True, slots=True, eq=False)
class NoisyCounts:
    """Supports of itemsets, each with noise."""

    itemsets: Itemsets
    values: Int64Array
    mechanism: DiscreteLaplace


@dataclass(frozen=True, slots=True, eq=False)
class SubPartitions:
    """Sub-partitions that passed a noisy test, ordered by partition and mask; others may be there, too.

    Number i is part of the partition at place `parents[i]` of the split; bit c of `masks[i]` tells whether its
    records meet child c of the node by which that was split. `sizes` have noise and lie above the threshold.
    """

    parents: Int64Array
    masks: Int64Array
    sizes: Int64Array


@dataclass(frozen=True, slots=True)
class Chosen:
    """Itemsets chosen by their private scores, in the order of the draws; the scores stay behind."""

    itemsets: tuple[Itemset, ...]
