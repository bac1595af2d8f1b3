"""DiffFIM: its budget in every corner, its search, its accuracy."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corners import Corner, corners
from strategies import ALPHABET_SIZE, transactions_of
from veilset.api import mine
from veilset.datasets import groceries
from veilset.exact import mine_exact
from veilset.gate import SeededNoise
from veilset.methods import difffim

NAMES = [
    "f1m",
    "f1m:whole",
    "difffim-naive",
    "difffim",
    "difffim:only-smart",
    "difffim:only-double",
    "difffim:plain",
    "difffim:by-length",
]


@pytest.mark.parametrize("name", NAMES)
@given(corner=corners(largest=8))
@settings(max_examples=25)
def test_the_trace_sums_to_at_most_epsilon(name: str, corner: Corner) -> None:
    """Whatever the data, the threshold, the largest size and the noise; also at epsilon 0.01 (Z3)."""
    release = corner.release(name)
    assert release.spent <= corner.epsilon
    assert all(len(found.items) <= (corner.max_size or ALPHABET_SIZE) for found in release.itemsets)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epsilon", ["0.01", "5"])
def test_an_alphabet_of_one_item_is_no_problem(name: str, epsilon: str) -> None:
    """The search over one size ends (Z5)."""
    data = transactions_of([frozenset({0})] * 30, alphabet_size=1)
    assert mine(data, epsilon=epsilon, method=name, min_support=10, noise=SeededNoise(1)).spent <= Fraction(
        epsilon
    )
    assert len(mine(data, epsilon=epsilon, method=name, k=1, noise=SeededNoise(1))) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_much_epsilon_finds_everything_above_a_threshold(name: str) -> None:
    """With next to no noise and short transactions, the exact answer; f1m the items of it."""
    rows = [frozenset({0, 1, 2})] * 9000 + [frozenset({0, 3})] * 6000 + [frozenset({4})] * 700
    data = transactions_of([*rows, *[frozenset({1, 3})] * 300])
    release = mine(data, epsilon=10**6, method=name, min_support=1000, noise=SeededNoise(1))
    exact = mine_exact(data, min_support=1000, max_size=1 if name.startswith("f1m") else 3)
    assert {found.items for found in release.itemsets} == set(exact.itemsets)


@given(
    supports=st.lists(st.integers(0, 50), min_size=1, max_size=20).map(lambda v: sorted(v, reverse=True)),
    min_count=st.integers(1, 50),
)
def test_the_largest_size_is_found_with_the_comparisons_that_were_paid_for(
    supports: list[int], min_count: int
) -> None:
    """For every number of sizes, powers of two among them (Z4): never more than floor(log2 n) + 1."""
    asked: list[int] = []

    class Fake:
        def ask_largest_support(self, size: int, *, floor: int, epsilon: Fraction) -> object:
            assert floor == 0
            asked.append(size)
            paid.append(epsilon)
            return type("Answer", (), {"value": supports[size - 1]})

    paid: list[Fraction] = []
    size = difffim.ask_largest_size(
        Fake(),  # type: ignore[arg-type]
        len(supports),
        min_count=min_count,
        floor=0,
        epsilon=Fraction(1),
    )
    assert size == sum(value >= min_count for value in supports)
    assert sum(paid) <= 1


def test_double_standards_help_where_transactions_are_long() -> None:
    """On groceries at epsilon 1 the paper's two heuristics together beat the naive form."""
    data = groceries(30_000)
    exact = set(mine_exact(data, min_support="0.03").itemsets)

    def f_score(name: str) -> float:
        scores = []
        for seed in range(3):
            release = mine(data, epsilon=1, method=name, min_support="0.03", noise=SeededNoise(seed))
            found = {row.items for row in release.itemsets}
            scores.append(2 * len(found & exact) / (len(found) + len(exact)))
        return float(np.mean(scores))

    assert f_score("difffim") > f_score("difffim-naive") + 0.05
