"""planned: what it spends, what it may know, what it finds."""

import inspect
import re
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planned_cases import DENSE, FEW, SPARSE, TOGETHER
from reference import Baskets
from strategies import ALPHABET_SIZE, baskets, transactions_of
from veilset.api import mine
from veilset.datasets import groceries
from veilset.exact import mine_exact
from veilset.gate import Curator, PrivacyUnit, SeededNoise
from veilset.gate.mechanisms import DiscreteLaplace, Exponential
from veilset.itemsets import Itemsets
from veilset.methods.planned import planned
from veilset.methods.planned.settings import DEFAULT, Settings
from veilset.opening import open_curator
from veilset.raw.transactions import Transactions
from veilset.request import Request
from veilset.results.release import Release

GROCERIES = groceries(5000)
DATA = {"dense": DENSE, "sparse": SPARSE, "groceries": GROCERIES, "few": FEW}


def top(data: Transactions, k: int, *, epsilon: Fraction | int = 1, seed: int = 1) -> Release:
    """The k most frequent itemsets."""
    return mine(data, epsilon=epsilon, k=k, method="planned", noise=SeededNoise(seed))


def in_words(release: Release) -> str:
    """What the method says that it did."""
    return "; ".join(release.notes)


@pytest.mark.parametrize("name", DATA)
def test_all_of_epsilon_is_spent_on_k_itemsets(name: str) -> None:
    """Exactly: shares are fractions of what is left, and the last question has the rest."""
    release = top(DATA[name], 20)
    assert sum((charge.mechanism.epsilon for charge in release.trace), Fraction(0)) == release.spent == 1
    assert len(release) == 20


@pytest.mark.parametrize("name", DATA)
def test_no_more_than_epsilon_is_spent_on_a_threshold(name: str) -> None:
    """The number of comparisons is known after they were made, so a part of their share may stay."""
    release = mine(DATA[name], epsilon=1, min_support="0.05", method="planned", noise=SeededNoise(1))
    assert sum((charge.mechanism.epsilon for charge in release.trace), Fraction(0)) == release.spent
    assert Fraction(9, 10) <= release.spent <= 1


