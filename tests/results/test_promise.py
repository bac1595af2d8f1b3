"""The promise: what it says, and that it can always be said."""

from dataclasses import replace
from fractions import Fraction

from veilset import SeededNoise, mine, read

BASKETS = [["milk", "bread, sliced"]] * 700 + [["milk", 'the "best" tea']] * 400 + [["käse"]] * 100


def test_a_promise_of_next_to_nothing_can_be_told() -> None:
    """Also where the factor is larger than any float."""
    promise = mine(BASKETS, epsilon=10_000, k=1, public_items=True, noise=SeededNoise(1)).promise
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
    assert sum(Fraction(row.get("delta", 0)) for row in document["trace"]) == Fraction(1, 10**9)
