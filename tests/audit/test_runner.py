"""The short audit: every method and every question stays within its claim."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from curators import unnamed_curator_over
from thorough import THOROUGH
from veilset import cli
from veilset.audit.lower_bound import Outcome
from veilset.audit.neighbours import PAIRS, PERSON_PAIRS
from veilset.audit.question_examples import AUDITED_DELTA, QUESTIONS_BEFORE_NAMES
from veilset.audit.runner import (
    ALL_PAIRS,
    Sampling,
    cases,
    exact_cases,
    exact_verdict,
    printed_cases,
    sampled_cases,
    sampled_on_worst,
    sampled_verdict,
)
from veilset.audit.subjects import (
    LIMIT_CHOSEN,
    TARGETS,
    MethodSubject,
    RawCount,
    Run,
    UnlistedSubject,
    of_method,
    of_questions,
)
from veilset.audit.verdicts import BROKEN, CANNOT_REFUTE, CONTROL, HOLDS, Verdict
from veilset.errors import BadCall
from veilset.gate import (
    Charge,
    Curator,
    KeepRandom,
    Noise,
    NoisyCount,
    NoisyTree,
    PersonCurator,
    PrivacyUnit,
    SeededNoise,
    UnnamedCurator,
)
from veilset.gate.selection.item_discovery import (
    WHOLE_WEIGHT,
    naming_mechanism,
    weights_by_length,
)
from veilset.methods import METHODS, find_method
from veilset.methods.tps import em
from veilset.opening import Access
from veilset.raw.cuts.owners import keep_per_owner
from veilset.raw.engines.local import LocalEngine
from veilset.raw.transactions import Transactions
from veilset.results.release import Release

WORST = [
    pair
    for pair in ALL_PAIRS
    if pair.name
    in {
        "long transaction",
        "threshold rises, margins fall",
        "person with 5 transactions, 3 of which count",
    }
]
"""The pairs that move the most, for the short audit."""


SAMPLED = {"planned", "privbasis", "tps-pfm", "diffpart"}
"""A few methods that run in `make test` as users run them, many times; `make test-thorough` does that with all."""


def rows_of(found: list[Verdict]) -> list[Verdict]:
    """The verdicts, without controls."""
    return [verdict for verdict in found if not verdict.is_control]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_audit_cases(name: str) -> None:
    """A method is audited because it is registered: a new task needs targets before it can be merged."""
    assert METHODS[name].task in TARGETS
    assert of_method(name)


@pytest.mark.parametrize("name", METHODS)
def test_methods_stay_within_their_claim(name: str) -> None:
    """Transcripts on the pairs that move the most, computed; some runs on one, with samples that could show a leak."""
    found = [
        case()
        for case in cases(name, epsilon=2, samples=0, seed=5, pairs=ALL_PAIRS if THOROUGH else WORST[::2])
    ]
    if THOROUGH or name in SAMPLED:
        sampling = Sampling(Fraction(2), 90, seed=5)
        found += [case() for case in sampled_cases(name, WORST[:1], sampling, shell=None)]
    assert {verdict.verdict for verdict in rows_of(found)} == {HOLDS}, found
    assert {verdict.verdict for verdict in found if verdict.is_control} == {BROKEN}
    assert max(verdict.bound for verdict in rows_of(found) if verdict.is_exact) > 1.2


def test_questions_stay_within_their_claim() -> None:
    """The short audit of the gate, with every cut: computed on the pairs that move the most, sampled on one."""
    found = [case() for case in cases("questions", epsilon=1, samples=0, seed=5, pairs=WORST)]
    found += [
        case()
        for case in sampled_cases("questions", WORST[:1], Sampling(Fraction(1), 160, seed=5), shell=None)
    ]
    assert {verdict.verdict for verdict in rows_of(found)} == {HOLDS}
    assert max(verdict.bound for verdict in found if verdict.samples and not verdict.is_control) > 0.4


def test_every_method_and_question_is_run_on_every_pair() -> None:
    """Persons included, with probabilities that are computed; sampled for either unit on the pair that tells most."""
    assert len(cases("svt", epsilon=1, samples=100, seed=1)) == 1 + len(ALL_PAIRS) + 1 + 2
    every, large = len(of_questions()) * len(ALL_PAIRS), sum(len(pair.with_unit()) > 5 for pair in ALL_PAIRS)
    computed = exact_cases("questions", ALL_PAIRS, Fraction(1))
    assert len(computed) == 1 + every - large  # all samples of a large database are too many
    sampled = 1 + 1 + 2 * len(of_questions())
    assert len(cases("questions", epsilon=1, samples=100, seed=1)) == len(computed) + sampled
    assert len(cases("questions", epsilon=1, samples=0, seed=1)) == len(computed)


def test_a_subject_is_sampled_where_it_tells_most() -> None:
    """The pair is chosen by computed probabilities."""
    subject = next(subject for subject in of_questions() if subject.case == "frequent items")
    sampling = Sampling(Fraction(1), samples=20, seed=1)
    assert sampled_on_worst(subject, PAIRS, sampling).case == "frequent items; sets move apart"
    assert sampled_on_worst(subject, PAIRS[:1], sampling).case == "frequent items; long transaction"


def test_the_error_is_shared_by_all_cases_that_are_sampled() -> None:
    """The more there are, the surer each must be, so that all together are wrong as seldom as one was."""
    few, many = (
        cases(name, epsilon=1, samples=20, seed=1, pairs=PAIRS[:2])[-1]() for name in ("svt", "questions")
    )
    assert 1 - few.confidence == pytest.approx(0.05)
    assert 1 - many.confidence == pytest.approx(0.05 / (len(of_questions()) + 1))


def test_too_few_samples_refute_nothing_and_say_so() -> None:
    """Not even the control, whose claim a bound of 2.6 leaves standing."""
    found = [case() for case in cases("svt", epsilon=6, samples=100, seed=5, pairs=PAIRS[:1])]
    sampled = [verdict for verdict in found if verdict.samples]
    assert {verdict.verdict for verdict in sampled} == {CANNOT_REFUTE}
    assert all(verdict.ceiling is not None and verdict.ceiling < 3 for verdict in sampled)


def test_the_control_is_refuted_as_soon_as_samples_allow_it() -> None:
    """With just as many as are said to be needed, and not with one less."""
    needed = sampled_verdict(RawCount(), RARE, epsilon=Fraction(3), samples=100, seed=1).samples_needed
    enough, fewer = (
        sampled_verdict(RawCount(), RARE, epsilon=Fraction(3), samples=samples, seed=1)
        for samples in (needed, needed - 1)
    )
    assert (enough.verdict, fewer.verdict) == (BROKEN, CANNOT_REFUTE)
    assert enough.method == CONTROL


def exactly(curator: Curator) -> int:
    """The number of transactions, by breaking into the gate."""
    return int(curator._PaidLooks__engine.number().values[0])  # type: ignore[attr-defined]


def in_notes(release: Release, number: int) -> Release:
    """A sentence that tells the number."""
    return replace(release, notes=(f"of {number} transactions",))


def in_trace(release: Release, number: int) -> Release:
    """A row of the trace that tells it."""
    return replace(release, trace=(*release.trace, Charge(f"{number} rows", release.trace[0].mechanism)))


def in_an_interval(release: Release, number: int) -> Release:
    """The end of an interval that is off by it."""
    total = release.transactions
    return replace(release, transactions=replace(total, high=total.value + number))


def in_the_number(release: Release, number: int) -> Release:
    """The number itself."""
    return replace(release, transactions=replace(release.transactions, value=number))


@pytest.mark.parametrize("tell", [in_notes, in_trace, in_an_interval, in_the_number])
def test_a_method_that_tells_a_raw_count_anywhere_is_refuted(
    monkeypatch: pytest.MonkeyPatch, tell: Callable[[Release, int], Release]
) -> None:
    """All of a release is looked at, at the settings that are the default."""

    def leaking(curator: Curator, *given: Any, **settings: Any) -> Release:  # noqa: ANN401
        return tell(em(curator, *given, **settings), exactly(curator))

    monkeypatch.setattr("veilset.methods.tps.em", leaking)
    found = [case() for case in cases("em", epsilon=1, samples=1000, seed=7, pairs=PAIRS[:1])]
    assert [verdict.verdict for verdict in found] == [BROKEN] * 4


def test_a_question_that_answers_exactly_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what does not ask it is not."""

    def exact_number(curator: Curator, *, epsilon: Fraction) -> NoisyCount:
        mechanism = ask_number(curator, epsilon=epsilon).mechanism
        return NoisyCount(exactly(curator), mechanism)

    ask_number = Curator.ask_number
    monkeypatch.setattr(Curator, "ask_number", exact_number)
    subjects = {subject.case: subject for subject in of_questions()}
    number, other = (
        sampled_verdict(subjects[case], RARE, epsilon=Fraction(1), samples=300, seed=2)
        for case in ("number", "k-th support")
    )
    assert (number.verdict, other.verdict) == (BROKEN, HOLDS)


