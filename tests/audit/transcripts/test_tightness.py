"""Choices use what they are paid: on a worst case for each, the computed loss is near the claim, and no less.

Noise for more than was claimed would be private, but worse: then a loss would fall.
"""

from fractions import Fraction

import pytest

from veilset.audit.neighbours import PAIRS, PERSON_PAIRS, Pair
from veilset.audit.runner import exact_verdict
from veilset.audit.subjects import of_questions

REACHED = {
    "best 2": 0.98,
    "best 2, split": 0.91,
    "best 2 of a list, split": 0.49,
    "matching rank": 0.96,
    "frequent items": 0.90,
    "frequent ones of a list": 0.72,
    "truncating length": 0.98,
    "truncating length on 2 items": 0.5,
    "above the 1st by blocks": 0.99,
    "above the 2nd by blocks": 0.71,
    "above the 2nd": 0.89,
    "largest support": 1,
    "supports, split": 2 / 3,
}
PERSONS = {"best 2": 0.82, "best 2 of a list, split": 0.51, "matching rank": 0.51, "frequent items": 0.51}


def largest_bound(case: str, pairs: tuple[Pair, ...]) -> float:
    """Over the pairs."""
    subject = next(subject for subject in of_questions() if subject.case == case)
    return max(exact_verdict(subject, pair, epsilon=Fraction(1)).bound for pair in pairs)


@pytest.mark.parametrize("case", REACHED)
def test_a_choice_uses_what_it_is_paid(case: str) -> None:
    """And not more."""
    assert REACHED[case] - 1e-9 <= largest_bound(case, PAIRS) <= 1 + 1e-9


@pytest.mark.parametrize("case", PERSONS)
def test_a_choice_uses_what_it_is_paid_for_persons(case: str) -> None:
    """The same where three transactions of one person count."""
    assert PERSONS[case] - 1e-9 <= largest_bound(case, PERSON_PAIRS) <= 1 + 1e-9
