"""A search against one noisy threshold: what it costs, its law, and that refusals are free."""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over
from laws import fits
from reference import Basket, Baskets, support
from strategies import basket, baskets
from veilset.arrays import Int64Array
from veilset.audit.transcripts.search_laws import SearchLaw
from veilset.audit.two_steps import TwoSteps
from veilset.errors import BadCall, BudgetExceeded
from veilset.gate import CandidateSequence, PrivacyUnit, SearchOutcome, SeededNoise
from veilset.gate.mechanisms import AboveThreshold
from veilset.gate.selection.free_refusals import (
    COMPARED_AT_ONCE,
    SHARE_FOR_SEARCH_THRESHOLD,
    search_with_free_refusals,
)
from veilset.itemsets import Itemset, Itemsets
from veilset.raw.counts import ExactCounts

ONE = Fraction(1)
FOR_THRESHOLD = SHARE_FOR_SEARCH_THRESHOLD


class Noiseless:
    """Supports and a threshold without noise."""

    def __init__(self, supports: dict[Itemset, int], threshold: int) -> None:
        self._supports, self._threshold = supports, threshold
        self.scales: list[Fraction] = []

    def threshold(self, scale: Fraction) -> int:
        """As it is."""
        self.scales.append(scale)
        return self._threshold

    def supports(self, candidates: Itemsets, start: int, end: int, scale: Fraction) -> Int64Array:
        """As they are."""
        self.scales.append(scale)
        return np.array([self._supports[itemset] for itemset in list(candidates)[start:end]])


@dataclass(frozen=True)
class Again:
    """The same candidates, step after step."""

    candidates: Itemsets
    price: Fraction
    steps: int

    @property
    def sequence(self) -> CandidateSequence | None:
        """All of them."""
        return CandidateSequence(self.candidates, self.price) if self.steps else None

    def after(self, place: int | None) -> "Again":
        """Whatever was found."""
        assert place is None or place < len(self.candidates)
        return Again(self.candidates, self.price, self.steps - 1)


def without_noise(
    supports: list[int], *, price: Fraction, steps: int, most: int = 99, sensitivity: int = 1
) -> SearchOutcome:
    """Items of these supports against a threshold of 5, at epsilon 1."""
    noiseless = Noiseless({(item,): value for item, value in enumerate(supports)}, 5)
    start = Again(Itemsets.of((item,) for item in range(len(supports))), price, steps)
    return search_with_free_refusals(noiseless, start, most=most, sensitivity=sensitivity, epsilon=ONE)


def test_refusals_cost_nothing() -> None:
    """A hundred of them leave the account where the threshold left it."""
    found = without_noise([1, 2, 3], price=ONE / 2, steps=100)
    assert found == SearchOutcome((None,) * 100, (FOR_THRESHOLD,))


def test_every_find_costs_its_price_until_one_cannot_be_paid() -> None:
    """7/8 of epsilon pays for three finds at 1/4 each, not for four."""
    found = without_noise([1, 9, 9], price=ONE / 4, steps=10)
    assert found == SearchOutcome((1, 1, 1), (FOR_THRESHOLD, ONE / 4, ONE / 4, ONE / 4))


def test_the_last_find_that_is_wanted_ends_the_search() -> None:
    """Whatever is left."""
    assert without_noise([9], price=ONE / 100, steps=10, most=2).places == (0, 0)


def test_who_is_at_the_threshold_has_reached_it() -> None:
    """Ties count as above."""
    assert without_noise([4, 5], price=ONE / 2, steps=1).places == (1,)


def test_the_first_that_reaches_the_threshold_is_found_however_long_the_sequence() -> None:
    """Also behind those that are compared together."""
    supports = [1] * (2 * COMPARED_AT_ONCE) + [7, 9]
    assert without_noise(supports, price=ONE / 2, steps=1).places == (2 * COMPARED_AT_ONCE,)


def test_noise_grows_with_the_unit_and_falls_with_the_price() -> None:
    """Scale c / e for the threshold and for every support."""
    noiseless = Noiseless({(0,): 1}, 5)
    start = Again(Itemsets.of([(0,)]), ONE / 4, 1)
    search_with_free_refusals(noiseless, start, most=1, sensitivity=3, epsilon=ONE)
    assert noiseless.scales == [3 / FOR_THRESHOLD, Fraction(12)]