def test_noise_for_one_transaction_where_a_person_has_three_is_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The person's support moves by 3, and the noise is made for 1."""
    subjects = {subject.case: subject for subject in of_questions()}
    person = next(pair for pair in ALL_PAIRS if pair.is_of_persons)
    laplace = SeededNoise.discrete_laplace
    monkeypatch.setattr(
        SeededNoise,
        "discrete_laplace",
        lambda noise, counts, *, scale: laplace(noise, counts, scale=scale / 3),
    )
    found = sampled_verdict(subjects["number"], person, epsilon=Fraction(1), samples=1000, seed=2)
    assert found.verdict == BROKEN


def test_transactions_beyond_a_persons_limit_that_count_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five count where the noise is made for three."""
    subjects = {subject.case: subject for subject in of_questions()}
    monkeypatch.setattr("veilset.raw.engines.local.keep_per_owner", lambda held, *_: held)
    of_five = [pair for pair in ALL_PAIRS if len(pair.more) == 4]
    found = sampled_verdict(subjects["number"], of_five[0], epsilon=Fraction(2), samples=2000, seed=2)
    assert found.verdict == BROKEN


def test_commands_need_a_shell() -> None:
    """An audit of nothing would hold."""
    with pytest.raises(BadCall, match="commands"):
        cases("commands", epsilon=1, samples=100, seed=1)
    assert cases("commands", epsilon=1, samples=100, seed=1, shell=cli.run_here)


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
    subjects = of_method(find_method(None, task=task).label)
    found = [subject for subject in subjects if subject.delta]
    assert [subject.delta for subject in found] == [AUDITED_DELTA]
    assert all(isinstance(subject, MethodSubject) for subject in subjects)


@pytest.mark.parametrize("task", TARGETS)
def test_the_default_of_a_task_is_audited_with_a_limit_chosen_privately(task: str) -> None:
    """On persons with several transactions, and on nobody else."""
    name = find_method(None, task=task).label
    (subject,) = (subject for subject in of_method(name) if subject.needs_persons)
    chosen = [
        case()
        for case in exact_cases(name, PERSON_PAIRS, Fraction(1))
        if subject in case.args  # type: ignore[attr-defined]
    ]
    assert len([verdict for verdict in chosen if LIMIT_CHOSEN in verdict.case]) == len(PERSON_PAIRS)
    assert {verdict.verdict for verdict in chosen} == {HOLDS}
    assert not [case for case in exact_cases(name, PAIRS[:1], Fraction(1)) if subject in case.args]  # type: ignore[attr-defined]


def two_or_three(curator: PersonCurator, request: object, *, epsilon: Fraction) -> int:
    """Small databases hide in noise, where one transaction counts; so this limit hangs on noisy answers alone."""
    assert request is not None
    told = curator.ask_transactions_by_person((1, 2, 4), epsilon=epsilon / 50)
    return 2 + int(told.values.sum()) % 2


@pytest.mark.parametrize(("kept", "verdict"), [(0, HOLDS), (2, BROKEN)], ids=["as noised", "two more"])
def test_noise_is_for_as_many_transactions_as_were_chosen(
    kept: int, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of five, two or three count; the control: where two more than were chosen count, it shows."""
    (subject,) = (subject for subject in of_method("planned") if subject.needs_persons)
    keep = keep_per_owner
    monkeypatch.setattr("veilset.opening.choose_per_owner", two_or_three)
    monkeypatch.setattr(
        "veilset.raw.engines.local.keep_per_owner", lambda held, most, keys: keep(held, most + kept, keys)
    )
    (of_five,) = (pair for pair in PERSON_PAIRS if len(pair.more) == 4)
    assert exact_verdict(subject, of_five, epsilon=Fraction(1)).verdict == verdict


