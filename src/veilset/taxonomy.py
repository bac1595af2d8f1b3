"""Taxonomies: trees over the public items, by which a dataset is taken apart. No data here.

DiffPart's taxonomy is context-free: a group of items need not mean anything, so any order of the items will do,
as long as it is public. A given hierarchy, such as product categories, puts items that occur together close to
each other, and fewer groups are then needed to tell records apart.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veilset.errors import BadCall, BadInput

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]

Tree = int | list["Tree"]
"""An item's code, or the children of a node."""

FAN_OUT = 10
"""How many children a node has at most, where nothing else is said: as in the paper."""
LARGEST_FAN_OUT = 16
MOST_CHILDREN = 20
"""A node of n children stands for 2^n - 1 combinations of them; more than this nobody can count."""


@dataclass(frozen=True, slots=True, eq=False)
class Taxonomy:
    """A tree whose leaves are items. Leaves are numbered from left to right: `items[place]` is an item's code.

    Inner nodes are numbered from 0, the root, parents before their children. Node u stands for the places
    `starts[u]` to `ends[u]`; its children are the entries `first_child[u]` to `first_child[u + 1]` of
    `child_starts` (their first places) and `child_nodes` (their numbers; -1 for an item). Those of its children
    that are items, `item_children[u]` of them, come first. `heights[u]` is the longest way down to an item, and
    `inner_nodes[u]` the number of inner nodes from u down, u among them.

    >>> tree = Taxonomy.of([[0, 1], [2, 3]])
    >>> tree.nodes, tree.heights.tolist(), tree.inner_nodes.tolist()
    (3, [2, 1, 1], [3, 1, 1])
    """

    items: Int32Array
    starts: Int64Array
    ends: Int64Array
    first_child: Int64Array
    child_starts: Int64Array
    child_nodes: Int64Array
    item_children: Int64Array
    heights: Int64Array
    inner_nodes: Int64Array

    @classmethod
    def of(cls, tree: Tree) -> "Taxonomy":
        """From nested lists of item codes; a node with one child is that child."""
        raise NotImplementedError

    @classmethod
    def context_free(cls, items: Sequence[int], *, fan_out: int = FAN_OUT) -> "Taxonomy":
        """Groups of up to `fan_out` items in the given order, groups of groups, and so on up to one root.

        Groups of one level are of equal size, or nearly: 17 items in tens are 9 and 8.
        """
        check_fan_out(fan_out)
        raise NotImplementedError

    @classmethod
    def read(cls, path: str | Path, names: Sequence[int | str], *, fan_out: int = FAN_OUT) -> "Taxonomy":
        """A hierarchy of the items called `names` from a file; nodes of more children are divided further.

        One line an item: its name, then the categories that hold it, the nearest first, separated by tabs or
        by commas. Items that are not among the names are left out.
        """
        raise NotImplementedError

    @property
    def nodes(self) -> int:
        """How many inner nodes there are."""
        return self.starts.size


def check_fan_out(fan_out: int) -> None:
    """Raise BadCall where a fan-out makes no tree, or one whose nodes nobody can count."""
    if not 2 <= fan_out <= LARGEST_FAN_OUT:
        raise BadCall(
            f"a fan-out of {fan_out} makes no useful taxonomy; give 2 to {LARGEST_FAN_OUT}, {FAN_OUT} is common"
        )
