"""DP-FIM and its strawman: what they spend, on what, and what they find."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curators import curator_over
from reference import Baskets
from strategies import baskets
from veilset.api import mine
from veilset.datasets import groceries
from veilset.errors import BadCall
from veilset.exact import mine_exact
from veilset.gate import PrivacyUnit, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace, OnSample
from veilset.methods import dpfim, find_method
from veilset.methods.dpfim.sample import sample_size
from veilset.opening import open_curator
from veilset.raw.transactions import Transactions
from veilset.request import Request


@pytest.fixture(scope="module")
def shop() -> Transactions:
    """Synthetic baskets."""
    return groceries(8_000)


@pytest.mark.parametrize("method", ["dpfim", "dpfim:eta-95", "dpfim:small-sample", "strawman"])
@pytest.mark.parametrize("wanted", [{"k": 20}, {"min_support": 0.05}, {"k": 5, "max_size": 1}], ids=str)
def test_a_release_spends_epsilon_and_no_more(
    shop: Transactions, method: str, wanted: dict[str, float]
) -> None:
    """The trace adds up exactly; a seeded run repeats."""
    runs = [mine(shop, epsilon="0.7", method=method, noise=SeededNoise(3), **wanted) for _ in range(2)]  # type: ignore[arg-type]
    assert runs[0] == runs[1]
    assert Fraction(69, 100) < runs[0].spent <= Fraction(7, 10)
    assert not runs[0].is_private


@given(rows=baskets(), k=st.integers(1, 6), seed=st.integers(0, 99))
def test_small_data_is_mined_within_the_budget(rows: Baskets, k: int, seed: int) -> None:
    """Also no data at all, and units of several transactions."""
    curator = curator_over(rows, noise=SeededNoise(seed), unit=PrivacyUnit("owner", 2))
    release = dpfim.dpfim(curator, Request.of(k=k), epsilon=Fraction(1))
    assert len(release) <= k
    assert curator.budget.spent <= 1


def test_preprocessing_is_asked_on_the_sample_and_the_rest_of_all_data(shop: Transactions) -> None:
    """X1: nothing that shapes truncation is free."""
    curator = open_curator(shop, epsilon=1, noise=SeededNoise(1))
    dpfim.dpfim(curator, Request.of(k=40), epsilon=Fraction(1))
    kinds = [isinstance(charge.mechanism, OnSample) for charge in curator.budget.charges]
    assert kinds == [False, True, True, True, True, True, False, False, False]
    questions = [charge.question.split()[0] for charge in curator.budget.charges]
    assert " ".join(questions) == "number number lengths supports lengths best supports prefix supports"


def test_the_order_of_one_chosen_item_and_no_truncation_are_fine() -> None:
    """One item, one level, no targets."""
    curator = curator_over([frozenset({2})] * 500, epsilon=Fraction(10))
    release = dpfim.dpfim(curator, Request.of(k=1), epsilon=Fraction(10))
    assert [found.items for found in release.itemsets] == [(2,)]
    assert abs(release.itemsets[0].support - 500) < 50


def test_the_tree_finds_most_of_what_there_is(shop: Transactions) -> None:
    """At epsilon 3, at least 0.8 of the 30 best, with 95 % intervals that mostly hold."""
    exact = mine_exact(shop, k=30)
    true = dict(zip(map(frozenset, exact.itemsets), exact.supports, strict=True))
    found, held = [], []
    for seed in range(4):
        release = mine(shop, k=30, epsilon=3, method="dpfim", noise=SeededNoise(seed))
        right = [each for each in release.itemsets if frozenset(each.items) in true]
        found.append(len(right) / 30)
        held += [each.low <= true[frozenset(each.items)] <= each.high for each in right]
    assert np.mean(found) > 0.8
    assert np.mean(held) > 0.8


def test_the_strawman_has_the_noise_of_all_itemsets(shop: Transactions) -> None:
    """C(n, i) for each size, at an equal share."""
    curator = open_curator(shop, epsilon=1, noise=SeededNoise(1), transactions=8_000)
    dpfim.strawman(curator, Request.of(k=5), epsilon=Fraction(1))
    n = curator.alphabet_size
    mechanisms = [charge.mechanism for charge in curator.budget.charges]
    assert mechanisms == [DiscreteLaplace(math.comb(n, size), Fraction(1, 2)) for size in (1, 2)]


def test_the_strawman_refuses_what_it_cannot_list(shop: Transactions) -> None:
    """From the alphabet and the size alone, before anything is spent."""
    curator = open_curator(shop, epsilon=1, noise=SeededNoise(1))
    with pytest.raises(BadCall, match=r"lists all \d+ itemsets .* smaller itemsets, or use dpfim"):
        dpfim.strawman(curator, Request.of(k=5, max_size=6), epsilon=Fraction(1))
    assert curator.budget.spent == 0


def test_variants_are_the_settings_of_the_paper() -> None:
    """Figure 5 varies eta; the sample of the paper has a tolerance of 1 %."""
    assert find_method("dpfim:eta-75", task="mine").options == {"eta": Fraction(3, 4)}
    assert sample_size(find_method("dpfim:small-sample", task="mine").options["tolerance"]) == 9604
