"""Public itemsets: written in one way, domains and their draws."""

from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilset.errors import BadCall
from veilset.gate import SeededNoise
from veilset.itemsets import Domain, Itemsets


def test_domains_draw_every_itemset_equally_often() -> None:
    """A uniform draw over sizes 1 and 2 of four items hits each of the ten itemsets."""
    domain = Domain(items=(1, 3, 5, 7), max_size=2)
    noise = SeededNoise(4)
    drawn = [domain.draw(noise.below) for _ in range(5000)]
    counts = [drawn.count(itemset) for itemset in set(drawn)]
    assert len(counts) == domain.size == 10
    assert min(counts) > 400


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((1, 1), "items"),
        ((2, 2), "pairs of items"),
        ((1, 3), "itemsets of up to 3 items"),
        ((3, 3), "itemsets of 3 items"),
        ((2, 3), "itemsets of 2 to 3 items"),
    ],
)
def test_a_domain_says_what_its_members_are(sizes: tuple[int, int], words: str) -> None:
    """Both sizes, where both matter; the refusal of a k that is too large says the same."""
    domain = Domain(items=range(4), min_size=sizes[0], max_size=sizes[1])
    assert domain.sentence() == words
    with pytest.raises(
        BadCall, match=f"k = 15 is too many: the number of {words} over an alphabet of 4 is {domain.size}; "
    ):
        domain.check_holds(15)


def test_an_itemset_is_written_in_one_way() -> None:
    """Of all 5,040 orders of seven items one is taken; the others would be counted as other itemsets."""
    taken = []
    for order in permutations(range(7)):
        try:
            taken.append(Itemsets(np.array([0, 7]), np.array(order, np.int32)))
        except BadCall as error:
            assert "make them with Itemsets.of, which sorts" in str(error)  # noqa: PT017
    assert [list(each) for each in taken] == [[tuple(range(7))]]


raw_lists = st.tuples(st.lists(st.integers(-2, 9), max_size=5), st.lists(st.integers(-2, 4), max_size=8))


@given(arrays=raw_lists)
def test_arrays_are_itemsets_where_they_are_what_of_makes(arrays: tuple[list[int], list[int]]) -> None:
    """Anything that slices to other itemsets than its own sorted ones is refused, and so is a gap or a rest."""
    offsets, items = arrays
    rises = offsets[:1] == [0] and offsets == sorted(offsets) and offsets[-1] == len(items)
    slices = [items[start:end] for start, end in pairwise(offsets)] if rises else []
    if rises and all(each == sorted(set(each)) and min(each, default=0) >= 0 for each in slices):
        made = Itemsets(np.array(offsets), np.array(items, np.int32))
        assert list(made) == list(Itemsets.of(slices)) == [tuple(each) for each in slices]
    else:
        with pytest.raises(BadCall):
            Itemsets(np.array(offsets, np.int64), np.array(items, np.int32))


@pytest.mark.parametrize("itemsets", [[(0.5,), (0.7,)], [(0, float("nan"))], [("0",)], [(-1,)], [(2**31,)]])
def test_itemsets_hold_codes_alone(itemsets: list[Any]) -> None:
    """A decimal is not cut to the next code below it."""
    with pytest.raises(BadCall, match="give"):
        Itemsets.of(itemsets)


def test_itemsets_stay_as_they_were_made() -> None:
    """They have arrays of their own, which nobody can change."""
    offsets, items = np.array([0, 2]), np.array([0, 1], np.int32)
    made = Itemsets(offsets, items)
    offsets[1], items[1] = 1, 0
    assert list(made) == [(0, 1)]
    for kept in (made.offsets, made.items):
        with pytest.raises(ValueError, match="WRITEABLE"):
            kept.setflags(write=True)


@pytest.mark.parametrize(
    "items",
    [
        (0, 0),
        (1, 0),
        (-1, 0),
        (0, 0.5),
        (0, float("nan")),
        (True, False),
        range(3, 0, -1),
        range(-1, 3),
        "01",
    ],
)
def test_a_domain_is_over_different_codes_in_ascending_order(items: Any) -> None:  # noqa: ANN401
    """Repeats would count for more itemsets than there are."""
    with pytest.raises(BadCall):
        Domain(items=items, max_size=1)


@pytest.mark.parametrize("size", [1.0, float("nan"), True, "1", None])
def test_the_sizes_of_a_domain_are_whole_numbers(size: Any) -> None:  # noqa: ANN401
    """As is the rank that is sought in it."""
    for call in (
        lambda: Domain(items=range(3), max_size=size),
        lambda: Domain(items=range(3), max_size=2, min_size=size),
        lambda: Domain(items=range(3), max_size=2).check_holds(size),
    ):
        with pytest.raises(BadCall, match="give a whole number"):
            call()


@given(items=st.sets(st.integers(0, 20)), size=st.integers(1, 3))
def test_a_domain_has_as_many_itemsets_as_can_be_listed(items: set[int], size: int) -> None:
    """Whether its items are a tuple or, where they can be, a range."""
    domain = Domain(items=tuple(sorted(items)), max_size=size)
    assert domain.size == sum(1 for n in range(1, size + 1) for _ in combinations(items, n))
