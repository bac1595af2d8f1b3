"""Finding items before a method runs: within epsilon and delta, at the least price that is expected to do."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curators import unnamed_curator_over
from reference import Baskets
from strategies import baskets, transactions_of
from veilset import items, mine, publish, read
from veilset.api import NOTHING_NAMED
from veilset.datasets import groceries
from veilset.gate import DiscreteLaplace, ItemNaming, NoisyHistogram, PrivacyUnit, SecureNoise, SeededNoise
from veilset.methods import METHODS
from veilset.methods.shared.discovery import (
    LENGTH_CLASSES,
    SHARE_FOR_LENGTHS,
    SHARE_FOR_SUPPORT,
    SHARE_OF_DELTA,
    SHARES_FOR_NAMING,
    choose_naming,
    find_items,
    furthest,
    occurrences,
)
from veilset.raw.transactions import Alphabet
from veilset.request import PublishRequest, Request

DELTA = Fraction(1, 10**9)
REQUESTS: list[Request | PublishRequest] = [
    Request.of(k=1),
    Request.of(k=40, max_size=1),
    Request.of(k=10**4),
    Request.of(min_support="0.2"),
    Request.of(min_support=3, max_size=2),
    Request.of(k=5, min_support="0.01"),
    PublishRequest(),
]


@given(
    rows=baskets(),
    times=st.sampled_from([1, 30]),
    epsilon=st.fractions(min_value=Fraction(1, 10**6), max_value=10**4),
    delta=st.sampled_from([Fraction(1, 10**100), DELTA, Fraction(1, 1000)]),
    request_=st.sampled_from(REQUESTS),
    transactions=st.sampled_from([1, 3]),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=60)
def test_finding_items_stays_within_epsilon_and_its_share_of_delta(
    rows: Baskets,
    times: int,
    epsilon: Fraction,
    delta: Fraction,
    request_: Request | PublishRequest,
    transactions: int,
    seed: int,
) -> None:
    """Whatever is asked of whatever data; at most 45 %, so that something is left for the method."""
    curator = unnamed_curator_over(
        rows * times,
        epsilon=epsilon * transactions,
        delta=delta,
        noise=SeededNoise(seed),
        unit=PrivacyUnit("person", transactions),
    )
    found = find_items(curator, request_, epsilon=curator.budget.total, delta=delta)
    charges = [charge.mechanism for charge in found.budget.charges]
    assert sum((paid.epsilon for paid in charges), Fraction(0)) <= Fraction(45, 100) * curator.budget.total
    for_names = delta * (SHARE_OF_DELTA if isinstance(request_, Request) else 1)
    assert [paid.delta for paid in charges if paid.delta] == [for_names]
    assert found.budget.delta_left == delta - for_names
    assert found.budget is curator.budget


def test_shares_are_as_documented() -> None:
    """1/50 for lengths, 3/100 for a support where no threshold is given, 1/20 to 2/5 for names, 1/5 for a dataset."""
    assert (SHARE_FOR_LENGTHS + SHARE_FOR_SUPPORT).as_integer_ratio() == (1, 20)
    assert (SHARES_FOR_NAMING[0], SHARES_FOR_NAMING[-1]) == (Fraction(1, 20), Fraction(2, 5))
    rows = [frozenset({0, 1})] * 500
    wanted: dict[Request | PublishRequest, int] = {
        Request.of(k=1): 3,
        Request.of(min_support=100): 2,
        PublishRequest(): 2,
    }
    for request, questions in wanted.items():
        curator = unnamed_curator_over(rows)
        find_items(curator, request, epsilon=Fraction(1), delta=DELTA)
        shares = [charge.mechanism.epsilon for charge in curator.budget.charges]
        assert len(shares) == questions
        assert shares[:-1] == [Fraction(1, 50), Fraction(3, 100)][: questions - 1]
        assert shares[-1] in (*SHARES_FOR_NAMING, Fraction(1, 5))


def lengths_of(*lengths: int, number: int = 10_000) -> NoisyHistogram:
    """A histogram of classes with as many transactions of each length, and hardly any noise."""
    values = np.zeros(len(LENGTH_CLASSES), np.int64)
    for length in lengths:
        values[np.searchsorted(LENGTH_CLASSES, length, side="right") - 1] += number
    return NoisyHistogram(values, DiscreteLaplace(1, Fraction(1)))


def chosen(lengths: NoisyHistogram, support: float, *, transactions: int = 1) -> Any:  # noqa: ANN401
    """The naming that is chosen at epsilon 1."""
    return choose_naming(lengths, support, epsilon=Fraction(1), delta=DELTA, transactions=transactions)


def test_a_larger_support_needs_a_smaller_share() -> None:
    """From all that may be spent down to 5 %, and each step reaches what is sought, with room to spare."""
    supports = [1, 50, 200, 300, 500, 1000, 5000, 10**6]
    shares = [chosen(lengths_of(3), support).share for support in supports]
    assert shares == sorted(shares, reverse=True)
    assert (shares[0], shares[-1]) == (SHARES_FOR_NAMING[-1], SHARES_FOR_NAMING[0])
    assert len(set(shares)) > 4
    for support in supports:
        naming = chosen(lengths_of(3), support)
        assert naming.reach * 1.25 <= support or naming.share == SHARES_FOR_NAMING[-1]


@pytest.mark.parametrize(
    ("length", "law"), [(1, "laplace"), (2, "laplace"), (33, "gaussian"), (200, "gaussian")]
)
def test_the_law_follows_from_the_lengths(length: int, law: str) -> None:
    """Laplace noise for short transactions, Gaussian noise for long ones."""
    assert chosen(lengths_of(length), 500).law == law


def test_a_single_long_transaction_does_not_decide() -> None:
    """What does not stand out from the noise of the histogram is left out; short ones are truncated to their length."""
    lengths = lengths_of(2)
    lengths.values[-1] = 1
    assert chosen(lengths, 500) == chosen(lengths_of(2), 500)
    assert chosen(lengths, 500).longest <= 3


def test_persons_with_more_transactions_need_more_holders() -> None:
    """The reach at the same price grows with the noise, and more than that."""
    numbers = occurrences(lengths_of(5))
    one, three = (
        furthest(
            numbers, Fraction(1, 5), Fraction(1), DELTA, transactions=number, laws=("gaussian", "laplace")
        )
        for number in (1, 3)
    )
    assert 3 <= three.reach / one.reach < 4


def test_a_reach_is_predicted_for_persons_beyond_64_bits() -> None:
    """Even where one person's weights are no 64-bit number: an item needs more holders than one person counts for."""
    numbers = occurrences(lengths_of(1))
    far = furthest(
        numbers, Fraction(1, 5), Fraction(10**9), DELTA, transactions=10**14, laws=("gaussian", "laplace")
    )
    assert 10**14 < far.reach < 10**14 * 1.01


