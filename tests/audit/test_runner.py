"""The short audit: every method and every question stays within its claim."""

from collections.abc import Callable

import pytest

from veilset.audit.neighbours import PAIRS
from veilset.audit.runner import cases, printed_cases
from veilset.audit.subjects import TARGETS, of_method
from veilset.audit.verdicts import BROKEN, HOLDS
from veilset.errors import BadCall
from veilset.methods import METHODS


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_audit_cases(name: str) -> None:
    """A method is audited because it is registered: a new task needs targets before it can be merged."""
    assert METHODS[name].task in TARGETS
    assert of_method(name)


@pytest.mark.parametrize("name", METHODS)
def test_methods_stay_within_their_claim(name: str) -> None:
    """The short audit, on every pair, at an epsilon at which a stage that leaks would stand out."""
    for case in cases(name, epsilon=6, samples=100, seed=5):
        found = case()
        assert found.verdict == HOLDS, found


def test_questions_stay_within_their_claim() -> None:
    """The short audit of the gate, with every cut, on the pairs that move the most."""
    worst = [pair for pair in PAIRS if pair.name in {"long transaction", "only transaction"}]
    found = [case() for case in cases("questions", epsilon=1, samples=250, seed=5, pairs=worst)]
    assert [verdict for verdict in found if verdict.verdict == BROKEN] == []
    assert max(verdict.bound for verdict in found) > 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cases("magic", epsilon=1, samples=100, seed=1), "give all, questions, noise"),
        (lambda: cases("all", epsilon=1, samples=3, seed=1), "at least 20"),
        (lambda: cases("all", epsilon=0, samples=100, seed=1), "above 0"),
        (lambda: printed_cases("magic", epsilon=1, samples=100, seed=1), "no printed form"),
    ],
)
def test_an_audit_that_makes_no_sense_is_refused(call: Callable[[], object], message: str) -> None:
    """In one line."""
    with pytest.raises(BadCall, match=message):
        call()