def test_a_limit_chosen_without_noise_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: how many transactions the busiest person has leaks at once."""
    (subject,) = (subject for subject in of_method("planned") if subject.needs_persons)

    def largest(_: Access, unit: PrivacyUnit, held: Transactions, *__: object) -> PrivacyUnit:
        return replace(unit, transactions=int(np.bincount(held.owners).max()))  # type: ignore[arg-type]

    monkeypatch.setattr(Access, "_chosen_unit", largest)
    assert exact_verdict(subject, PERSON_PAIRS[0], epsilon=Fraction(1)).verdict == BROKEN


RARE = next(pair for pair in PAIRS if pair.name == "rare items only")


def names_from(weight: int) -> Run:
    """Names items as the gate does, but from a threshold of its own: that weight, in steps, whatever delta says."""

    def run(data: Transactions, epsilon: Fraction, noise: Noise, _: object = None) -> Outcome:
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
        (lambda: cases("magic", epsilon=1, samples=100, seed=1), "give all, questions, commands, noise"),
        (lambda: cases("all", epsilon=1, samples=3, seed=1), "at least 20"),
        (lambda: cases("all", epsilon=0, samples=100, seed=1), "above 0"),
        (lambda: printed_cases("magic", epsilon=1, samples=100, seed=1), "no printed form"),
    ],
)
def test_an_audit_that_makes_no_sense_is_refused(call: Callable[[], object], message: str) -> None:
    """In one line."""
    with pytest.raises(BadCall, match=message):
        call()


def test_all_fields_of_an_answer_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that no example looks at."""
    ask = Curator.ask_prefix_tree

    def leaking(curator: Curator, *given: Any, **named: Any) -> NoisyTree:  # noqa: ANN401
        return replace(ask(curator, *given, **named), threshold=exactly(curator))

    subject = next(subject for subject in of_questions() if subject.case == "prefix tree under no truncation")
    assert exact_verdict(subject, PAIRS[0], epsilon=Fraction(1)).verdict == HOLDS
    monkeypatch.setattr(Curator, "ask_prefix_tree", leaking)
    assert exact_verdict(subject, PAIRS[0], epsilon=Fraction(1)).bound == math.inf


def test_more_must_not_be_used_than_the_trace_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """However large the budget was."""
    subject = next(subject for subject in of_questions() if subject.case == "number")
    monkeypatch.setattr("veilset.audit.subjects.in_billionths", lambda trace: 10**9 * len(trace) // 2)
    found = exact_verdict(subject, PAIRS[0], epsilon=Fraction(1))
    assert (found.bound, found.verdict) == (math.inf, BROKEN)
    assert "is used, where the trace says 0.5" in found.event
