"""Taxonomies: trees over the items, from an order or from a file."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.errors import BadCall, BadInput
from veilset.request import PublishRequest
from veilset.taxonomy import LARGEST_FAN_OUT, MOST_CHILDREN, NestedItems, Taxonomy


def items_below(tree: Taxonomy, node: int) -> set[int]:
    """The items below a node, child by child."""
    below: set[int] = set()
    for child in range(tree.first_child[node], tree.first_child[node + 1]):
        if tree.child_nodes[child] < 0:
            below.add(int(tree.items[tree.child_starts[child]]))
        else:
            below |= items_below(tree, int(tree.child_nodes[child]))
    return below


def inner_below(tree: Taxonomy, node: int) -> list[int]:
    """The inner nodes from a node down."""
    children = tree.child_nodes[tree.first_child[node] : tree.first_child[node + 1]].tolist()
    return [node, *(below for child in children if child >= 0 for below in inner_below(tree, child))]


def height(tree: Taxonomy, node: int) -> int:
    """The longest way down to an item."""
    children = tree.child_nodes[tree.first_child[node] : tree.first_child[node + 1]].tolist()
    return 1 + max((height(tree, child) for child in children if child >= 0), default=0)


def with_codes(shape: NestedItems, codes: list[int]) -> NestedItems:
    """The same tree with items numbered as they come."""
    if isinstance(shape, int):
        codes.append(len(codes))
        return codes[-1]
    return [with_codes(child, codes) for child in shape]


shapes: st.SearchStrategy[NestedItems] = st.recursive(
    st.just(0), lambda children: st.lists(children, min_size=1, max_size=4), max_leaves=20
)


@given(shape=shapes)
def test_a_numbered_tree_says_of_every_node_what_is_below_it(shape: NestedItems) -> None:
    """Places, heights and numbers of inner nodes against walking down the tree."""
    codes: list[int] = []
    tree = Taxonomy.of(with_codes(shape, codes))
    assert sorted(tree.items.tolist()) == codes
    assert items_below(tree, 0) == set(codes)
    for node in range(tree.nodes):
        assert set(tree.items[tree.starts[node] : tree.ends[node]].tolist()) == items_below(tree, node)
        assert tree.inner_nodes[node] == len(inner_below(tree, node))
        assert tree.heights[node] == height(tree, node)
        children = tree.child_nodes[tree.first_child[node] : tree.first_child[node + 1]]
        assert np.all(children[: tree.item_children[node]] < 0)
        assert np.all(children[tree.item_children[node] :] > node)
        assert children.size > 1 or node == 0
    assert np.all(np.diff(tree.heights) <= 0)


@given(items=st.permutations(range(30)), size=st.integers(1, 30), fan_out=st.integers(2, 16))
def test_a_context_free_taxonomy_groups_items_in_order(items: list[int], size: int, fan_out: int) -> None:
    """No node has more children than the fan-out; groups of items are of equal size, or nearly."""
    tree = Taxonomy.context_free(items[:size], fan_out=fan_out)
    assert np.diff(tree.first_child).max() <= fan_out
    widths = np.diff(tree.first_child)
    lowest = [node for node in range(tree.nodes) if tree.item_children[node] == widths[node]]
    sizes = [int(tree.item_children[node]) for node in lowest]
    assert max(sizes) - min(sizes) <= 1
    for node in lowest:
        group = tree.items[tree.starts[node] : tree.ends[node]].tolist()
        assert all(items.index(b) == items.index(a) + 1 for a, b in pairwise(group))


@pytest.mark.parametrize("separator", ["\t", ","])
def test_a_hierarchy_is_read_from_a_file(tmp_path: Path, separator: str) -> None:
    """Items of one category are below one node; an item without category is below the root; others are left out."""
    lines = [
        "milk,dairy,food",
        "brie,dairy,food",
        "bread,food",
        "soap",
        "salt,spices,food",
        "eggs,dairy,food",
    ]
    path = tmp_path / "categories.csv"
    path.write_text("\n".join(lines).replace(",", separator) + "\n\n", encoding="utf-8")
    names = ["bread", "brie", "eggs", "milk", "soap"]
    tree = Taxonomy.read(path, names)
    groups = {frozenset(names[code] for code in items_below(tree, node)) for node in range(tree.nodes)}
    assert groups == {frozenset(names), frozenset(names) - {"soap"}, frozenset({"milk", "brie", "eggs"})}


def test_large_categories_are_divided(tmp_path: Path) -> None:
    """By the fan-out, as items without categories would be."""
    path = tmp_path / "categories.tsv"
    path.write_text("".join(f"{item}\teven\n" if item % 2 == 0 else f"{item}\n" for item in range(40)))
    tree = Taxonomy.read(path, range(40), fan_out=4)
    assert np.diff(tree.first_child).max() <= 4
    assert {*range(0, 40, 2)} in [items_below(tree, node) for node in range(tree.nodes)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,x\n", "misses 2 of the alphabet's 3 items; give every item a line"),
        ("", "misses 3 of"),
        ("a\nb\nc\na,x\n", "names the item 'a' twice"),
    ],
)
def test_a_taxonomy_that_does_not_fit_the_alphabet_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    """With what is wrong with it."""
    path = tmp_path / "categories.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        Taxonomy.read(path, ["a", "b", "c"])


def test_a_taxonomy_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A file that is not there, or is not text."""
    with pytest.raises(BadInput, match="cannot read the taxonomy"):
        Taxonomy.read(tmp_path / "nothing.csv", ["a"])
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="not text in UTF-8"):
        Taxonomy.read(tmp_path / "binary.csv", ["a"])


