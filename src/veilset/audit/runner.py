"""Runs subjects on pairs of neighbours and compares what was seen with what is claimed."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from veilset.audit.lower_bound import Outcome, lower_bound
from veilset.audit.neighbours import PAIRS, Pair
from veilset.audit.subjects import Subject, of_method, of_questions
from veilset.audit.verdicts import Verdict
from veilset.errors import BadCall
from veilset.methods import METHODS
from veilset.raw.transactions import Transactions

WITHOUT_NOISE = Fraction(10**6)
"""An epsilon at which an outcome is what the database would say without noise."""


def subjects_of(name: str) -> list[Subject]:
    """What to audit: a method, "questions" for the gate's, or "all"."""
    if name == "questions":
        return of_questions()
    if name in METHODS:
        return of_method(name)
    if name == "all":
        return [subject for method in METHODS for subject in of_method(method)] + of_questions()
    raise BadCall(f"nothing to audit under {name!r}; give all, questions, noise or one of {', '.join(METHODS)}")


def audit(
    subjects: Sequence[Subject],
    *,
    epsilon: Fraction,
    samples: int,
    seed: int,
    pairs: Sequence[Pair] = PAIRS,
) -> Iterator[Verdict]:
    """A verdict for every subject on every pair; `samples` runs on each of the two databases."""
    for subject in subjects:
        for pair in pairs:
            yield _verdict(subject, pair, epsilon=epsilon, samples=samples, seed=seed)


def _verdict(subject: Subject, pair: Pair, *, epsilon: Fraction, samples: int, seed: int) -> Verdict:
    with_unit, without_unit = pair.with_unit(), pair.without_unit()
    typical = [
        subject.outcome(data, epsilon=WITHOUT_NOISE, seed=seed) for data in (with_unit, without_unit)
    ]
    # Seeds differ between the two databases: an attacker does not see the same noise twice.
    bound = lower_bound(
        _outcomes(subject, with_unit, typical, epsilon, range(seed, seed + samples)),
        _outcomes(subject, without_unit, typical, epsilon, range(seed + samples, seed + 2 * samples)),
    )
    return Verdict(
        method=subject.name,
        case=f"{subject.case}; {pair.name}",
        printed=False,
        claim=float(epsilon),
        bound=bound.epsilon,
        confidence=bound.confidence,
        samples=bound.samples,
        event=bound.event,
    )


def _outcomes(
    subject: Subject, data: Transactions, typical: Sequence[Outcome], epsilon: Fraction, seeds: range
) -> list[Outcome]:
    outcomes = []
    for seed in seeds:
        outcome = subject.outcome(data, epsilon=epsilon, seed=seed)
        outcomes.append({**outcome, "evidence of the unit": _evidence(outcome, *typical)})
    return outcomes


def _evidence(outcome: Outcome, with_unit: Outcome, without_unit: Outcome) -> int:
    """How much closer an outcome is to what one database says than to what the other says, over all counts.

    For Laplace noise on all of them this is the log of the likelihood ratio: the best that an attacker can do
    who knows both databases.
    """
    names = outcome.keys() & with_unit.keys() & without_unit.keys()
    return sum(abs(outcome[name] - without_unit[name]) - abs(outcome[name] - with_unit[name]) for name in names)
