"""Mechanisms: frozen, told in words, read back from JSON, and never cheaper than they were."""

from fractions import Fraction

import pytest

from laws import discrete_laplace
from veilset.errors import BadCall
from veilset.gate import (
    AboveThreshold,
    ChainedLaplace,
    Charge,
    DiscreteLaplace,
    Exponential,
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


def test_no_draw_chooses_nothing() -> None:
    """At least one must be made."""
    with pytest.raises(BadCall, match="draws choose nothing"):
        Exponential(0, 1, Fraction(1))
