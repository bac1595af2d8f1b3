"""One draw for a set: how many sets lose how much, the law of the draw, and how far one transaction moves a loss."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curators import curator_over, engine_over
from laws import fits
from reference import Basket, Baskets, item_supports, support
from strategies import ALPHABET_SIZE, basket, baskets
from veilset.errors import BadCall
from veilset.gate import SeededNoise
from veilset.gate.mechanisms import Exponential
from veilset.gate.selection import floored_supports
from veilset.gate.selection.subsets import draw_subset, loss_of, sets_of_loss
from veilset.itemsets import Domain, Itemsets

MARGINS = np.array([6, 3, 0, -1, -4])


def every_set(number: int, least: int, most: int) -> list[tuple[int, ...]]:
    """All sets of places of those sizes."""
    return [chosen for size in range(least, most + 1) for chosen in combinations(range(number), size)]


def plain_loss(margins: list[int], chosen: tuple[int, ...]) -> int:
    """The twin: one candidate after another."""
    misplaced = [-margins[place] for place in chosen]
    misplaced += [margin for place, margin in enumerate(margins) if place not in chosen]
    return max(0, *misplaced)


@given(margins=st.lists(st.integers(-6, 6), min_size=1, max_size=8), data=st.data())
def test_as_many_sets_have_a_loss_as_there_are(margins: list[int], data: st.DataObject) -> None:
    """All sets listed, each with the loss of the twin."""
    most = data.draw(st.integers(1, len(margins)))
    least = data.draw(st.integers(1, most))
    sets = every_set(len(margins), least, most)
    losses = [plain_loss(margins, chosen) for chosen in sets]
    assert losses == [loss_of(np.array(margins), list(chosen)) for chosen in sets]
    found = sets_of_loss(np.array(margins), least=least, most=most)
    assert {loss: number for loss, number in found.items() if number} == Counter(losses)


@pytest.mark.parametrize(("least", "most"), [(1, 5), (2, 3), (3, 3)])
@pytest.mark.parametrize(("factor", "is_right"), [(1.0, True), (0.8, False), (1.25, False)])
def test_sets_are_drawn_with_the_law_of_the_mechanism(
    least: int, most: int, factor: float, is_right: bool
) -> None:
    """P in proportion to exp(-rate * loss) over all sets; a rate a quarter off, either way, is noticed."""
    rate, noise = Fraction(1, 2), SeededNoise(5)
    drawn = Counter(
        tuple(draw_subset(MARGINS, least=least, most=most, rate=rate, below=noise.below))
        for _ in range(12_000)
    )
    sets = every_set(MARGINS.size, least, most)
    weights = [math.exp(-factor * float(rate) * plain_loss(MARGINS.tolist(), chosen)) for chosen in sets]
    law = {chosen: weight / sum(weights) for chosen, weight in zip(sets, weights, strict=True)}
    assert fits(drawn, law) is is_right


@given(rows=baskets(), extra=basket(), k=st.integers(1, 20), most=st.integers(1, ALPHABET_SIZE))
def test_one_more_transaction_moves_every_loss_by_at_most_1(
    rows: Baskets, extra: Basket, k: int, most: int
) -> None:
    """Of every set of items, up or down: the score has sensitivity 1."""
    domain = Domain(items=range(ALPHABET_SIZE), max_size=3)
    before, after = (
        floored_supports.margins_of_items(
            engine_over(database), domain, k, most=most, draw=SeededNoise(1).keys
        )
        for database in (rows, [*rows, extra])
    )
    for chosen in every_set(ALPHABET_SIZE, 1, most):
        assert abs(plain_loss(before.tolist(), chosen) - plain_loss(after.tolist(), chosen)) <= 1


@given(rows=baskets(), most=st.integers(1, ALPHABET_SIZE))
def test_with_next_to_no_noise_nobody_is_misplaced(rows: Baskets, most: int) -> None:
    """Taken are the most frequent items; left out is none that is more frequent than one taken."""
    curator = curator_over(rows, epsilon=Fraction(10**7))
    domain = curator.domain(max_size=1)
    chosen = curator.ask_frequent_items(2, domain=domain, least=1, most=most, epsilon=Fraction(10**6))
    supports = item_supports(rows, ALPHABET_SIZE)
    left_out = [support for item, support in enumerate(supports) if item not in chosen]
    assert 1 <= len(chosen) <= most
    assert min(supports[item] for item in chosen) >= max(left_out, default=0)


@given(rows=baskets(), k=st.integers(1, 6))
def test_of_a_list_those_at_the_threshold_or_above_are_found(rows: Baskets, k: int) -> None:
    """With next to no noise: all above the k-th itemset, none below; those level with it, or not."""
    curator = curator_over(rows, epsilon=Fraction(10**7))
    pairs = Itemsets.of(combinations(range(4), 2))
    domain = curator.domain(max_size=2)
    found = curator.ask_frequent_of(k, pairs, domain=domain, epsilon=Fraction(10**6))
    threshold = floored_supports.kth_support(engine_over(rows), domain, k)
    assert {pair for pair in pairs if support(rows, pair) > threshold} <= set(found)
    assert all(support(rows, pair) >= threshold for pair in found)


def test_the_cost_does_not_grow_with_the_number_of_items() -> None:
    """One draw at half the rate, because scores go up or down; the unit's transactions count."""
    curator = curator_over([frozenset({0, 1, 2})] * 9, epsilon=Fraction(2))
    curator.ask_frequent_items(3, domain=curator.domain(max_size=2), least=1, most=3, epsilon=Fraction(1, 2))
    (charge,) = curator.budget.charges
    assert charge.mechanism.epsilon == Fraction(1, 2)
    assert isinstance(charge.mechanism, Exponential)
    assert charge.mechanism.rate == Fraction(1, 4)
    assert curator.budget.spent == Fraction(1, 2)


@pytest.mark.parametrize(("least", "most"), [(0, 2), (3, 2), (1, ALPHABET_SIZE + 1)])
def test_impossible_numbers_of_items_cost_nothing(least: int, most: int) -> None:
    """They are refused before anything is charged."""
    curator = curator_over([frozenset({0, 1})] * 9)
    with pytest.raises(BadCall, match="give numbers from 1 to"):
        curator.ask_frequent_items(
            1, domain=curator.domain(max_size=2), least=least, most=most, epsilon=Fraction(1)
        )
    assert curator.budget.spent == 0