def law_over(rows: Baskets, epsilon: Fraction, *, threshold: int, price: Fraction) -> SearchLaw:
    """The law of the search of two steps over some rows."""

    def count(itemsets: Itemsets) -> ExactCounts:
        return ExactCounts(np.array([support(rows, itemset) for itemset in itemsets]))

    return SearchLaw(count, AboveThreshold(3, 1, epsilon), threshold=threshold, start=TwoSteps(price))


def chances(law: SearchLaw) -> dict[SearchOutcome, float]:
    """How likely everything is that can be told, in logs."""
    return {told: law.log_chance(told) for told in law.telling(law)}


@given(
    rows=baskets(),
    extra=basket(),
    k=st.integers(1, 3),
    share=st.sampled_from([Fraction(1, 4), Fraction(7, 16), Fraction(7, 8)]),
    epsilon=st.sampled_from([Fraction(1, 2), Fraction(2)]),
)
@settings(max_examples=15)
def test_one_more_transaction_changes_the_law_by_at_most_epsilon(
    rows: Baskets, extra: Basket, k: int, share: Fraction, epsilon: Fraction
) -> None:
    """Exactly, over everything that can be told, with supports and threshold that all move."""
    thresholds = [kth_support(database, k) for database in (rows, [*rows, extra])]
    before, after = (
        chances(law_over(database, epsilon, threshold=threshold, price=share * epsilon))
        for database, threshold in zip((rows, [*rows, extra]), thresholds, strict=True)
    )
    assert before.keys() == after.keys()
    assert math.isclose(sum(math.exp(chance) for chance in before.values()), 1, abs_tol=1e-9)
    assert max(abs(before[told] - after[told]) for told in before) <= float(epsilon) + 1e-9


def kth_support(rows: Baskets, k: int) -> int:
    """The k-th largest support of items 0, 1, 2 and of their pairs: the slow way."""
    itemsets = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    return sorted((support(rows, itemset) for itemset in itemsets), reverse=True)[k - 1]


def test_twice_the_epsilon_would_be_noticed() -> None:
    """The control: with prices as if there were twice as much, a transaction changes more than epsilon."""
    rows = [frozenset({0, 1, 2})] * 3
    before, after = (
        chances(law_over(database, Fraction(2), threshold=3, price=Fraction(7, 8)))
        for database in (rows, [*rows, frozenset({0, 1})])
    )
    assert max(abs(before[told] - after[told]) for told in before) > 1


def test_refusals_lose_the_share_of_the_threshold_and_no_more() -> None:
    """The control: all of that is lost where comparisons are precise, so without it they would not be free."""
    rows = [frozenset({0, 1, 2})] * 3
    refused = SearchOutcome((None, None, None), (FOR_THRESHOLD * 8,))
    losses = [
        abs(
            law_over(rows, Fraction(8), threshold=3, price=price).log_chance(refused)
            - law_over([*rows, frozenset({0, 1})], Fraction(8), threshold=3, price=price).log_chance(refused)
        )
        for price in (Fraction(1, 100), Fraction(6))
    ]
    assert losses[0] < 0.1
    assert losses[1] == pytest.approx(float(8 * FOR_THRESHOLD))


@pytest.mark.parametrize(
    ("factor", "has_law"), [(ONE, True), (Fraction(6, 5), False), (Fraction(4, 5), False)]
)
def test_a_search_has_its_law(factor: Fraction, has_law: bool) -> None:
    """6,000 searches fit their law; a fifth more epsilon, or less, does not."""
    rows = [frozenset({0, 1, 2})] * 3 + [frozenset({0})] * 2 + [frozenset({1, 2})]
    noise, epsilon = SeededNoise(5), Fraction(3)
    drawn = law_over(rows, epsilon, threshold=5, price=epsilon / 4)
    claimed = law_over(rows, epsilon * factor, threshold=5, price=epsilon * factor / 4)
    places = Counter(drawn.draw(noise).places for _ in range(6_000))
    expected = {told.places: math.exp(chance) for told, chance in chances(claimed).items()}
    assert fits(places, expected) == has_law


