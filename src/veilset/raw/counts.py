"""Exact numbers, in types of their own: they hold private values, show none, and are not NoisyCounts."""

from dataclasses import dataclass

from veilset.arrays import Int32Array, Int64Array


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ExactCounts:
    """Counts straight from the data: never printed, never stored, never returned to a user."""

    values: Int64Array

    def __repr__(self) -> str:
        return "ExactCounts(private)"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ExactItemsets:
    """Itemsets that the data holds, with their supports; which ones there are is private, too.

    Itemset i is `items[offsets[i]:offsets[i + 1]]`, item codes ascending. Ordered by support, largest first;
    ties by size, then by codes.
    """

    offsets: Int64Array
    items: Int32Array
    supports: Int64Array

    def __repr__(self) -> str:
        return "ExactItemsets(private)"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ExactTree:
    """How many transactions begin with each sequence of items, in a public order; private down to its shape.

    Node n stands for the path to `parents[n]` and then the item of rank `ranks[n]`. Node 0 is the root; a parent
    stands before its children.
    """

    parents: Int64Array
    ranks: Int32Array
    counts: Int64Array

    def __repr__(self) -> str:
        return "ExactTree(private)"
