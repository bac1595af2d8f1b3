"""What an attacker sees: all of a release, under names that mean the same in every run."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from veilset.api import items, mine, publish
from veilset.audit.outcomes import (
    EVIDENCE,
    of_document,
    only_counts,
    seen_choice,
    seen_items,
    seen_published,
    seen_release,
    with_evidence,
)
from veilset.gate import SeededNoise

BASKETS = [["bread", "milk"]] * 300 + [["beer"]] * 100


def leaves(value: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - whatever JSON holds
    """Where every value of a document stands: the list or object that holds it, and its key."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in keys:
        if isinstance(value[key], dict | list):
            yield from leaves(value[key])
        else:
            yield value, key


def changed(value: object) -> object:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value + 0.5
        case str():
            return value + "!"
        case _:
            return 0


@pytest.mark.parametrize("verb", [mine, items])
def test_whatever_changes_in_a_release_is_seen(verb: Any) -> None:  # noqa: ANN401 - two signatures
    """Every number and every text of the document that is printed: supports, intervals, trace, notes, promise."""
    document = verb(BASKETS, epsilon=1, k=2, public_items=True, noise=SeededNoise(3)).to_dict()
    before = of_document(document)
    for place, _ in enumerate(leaves(document)):
        other = copy.deepcopy(document)
        holder, key = list(leaves(other))[place]
        holder[key] = changed(holder[key])
        assert of_document(other) != before, (key, holder[key])


def test_itemsets_are_known_by_name_wherever_they_stand() -> None:
    """The order is a statistic of its own."""
    rows = [{"items": ["a"], "support": 5}, {"items": ["b"], "support": 4}]
    one, other = (of_document({"itemsets": order}) for order in (rows, rows[::-1]))
    assert one["support of {a}"] == other["support of {a}"] == 5
    assert (one["place of {a}"], other["place of {a}"]) == (0, 1)


def test_records_of_a_dataset_are_known_by_the_names_of_their_items() -> None:
    """Codes of items that were found privately mean something else in every run."""
    found = publish(BASKETS, epsilon=50, delta="0.001", noise=SeededNoise(3))
    seen = seen_published(found)
    assert seen["copies of {bread, milk}"] == pytest.approx(300, abs=5)
    assert "text of trace 0 question" in seen
    assert "text of the order of records" in seen


def test_every_value_is_a_whole_number_that_an_array_can_hold() -> None:
    """Also counts beyond 64 bits, fractions and what is not a number."""
    seen = of_document({"large": 10**30, "share": 1e300, "nothing": None, "odd": float("nan"), "yes": True})
    assert {type(value) for value in seen.values()} == {int}
    assert np.array(list(seen.values()), dtype=np.int64).size == 5


def test_evidence_adds_up_counts_and_leaves_out_what_follows_from_them() -> None:
    """Checksums of texts and ends of intervals would drown the noise that tells something."""
    release = mine(BASKETS, epsilon=1, k=2, public_items=True, noise=SeededNoise(3))
    counts = only_counts(seen_release(release))
    assert {"number of itemsets", "transactions value"} <= counts.keys()
    assert not [name for name in counts if name.startswith(("text", "low", "high", "place", "trace"))]
    told = with_evidence(
        {"support of {a}": 7, "text of x": 9}, [{"support of {a}": 8}, {"support of {a}": 5}]
    )
    assert told[EVIDENCE] == 1


def test_choices_are_seen_with_their_order() -> None:
    """Which came at all, and which came first."""
    assert seen_choice(((0,), (1, 2))) != seen_choice(((1, 2), (0,)))
    assert seen_items((1, 2)) != seen_items((2, 1))
    assert seen_items((1, 2))["2 above"] == 1
