"""Mechanisms with a delta: told in words, read back from JSON, and never for nothing."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from veilset.errors import BadCall
from veilset.gate import Charge, DiscreteLaplace, ItemNaming

NAMING = ItemNaming(
    "gaussian", 17, 3, Fraction(1, 7), Fraction(1, 3 * 10**9), Fraction(2**40 + 1, 2**10), 2**33 + 5, 2**20
)


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (
            NAMING,
            (
                "discrete Gaussian noise of scale 1024 on sums of weights, 1/sqrt(n) for each of the n items of a "
                "transaction, at most 17 of them (sensitivity 3); items are named from a noisy sum of 8192"
            ),
        ),
        (
            ItemNaming(
                "laplace", 1, 1, Fraction(1, 2), Fraction(1, 10**6), Fraction(2**21), 29 * 2**19, 2**20
            ),
            (
                "discrete Laplace noise of scale 2 on sums of weights, 1/n for each of the n items of a "
                "transaction, at most 1 of them (sensitivity 1); items are named from a noisy sum of 14.5"
            ),
        ),
    ],
    ids=["gaussian", "laplace"],
)
def test_how_items_were_named_is_told_in_words_and_read_back_exactly(
    mechanism: ItemNaming, words: str
) -> None:
    """Scale and threshold in whole weights for readers, in steps for whoever checks them."""
    assert mechanism.sentence() == words
    row = Charge("items", mechanism)
    stored = json.loads(json.dumps(row.to_dict()))
    assert Charge.from_dict(stored) == row
    assert ItemNaming.from_dict(stored) == mechanism


def test_a_row_of_the_trace_tells_delta_where_there_is_one() -> None:
    """A pure mechanism has none, and says nothing of it."""
    assert Charge("items", NAMING).sentence().endswith("a noisy sum of 8192, epsilon 1/7, delta 3.33e-10")
    assert "delta" not in Charge("number", DiscreteLaplace(1, Fraction(1))).sentence()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": Fraction(0)}, "above 0"),
        ({"delta": Fraction(0)}, "above 0 and below 1"),
        ({"delta": Fraction(1)}, "above 0 and below 1"),
        ({"sensitivity": 0}, "at least 1"),
    ],
)
def test_items_cannot_be_named_for_nothing(changed: dict[str, Any], message: str) -> None:
    """Such a mechanism cannot be described, so it cannot be charged."""
    with pytest.raises(BadCall, match=message):
        replace(NAMING, **changed)


def test_a_scale_is_told_in_whole_weights() -> None:
    """Beside the exact one, which is in steps."""
    row = NAMING.to_dict()
    assert row["scale"] == pytest.approx(1024, rel=1e-6)
    assert Fraction(row["scale_in_steps"]) == NAMING.scale
