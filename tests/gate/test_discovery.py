"""Questions before items have names: they move by what is claimed, and name what the exact law says."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from curators import unnamed_curator_over
from laws import fits
from reference import Baskets
from strategies import basket, baskets, transactions_of
from veilset.arrays import Int64Array
from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import (
    Budget,
    Curator,
    DiscreteLaplace,
    ItemNaming,
    NamingLaw,
    Noise,
    NoisyHistogram,
    PrivacyUnit,
    SecureNoise,
    SeededNoise,
    UnnamedCurator,
)
from veilset.gate.selection.item_discovery import WHOLE_WEIGHT, naming_mechanism, weights_by_length
from veilset.opening import Access, ItemChoice
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.row_keys import LongRows, NumberedRows, RowKeys, SipKeys
from veilset.raw.cuts.rows import Keys
from veilset.raw.cuts.truncation import Truncation
from veilset.raw.engines import DrawKeys
from veilset.raw.engines.local import LocalEngine
from veilset.raw.read import read
from veilset.raw.transactions import Alphabet, Item, Transactions

LAWS: tuple[NamingLaw, NamingLaw] = ("gaussian", "laplace")
CLASSES = (0, 1, 3, 4)
DELTA = Fraction(1, 1000)
NO_LENGTHS = NoisyHistogram(np.zeros(2, np.int64), DiscreteLaplace(1, Fraction(1)))


class Recorder(SeededNoise):
    """Noise that adds a constant and remembers what it was handed."""

    def __init__(self, seed: int = 1, *, added: int = 0) -> None:
        super().__init__(seed)
        self.looks: list[Int64Array] = []
        self._added = added

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """Keep the exact counts."""
        assert scale > 0
        self.looks.append(counts.values)
        return counts.values + self._added

    def discrete_gaussian(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """The same."""
        return self.discrete_laplace(counts, scale=scale)


@dataclass(frozen=True, repr=False, eq=False)
class AscendingKeys(SipKeys):
    """Keys that ascend from item to item."""

    def of_items(self, numbered: NumberedRows, wanted: LongRows) -> Keys:
        """0, 1, 2, ..."""
        assert numbered.numbers.size == wanted.rows.offsets.size - 1
        return np.arange(wanted.keys, dtype=np.uint32)


class FirstStays(Recorder):
    """The same, with keys under which a truncation keeps the first items of every row."""

    def keys(self) -> RowKeys:
        """Ascending."""
        return AscendingKeys(np.zeros(2, np.uint64))


class Watched(LocalEngine):
    """An engine that remembers the weights that it told."""

    weights: Int64Array

    def weighted_items(self, weights: Int64Array, truncation: Truncation, draw: DrawKeys) -> ExactCounts:
        """As always."""
        found = super().weighted_items(weights, truncation, draw)
        self.weights = found.values
        return found


def persons(transactions: int) -> st.SearchStrategy[tuple[Baskets, Baskets]]:
    """Two databases, of which the second has one person more, with up to that many transactions."""
    unit = st.lists(basket(), min_size=1, max_size=transactions)
    return st.tuples(baskets(), unit).map(lambda drawn: (drawn[0], [*drawn[0], *drawn[1]]))


def unit_of(transactions: int) -> PrivacyUnit:
    """A person of at most that many transactions."""
    return PrivacyUnit("person", transactions)


@pytest.mark.parametrize("transactions", [1, 3])
@given(data=st.data())
def test_a_person_moves_classes_of_lengths_by_their_transactions(
    transactions: int, data: st.DataObject
) -> None:
    """All classes together, and that is the sensitivity that noise is drawn for."""
    looks = []
    for rows in data.draw(persons(transactions)):
        noise = Recorder()
        curator = unnamed_curator_over(rows, noise=noise, unit=unit_of(transactions))
        told = curator.ask_length_classes(CLASSES, epsilon=Fraction(1, 10))
        assert told.values.sum() == len(rows)
        assert told.mechanism == DiscreteLaplace(transactions, Fraction(1, 10))
        looks.append(noise.looks[0])
    assert np.abs(looks[1] - looks[0]).sum() <= transactions


def test_classes_of_lengths_begin_where_they_say() -> None:
    """Lengths 0, 1, 2, 3, 4 and 5: the last class has no end."""
    rows = [frozenset(range(length)) for length in range(6)]
    told = unnamed_curator_over(rows, noise=Recorder()).ask_length_classes((0, 1, 3, 4), epsilon=Fraction(1))
    assert told.values.tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize("transactions", [1, 3])
@given(data=st.data(), k=st.integers(1, 30), max_size=st.integers(1, 7))
def test_a_person_moves_the_kth_support_by_their_transactions(
    transactions: int, data: st.DataObject, k: int, max_size: int
) -> None:
    """Whatever k is, also where there are fewer itemsets, and where the person brings items that nobody had."""
    told = []
    for rows in data.draw(persons(transactions)):
        held = sorted({item for row in rows for item in row})
        renamed = [frozenset(held.index(item) for item in row) for row in rows]
        noise = Recorder()
        curator = unnamed_curator_over(
            transactions_of(renamed, len(held)), noise=noise, unit=unit_of(transactions)
        )
        answer = curator.ask_kth_support(k, max_size=max_size, epsilon=Fraction(1, 10))
        assert answer.mechanism == DiscreteLaplace(transactions, Fraction(1, 10))
        told.append(answer.value)
    assert 0 <= told[1] - told[0] <= transactions


@pytest.mark.parametrize("transactions", [1, 3])
@pytest.mark.parametrize("law", LAWS)
@given(data=st.data(), longest=st.integers(1, 7), seed=st.integers(0, 99))
def test_a_person_moves_weights_by_their_transactions_in_the_norm_of_the_law(
    transactions: int, law: NamingLaw, data: st.DataObject, longest: int, seed: int
) -> None:
    """Through the question itself, truncation and all, with the same random keys for everybody else."""
    seen = []
    for rows in data.draw(persons(transactions)):
        engine = Watched(transactions_of(rows), threads=1)
        curator = UnnamedCurator(
            engine,
            budget=Budget(Fraction(1), delta=DELTA),
            noise=Recorder(seed),
            unit=unit_of(transactions),
        )
        found = named(curator, law, longest=longest)
        assert mechanism_of(found).sensitivity == transactions
        seen.append(engine.weights)
    moved = np.linalg.norm(seen[1] - seen[0], ord=2 if law == "gaussian" else 1)
    assert moved <= transactions * WHOLE_WEIGHT


def named(
    curator: UnnamedCurator,
    law: NamingLaw,
    *,
    longest: int,
    epsilon: Fraction = Fraction(1),
    delta: Fraction = DELTA,
) -> Curator:
    """The question itself."""
    return curator.ask_alphabet(law, longest=longest, epsilon=epsilon, delta=delta, lengths=NO_LENGTHS)


def mechanism_of(curator: Curator) -> ItemNaming:
    """How its items were named."""
    assert curator.discovery is not None
    return curator.discovery.mechanism


def names_of(curator: Curator) -> tuple[object, ...]:
    """What its items are called."""
    return curator.names(tuple(range(curator.alphabet_size)))


COPIES, RUNS, LONGEST = 150, 100, 3
HOLDERS = {"gaussian": (8, 11, 14, 18), "laplace": (5, 7, 9, 11)}
"""How many hold the items of each class, below and above the threshold; of longer transactions more."""


def law_rows(holders: tuple[int, ...], *, length: int) -> Baskets:
    """For each class 150 items; whoever holds one of them holds fillers, too, which nobody else has."""
    rows, filler = [], COPIES * len(holders)
    for item in range(filler):
        for _ in range(holders[item // COPIES]):
            rows.append(frozenset({item, *range(filler, filler + length - 1)}))
            filler += length - 1
    return rows


def chance_to_be_named(law: NamingLaw, holders: int, length: int, *, threshold: float, scale: float) -> float:
    """The exact law: each holder keeps the item with probability longest / length, then noise decides."""
    kept = min(length, LONGEST)
    weight = int(weights_by_length(law, LONGEST)[kept])
    noise = stats.norm(scale=scale) if law == "gaussian" else stats.laplace(scale=scale)
    return math.fsum(
        float(stats.binom.pmf(number, holders, kept / length) * noise.sf(threshold - number * weight))
        for number in range(1, holders + 1)
    )


@pytest.fixture(
    scope="module", params=[("gaussian", 1), ("laplace", 1), ("gaussian", 4), ("laplace", 4)], ids=str
)
def drawn(request: pytest.FixtureRequest) -> tuple[NamingLaw, int, Counter[tuple[int, bool]]]:
    """Many runs: how often items of each class were named, for both laws, without and with truncation."""
    law, length = request.param
    holders = tuple(number * (length if law == "laplace" else math.isqrt(length)) for number in HOLDERS[law])
    rows = law_rows(holders, length=length)
    data = transactions_of(rows, alphabet_size=1 + max(max(row) for row in rows))
    counts: Counter[tuple[int, bool]] = Counter()
    for seed in range(RUNS):
        curator = unnamed_curator_over(data, delta=DELTA, noise=SeededNoise(seed))
        found = named(curator, law, longest=LONGEST)
        is_named = np.zeros(len(holders) * COPIES, np.bool_)
        is_named[[int(str(name)) for name in names_of(found) if int(str(name)) < is_named.size]] = True
        for place, number in enumerate(holders):
            hits = int(is_named[place * COPIES : (place + 1) * COPIES].sum())
            counts[number, True] += hits
            counts[number, False] += COPIES - hits
    return law, length, counts


@pytest.mark.parametrize(
    ("of_threshold", "of_scale", "is_right"),
    [(1, 1, True), (0.9, 1, False), (1.1, 1, False), (1, 0.9, False), (1, 1.1, False)],
)
def test_items_are_named_by_the_exact_law(
    drawn: tuple[NamingLaw, int, Counter[tuple[int, bool]]],
    of_threshold: float,
    of_scale: float,
    *,
    is_right: bool,
) -> None:
    """A threshold or a scale that is ten percent off, to either side, does not fit."""
    law, length, counts = drawn
    holders = sorted({number for number, _ in counts})
    mechanism = naming_mechanism(law, transactions=1, longest=LONGEST, epsilon=Fraction(1), delta=DELTA)
    expected: dict[tuple[int, bool], float] = {}
    for number in holders:
        chance = chance_to_be_named(
            law,
            number,
            length,
            threshold=of_threshold * mechanism.threshold,
            scale=of_scale * float(mechanism.scale),
        )
        expected |= {(number, True): chance / len(holders), (number, False): (1 - chance) / len(holders)}
    assert fits(counts, expected) == is_right


@pytest.mark.parametrize("law", LAWS)
def test_an_item_that_truncation_dropped_everywhere_is_never_named(law: NamingLaw) -> None:
    """It gets no noise at all: not even endless noise would name it."""
    noise = FirstStays(added=10**15)
    curator = unnamed_curator_over([frozenset({1, 4})] * 50, delta=DELTA, noise=noise)
    found = named(curator, law, longest=1)
    assert names_of(found) == (1,)
    assert noise.looks[0].tolist() == [50 * WHOLE_WEIGHT]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(5))
def test_an_item_of_transactions_that_do_not_count_is_never_named(law: NamingLaw, seed: int) -> None:
    """Of each person one transaction counts; items of the others weigh nothing."""
    table = pl.DataFrame(
        {
            "who": ["ann"] * 9 + ["bob"] * 9,
            "receipt": [*range(9)] * 2,
            "what": [f"{n:02}" for n in range(18)],
        }
    )
    owned = read(table, owner="who", basket="receipt", item="what")
    noise = Recorder(seed, added=10**15)
    access = Access(epsilon=1, noise=noise, items=ItemChoice(delta=DELTA), per_owner=1)
    found = named(access.unnamed_curator(owned), law, longest=3)
    assert len(noise.looks[0]) == found.alphabet_size == 2
    assert [int(str(name)) // 9 for name in names_of(found)] == [0, 1]


@pytest.mark.parametrize("law", LAWS)
def test_named_items_stand_in_the_order_of_their_names(law: NamingLaw) -> None:
    """Numbers, then texts; which came first in the data, and which more often, tells nothing here."""
    names: list[Item] = ["pear", 30, "apple", 4]
    numbers = [60, 500, 900, 70]
    rows = [code for code, number in enumerate(numbers) for _ in range(number)]
    data = Transactions(np.arange(len(rows) + 1), np.array(rows, np.int32), Alphabet(names, is_given=False))
    found = named(unnamed_curator_over(data, delta=DELTA, noise=Recorder()), law, longest=2)
    assert names_of(found) == (4, 30, "apple", "pear")
    assert found.discovery is not None
    assert (found.discovery.weights // WHOLE_WEIGHT).tolist() == [70, 500, 900, 60]


@pytest.mark.parametrize("noise", [SecureNoise(), SeededNoise(3)], ids=["secure", "seeded"])
@pytest.mark.parametrize("law", LAWS)
def test_the_curator_over_named_items_answers_about_them_alone(law: NamingLaw, noise: Noise) -> None:
    """It has the same budget and unit, all transactions, and no other item."""
    rows = [frozenset({0, 1})] * 500 + [frozenset({2})] * 400 + [frozenset({5})]
    curator = unnamed_curator_over(rows, epsilon=Fraction(10**4), noise=noise, delta=DELTA)
    found = named(curator, law, longest=2, epsilon=Fraction(10))
    assert names_of(found) == (0, 1, 2)
    assert found.budget is curator.budget
    assert found.unit is curator.unit
    assert (found.alphabet_is_found, found.is_private) == (True, noise.is_private)
    much = Fraction(1000)
    assert found.ask_item_supports(epsilon=much).values.tolist() == [500, 500, 400]
    assert found.ask_number(epsilon=much).value == 901
    assert found.ask_lengths(limit=2, epsilon=much).values.tolist() == [1, 400, 500]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rows", [[], [frozenset()], [frozenset({0, 3})]], ids=["none", "empty", "one"])
def test_next_to_no_data_names_nothing(law: NamingLaw, rows: Baskets) -> None:
    """And is answered like any other."""
    delta = Fraction(1, 10**9)
    curator = unnamed_curator_over(transactions_of(rows, 4 if rows else 0), epsilon=Fraction(3), delta=delta)
    assert len(curator.ask_length_classes(CLASSES, epsilon=Fraction(1)).values) == len(CLASSES)
    assert abs(curator.ask_kth_support(2, max_size=2, epsilon=Fraction(1)).value) < 30
    assert named(curator, law, longest=2, delta=delta).alphabet_size == 0


def test_a_second_alphabet_needs_more_delta() -> None:
    """What was paid for the first is gone."""
    curator = unnamed_curator_over([frozenset({0})] * 9, delta=DELTA)
    named(curator, "laplace", longest=1, epsilon=Fraction(1, 4))
    assert curator.budget.delta_left == 0
    with pytest.raises(BudgetExceeded, match=r"only 0 of 0\.001 is left"):
        named(curator, "laplace", longest=1, epsilon=Fraction(1, 4))
    assert (curator.budget.spent, len(curator.budget.charges)) == (Fraction(1, 4), 1)


ONE = Fraction(1)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda curator: curator.ask_length_classes((0,), epsilon=ONE), "must begin with 0 and rise"),
        (lambda curator: curator.ask_length_classes((1, 2), epsilon=ONE), "must begin with 0 and rise"),
        (lambda curator: curator.ask_length_classes((0, 2, 2), epsilon=ONE), "must begin with 0 and rise"),
        (lambda curator: curator.ask_kth_support(0, max_size=2, epsilon=ONE), "numbers from 1 up"),
        (lambda curator: curator.ask_kth_support(1, max_size=0, epsilon=ONE), "numbers from 1 up"),
        (lambda curator: named(curator, "laplace", longest=0), "at least 1"),
        (
            lambda curator: named(curator, "gaussian", longest=2, delta=Fraction(0)),
            "delta 0; give one above 0",
        ),
        (
            lambda curator: named(curator, "laplace", longest=2, delta=Fraction(1)),
            "delta 1; give one above 0",
        ),
        (
            lambda curator: named(curator, "gaussian", longest=2, epsilon=Fraction(0)),
            "epsilon 0; give one above 0",
        ),
        (
            lambda curator: named(curator, "laplace", longest=2, epsilon=Fraction(-1)),
            "epsilon -1; give one above 0",
        ),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_and_costs_nothing(
    ask: Callable[[UnnamedCurator], object], message: str
) -> None:
    """In one line, before anything is paid."""
    curator = unnamed_curator_over([frozenset({0})], delta=DELTA)
    with pytest.raises(BadCall, match=message):
        ask(curator)
    assert curator.budget.charges == ()
