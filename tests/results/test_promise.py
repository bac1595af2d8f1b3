"""The promise: what it says, and that it can always be said."""

from dataclasses import replace

from veilset import SeededNoise, mine

BASKETS = [["milk", "bread, sliced"]] * 700 + [["milk", 'the "best" tea']] * 400 + [["käse"]] * 100


def test_a_promise_of_next_to_nothing_can_be_told() -> None:
    """Also where the factor is larger than any float."""
    promise = mine(BASKETS, epsilon=10_000, k=1, noise=SeededNoise(1)).promise
    told = str(replace(promise, is_kept=True))
    assert "by a factor of at most e^10000 (10000-differential privacy)" in told


def test_the_promise_names_its_assumptions() -> None:
    """A given alphabet and a public number of transactions are said to be public."""
    from veilset import read  # noqa: PLC0415

    given_list = read(BASKETS, alphabet=["milk", "käse"])
    assert "given by the publisher" in str(mine(given_list, epsilon=1, k=2).promise)
    assert "occur in the data is public" in str(mine(BASKETS, epsilon=1, k=2).promise)
    assert "number of transactions is public" in str(mine(BASKETS, epsilon=1, k=2, transactions=1200).promise)
