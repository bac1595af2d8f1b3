"""TPS: what it spends, how accurate it is."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import veilset as vs
from curators import curator_over
from reference import Baskets
from shared_data import DATA
from strategies import ALPHABET_SIZE, baskets, transactions_of
from veilset.datasets import groceries
from veilset.errors import BadCall
from veilset.gate import SeededNoise
from veilset.gate.mechanisms import AboveThreshold
from veilset.methods import METHODS, find_method, tps
from veilset.request import Request

NAMES = [method.name for method in METHODS.values() if method.task == "items"]

TWO_PHASES = ["tps-pfm", "tps-em", "tps-recount", "frefirst"]


@pytest.mark.parametrize("name", NAMES)
@given(
    rows=baskets(),
    epsilon=st.fractions(min_value=Fraction(1, 100), max_value=10),
    k=st.integers(1, ALPHABET_SIZE),
    seed=st.integers(0, 1000),
)
@settings(max_examples=25)
def test_a_release_holds_k_items_and_spends_exactly_epsilon(
    name: str, rows: Baskets, epsilon: Fraction, k: int, seed: int
) -> None:
    """Whatever the data and the noise; a second run with the same seed gives the same release."""
    held = transactions_of(rows)
    one, other = (
        vs.items(held, epsilon=epsilon, k=k, method=name, noise=SeededNoise(seed)) for _ in range(2)
    )
    assert one == other
    assert one.spent == epsilon
    assert len({found.items for found in one.itemsets}) == len(one) == k
    assert all(len(found.items) == 1 and found.low <= found.support <= found.high for found in one.itemsets)
    assert vs.Release.from_dict(one.to_dict()) == one


@pytest.mark.parametrize("name", NAMES)
def test_a_threshold_that_nothing_reaches_gives_an_empty_release(name: str) -> None:
    """Methods of this task can be asked for a threshold, too."""
    curator = curator_over([frozenset({1})] * 50, epsilon=Fraction(100))
    method = find_method(name, task="items")
    release = method.run(curator, Request.of(min_support=10**6), epsilon=Fraction(100))
    assert len(release) == 0


SHARES_ARE = {
    "tps-pfm": tps.SHARES,
    "tps-em": tps.SHARES,
    "frefirst": tps.SHARES_OF_FREFIRST,
    "tps-recount": tps.SHARES_OF_RECOUNT,
}


@pytest.mark.parametrize("name", SHARES_ARE)
def test_shares_are_as_documented(name: str) -> None:
    """1/50 for the number, of the rest 1/25 at the end for scaling, and of what is left the method's shares."""
    held = [["a"]] * 30 + [["b"]] * 9
    release = vs.items(held, epsilon=1, k=1, method=name, public_items=True, noise=SeededNoise(1))
    left = Fraction(49, 50) * Fraction(24, 25)
    shares = [left * share for share in SHARES_ARE[name]]
    assert sum(SHARES_ARE[name]) == 1
    paid = [row.mechanism.epsilon for row in release.trace]
    assert paid[: 1 + len(shares)] == [Fraction(1, 50), *shares]
    assert sum(paid[1 + len(shares) :]) == Fraction(49, 50) / 25
    assert len(paid[1 + len(shares) :]) in {2, 3}


def test_what_pfm_used_stands_in_the_trace() -> None:
    """Part by part, within the epsilon that was charged before the look."""
    release = vs.items(groceries(5000), epsilon=1, k=40, method="tps-pfm", noise=SeededNoise(3))
    (place,) = [
        number for number, row in enumerate(release.trace) if isinstance(row.mechanism, AboveThreshold)
    ]
    mechanism = release.trace[place].mechanism
    assert isinstance(mechanism, AboveThreshold)
    assert mechanism.account
    assert 0 < mechanism.used == sum(mechanism.account) <= mechanism.epsilon
    row = release.to_dict()["trace"][place]
    assert row["account"] == [str(part) for part in mechanism.account]


@pytest.mark.parametrize(
    ("name", "least"),
    [("tps-pfm", 0.9), ("tps-em", 0.9), ("tps-recount", 0.95), ("frefirst", 0.95), ("em", 0.85)],
)
def test_it_finds_most_of_the_top_items_and_its_intervals_hold(name: str, least: float) -> None:
    """On 20,000 baskets at epsilon 1."""
    data = groceries(20_000)
    truth = vs.mine_exact(data, k=196, max_size=1)
    exact = dict(zip(truth.itemsets, truth.supports, strict=True))
    release = vs.items(data, epsilon=1, k=80, method=name, noise=SeededNoise(4))
    top = {items for items, support in exact.items() if support >= truth.supports[79]}
    right = [found for found in release.itemsets if found.items in top]
    assert len(right) >= least * 80
    inside = [found.low <= exact[found.items] <= found.high for found in right]
    assert np.mean(inside) >= 0.85


@pytest.mark.skipif(not DATA.exists(), reason="needs the real datasets")
def test_counting_again_finds_more_than_the_first_phase_where_items_are_many() -> None:
    """retail at epsilon 0.1, seven runs each: at least 0.02 more of the top 100, on average."""
    retail = vs.read(DATA / "retail.dat.zst", alphabet=range(16_470))
    top = set(vs.mine_exact(retail, k=100, max_size=1).itemsets)
    found = {
        name: np.mean(
            [
                len(
                    top
                    & {
                        each.items
                        for each in vs.items(retail, epsilon=0.1, k=100, method=name, noise=noise).itemsets
                    }
                )
                for noise in map(SeededNoise, range(7))
            ]
        )
        for name in ("tps-recount", "frefirst")
    }
    assert found["tps-recount"] >= found["frefirst"] + 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vs.items([["a"]], epsilon=1, k=0, public_items=True), "at least 1"),
        (lambda: vs.items([["a"]], epsilon=1, k=2, public_items=True), "k"),
        (lambda: vs.items([["a"]], epsilon=0, k=1, public_items=True), "above 0"),
        (lambda: vs.items([["a"]], epsilon=1, k=1, method="privbasis"), "tps-pfm, tps-em"),
        (lambda: vs.items([["a"]], epsilon=1, k=1, method="tps-pfm:magic"), "for-counts"),
    ],
)
def test_calls_that_make_no_sense_are_refused(call: Callable[[], object], message: str) -> None:
    """In one line."""
    with pytest.raises(BadCall, match=message):
        call()
