"""The search for large itemsets first: what is known, what is compared next, what it is paid for."""

from fractions import Fraction
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from reference import Baskets, support
from strategies import ALPHABET_SIZE, baskets
from veilset.itemsets import Itemset
from veilset.methods.privsuper.lattice_search import (
    LatticeSearch,
    SearchPlan,
    border_of,
    subsets_of,
)

ONE = Fraction(1)


def search_over(items: int, *, wanted: int, max_size: int = 4) -> LatticeSearch:
    """A search among the first items."""
    return LatticeSearch.start(SearchPlan(tuple(range(items)), wanted, max_size, ONE))


def compared(search: LatticeSearch) -> list[Itemset]:
    """What is compared next."""
    assert search.sequence is not None
    return list(search.sequence.candidates)


def test_what_is_found_is_extended_until_nothing_extends_it() -> None:
    """The first pair of four items, then one more item, then none; then the border again."""
    search = search_over(4, wanted=99)
    assert compared(search) == list(combinations(range(4), 2))
    search = search.after(0)
    assert compared(search) == [(0, 1, 2), (0, 1, 3)]
    search = search.after(0)
    assert compared(search) == [(0, 1, 2, 3)]
    search = search.after(None)
    assert compared(search) == [(0, 3), (1, 3), (2, 3)]


def test_an_item_that_could_not_extend_an_itemset_is_not_tried_on_a_larger_one() -> None:
    """Item 2 was passed over for (0, 1), so (0, 1, 3) is not tried with it."""
    search = search_over(4, wanted=99).after(0).after(1)
    assert search.grown == ()
    assert (0, 1, 3) in search.known
    assert (0, 1, 2, 3) not in compared(search)


def test_all_subsets_of_what_is_found_are_known_and_cost_nothing() -> None:
    """Four finds make 15 itemsets of four items known."""
    search = search_over(4, wanted=15).after(0).after(0).after(0)
    assert sorted(search.known) == sorted(subsets_of((0, 1, 2, 3)))
    assert search.sequence is None


def test_a_search_is_over_when_nobody_of_the_border_is_found() -> None:
    """But not when an itemset cannot be extended."""
    search = search_over(3, wanted=99)
    assert search.after(0).after(None).sequence is not None
    assert search.after(None).sequence is None


def test_a_find_is_paid_for_as_if_two_itemsets_became_known() -> None:
    """And the last one by itself. 11 are missing: 2/12, rounded down on a grid; then 10, of what is left."""
    search = search_over(4, wanted=15)
    assert search.sequence is not None
    first = search.sequence.price
    assert Fraction(1, 6) - Fraction(1, 2**23) < first <= Fraction(1, 6)
    following = search.after(0).sequence
    assert following is not None
    assert following.price <= (1 - first) * Fraction(2, 11)


def test_no_itemset_is_larger_than_allowed() -> None:
    """Pairs alone, where two items are the most."""
    search = search_over(4, wanted=99, max_size=2).after(0)
    assert all(len(itemset) == 2 for itemset in compared(search))


@given(rows=baskets(), threshold=st.integers(1, 4), wanted=st.integers(1, 70), max_size=st.integers(1, 4))
@settings(max_examples=80)
def test_without_noise_exactly_the_frequent_itemsets_become_known(
    rows: Baskets, threshold: int, wanted: int, max_size: int
) -> None:
    """Unless enough are known before: then some of them. What was paid is never more than there was."""
    items = tuple(item for item in range(ALPHABET_SIZE) if support(rows, (item,)) >= threshold)
    search = LatticeSearch.start(SearchPlan(items, wanted, max_size, ONE))
    spent = Fraction(0)
    while (step := search.sequence) is not None:
        above = [support(rows, itemset) >= threshold for itemset in step.candidates]
        place = above.index(True) if any(above) else None
        assert not set(step.candidates) & set(search.known)
        spent += 0 if place is None else step.price
        search = search.after(place)
    sizes = range(1, max_size + 1)
    frequent = {
        itemset
        for size in sizes
        for itemset in combinations(items, size)
        if support(rows, itemset) >= threshold
    }
    assert set(search.known) <= frequent
    assert len(search.known) >= min(wanted, len(frequent))
    assert spent <= ONE


@given(known=st.sets(st.frozensets(st.integers(0, 4), min_size=1, max_size=4), max_size=6))
def test_the_border_is_what_is_not_known_with_all_its_subsets_known(known: set[frozenset[int]]) -> None:
    """Against a look at every itemset there is."""
    closed = {subset for itemset in known for subset in subsets_of(tuple(sorted(itemset)))}
    closed |= {(item,) for item in range(5)}
    every = [itemset for size in range(1, 5) for itemset in combinations(range(5), size)]
    slow = [
        itemset
        for itemset in every
        if itemset not in closed and all(part in closed for part in combinations(itemset, len(itemset) - 1))
    ]
    assert sorted(border_of(closed, max_size=4)) == sorted(slow)
