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
from veilset.api import mine, open_curator
from veilset.datasets import groceries
from veilset.errors import BadCall
from veilset.exact import mine_exact
from veilset.gate import NoisyCounts, PrivacyUnit, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace, OnSample
from veilset.gate.questions.prefix_tree import check_ends
from veilset.itemsets import Itemsets
from veilset.methods import dpfim, find_method
from veilset.methods.dpfim.tree_supports import TreeSupports, combined, in_tree
from veilset.raw.transactions import Transactions
from veilset.request import Request


@pytest.fixture(scope="module")
def shop() -> Transactions:
    """Synthetic baskets."""
    return groceries(8_000)


@pytest.mark.parametrize("method", ["dpfim", "dpfim:eta-95", "dpfim:small-sample", "strawman"])
@pytest.mark.parametrize("target", [{"k": 20}, {"min_support": 0.05}, {"k": 5, "max_size": 1}], ids=str)
def test_a_release_spends_epsilon_and_no_more(
    shop: Transactions, method: str, request: dict[str, float]
) -> None:
    """The trace adds up exactly; a seeded run repeats."""
    runs = [mine(shop, epsilon="0.7", method=method, noise=SeededNoise(3), **request) for _ in range(2)]  # type: ignore[arg-type]
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
    """X1: nothing that shapes the cut is free."""
    curator = open_curator(shop, epsilon=1, noise=SeededNoise(1))
    dpfim.dpfim(curator, Request.of(k=40), epsilon=Fraction(1))
    kinds = [isinstance(charge.mechanism, OnSample) for charge in curator.budget.charges]
    assert kinds == [False, True, True, True, True, True, False, False, False]
    questions = [charge.question.split()[0] for charge in curator.budget.charges]
    assert " ".join(questions) == "number number lengths supports lengths best supports prefix supports"


def test_the_sample_of_large_data_is_nearly_free_and_that_of_small_is_not() -> None:
    """The price follows the rate; at most the stated share of what is left."""
    size = dpfim.sample_size(0.01)
    large, small = (
        dpfim.price_of_sample(min(Fraction(1), Fraction(size, rows)), 1, left=Fraction(1))
        for rows in (990_000, 8_124)
    )
    assert large == pytest.approx(math.log1p(size / 990_000 * math.expm1(2)), abs=1e-8)
    assert large < Fraction(7, 100)
    assert small == dpfim.MOST_FOR_SAMPLE


def test_the_order_of_one_chosen_item_and_no_cut_are_fine() -> None:
    """One item, one level, no targets."""
    curator = curator_over([frozenset({2})] * 500, epsilon=Fraction(10))
    release = dpfim.dpfim(curator, Request.of(k=1), epsilon=Fraction(10))
    assert [found.items for found in release.itemsets] == [(2,)]
    assert abs(release.itemsets[0].support - 500) < 50


@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1), Fraction(250)])
@pytest.mark.parametrize("items", [1, 2, 30, 1000])
def test_thresholds_for_nodes_end_every_tree(items: int, scale: Fraction) -> None:
    """The gate takes them, and they are no larger than that asks for."""
    threshold = dpfim.node_threshold(items, scale=scale)
    check_ends(threshold, width=items, scale=scale)
    assert threshold <= math.log(items / dpfim.EMPTY_CHILDREN) * scale + 1


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


@given(rows=baskets())
def test_supports_in_a_whole_tree_are_those_of_the_baskets(rows: Baskets) -> None:
    """Without noise and threshold; with singles asked for, nothing is lacking and factors are 1."""
    curator = curator_over(rows, epsilon=Fraction(10**7))
    order, sure = (2, 0, 4), Fraction(10**6)
    tree = curator.ask_prefix_tree(order, depth=3, threshold=1, epsilon=sure)
    singles = curator.ask_supports(Itemsets.of((item,) for item in order), epsilon=sure)
    for given_singles in (None, singles):
        known = in_tree(tree, given_singles, k=7, max_size=3)
        for itemset, support in zip(known.itemsets, known.supports, strict=True):
            assert support == sum(set(itemset) <= row for row in rows)


@pytest.mark.parametrize(("level", "slope"), [(1.0, 0.0), (1.04, 0.0), (1.0, 0.3)])
def test_what_the_tree_lacks_is_learnt_from_the_counts(level: float, slope: float) -> None:
    """Forty itemsets, clear counts: the average is close to the truth, whatever the tree lost."""
    true = np.linspace(4000, 1000, 40)
    lateness = np.linspace(0, 0.9, 40)
    itemsets = Itemsets.of((item,) for item in range(40))
    known = TreeSupports(itemsets, true / (level + slope * lateness), np.full(40, 100.0), lateness)
    noise = SeededNoise(1)._arrays.laplace(scale=100, size=40)
    asked = NoisyCounts(itemsets, np.rint(true + noise).astype(np.int64), DiscreteLaplace(100, Fraction(1)))
    estimates = combined(known, asked)
    errors = np.abs(estimates.supports - true)
    assert np.median(errors) < np.median(np.abs(noise))
    assert np.mean(errors <= estimates.half_widths) > 0.9


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
    assert dpfim.sample_size(find_method("dpfim:small-sample", task="mine").options["tolerance"]) == 9604
