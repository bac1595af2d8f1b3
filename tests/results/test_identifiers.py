"""Nobody is named: an item that one transaction alone holds is in no release whose items were found privately.

The data is what a hospital may hand in by mistake: a patient's number stands among the diagnoses.
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from thorough import THOROUGH
from veilset import SeededNoise, items, mine, publish, read
from veilset.gate import Delta

DIAGNOSES = ("hypertension", "diabetes", "asthma")
PATIENTS = [f"patient {number}" for number in range(60)]
HOSPITAL = read(
    [[patient, *DIAGNOSES[: 1 + number % 3]] for number, patient in enumerate(PATIENTS)]
    + [list(DIAGNOSES)] * 240
)
"""300 transactions, all with the first diagnosis; 60 of them hold a patient's number, each another."""

EPSILONS = ("0.1", "1", "10")
RUNS_OF_EACH = 112 if THOROUGH else 38
"""38 runs of each verb at each epsilon, 342 together; `make test-thorough` makes 1,008."""

Named = Callable[[str, int, Delta], set[object]]
"""What is named anywhere in a release, given epsilon, a seed and delta."""


def named_by_mine(epsilon: str, seed: int, delta: Delta) -> set[object]:
    """The items of frequent itemsets."""
    release = mine(HOSPITAL, epsilon=epsilon, delta=delta, k=8, noise=SeededNoise(seed))
    return {item for found in release.itemsets for item in found.items}


def named_by_items(epsilon: str, seed: int, delta: Delta) -> set[object]:
    """The most frequent items; far more are asked for than there are diagnoses."""
    release = items(HOSPITAL, epsilon=epsilon, delta=delta, k=40, noise=SeededNoise(seed))
    return {item for found in release.itemsets for item in found.items}


def named_by_publish(epsilon: str, seed: int, delta: Delta) -> set[object]:
    """The vocabulary of a dataset, which holds the items of all its records."""
    published = publish(HOSPITAL, epsilon=epsilon, delta=delta, noise=SeededNoise(seed))
    assert {item for record in published.records for item in record} <= set(range(len(published.names)))
    return set(published.names)


VERBS: dict[str, Named] = {"mine": named_by_mine, "items": named_by_items, "publish": named_by_publish}


@pytest.mark.parametrize("verb", VERBS)
def test_no_identifier_is_in_any_release(verb: str) -> None:
    """Up to epsilon 10, with delta 1e-9; what many hold is named, so the releases are not simply empty."""
    named: set[object] = set()
    for epsilon, seed in product(EPSILONS, range(RUNS_OF_EACH)):
        named |= VERBS[verb](epsilon, seed, "1e-9")
    assert named == set(DIAGNOSES)


@pytest.mark.parametrize("name", ["out.dat", "out.parquet"])
def test_no_file_of_a_published_dataset_names_a_patient(tmp_path: Path, name: str) -> None:
    """Neither the records, nor the vocabulary, nor what is said about them: those hold what was found alone."""
    published = publish(HOSPITAL, epsilon=10, delta=1e-9, noise=SeededNoise(1))
    assert set(published.names) == set(DIAGNOSES)
    published.write(tmp_path / name)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert not any(b"patient" in content for content in files.values())
    if name == "out.dat":
        listed = files["out.vocab.tsv"].decode().splitlines()
        assert [line.split("\t")[1] for line in listed] == list(published.names)


def test_the_test_would_see_an_identifier() -> None:
    """Where 1 in 1,000 may be named by chance, some are; and where items are declared public, all are."""
    often = partial(named_by_publish, "10", delta="1/1000")
    assert set().union(*map(often, range(672))) > set(DIAGNOSES)
    declared = publish(HOSPITAL, epsilon="0.1", public_items=True, noise=SeededNoise(1))
    assert set(PATIENTS) < set(declared.names)
    assert declared.promise.is_conditional
