"""DiffFIM: its parts on noisy values, its budget in every corner, its accuracy."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over
from reference import Basket, Baskets, support
from strategies import ALPHABET_SIZE, basket, baskets, transactions_of
from veilset.api import mine
from veilset.datasets import groceries
from veilset.errors import BadCall
from veilset.exact import mine_exact
from veilset.gate import NoisyHistogram, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace
from veilset.itemsets import Itemset, Itemsets, joined
from veilset.methods import difffim, find_method

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
@given(
    rows=baskets(),
    epsilon=st.fractions(min_value=Fraction(1, 100), max_value=10),
    k=st.none() | st.integers(1, 6),
    max_size=st.none() | st.integers(1, 8),
    seed=st.integers(0, 1000),
)
@settings(max_examples=25)
def test_the_trace_sums_to_at_most_epsilon(
    name: str, rows: Baskets, epsilon: Fraction, k: int | None, max_size: int | None, seed: int
) -> None:
    """Whatever the data, the threshold, the largest size and the noise; also at epsilon 0.01 (Z3)."""
    release = mine(
        transactions_of(rows),
        epsilon=epsilon,
        method=name,
        k=k,
        min_support=None if k else "0.3",
        max_size=max_size,
        noise=SeededNoise(seed),
    )
    assert release.spent <= epsilon
    assert all(len(found.items) <= (max_size or ALPHABET_SIZE) for found in release.itemsets)


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


@given(rows=baskets(), extra=basket(), size=st.integers(1, 4), floor=st.integers(0, 4))
def test_one_more_transaction_raises_the_largest_support_by_0_or_1(
    rows: Baskets, extra: Basket, size: int, floor: int
) -> None:
    """Also with a floor under it, which the printed form does not have (Z6)."""
    values = []
    for database in (rows, [*rows, extra]):
        curator = curator_over(database, epsilon=Fraction(10**7))
        values.append(curator.ask_largest_support(size, floor=floor, epsilon=Fraction(10**6)).value)
        exact = max(support(database, itemset) for itemset in combinations(range(ALPHABET_SIZE), size))
        assert values[-1] == max(exact, floor)
    assert values[1] - values[0] in (0, 1)


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


def histogram(values: list[int], scale: Fraction = Fraction(1, 100)) -> NoisyHistogram:
    """Noisy lengths."""
    return NoisyHistogram(np.array(values, np.int64), DiscreteLaplace(1, 1 / scale))


def test_the_length_limit_leaves_85_percent_whole() -> None:
    """Empty transactions do not count; noise may make a class negative."""
    assert difffim.length_up_to(histogram([500, 50, 34, 2, 14]), Fraction(85, 100)) == 3
    assert difffim.length_up_to(histogram([0, 60, -5, 40, 5]), Fraction(85, 100)) == 3
    assert difffim.length_up_to(histogram([9, -3, -2]), Fraction(85, 100)) in (1, 2)


@given(values=st.lists(st.integers(-20, 100), min_size=2, max_size=30), share=st.fractions(0, 1))
def test_a_length_limit_is_always_possible(values: list[int], share: Fraction) -> None:
    """Whatever the noise does."""
    assert 1 <= difffim.length_up_to(histogram(values), share) < len(values)


def test_the_limit_of_a_level_weighs_noise_against_loss() -> None:
    """Little epsilon asks for a short limit, much epsilon for a long one; never below the itemsets' size."""
    lengths = np.array([0.0, 50, 40, 30, 20, 10, 5, 5, 5])
    candidates = Itemsets.of(combinations(range(40), 2))
    limits = [
        difffim.best_limit(lengths, candidates, size=2, min_count=500, epsilon=Fraction(epsilon))
        for epsilon in ("0.001", "0.1", "1", "1000")
    ]
    assert limits == sorted(limits)
    assert limits[0] == 2
    assert limits[-1] == 8
    assert difffim.best_limit(np.zeros(9), candidates, size=2, min_count=5, epsilon=Fraction(1)) == 2


@given(
    pairs=st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: pair[0] < pair[1])).map(
        sorted
    )
)
def test_candidates_are_those_all_of_whose_parts_are_given(pairs: list[Itemset]) -> None:
    """Against every triple."""
    triples = [t for t in combinations(range(7), 3) if all(pair in pairs for pair in combinations(t, 2))]
    assert joined(pairs) == triples


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


def test_variants_are_named_and_unknown_ones_refused() -> None:
    """The heuristics can be switched off one by one."""
    assert find_method("difffim:only-smart", task="mine").options == {"has_double_standards": False}
    with pytest.raises(BadCall, match="there is: only-smart, only-double, plain, by-length"):
        find_method("difffim:magic", task="mine")
    with pytest.raises(BadCall, match="there is: none"):
        find_method("privbasis:magic", task="mine")
