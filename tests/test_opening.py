"""Opening data: which items may be named is said once, and never taken for granted."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from veilset import SeededNoise, items, mine, publish, read
from veilset.errors import BadCall
from veilset.gate import UnnamedCurator
from veilset.opening import WHICH_ITEMS, Access, ItemChoice, open_curator
from veilset.request import Request

BASKETS = [["tea", "milk"]] * 300 + [["tea", "secret"]]
LISTED = ["milk", "tea"]
SEEDED: dict[str, Any] = {"noise": SeededNoise(1), "epsilon": 1}

VERBS: dict[str, Callable[..., Any]] = {
    "mine": lambda data, **choice: mine(data, k=1, **SEEDED, **choice),
    "items": lambda data, **choice: items(data, k=1, **SEEDED, **choice),
    "publish": lambda data, **choice: publish(data, **SEEDED, **choice),
}
CHOICES: list[dict[str, Any]] = [{"alphabet": LISTED}, {"public_items": True}, {"delta": 1e-9}]
TWICE: list[dict[str, Any]] = [
    {"alphabet": LISTED, "public_items": True},
    {"alphabet": LISTED, "delta": 1e-9},
    {"public_items": True, "delta": 1e-9},
    {"alphabet": LISTED, "public_items": True, "delta": 1e-9},
]


@pytest.mark.parametrize("verb", VERBS)
def test_no_choice_is_refused_with_all_three_explained(verb: str) -> None:
    """Items of the data are public only where somebody says so."""
    with pytest.raises(BadCall) as refused:
        VERBS[verb](BASKETS)
    assert str(refused.value) == WHICH_ITEMS
    for option in ("--alphabet", "--public-items", "--delta", "alphabet=", "public_items=True", "delta="):
        assert option in WHICH_ITEMS
    with pytest.raises(BadCall, match="which items may be named"):
        open_curator(BASKETS, epsilon=1, noise=SeededNoise(1))


@pytest.mark.parametrize("choice", TWICE, ids=str)
@pytest.mark.parametrize("verb", VERBS)
def test_two_choices_are_refused(verb: str, choice: dict[str, Any]) -> None:
    """Which of them held would not be clear."""
    with pytest.raises(BadCall, match="chosen more than once"):
        VERBS[verb](BASKETS, **choice)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize("verb", VERBS)
def test_one_choice_is_enough(verb: str, choice: dict[str, Any]) -> None:
    """Here, or when the data is read; not both."""
    assert VERBS[verb](BASKETS, **choice).spent <= 1
    listed = read(BASKETS, alphabet=LISTED)
    assert VERBS[verb](listed).promise.items == "public list"
    with pytest.raises(BadCall, match="chosen more than once"):
        VERBS[verb](listed, **choice)


def test_items_that_are_not_listed_are_left_out() -> None:
    """With a list, and where too few hold them; a word of the owner lets them in."""
    for choice, named in [
        (ItemChoice(alphabet=LISTED), {"milk", "tea"}),
        (ItemChoice(delta=1e-9), {"milk", "tea"}),
        (ItemChoice(public_items=True), {"milk", "tea", "secret"}),
    ]:
        access = Access(epsilon=1, noise=SeededNoise(2), items=choice)
        curator = access.curator_for(Request.of(k=1), BASKETS)
        assert set(curator.names(tuple(range(curator.alphabet_size)))) == named


def test_delta_is_in_the_budget_before_anything_is_asked() -> None:
    """Exactly what was meant; without it there is none."""
    access = Access(epsilon="0.5", noise=SeededNoise(1), items=ItemChoice(delta="1e-9"))
    unnamed = access.unnamed_curator(BASKETS)
    assert isinstance(unnamed, UnnamedCurator)
    assert (unnamed.budget.total, unnamed.budget.delta) == (Fraction(1, 2), Fraction(1, 10**9))
    assert unnamed.budget.charges == ()
    curator = open_curator(BASKETS, epsilon=1, noise=SeededNoise(1), public_items=True)
    assert curator.budget.delta == 0


def test_a_taxonomy_does_not_go_with_delta() -> None:
    """It lists the items."""
    with pytest.raises(BadCall, match="a taxonomy lists the items in public"):
        publish(BASKETS, epsilon=1, delta=1e-9, taxonomy="any.csv")
