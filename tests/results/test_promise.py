"""The promise: what it says, and that it can always be said."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

from veilset import SeededNoise, mine, read
from veilset.results.promise import Promise

BASKETS = [["milk", "bread, sliced"]] * 700 + [["milk", 'the "best" tea']] * 400 + [["käse"]] * 100


def test_a_promise_of_next_to_nothing_can_be_told() -> None:
    """Also where the factor is larger than any float."""
    promise = mine(BASKETS, epsilon=10_000, public_items=True, k=1, noise=SeededNoise(1)).promise
    told = str(replace(promise, is_kept=True))
    assert "by a factor of at most e^10000 (10000-differential privacy)" in told


def test_the_promise_names_its_assumptions() -> None:
    """A given alphabet, items that are declared public and a public number of transactions are said to be public."""
    given_list = read(BASKETS, alphabet=["milk", "käse"])
    assert "given by the publisher" in str(mine(given_list, epsilon=1, k=2).promise)
    declared = mine(BASKETS, epsilon=1, k=2, public_items=True, transactions=1200).promise
    assert "Assumed: the items that occur in the data are public anyway, as the publisher declared" in str(
        declared
    )
    assert "number of transactions is public" in str(declared)


def test_a_promise_that_rests_on_the_publishers_word_says_so_first() -> None:
    """In words, in a field of its own and in a warning; one that rests on nothing has neither."""
    conditional = mine(BASKETS, epsilon=1, k=2, public_items=True).promise
    assert str(conditional).startswith(
        "ON CONDITION that the items which occur in the data are public anyway"
    )
    assert conditional.warning is not None
    assert "it holds only if the items that occur in the data are public anyway" in conditional.warning
    for held in (
        mine(BASKETS, epsilon=1, k=2, alphabet=["milk", "käse"]),
        mine(BASKETS, epsilon=1, k=2, delta=1e-9),
    ):
        assert str(held.promise).startswith("Protected: one transaction.")
        assert held.promise.warning is None
        assert held.to_dict()["is_conditional"] is False
    assert mine(BASKETS, epsilon=1, k=2, public_items=True, noise=SeededNoise(1)).promise.warning is None


def test_the_promise_says_what_delta_means() -> None:
    """By its name and in words; the account carries it."""
    release = mine(BASKETS, epsilon=1, k=2, delta="1/1000000000")
    assert "except with a probability of at most 1e-09 (delta), as when an item is named" in str(
        release.promise
    )
    assert "((1, 1e-09)-differential privacy)" in str(release.promise)
    document = release.to_dict()
    assert (document["delta"], document["promise"]["delta"]) == (1e-9, "1/1000000000")
    assert 0 < sum(Fraction(row.get("delta", 0)) for row in document["trace"]) <= Fraction(1, 10**9)


DELTA = Fraction(1, 10**9)
LISTED = ["milk", "käse"]


def told(**choice: Any) -> Promise:  # noqa: ANN401 - whatever `mine` takes
    """The promise of a release under one choice of items."""
    return mine(BASKETS, epsilon=1, k=2, **choice).promise


def test_items_of_a_public_list_are_promised_without_a_condition() -> None:
    """The list is the assumption, whether it is given now or when the data is read."""
    for promise in (told(alphabet=LISTED), mine(read(BASKETS, alphabet=LISTED), epsilon=1, k=2).promise):
        assert (promise.items, promise.is_conditional) == ("public list", False)
        assert promise.delta == 0
        assert promise.assumptions == ("the list of possible items was given by the publisher and is public",)
        assert str(promise).startswith("Protected: one transaction. Whether it is in the data")
        assert promise.name == "1-differential privacy"


def test_items_that_were_declared_public_make_the_promise_conditional() -> None:
    """That is the first thing which it says."""
    promise = told(public_items=True)
    assert (promise.items, promise.is_conditional) == ("declared public", True)
    assert promise.delta == 0
    assert str(promise).startswith("ON CONDITION that the items which occur in the data are public anyway")
    assert "as the publisher declared" in promise.assumptions[0]
    assert promise.to_dict()["is_conditional"] is True


def test_items_that_were_found_privately_need_no_assumption() -> None:
    """In its place stands delta, and what it means."""
    promise = told(delta="1e-9")
    assert (promise.items, promise.is_conditional, promise.delta) == ("found privately", False, DELTA)
    assert promise.name == "(1, 1e-09)-differential privacy"
    words = str(promise)
    assert words.startswith("Protected: one transaction.")
    assert "except with a probability of at most 1e-09 (delta)" in words
    assert words.endswith("Assumed: nothing about the items: they were found privately, as part of the cost.")


def test_a_public_number_is_an_assumption_of_its_own() -> None:
    """Beside what is said of the items."""
    assert told(alphabet=LISTED, transactions=1200).assumptions[1:] == (
        "the number of transactions is public",
    )


OWNED = pl.DataFrame(
    {"who": [n // 3 for n in range(900)], "receipt": [*range(900)], "what": ["tea", "milk", "tea"] * 300}
)


@pytest.mark.parametrize(
    ("per_owner", "unit"),
    [
        (1, "one person, whole, whoever it is: of anybody's transactions, 1 at most counts, drawn at random"),
        (
            3,
            "one person, whole, whoever it is: of anybody's transactions, 3 at most count, drawn at random",
        ),
    ],
)
@pytest.mark.parametrize("choice", [{"public_items": True}, {"delta": DELTA}, {"alphabet": ["tea"]}], ids=str)
def test_a_person_is_protected_whole(per_owner: int, unit: str, choice: dict[str, Any]) -> None:
    """Not only with the transactions that count."""
    owned = read(OWNED, owner="who", basket="receipt", item="what")
    promise = mine(owned, epsilon=1, k=1, per_owner=per_owner, **choice).promise
    assert promise.unit == unit
    assert promise.neighbours == f"databases that differ by adding or removing {unit}"
    assert f"Protected: {unit}. Whether it" in str(promise)


@pytest.mark.parametrize("choice", [{"public_items": True}, {"delta": DELTA}, {"alphabet": ["tea"]}], ids=str)
def test_a_limit_that_was_chosen_privately_is_said_to_be(choice: dict[str, Any]) -> None:
    """With the number that was chosen, which its noisy answers told."""
    owned = read(OWNED, owner="who", basket="receipt", item="what")
    release = mine(owned, epsilon=1, k=1, per_owner="auto", noise=SeededNoise(1), **choice)
    later = release.trace[2].mechanism.to_dict()
    assert release.promise.unit == (
        f"one person, whole, whoever it is: of anybody's transactions, {later['sensitivity']} at most count, drawn at "
        "random, a number that was chosen privately, as part of the cost"
    )


def test_one_set_for_each_person_is_one_person() -> None:
    """Where a table says who holds which item, and nothing of baskets."""
    held = read(OWNED.unique(["who", "what"]), owner="who", item="what")
    assert mine(held, epsilon=1, k=1, public_items=True).promise.unit == "one person"


@pytest.mark.parametrize(
    "choice", [{"public_items": True}, {"delta": "1/3000000"}, {"alphabet": LISTED}], ids=str
)
def test_a_promise_survives_json(choice: dict[str, Any]) -> None:
    """With a delta that no float is."""
    promise = told(**choice)
    assert Promise.from_dict(json.loads(json.dumps(promise.to_dict()))) == promise


OLD = {
    "unit": "one transaction",
    "epsilon": "1/2",
    "is_kept": True,
    "neighbours": "databases that differ by adding or removing one transaction",
    "in_words": "...",
}


@pytest.mark.parametrize(
    ("assumed", "items"),
    [
        ("the list of possible items was given by the publisher and is public", "public list"),
        (
            "the set of items that occur in the data is public: no list of possible items was given",
            "declared public",
        ),
    ],
)
def test_a_promise_of_version_0_1_is_read_for_what_it_assumed(assumed: str, items: str) -> None:
    """It had neither delta nor a word for where the items came from; what it took for granted is a condition."""
    promise = Promise.from_dict({**OLD, "assumptions": [assumed]})
    assert promise.delta == 0
    assert promise.items == items
    assert promise.is_conditional == (items == "declared public")
