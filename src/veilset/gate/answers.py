"""What comes out of the gate: noisy values with the mechanism that made them; safe to show and store."""

from dataclasses import dataclass

from veilset.arrays import Int64Array
from veilset.gate.approximate_mechanisms import DiscreteGaussian, ItemNaming
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Itemset, Itemsets


@dataclass(frozen=True, slots=True)
class NoisyCount:
    """One count with noise; without a mechanism where it is public."""

    value: int
    mechanism: DiscreteLaplace | None


@dataclass(frozen=True, slots=True)
class NoisyUnlikeness:
    """How unlike long and short transactions are, with noise: a sum of transactions, in steps of the mechanism."""

    value: int
    mechanism: DiscreteLaplace


@dataclass(frozen=True, slots=True, eq=False)
class NoisyHistogram:
    """Counts of classes that exclude each other, each with noise: lengths, containment, or the cells of a marginal."""

    values: Int64Array
    mechanism: DiscreteLaplace


@dataclass(frozen=True, slots=True, eq=False)
class Discovery:
    """What finding the items privately told beside their names.

    `weights[i]` is the noisy weight of the item of code i, in steps of the mechanism; `lengths` is the noisy histogram
    of lengths by which the mechanism was chosen.
    """

    weights: Int64Array
    mechanism: ItemNaming
    lengths: NoisyHistogram


@dataclass(frozen=True, slots=True, eq=False)
class NoisyCounts:
    """Supports of itemsets, each with noise."""

    itemsets: Itemsets
    values: Int64Array
    mechanism: DiscreteLaplace


@dataclass(frozen=True, slots=True, eq=False)
class GaussianCounts:
    """Supports of itemsets, each with Gaussian noise, in steps of the mechanism."""

    itemsets: Itemsets
    values: Int64Array
    mechanism: DiscreteGaussian


@dataclass(frozen=True, slots=True, eq=False)
class SubPartitions:
    """Sub-partitions that passed a noisy test, ordered by partition and mask; others may be there, too.

    Number i is part of the partition at place `parents[i]` of the split; bit c of `masks[i]` tells whether its
    records meet child c of the node by which that was split. `sizes` have noise and lie above the threshold.
    """

    parents: Int64Array
    masks: Int64Array
    sizes: Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class NormalisedCounts:
    """Supports of single items over transactions that were normalised to `limit` items, each with noise.

    `values` are in steps; a whole transaction has as many as the mechanism says.
    """

    items: Int64Array
    values: Int64Array
    limit: int
    mechanism: DiscreteLaplace


@dataclass(frozen=True, slots=True)
class Chosen:
    """Itemsets chosen by their private scores, in the order of the draws; the scores stay behind."""

    itemsets: tuple[Itemset, ...]


@dataclass(frozen=True, slots=True)
class FoundItems:
    """Items whose noisy support reached a noisy threshold, in the order in which they were asked for."""

    items: tuple[int, ...]
