"""Exact numbers, in types of their own: they hold private values, show none, and are not NoisyCounts."""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

from veilset.arrays import Int32Array, Int64Array

Values = TypeVar("Values")


def _say_private(values: object) -> str:
    return f"{type(values).__name__}(private)"


@dataclass_transform(frozen_default=True, eq_default=False)
def mute(values: type[Values]) -> type[Values]:
    """Make a frozen dataclass that shows its name and no value, and that equals only itself."""
    values.__repr__ = _say_private  # type: ignore[method-assign]
    return dataclass(frozen=True, slots=True, repr=False, eq=False)(values)


@mute
class ExactCounts:
    """Counts straight from the data: never printed, never stored, never returned to a user."""

    values: Int64Array


@mute
class ExactItemsets:
    """Itemsets that the data holds, with their supports; which ones there are is private, too.

    Itemset i is `items[offsets[i]:offsets[i + 1]]`, item codes ascending. Ordered by support, largest first;
    ties by size, then by codes.
    """

    offsets: Int64Array
    items: Int32Array
    supports: Int64Array


@mute
class ExactTree:
    """How many transactions begin with each sequence of items, in a public order; private down to its shape.

    Node n stands for the path to `parents[n]` and then the item of rank `ranks[n]`. Node 0 is the root; a parent
    stands before its children.
    """

    parents: Int64Array
    ranks: Int32Array
    counts: Int64Array


@mute
class ExactRecords:
    """Records, each with its number of copies: row r is `items[offsets[r]:offsets[r + 1]]`, ascending.

    The same record may stand in several rows; its copies are those of all of them.
    """

    offsets: Int64Array
    items: Int32Array
    copies: Int64Array


@mute
class ExactCells:
    """The parts of partitions into which any record falls, by partition and mask, with their exact sizes."""

    partitions: Int64Array
    masks: Int64Array
    sizes: Int64Array