@pytest.mark.parametrize("support", [1, 10**9])
def test_no_data_at_all_still_gives_a_choice(support: float) -> None:
    """Lengths of which none stands out, also negative ones: all classes count alike."""
    nothing = NoisyHistogram(np.full(len(LENGTH_CLASSES), -7), DiscreteLaplace(1, Fraction(1)))
    assert chosen(nothing, support).reach > 0


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_the_reach_is_where_items_are_named_half_of_the_time(law: Any) -> None:  # noqa: ANN401
    """Predicted before, true after: on transactions of one length, about half of such items are named."""
    numbers, copies = occurrences(lengths_of(2)), 400
    naming = furthest(numbers, Fraction(1, 5), Fraction(5), DELTA, transactions=1, laws=(law,))
    holders = round(naming.reach)
    rows = [
        frozenset({item, copies + (item + place) % 997}) for item in range(copies) for place in range(holders)
    ]
    curator = unnamed_curator_over(transactions_of(rows, copies + 997), noise=SeededNoise(2), delta=DELTA)
    found = curator.ask_alphabet(
        law, longest=naming.longest, epsilon=Fraction(1), delta=DELTA, lengths=lengths_of(2)
    )
    named = sum(int(str(name)) < copies for name in found.names(tuple(range(found.alphabet_size))))
    assert 0.3 < named / copies < 0.75


UNIQUE = [[f"patient {n}", f"code {n}"] for n in range(2000)]


@pytest.mark.parametrize("epsilon", ["0.1", 1, 10])
@pytest.mark.parametrize("make", [mine, items], ids=["mine", "items"])
def test_items_that_are_all_unique_are_not_named(make: Any, epsilon: float | str) -> None:  # noqa: ANN401
    """The release is empty, and says why."""
    release = make(UNIQUE, epsilon=epsilon, k=5, delta=DELTA)
    assert len(release) == 0
    assert release.notes == (NOTHING_NAMED,)
    assert release.is_private
    assert release.delta == DELTA
    assert release.spent <= release.epsilon


def test_a_dataset_of_unique_items_is_published_empty() -> None:
    """No name of an item stands in it."""
    published = publish(UNIQUE, epsilon=10, delta=DELTA)
    assert (len(published), published.names, published.notes) == (0, (), (NOTHING_NAMED,))
    assert "patient" not in str(published.to_dict())


