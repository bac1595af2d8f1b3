"""Taxonomies: trees over the public items, by which a dataset is taken apart. No data here.

DiffPart's taxonomy is context-free: a group of items need not mean anything, so any order of the items will do,
as long as it is public. A given hierarchy, such as product categories, puts items that occur together close to
each other, and fewer groups are then needed to tell records apart.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from veilset.arrays import Int32Array, Int64Array
from veilset.errors import BadCall, BadInput
from veilset.integers import frozen, item_codes, whole
from veilset.wording import shown

NestedItems = int | list["NestedItems"]
"""An item's code, or the children of a node."""

FAN_OUT = 10
"""How many children a node has at most, where nothing else is said: as in the paper."""
LARGEST_FAN_OUT = 16
MOST_CHILDREN = 20
"""A node of n children stands for 2^n - 1 combinations of them; more than this nobody can count."""


@dataclass(frozen=True, slots=True, eq=False)
class Taxonomy:
    """A tree whose leaves are items, each once. Leaves have places from left to right: `items[place]` is its code.

    Inner nodes are numbered from 0, the root, the highest first. Node u stands for the places
    `starts[u]` to `ends[u]`; its children are the entries `first_child[u]` to `first_child[u + 1]` of
    `child_starts` (their first places) and `child_nodes` (their numbers; -1 for an item). Those of its children
    that are items, `item_children[u]` of them, come first. `heights[u]` is the longest way down to an item, and
    `inner_nodes[u]` the number of inner nodes from u down, u among them. All of this is made from nested lists of
    item codes, so that it fits together, and nobody can change it.

    >>> tree = Taxonomy.of([[0, 1], [2, 3]])
    >>> tree.nodes, tree.heights.tolist(), tree.inner_nodes.tolist()
    (3, [2, 1, 1], [3, 1, 1])
    """

    tree: InitVar[NestedItems]
    items: Int32Array = field(init=False)
    starts: Int64Array = field(init=False)
    ends: Int64Array = field(init=False)
    first_child: Int64Array = field(init=False)
    child_starts: Int64Array = field(init=False)
    child_nodes: Int64Array = field(init=False)
    item_children: Int64Array = field(init=False)
    heights: Int64Array = field(init=False)
    inner_nodes: Int64Array = field(init=False)

    def __post_init__(self, tree: NestedItems) -> None:
        for name, array in _numbered(_without_only_children(_checked(tree))).items():
            object.__setattr__(self, name, frozen(array))

    @classmethod
    def of(cls, tree: NestedItems) -> "Taxonomy":
        """From nested lists of item codes; a node with one child is that child, except for the root."""
        return cls(tree)

    @classmethod
    def context_free(cls, items: Sequence[int], *, fan_out: int = FAN_OUT) -> "Taxonomy":
        """Groups of up to `fan_out` items in the given order, groups of groups, and so on up to one root.

        Groups of one level are of equal size, or nearly: 17 items in tens are 8 and 9.
        """
        check_fan_out(fan_out)
        return cls.of(_divided(list(items), fan_out))

    @classmethod
    def read(cls, path: str | Path, names: Sequence[int | str], *, fan_out: int = FAN_OUT) -> "Taxonomy":
        """A hierarchy of the items called `names` from a file; nodes of more children are divided further.

        One line an item: its name, then the categories that hold it, the nearest first, separated by tabs or
        by commas. Items that are not among the names are left out.
        """
        check_fan_out(fan_out)
        return cls.of(_divided(_hierarchy(_lines(Path(path)), names, path=path), fan_out))

    @property
    def nodes(self) -> int:
        """How many inner nodes there are."""
        return self.starts.size


def check_fan_out(fan_out: int) -> None:
    """Raise BadCall where a fan-out makes no tree, or one whose nodes nobody can count."""
    if not 2 <= whole(fan_out, "fan_out") <= LARGEST_FAN_OUT:
        raise BadCall(
            f"a fan-out of {shown(fan_out)} makes no useful taxonomy; give 2 to {LARGEST_FAN_OUT}, {FAN_OUT} is common"
        )