def test_without_noise_a_search_finds_what_is_as_frequent_as_the_kth() -> None:
    """Also where a person has several transactions; the trace tells what was used, and all of it is charged."""
    rows = [frozenset({0, 1})] * 50 + [frozenset({0, 2})] * 30
    curator = curator_over(rows, epsilon=Fraction(10**6), unit=PrivacyUnit("owner", 3))
    domain = curator.domain(max_size=2)
    paid = Fraction(10**5)
    found = curator.ask_search(TwoSteps(paid / 4), k=3, domain=domain, most=3, epsilon=paid)
    assert found.places == (0, 0, 0)
    mechanism = curator.budget.charges[0].mechanism
    assert isinstance(mechanism, AboveThreshold)
    assert (mechanism.sensitivity, mechanism.epsilon, mechanism.used) == (3, paid, paid * Fraction(7, 8))


def test_nothing_is_looked_at_that_was_not_paid_for() -> None:
    """The whole epsilon is charged first, or nothing happens."""
    curator = curator_over([], epsilon=ONE)
    with pytest.raises(BudgetExceeded):
        curator.ask_search(
            TwoSteps(ONE / 4), k=1, domain=curator.domain(max_size=2), most=1, epsilon=Fraction(2)
        )
    assert curator.budget.charges == ()


def test_bad_steps_are_refused_in_one_line() -> None:
    """A price that is none, a sequence of nobody, and an item that does not exist."""
    some = Itemsets.of([(0,)])
    with pytest.raises(BadCall, match="give a Fraction above 0"):
        CandidateSequence(some, Fraction(0))
    with pytest.raises(BadCall, match="give a Fraction above 0"):
        CandidateSequence(some, 0.5)  # type: ignore[arg-type]
    with pytest.raises(BadCall, match="give at least one"):
        CandidateSequence(Itemsets.of([]), ONE)
    curator = curator_over([])
    unknown = Again(Itemsets.of([(77,)]), ONE / 4, 1)
    with pytest.raises(BadCall, match="from 0 to 5"):
        curator.ask_search(unknown, k=1, domain=curator.domain(max_size=1), most=1, epsilon=ONE)


@pytest.mark.parametrize("candidates", [[(0,), (0,)], [(0,), ()]], ids=["one twice", "an empty one"])
def test_candidates_that_cannot_be_counted_are_refused(candidates: list[Itemset]) -> None:
    """As in every question that counts itemsets."""
    curator = curator_over([frozenset({0})] * 5)
    start = Again(Itemsets.of(candidates), ONE / 4, 1)
    with pytest.raises(BadCall, match="different, and none empty"):
        curator.ask_search(start, k=1, domain=curator.domain(max_size=1), most=1, epsilon=ONE)


class FicklePrice:
    """A step whose price is small when it is reckoned with, and large when the noise is drawn."""

    def __init__(self) -> None:
        self.candidates, self._asked = Itemsets.of([(0,)]), 0

    @property
    def price(self) -> Fraction:
        """Another each time."""
        self._asked += 1
        return Fraction(1, 100) if self._asked % 2 else Fraction(10**9)


@dataclass(frozen=True)
class Fickle:
    """A search of such steps."""

    steps: int = 3

    @property
    def sequence(self) -> FicklePrice | None:
        """Not the gate's own kind of step."""
        return FicklePrice() if self.steps else None

    def after(self, _: int | None) -> "Fickle":
        """One step less."""
        return Fickle(self.steps - 1)


def test_a_step_whose_price_may_change_is_refused() -> None:
    """Steps are of the gate's own type, whose price is read from a value that stays."""
    curator = curator_over([frozenset({0})] * 5)
    with pytest.raises(BadCall, match="is a CandidateSequence, not FicklePrice"):
        curator.ask_search(Fickle(), k=1, domain=curator.domain(max_size=1), most=3, epsilon=ONE)  # type: ignore[arg-type]
    with pytest.raises(BadCall, match="candidates are Itemsets, not list"):
        CandidateSequence([(0,)], ONE)  # type: ignore[arg-type]


def test_what_no_search_tells_has_no_chance() -> None:
    """A place that does not exist, an end too early, an account that does not belong to the places."""
    law = law_over([], ONE, threshold=1, price=ONE / 4)
    refused = (FOR_THRESHOLD,)
    assert law.log_chance(SearchOutcome((None,), refused)) == -math.inf
    assert law.log_chance(SearchOutcome((5, None, None), refused)) == -math.inf
    assert law.log_chance(SearchOutcome((None, None, None), (ONE,))) == -math.inf
    assert law.log_chance(SearchOutcome((None, None, None), refused)) > -math.inf
