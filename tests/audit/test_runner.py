"""The short audit: every method and every question stays within its claim."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from curators import unnamed_curator_over
from veilset.audit.lower_bound import Outcome
from veilset.audit.neighbours import PAIRS
from veilset.audit.runner import cases, printed_cases, sampled_verdict
from veilset.audit.subjects import (
    AUDITED_DELTA,
    QUESTIONS_BEFORE_NAMES,
    TARGETS,
    Run,
    Subject,
    UnlistedSubject,
    of_method,
)
from veilset.audit.verdicts import BROKEN, HOLDS
from veilset.errors import BadCall
from veilset.gate import KeepRandom, SeededNoise, UnnamedCurator
from veilset.gate.selection.item_discovery import (
    WHOLE_WEIGHT,
    naming_mechanism,
    weights_by_length,
)
from veilset.methods import METHODS, find_method
from veilset.raw.engines.local import LocalEngine
from veilset.raw.transactions import Transactions


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


def test_every_question_about_unnamed_items_is_audited() -> None:
    """Each of them, and naming under both laws."""
    asked = set()
    for ask in QUESTIONS_BEFORE_NAMES.values():
        curator = unnamed_curator_over([frozenset({0, 1})], delta=AUDITED_DELTA)
        ask(curator, Fraction(1))
        (charge,) = curator.budget.charges
        asked.add((charge.question, getattr(charge.mechanism, "law", None)))
    assert len({question for question, _ in asked}) == len(
        [name for name in dir(UnnamedCurator) if name.startswith("ask_")]
    )
    assert {law for _, law in asked} == {None, "gaussian", "laplace"}


@pytest.mark.parametrize("task", TARGETS)
def test_the_default_of_a_task_is_audited_after_private_discovery(task: str) -> None:
    """From data without a list of items to what a caller sees, under epsilon and delta."""
    subjects = of_method(find_method(None, task=task).name)
    found = [subject for subject in subjects if isinstance(subject, UnlistedSubject)]
    assert [subject.delta for subject in found] == [AUDITED_DELTA]
    assert all(type(subject) is Subject for subject in subjects if subject not in found)


RARE = next(pair for pair in PAIRS if pair.name == "rare items only")


def names_from(weight: int) -> Run:
    """Names items as the gate does, but from a threshold of its own: that weight, in steps, whatever delta says."""

    def run(data: Transactions, epsilon: Fraction, noise: SeededNoise) -> Outcome:
        engine = LocalEngine(data, threads=1)
        right = naming_mechanism("laplace", transactions=1, longest=8, epsilon=epsilon, delta=AUDITED_DELTA)
        weights = engine.weighted_items(weights_by_length("laplace", 8), KeepRandom(8), noise.keys)
        named = noise.named(weights, replace(right, threshold=weight or right.threshold))
        return {f"{item} named": 1 for item in named.items.tolist()}

    return run


@pytest.mark.parametrize(
    ("threshold", "verdict"),
    [(-(2**60), BROKEN), (WHOLE_WEIGHT, BROKEN), (0, HOLDS)],
    ids=["none", "1", "right"],
)
def test_a_threshold_that_does_not_hide_ones_own_items_is_refuted(threshold: int, verdict: str) -> None:
    """The control: every item that somebody holds, or every item from a noisy weight of 1."""
    subject = UnlistedSubject("control", "a threshold of its own", names_from(threshold))
    found = sampled_verdict(subject, RARE, epsilon=Fraction(1), samples=400, seed=3)
    assert (found.verdict, found.delta) == (verdict, float(AUDITED_DELTA))


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