def _lines(path: Path) -> list[list[str]]:
    """The fields of every line that has any."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"cannot read the taxonomy {path}: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise BadInput(f"the taxonomy {path} is not text in UTF-8; convert it first") from None
    rows = csv.reader(text.splitlines(), delimiter="\t" if "\t" in text else ",")
    fields = [[field.strip() for field in row] for row in rows]
    return [[field for field in row if field] for row in fields if any(row)]


def _hierarchy(lines: list[list[str]], names: Sequence[int | str], *, path: str | Path) -> NestedItems:
    """The nested lists that lines of an item and its categories, the nearest first, stand for."""
    codes = {str(name): code for code, name in enumerate(names)}
    root: list[NestedItems] = []
    children: dict[tuple[str, ...], list[NestedItems]] = {(): root}
    seen: set[str] = set()
    for item, *categories in lines:
        if item in seen:
            raise BadInput(f"the taxonomy {path} names the item {item!r} twice; give every item one line")
        seen.add(item)
        if item in codes:
            _grown(children, tuple(reversed(categories))).append(codes[item])
    missing = len(codes.keys() - seen)
    if missing:
        raise BadInput(
            f"the taxonomy {path} misses {missing} of the alphabet's {len(codes)} items; "
            "give every item a line, or an alphabet of those that have one"
        )
    return root


def _grown(
    children: dict[tuple[str, ...], list[NestedItems]], category: tuple[str, ...]
) -> list[NestedItems]:
    """The children of a category, given from the root down; it is made where it is new."""
    if category not in children:
        children[category] = []
        _grown(children, category[:-1]).append(children[category])
    return children[category]


def _divided(tree: NestedItems, fan_out: int) -> NestedItems:
    """The same with groups, and groups of groups, wherever a node has more than `fan_out` children.

    >>> _divided([0, 1, 2, 3, 4], 2)
    [[[0, 1], [2]], [[3, 4]]]
    """
    if isinstance(tree, int):
        return tree
    children = [_divided(child, fan_out) for child in tree]
    while len(children) > fan_out:
        groups = -(-len(children) // fan_out)
        bounds = [round(group * len(children) / groups) for group in range(groups + 1)]
        children = [children[start:end] for start, end in pairwise(bounds)]
    return children


def _checked(tree: NestedItems) -> NestedItems:
    """A copy of the nested lists; BadCall where a leaf is no code of an item."""
    if isinstance(tree, list):
        return [_checked(child) for child in tree]
    return whole(tree, "an item of the taxonomy", least=0)


def _without_only_children(tree: NestedItems) -> list[NestedItems]:
    """The tree without nodes that have one child, or none; its root stays a node."""
    lifted = _lifted(tree)
    return lifted if isinstance(lifted, list) else [lifted]


def _lifted(tree: NestedItems) -> NestedItems:
    if isinstance(tree, int):
        return tree
    children = [child for child in map(_lifted, tree) if child != []]
    return children[0] if len(children) == 1 else children


def _numbered(root: list[NestedItems]) -> dict[str, Int32Array | Int64Array]:
    """Number inner nodes by height, the highest first, and places from left to right, items before nodes."""
    ordered = _items_first(root)
    heights = {id(node): _height(node) for node in _inner(ordered)}
    nodes = sorted(_inner(ordered), key=lambda node: -heights[id(node)])
    numbers = {id(node): number for number, node in enumerate(nodes)}
    children = [[numbers.get(id(child), -1) for child in node] for node in nodes]
    widths, inner_nodes = _sums_below(children)
    starts, child_starts = _placed(children, widths)
    return {
        "items": _different(list(_leaves(ordered))),
        "starts": starts,
        "ends": starts + widths,
        "first_child": np.cumsum([0, *map(len, children)], dtype=np.int64),
        "child_starts": child_starts,
        "child_nodes": np.array([child for row in children for child in row], dtype=np.int64),
        "item_children": np.array([row.count(-1) for row in children], dtype=np.int64),
        "heights": np.array([heights[id(node)] for node in nodes], dtype=np.int64),
        "inner_nodes": inner_nodes,
    }


def _different(leaves: list[int]) -> Int32Array:
    """The items from left to right; BadCall where one stands twice."""
    if len(set(leaves)) < len(leaves):
        raise BadCall("an item stands twice in the taxonomy; give every item one place")
    return item_codes(leaves, "items of the taxonomy")


def _sums_below(children: list[list[int]]) -> tuple[Int64Array, Int64Array]:
    """Of each node, how many items and how many inner nodes, itself among them, there are from it down."""
    widths, inner_nodes = np.zeros((2, len(children)), np.int64)
    for u in reversed(range(len(children))):  # children first: they are less high
        inner = [child for child in children[u] if child >= 0]
        widths[u] = len(children[u]) - len(inner) + widths[inner].sum()
        inner_nodes[u] = 1 + inner_nodes[inner].sum()
    return widths, inner_nodes


def _placed(children: list[list[int]], widths: Int64Array) -> tuple[Int64Array, Int64Array]:
    """The first place of every node, and of every child of every node."""
    starts = np.zeros(len(children), np.int64)
    child_starts: list[int] = []
    for u, numbers_of_children in enumerate(children):
        place = int(starts[u])
        for child in numbers_of_children:
            child_starts.append(place)
            if child >= 0:
                starts[child] = place
            place += int(widths[child]) if child >= 0 else 1
    return starts, np.array(child_starts, dtype=np.int64)


def _inner(node: list[NestedItems]) -> Iterator[list[NestedItems]]:
    """The node and all inner nodes below it, each before its children."""
    if len(node) > MOST_CHILDREN:
        raise BadCall(
            f"a node of the taxonomy has {len(node)} children; divide those of more than {MOST_CHILDREN}"
        )
    yield node
    for child in node:
        if isinstance(child, list):
            yield from _inner(child)


def _height(tree: NestedItems) -> int:
    return 0 if isinstance(tree, int) else 1 + max(map(_height, tree), default=0)


def _items_first(node: list[NestedItems]) -> list[NestedItems]:
    items: list[NestedItems] = [child for child in node if isinstance(child, int)]
    return [*items, *(_items_first(child) for child in node if isinstance(child, list))]


def _leaves(tree: NestedItems) -> Iterator[int]:
    if isinstance(tree, int):
        yield tree
    else:
        for child in tree:
            yield from _leaves(child)
