"""Questions about persons: one person, with however many transactions, moves them by 1."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import Baskets
from strategies import basket, transactions_of
from veilset.arrays import Int64Array
from veilset.errors import BadCall
from veilset.gate import Budget, DiscreteLaplace, PersonCurator, SeededNoise
from veilset.raw.counts import ExactCounts
from veilset.raw.engines.local import LocalEngine
from veilset.raw.transactions import Transactions

ONE = Fraction(1)
CLASSES = (1, 2, 4)

persons = st.lists(st.lists(basket(), min_size=1, max_size=6), max_size=5)
"""The baskets of each person; nobody has none."""


class Recorder(SeededNoise):
    """Noise of 0 that remembers what it was handed."""

    def __init__(self) -> None:
        super().__init__(1)
        self.looks: list[Int64Array] = []

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """Keep the exact counts."""
        assert scale > 0
        self.looks.append(counts.values)
        return counts.values


def owned_by(people: list[Baskets]) -> Transactions:
    """Their transactions, with owners."""
    held = transactions_of([basket for person in people for basket in person])
    owners = np.array([place for place, person in enumerate(people) for _ in person], np.int64)
    return replace(held, owners=owners)


def curator_of(people: list[Baskets], noise: SeededNoise | None = None) -> PersonCurator:
    """A curator over the baskets of persons."""
    engine = LocalEngine(owned_by(people), threads=1)
    return PersonCurator(engine, budget=Budget(Fraction(2)), noise=noise or Recorder())


@given(people=persons, extra=st.lists(basket(), min_size=1, max_size=9))
def test_a_whole_person_moves_one_class_by_one(people: list[Baskets], extra: Baskets) -> None:
    """However many transactions it has, and that is the sensitivity that noise is drawn for."""
    looks = []
    for there in (people, [*people, extra]):
        noise = Recorder()
        told = curator_of(there, noise).ask_transactions_by_person(CLASSES, epsilon=ONE)
        assert told.mechanism == DiscreteLaplace(1, ONE)
        looks.append(noise.looks[0])
    assert np.abs(looks[1] - looks[0]).sum() == 1


@given(people=persons)
def test_classes_of_persons_match_the_obvious_loop(people: list[Baskets]) -> None:
    """Each class from its number up to the next, the last without an end."""
    told = curator_of(people).ask_transactions_by_person(CLASSES, epsilon=ONE)
    numbers = [len(person) for person in people]
    expected = [numbers.count(1), sum(number in {2, 3} for number in numbers), sum(n >= 4 for n in numbers)]
    assert told.values.tolist() == expected


@given(people=persons, extra=st.lists(basket(), min_size=1, max_size=9), k=st.integers(1, 4))
def test_a_whole_person_raises_the_kth_support_of_one_each_by_one_at_most(
    people: list[Baskets], extra: Baskets, k: int
) -> None:
    """The person comes last, so that the others are drawn by the keys that they had before."""
    looks = []
    for there in (people, [*people, extra]):
        noise = Recorder()
        told = curator_of(there, noise).ask_kth_support_of_one_each(k, max_size=2, epsilon=ONE)
        assert told.mechanism == DiscreteLaplace(1, ONE)
        looks.append(int(noise.looks[0][0]))
    assert looks[1] - looks[0] in {0, 1}


@given(people=st.lists(basket().map(lambda one: [one] * 3), max_size=8), k=st.integers(1, 3))
def test_the_kth_support_of_one_each_matches_the_obvious_loop(people: list[Baskets], k: int) -> None:
    """Where all transactions of a person are alike, it does not matter which is drawn."""
    held = Counter(
        itemset for person in people for size in (1, 2) for itemset in combinations(sorted(person[0]), size)
    )
    expected = sorted(held.values(), reverse=True)[k - 1 : k] or [0]
    told = curator_of(people).ask_kth_support_of_one_each(k, max_size=2, epsilon=ONE)
    assert [told.value] == expected


def test_all_transactions_of_one_person_would_count_without_the_draw() -> None:
    """The control: over all transactions, one person moves the support by five."""
    people = [[frozenset({0})] * 5]
    everything = LocalEngine(owned_by(people), threads=1).number().values[0]
    told = curator_of(people).ask_kth_support_of_one_each(1, max_size=1, epsilon=ONE)
    assert (int(everything), told.value) == (5, 1)


def test_whoever_is_named_no_owner_has_one_transaction() -> None:
    """So that both questions can be asked of any data."""
    engine = LocalEngine(transactions_of([frozenset({0})] * 3), threads=1)
    assert engine.transactions_by_owner(limit=2).values.tolist() == [3, 0]
    assert engine.of_each_owner(1, SeededNoise(1).keys).number().values.tolist() == [3]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda curator: curator.ask_transactions_by_person((0, 1), epsilon=ONE), "begin with 1 and rise"),
        (lambda curator: curator.ask_transactions_by_person((1,), epsilon=ONE), "such as 1, 2, 3, 5"),
        (lambda curator: curator.ask_transactions_by_person((1, 3, 3), epsilon=ONE), "begin with 1"),
        (lambda curator: curator.ask_kth_support_of_one_each(0, max_size=1, epsilon=ONE), "from 1 up"),
        (lambda curator: curator.ask_kth_support_of_one_each(1, max_size=0, epsilon=ONE), "from 1 up"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_it_is_paid(
    ask: Callable[[PersonCurator], object], message: str
) -> None:
    """One line that says what to do."""
    curator = curator_of([[frozenset({0})]])
    with pytest.raises(BadCall, match=message):
        ask(curator)
    assert curator.budget.spent == 0
    with pytest.raises(BadCall, match="a limit from 1 up"):
        LocalEngine(owned_by([]), threads=1).transactions_by_owner(limit=0)
