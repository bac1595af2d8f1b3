"""PrivBasis: its basis sets, its averaging, the question behind lambda, its accuracy."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import curator_over, engine_over
from reference import Basket, Baskets, item_supports, support
from strategies import ALPHABET_SIZE, basket, baskets, transactions_of
from veilset.api import mine
from veilset.datasets import groceries
from veilset.exact import mine_exact
from veilset.gate import NoisyHistogram, SeededNoise
from veilset.gate.selection import floored_supports as scored
from veilset.itemsets import Domain, Itemset
from veilset.methods import privbasis as method
from veilset.methods.privbasis import averaged
from veilset.methods.shared.bases import Basis, basis_set, maximal_cliques, mean_error, merged, split_clique
from veilset.methods.shared.marginals import supersets_added_up

pairs_of_items = st.sets(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] < pair[1]), max_size=20
).map(sorted)


def is_clique(items: tuple[int, ...], pairs: list[Itemset]) -> bool:
    """Whether all pairs of some items are given."""
    return all(pair in pairs for pair in combinations(items, 2))


@given(pairs=pairs_of_items)
def test_cliques_are_all_maximal_ones(pairs: list[Itemset]) -> None:
    """Against every subset of the ten items."""
    items = sorted({item for pair in pairs for item in pair})
    cliques = [
        c for size in range(2, len(items) + 1) for c in combinations(items, size) if is_clique(c, pairs)
    ]
    maximal = {c for c in cliques if not any(set(c) < set(other) for other in cliques)}
    found = list(maximal_cliques(pairs))
    assert set(found) == maximal
    assert len(found) == len(maximal)


@given(pairs=pairs_of_items, largest=st.integers(4, 12))
def test_a_basis_set_holds_every_item_and_pair_in_small_bases(pairs: list[Itemset], largest: int) -> None:
    """Whatever was merged or split."""
    items = list(range(10))
    bases = basis_set(items, pairs, largest=largest)
    assert all(len(basis) <= largest for basis in bases)
    assert all(any({*pair} <= {*basis} for basis in bases) for pair in [*pairs, *((item,) for item in items)])


def error_of(bases: list[Basis], queries: list[Itemset]) -> float:
    """The mean variance by its definition."""
    precision = [sum(2.0 ** (len(x) - len(b)) for b in bases if {*x} <= {*b}) for x in queries]
    return mean_error(np.array(precision), len(bases))


@given(pairs=pairs_of_items.filter(bool))
def test_merging_never_raises_the_error_and_stops_where_no_merge_lowers_it(pairs: list[Itemset]) -> None:
    """Against the definition of the mean variance."""
    items = sorted({item for pair in pairs for item in pair})
    queries = [*((item,) for item in items), *pairs]
    before = list(maximal_cliques(pairs))
    after = merged(before, items, pairs, largest=8)
    now = error_of(after, queries)
    assert now <= error_of(before, queries) + 1e-9
    for a, b in combinations(after, 2):
        union = tuple(sorted({*a, *b}))
        if len(union) <= 8:
            rest = [basis for basis in after if basis not in (a, b)]
            assert error_of([*rest, union], queries) >= now - 1e-9


@given(size=st.integers(1, 40))
def test_a_split_clique_keeps_all_its_pairs(size: int) -> None:
    """In parts that are small enough."""
    parts = split_clique(tuple(range(size)), 12)
    assert all(len(part) <= 12 for part in parts)
    assert all(any({*pair} <= {*part} for part in parts) for pair in combinations(range(size), 2))


@given(rows=baskets())
def test_patterns_add_up_to_supports(rows: Baskets) -> None:
    """The support of every subset of a group, from the patterns of the group."""
    group = (0, 2, 5)
    curator = curator_over(rows, epsilon=Fraction(10**7))
    sums = supersets_added_up(curator.ask_marginal(group, epsilon=Fraction(10**6)).values)
    for number in range(8):
        itemset = [item for place, item in enumerate(group) if number >> place & 1]
        assert sums[number] == support(rows, itemset)


def test_averaging_weighs_by_inverse_variance() -> None:
    """The error of averaged supports is what the variances say, and smaller than that of either basis."""
    rows = [frozenset({0, 1})] * 300 + [frozenset({1, 2, 3})] * 300
    one, both = [], []
    for seed in range(400):
        curator = curator_over(rows, epsilon=Fraction(10), noise=SeededNoise(seed))
        answers = [(g, curator.ask_marginal(g, epsilon=Fraction(1, 2))) for g in [(0, 1), (1, 2, 3)]]
        one.append(int(dict(zip(*_listed(answers[:1]), strict=True))[1,]) - 600)
        both.append(int(dict(zip(*_listed(answers), strict=True))[1,]) - 600)
    one_count = 2 * 2.0**2  # two counts' worth of variance: scale 2, Laplace
    expected = 1 / (1 / (2 * one_count) + 1 / (4 * one_count))
    assert np.var(both) == pytest.approx(expected, rel=0.25)
    assert np.var(both) < np.var(one)


def _listed(answers: list[tuple[Basis, NoisyHistogram]]) -> tuple[list[Itemset], list[int]]:
    estimates = averaged(answers, max_size=3)
    return list(estimates.itemsets), estimates.supports.tolist()


@given(rows=baskets(), extra=basket(), k=st.integers(1, 20))
def test_one_more_transaction_moves_every_distance_by_at_most_1(rows: Baskets, extra: Basket, k: int) -> None:
    """The score behind lambda has sensitivity 1, up or down."""
    domain = Domain(items=range(ALPHABET_SIZE), max_size=3)
    before, after = (
        scored.rank_distances(engine_over(database), domain, k, most=ALPHABET_SIZE, draw=SeededNoise(1).keys)
        for database in (rows, [*rows, extra])
    )
    assert np.abs(after - before).max() <= 1


@given(rows=baskets(), k=st.integers(1, 6))
def test_the_matching_rank_is_that_of_the_closest_support(rows: Baskets, k: int) -> None:
    """With next to no noise, no other rank is closer."""
    curator = curator_over(rows, epsilon=Fraction(10**7))
    domain = curator.domain(max_size=1)
    rank = curator.ask_matching_rank(k, domain=domain, most=ALPHABET_SIZE, epsilon=Fraction(10**6))
    ranked = sorted(item_supports(rows, ALPHABET_SIZE), reverse=True)
    assert ranked[rank - 1] == ranked[k - 1]


@given(
    rows=baskets(),
    epsilon=st.fractions(min_value=Fraction(1, 100), max_value=10),
    k=st.none() | st.integers(1, 40),
    max_size=st.none() | st.integers(1, 3),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60)
def test_the_trace_sums_to_at_most_epsilon(
    rows: Baskets, epsilon: Fraction, k: int | None, max_size: int | None, seed: int
) -> None:
    """Whatever the data, the task and the noise."""
    request = {"min_support": "0.3"} if k is None else {"k": min(k, 6 if max_size == 1 else 21)}
    release = mine(
        transactions_of(rows),
        epsilon=epsilon,
        method="privbasis",
        max_size=max_size,
        noise=SeededNoise(seed),
        **request,
    )
    assert release.spent <= epsilon
    assert k is None or release.spent == epsilon
    assert all(len(found.items) <= (max_size or ALPHABET_SIZE) for found in release.itemsets)


@pytest.mark.parametrize("k", [30, 100], ids=["one basis", "many bases"])
def test_it_finds_most_of_the_top_itemsets_and_its_intervals_hold(k: int) -> None:
    """On 50,000 baskets at epsilon 1, with an interval that holds for nearly all of them."""
    data = groceries(50_000)
    truth = mine_exact(data, k=5 * k)
    exact = dict(zip(truth.itemsets, truth.supports, strict=True))
    release = mine(data, epsilon=1, k=k, method="privbasis", noise=SeededNoise(4))
    top = set(list(exact)[:k])
    right = [found for found in release.itemsets if found.items in top]
    assert len(right) >= 0.8 * k
    inside = [found.low <= exact[found.items] <= found.high for found in right]
    assert np.mean(inside) >= 0.85


def test_shares_of_epsilon_add_up_to_one() -> None:
    """lambda, items and pairs, bases."""
    assert method.SHARE_FOR_LAMBDA + method.SHARE_FOR_ITEMS + method.SHARE_FOR_BASES == 1