@given(
    rows=baskets(30),
    epsilon=st.sampled_from([Fraction(1, 100), Fraction(1, 3), Fraction(7), Fraction(10**6)]),
    k=st.none() | st.integers(1, 21),
    max_size=st.none() | st.integers(1, 3),
    alphabet_size=st.sampled_from([ALPHABET_SIZE, 40]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=50)
def test_any_data_make_a_release_within_epsilon(
    rows: Baskets, epsilon: Fraction, k: int | None, max_size: int | None, alphabet_size: int, seed: int
) -> None:
    """None, empty baskets, fewer itemsets than k: no more than k different ones, none too large."""
    request = {"min_support": "0.3"} if k is None else {"k": min(k, 6) if max_size == 1 else k}
    release = mine(
        transactions_of(rows, alphabet_size),
        epsilon=epsilon,
        method="planned",
        max_size=max_size,
        noise=SeededNoise(seed),
        **request,
    )
    assert release.spent <= epsilon
    assert k is None or release.spent == epsilon
    assert k is None or len(release) <= k
    assert len({found.items for found in release.itemsets}) == len(release)
    assert all(len(found.items) <= (max_size or alphabet_size) for found in release.itemsets)


def test_a_threshold_stands_for_no_more_itemsets_than_the_note_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more that are as frequent, the likeliest are released."""

    def released() -> Release:
        return mine(SPARSE, epsilon=20, min_support="0.02", noise=SeededNoise(1))

    whole = released()
    assert len(whole.itemsets) > 9
    monkeypatch.setattr("veilset.methods.planned.answer.MOST_ABOVE_THRESHOLD", 9)
    assert {found.items for found in released().itemsets} < {found.items for found in whole.itemsets}
    assert len(released().itemsets) == 9


@pytest.mark.parametrize("alphabet_size", [1, 2])
@pytest.mark.parametrize("rows", [0, 1, 500])
@pytest.mark.parametrize("wanted", [{"k": 1}, {"min_support": "0.5"}], ids=["k", "threshold"])
def test_tiny_alphabets_are_no_exception(alphabet_size: int, rows: int, wanted: dict[str, Any]) -> None:
    """One item, or two; held by nobody or by all."""
    data = transactions_of([frozenset({0})] * rows, alphabet_size)
    release = mine(data, epsilon=100, method="planned", noise=SeededNoise(1), **wanted)
    assert release.spent <= 100
    if rows == 500:
        assert [found.items for found in release.itemsets] == [(0,)]
        assert release.itemsets[0].support == pytest.approx(500, rel=0.05)


@pytest.mark.parametrize("name", DATA)
def test_a_seeded_run_repeats_and_another_seed_differs(name: str) -> None:
    """To the last digit."""
    one, again, other = (top(DATA[name], 20, seed=seed).to_json() for seed in (5, 5, 6))
    assert one == again != other


@pytest.mark.parametrize(("name", "k"), [("dense", 20), ("sparse", 30), ("groceries", 50), ("few", 10)])
def test_it_finds_nearly_everything_with_hardly_any_noise(name: str, k: int) -> None:
    """Nineteen of twenty, with supports as they are; those that tie for the last places may be missed."""
    release, exact = top(DATA[name], k, epsilon=1000), mine_exact(DATA[name], k=k)
    true = dict(zip(exact.itemsets, exact.supports, strict=True))
    right = [found for found in release.itemsets if found.items in true]
    assert len(right) >= 0.95 * k
    errors = [abs(found.support - true[found.items]) / true[found.items] for found in right]
    assert np.median(errors) < 0.02


@pytest.mark.parametrize("name", DATA)
def test_it_finds_what_is_above_a_threshold(name: str) -> None:
    """With hardly any noise: nothing that is clearly below it, and nearly all of what is clearly above."""
    data = DATA[name]
    threshold = {"dense": 800, "sparse": 150, "groceries": 300, "few": 150}[name]
    release = mine(data, epsilon=1000, min_support=threshold, method="planned", noise=SeededNoise(1))
    found = {each.items for each in release.itemsets}
    above = set(mine_exact(data, min_support=round(1.1 * threshold)).itemsets)
    around = set(mine_exact(data, min_support=round(0.9 * threshold)).itemsets)
    assert found <= around
    assert len(found & above) >= 0.95 * len(above)


def test_intervals_of_what_is_rightly_found_hold_for_nearly_all() -> None:
    """On 50,000 baskets at epsilon 1. What is found wrongly is found because it seemed larger than it is."""
    data, k = groceries(50_000), 50
    exact = mine_exact(data, k=k)
    true = dict(zip(exact.itemsets, exact.supports, strict=True))
    right = [found for seed in range(4) for found in top(data, k, seed=seed).itemsets if found.items in true]
    inside = [found.low <= true[found.items] <= found.high for found in right]
    assert len(right) >= 4 * 0.9 * k
    assert np.mean(inside) > 0.9


def test_the_strategy_follows_the_data() -> None:
    """As the notes tell. Of several runs, because the noise has a say in the prediction."""
    dense, sparse, together = (
        "; ".join(in_words(top(data, k, seed=seed)) for seed in range(8))
        for data, k in [(DENSE, 20), (SPARSE, 30), (TOGETHER, 40)]
    )
    assert dense.count("counted together in one marginal") == 8
    assert sparse.count("that may belong to the answer were measured once more") >= 4
    assert len(re.findall(r"refinement: \d+ marginals? of a few items each", together)) >= 4


def test_single_items_are_counted_without_pairs() -> None:
    """Where nothing larger is asked for."""
    release = mine(SPARSE, epsilon=1, k=10, max_size=1, method="planned", noise=SeededNoise(1))
    assert "pair" not in in_words(release)
    assert {len(found.items) for found in release.itemsets} == {1}
    assert release.spent == 1


def test_a_note_says_where_fewer_than_k_were_found() -> None:
    """Nothing else stands out of three thousand short transactions. No note where there are k."""
    fewer, all_of_k = top(SPARSE, 2000), top(SPARSE, 50)
    assert len(fewer) < 2000
    assert fewer.notes[-1].startswith(f"{len(fewer)} itemsets instead of 2000")
    assert len(all_of_k) == 50
    assert "instead of 50" not in in_words(all_of_k)


@pytest.mark.parametrize("name", DATA)
def test_noise_grows_with_the_transactions_of_an_owner(name: str) -> None:
    """Every question is paid for three transactions; the budget is kept all the same."""
    data = DATA[name]
    owned = Transactions(data.offsets, data.items, data.alphabet, np.arange(len(data)) // 3)
    curator = open_curator(owned, epsilon=1, per_owner=3, noise=SeededNoise(1))
    assert curator.unit == PrivacyUnit("person", 3, is_cut=True)
    release = planned(curator, Request.of(k=20), epsilon=Fraction(1))
    assert release.spent == 1
    for charge in release.trace:
        assert isinstance(charge.mechanism, DiscreteLaplace | Exponential)
        assert charge.mechanism.sensitivity >= 3
        assert charge.mechanism.sensitivity % 3 == 0


class Recorded:
    """A curator that remembers what it was asked and answered."""

    def __init__(self, curator: Curator) -> None:
        self._curator = curator
        self.asked: list[str] = []
        self.answers: list[object] = []

    def __getattr__(self, name: str) -> object:
        known = getattr(self._curator, name)
        return self._asking(name, known) if name.startswith("ask_") else known

    def _asking(self, name: str, known: Callable[..., object]) -> Callable[..., object]:
        def ask(*given: object, **named: object) -> object:
            self.asked.append(f"{name} {[*map(_shown, given)]} {named}")
            self.answers.append(known(*given, **named))
            return self.answers[-1]

        return ask


class Replayed(Recorded):
    """A curator over other data that gives the answers that were given before."""

    def __init__(self, curator: Curator, answers: list[object]) -> None:
        super().__init__(curator)
        self._before = iter(answers)

    def _asking(self, name: str, known: Callable[..., object]) -> Callable[..., object]:  # noqa: ARG002
        return super()._asking(name, lambda *_given, **_named: next(self._before))


def _shown(given: object) -> object:
    return list(given) if isinstance(given, Itemsets) else given


@pytest.mark.parametrize("wanted", [Request.of(k=20), Request.of(min_support="0.05")], ids=["k", "threshold"])
@pytest.mark.parametrize("name", DATA)
def test_nothing_but_answers_decides_what_is_asked_and_released(name: str, wanted: Request) -> None:
    """On no data at all, the same answers lead to the same questions, shares and itemsets."""
    alphabet = DATA[name].alphabet
    nothing = Transactions(np.zeros(1, np.int64), np.empty(0, np.int32), alphabet)
    recorded = Recorded(open_curator(DATA[name], epsilon=1, noise=SeededNoise(1)))
    release = planned(recorded, wanted, epsilon=Fraction(1))  # type: ignore[arg-type]
    other = open_curator(nothing, epsilon=1, noise=SeededNoise(2))
    replayed = Replayed(other, recorded.answers)
    again = planned(replayed, wanted, epsilon=Fraction(1))  # type: ignore[arg-type]
    assert replayed.asked == recorded.asked
    assert again.itemsets == release.itemsets
    assert other.budget.spent == 0


def test_settings_travel_to_every_question() -> None:
    """A changed share is what is charged; the default is what is charged without settings."""
    shares = {}
    for share in (DEFAULT.share_for_kth, Fraction(1, 10)):
        curator = open_curator(SPARSE, epsilon=1, noise=SeededNoise(1))
        release = planned(
            curator, Request.of(k=10), epsilon=Fraction(1), settings=replace(DEFAULT, share_for_kth=share)
        )
        shares[share] = release.trace[1].mechanism.epsilon
        assert release.spent == 1
    assert all(charged == share for share, charged in shares.items())


def test_no_setting_is_without_use() -> None:
    """Every field is read somewhere in the method."""
    folder = Path(inspect.getfile(planned)).parent
    sources = "".join(path.read_text() for path in folder.glob("*.py"))
    assert [field.name for field in fields(Settings) if f".{field.name}" not in sources] == []


def test_notes_are_plain_english() -> None:
    """No "1 items", no "20-th", and none of the words of the house."""
    words = "; ".join(
        in_words(top(data, k)) for data, k in [(DENSE, 1), (DENSE, 20), (SPARSE, 30), (TOGETHER, 40)]
    )
    assert not re.search(r"\b1 (items|itemsets|pairs|triples|marginals)\b|\d-th\b", words)
    assert not re.search(r"unsure|joint patterns|so many|story|again the", words)