def test_common_items_are_named_among_unique_ones() -> None:
    """And nothing else; secure noise from end to end."""
    data = [["tea", f"patient {n}"] if n % 2 else ["tea", "milk", f"patient {n}"] for n in range(2000)]
    release = mine(data, epsilon=2, k=3, delta=DELTA, noise=SecureNoise())
    assert {found.items for found in release.itemsets} == {("tea",), ("milk",), ("milk", "tea")}
    assert release.promise.items == "found privately"


ROWS: dict[str, list[list[str]]] = {
    "no transaction": [],
    "empty transactions": [[], [], []],
    "one transaction": [["a", "b"]],
    "one common item": [["a"]] * 900,
    "two common items": [["a", "b"]] * 900,
}
CHOICES: dict[str, dict[str, Any]] = {
    "public list": {"alphabet": ["a", "b", "c"]},
    "public items": {"public_items": True},
    "found": {"delta": DELTA},
}
VERBS: dict[str, Any] = {"mine": mine, "items": items, "publish": publish}
WANTED: dict[str, list[dict[str, Any]]] = {
    "mine": [{"k": 9}, {"min_support": "0.3"}, {"k": 1}],
    "items": [{"k": 9}, {"k": 1}],
    "publish": [{}],
}
"""What each task can be asked for; of few items k is more than there are."""


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", METHODS)
def test_every_method_runs_on_items_that_were_found(name: str, rows: str) -> None:
    """Where nothing, one item or two are named, for k beyond what can be made of them; epsilon is kept."""
    data, task = ROWS[rows], METHODS[name].task
    for wanted in WANTED[task]:
        release = VERBS[task](
            data, epsilon=2, method=METHODS[name].name, delta=DELTA, noise=SeededNoise(4), **wanted
        )
        assert release.spent <= 2
        paid = [charge.mechanism.delta for charge in release.trace if charge.mechanism.delta]
        assert paid[0] == DELTA * (1 if task == "publish" else SHARE_OF_DELTA)
        assert sum(paid) <= release.delta == DELTA
        named = {item for found in getattr(release, "itemsets", ()) for item in found.items}
        assert named <= {"a", "b"}
        if "common" not in rows:
            assert (len(release), release.notes) == (0, (NOTHING_NAMED,))


@pytest.mark.parametrize("name", [name for name in METHODS if name != "basic"])
def test_every_method_finds_itemsets_of_items_that_were_found(name: str) -> None:
    """On generated groceries, which have too many items for `basic`."""
    data, task = groceries(3000), METHODS[name].task
    unlisted = replace(data, alphabet=Alphabet(data.alphabet.names, is_given=False))
    wanted = {} if task == "publish" else {"k": 10}
    release = VERBS[task](
        unlisted, epsilon=4, method=METHODS[name].name, delta=DELTA, noise=SeededNoise(4), **wanted
    )
    assert release.spent <= 4
    assert len(release) > 0
    assert release.promise.items == "found privately"


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", METHODS)
def test_no_transaction_gives_a_release_under_every_choice(name: str, choice: str) -> None:
    """A refusal would tell that there is none."""
    task = METHODS[name].task
    wanted = {} if task == "publish" else {"k": 2}
    release = VERBS[task](
        [], epsilon=1, method=METHODS[name].name, noise=SeededNoise(4), **CHOICES[choice], **wanted
    )
    assert release.spent <= 1
    assert release.promise.is_conditional == (choice == "public items")


OWNED = pl.DataFrame(
    {
        "who": [n // 3 for n in range(3000)],
        "receipt": [*range(3000)],
        "what": [["tea", "milk"] if n % 2 else ["tea", f"unique {n}"] for n in range(3000)],
    }
).explode("what")


@pytest.mark.parametrize("per_owner", [1, 3])
def test_persons_are_protected_where_items_are_found(per_owner: int) -> None:
    """Every question is paid for all transactions of one person; the items of one of them are not named."""
    owned = read(OWNED, owner="who", basket="receipt", item="what")
    release = mine(owned, epsilon=2, k=3, delta=DELTA, per_owner=per_owner, noise=SeededNoise(1))
    assert {found.items for found in release.itemsets} == {("tea",), ("milk",), ("milk", "tea")}
    (naming,) = (charge.mechanism for charge in release.trace if isinstance(charge.mechanism, ItemNaming))
    assert naming.sensitivity == per_owner
    for charge in release.trace[:2]:
        assert isinstance(charge.mechanism, DiscreteLaplace)
        assert charge.mechanism.sensitivity == per_owner