@pytest.mark.parametrize("fan_out", [1, 0, -3, LARGEST_FAN_OUT + 1])
def test_a_fan_out_that_makes_no_tree_is_refused(fan_out: int) -> None:
    """One child a node never ends; too many children nobody can count."""
    with pytest.raises(BadCall, match=f"fan-out of {fan_out} makes no useful taxonomy; give 2 to 16"):
        PublishRequest(fan_out=fan_out)
    with pytest.raises(BadCall, match="fan-out"):
        Taxonomy.context_free(range(5), fan_out=fan_out)


def test_a_node_of_too_many_children_is_refused() -> None:
    """Nested lists are taken as they are, up to a limit."""
    with pytest.raises(BadCall, match="has 21 children"):
        Taxonomy.of(list(range(MOST_CHILDREN + 1)))


@pytest.mark.parametrize("tree", [[0, 1], [0, 1, 3], [0, [1, 2], 3]])
def test_a_target_takes_no_taxonomy_over_other_items(tree: NestedItems) -> None:
    """Every item of the alphabet has one place in it."""
    with pytest.raises(BadCall, match="holds every item of the alphabet once"):
        PublishRequest(taxonomy=Taxonomy.of(tree)).taxonomy_over(3)


@pytest.mark.parametrize(
    "tree",
    [[0, 1, 1], [0, [1, [0, 2]]], [[0], [0]], [-1, 0], [0, 1.5], [0, True], [0, "1"], [0, None], [2**31]],
)
def test_a_taxonomy_holds_codes_of_items_each_once(tree: Any) -> None:  # noqa: ANN401
    """Of an item with two places one would never be met."""
    with pytest.raises(BadCall):
        Taxonomy.of(tree)


def test_a_taxonomy_is_made_from_its_tree_alone_and_stays_as_it_is() -> None:
    """Arrays that do not fit together cannot be handed in, and those that do cannot be changed."""
    inner: list[NestedItems] = [1, 2]
    made = Taxonomy.of([0, inner])
    inner[0] = 0
    assert made.items.tolist() == [0, 1, 2]
    with pytest.raises(TypeError):
        Taxonomy(items=made.items, starts=made.starts)  # type: ignore[call-arg]
    for name in ("items", "starts", "ends", "first_child", "child_starts", "child_nodes", "item_children"):
        with pytest.raises(ValueError, match="WRITEABLE"):
            getattr(made, name).setflags(write=True)
