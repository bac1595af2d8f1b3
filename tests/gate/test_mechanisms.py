"""Mechanisms: frozen, told in words, read back from JSON, and never cheaper than they were."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from laws import discrete_laplace
from veilset.errors import BadCall
from veilset.gate import (
    AboveThreshold,
    ChainedLaplace,
    Charge,
    DiscreteLaplace,
    Exponential,
    ItemNaming,
    Mechanism,
    OnSample,
)


@pytest.mark.parametrize("scale", [Fraction(1, 5), Fraction(1), Fraction(7, 2), Fraction(250)], ids=str)
def test_half_width_is_the_smallest_that_holds_95_percent(scale: Fraction) -> None:
    """Against direct summation of the law."""
    mechanism = DiscreteLaplace(sensitivity=1, epsilon=1 / scale)
    law = discrete_laplace(float(scale), largest=int(50 * scale) + 50)
    half_width = mechanism.half_width()

    def inside(width: int) -> float:
        return sum(p for x, p in law.items() if abs(x) <= width)

    assert inside(half_width) >= 0.95 - 1e-12
    assert half_width == 0 or inside(half_width - 1) < 0.95


def test_a_mechanism_that_used_more_than_was_charged_cannot_be_described() -> None:
    """A second guard against an overdrawn account."""
    with pytest.raises(BadCall, match="mistake in veilset"):
        AboveThreshold(1, 1, Fraction(1, 4), (Fraction(1, 2),))


def test_the_row_of_the_trace_says_both_costs_and_survives_json() -> None:
    """A sentence and a document."""
    row = Charge("lengths", OnSample(DiscreteLaplace(1, Fraction(1, 2)), Fraction(1, 8), Fraction(78, 1000)))
    assert row.sentence() == (
        "lengths: on a random sample at rate 0.125, where it costs epsilon 0.5: "
        "discrete Laplace noise of scale 2 (sensitivity 1), epsilon 39/500"
    )
    assert Charge.from_dict(row.to_dict()) == row


ON_SIZES = "discrete Laplace noise on sizes of disjoint partitions"


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (DiscreteLaplace(3, Fraction(1, 4)), "discrete Laplace noise of scale 12 (sensitivity 3)"),
        (
            Exponential(1, 2, Fraction(1)),
            "exponential mechanism, 1 draw on monotone scores of sensitivity 2",
        ),
        (
            Exponential(5, 1, Fraction(1), is_monotone=False),
            "exponential mechanism, 5 draws on scores of sensitivity 1",
        ),
        (
            AboveThreshold(1, 1, Fraction(1)),
            "comparisons with a noisy threshold for up to 1 item (sensitivity 1)",
        ),
        (
            AboveThreshold(4, 1, Fraction(1), (Fraction(1, 4), Fraction(1, 2))),
            "comparisons with a noisy threshold for up to 4 items (sensitivity 1), which used epsilon 0.75 in 2 parts",
        ),
        (
            ChainedLaplace(1, Fraction(1)),
            f"{ON_SIZES} (sensitivity 1); the chain of tests that cost most spent nothing yet",
        ),
        (
            ChainedLaplace(1, Fraction(1), (Fraction(1, 2),)),
            f"{ON_SIZES} (sensitivity 1); the chain of tests that cost most spent epsilon 0.5 in 1 test",
        ),
    ],
    ids=repr,
)
def test_a_mechanism_is_told_in_words(mechanism: Mechanism, words: str) -> None:
    """Numbers agree with their nouns, and the row of the trace survives JSON."""
    assert mechanism.sentence() == words
    row = Charge("a question", mechanism)
    assert Charge.from_dict(row.to_dict()) == row


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
