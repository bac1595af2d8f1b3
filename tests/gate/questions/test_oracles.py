"""Every question has an oracle: asked of two neighbours at once, it costs what it claims, by the noise really drawn.

The examples are those of the audit. Which questions they ask is seen by watching them, and compared with the questions
that there are: a new `ask_` method without an example fails here.
"""

import inspect
from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import Baskets
from strategies import ALPHABET_SIZE, basket, baskets
from veilset.audit.lower_bound import Outcome
from veilset.audit.neighbours import PAIRS, PERSON_LIMIT, Pair
from veilset.audit.subjects import Audited, of_questions
from veilset.audit.transcripts.losses import largest_loss
from veilset.gate import Curator, Noise, Partitions, PersonCurator, SeededNoise, UnnamedCurator
from veilset.raw.transactions import Transactions

SUBJECTS = of_questions()
DOORS = (Curator, UnnamedCurator, PersonCurator, Partitions)


def questions_of(door: type) -> dict[str, Callable[..., Any]]:
    """Every question that can be asked there."""
    return {
        name: method
        for name, method in inspect.getmembers(door, inspect.isfunction)
        if name.startswith("ask_")
    }


def test_every_question_there_is_has_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by introspection on one side, by watching the examples on the other."""
    asked: set[str] = set()
    for door in DOORS:
        for name, method in questions_of(door).items():
            monkeypatch.setattr(door, name, watched(method, f"{door.__name__}.{name}", asked))
    for subject in SUBJECTS:
        subject.outcome(PAIRS[0].with_unit(), epsilon=Fraction(1), noise=SeededNoise(1))
    assert asked == {f"{door.__name__}.{name}" for door in DOORS for name in questions_of(door)}


def watched(method: Callable[..., Any], name: str, asked: set[str]) -> Callable[..., Any]:
    """The same method, which notes that it was called."""

    @wraps(method)
    def call(*given: Any, **named: Any) -> Any:  # noqa: ANN401
        asked.add(name)
        return method(*given, **named)

    return call


def cost(subject: Audited, pair: Pair, epsilon: Fraction) -> float:
    """The largest loss of some transcripts."""

    def run(data: Transactions, noise: Noise) -> Outcome:
        return subject.outcome(data, epsilon=epsilon, noise=noise)

    return largest_loss(run, pair, delta=subject.delta, seeds=(0,)).epsilon


units = st.one_of(st.lists(basket(), min_size=1, max_size=1), st.lists(basket(), min_size=1, max_size=5))


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.case)
@given(rows=baskets(max_rows=8), unit=units, epsilon=st.sampled_from([Fraction(1, 3), Fraction(2)]))
@settings(max_examples=8, deadline=None)
def test_no_question_costs_more_than_it_claims(
    subject: Audited, rows: Baskets, unit: Baskets, epsilon: Fraction
) -> None:
    """For units of one transaction, and for persons with up to five, of which three may count."""
    if subject.draws_sample:  # all samples are run through
        rows, unit = rows[:2], unit[:3]
    pair = Pair("random", "anything", ALPHABET_SIZE, tuple(rows), unit[0], tuple(unit[1:]))
    assert cost(subject, pair, epsilon) <= float(epsilon) * (1 + 1e-9)


TIGHT = (
    "number",
    "k-th support",
    "normalised supports",
    "normalised supports of 2 items",
    "containment",
    "containment of items",
    "capped counts",
    "sum of supports",
    "partitions",
    "item supports under no truncation",
    "item supports under KeepRandom(2)",
    "item supports under KeepSmart(2)",
    "item supports under OnlyItems, KeepRandom(1)",
    "supports under no truncation",
    "supports under KeepBest(1)",
    "supports under KeepSimilar(2)",
    "lengths under DropLonger(2)",
    "marginal under no truncation",
    "marginal under KeepRandom(2)",
    "prefix tree under no truncation",
    "prefix tree under KeepRandom(2)",
    "classes of lengths",
    "k-th support of unnamed items",
    "transactions by person",
)


@pytest.mark.parametrize("name", TIGHT)
def test_an_oracle_reaches_the_claim_for_one_and_for_three_transactions(name: str) -> None:
    """So that noise for less would be noticed: the loss is epsilon, exactly, in both cases."""
    subject = next(subject for subject in SUBJECTS if subject.case == name)
    full = frozenset(range(3))
    for more in ((), (full,) * (PERSON_LIMIT - 1)):
        pair = Pair("same", "all move", 3, (), full, more)
        assert cost(subject, pair, Fraction(1)) == pytest.approx(1)
