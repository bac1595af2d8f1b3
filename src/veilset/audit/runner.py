"""Which cases an audit has, and how one is run: outcomes on two neighbouring databases against the claim."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from veilset.audit.exact_laws import EXACT_LAWS
from veilset.audit.floats import audit_integer_noise, audit_textbook_noise
from veilset.audit.lower_bound import Outcome, lower_bound
from veilset.audit.neighbours import PAIRS, Pair
from veilset.audit.printed import PRINTED
from veilset.audit.subjects import Audited, of_method, of_questions
from veilset.audit.verdicts import Verdict
from veilset.errors import BadCall
from veilset.gate import Epsilon, SecureNoise, exact_epsilon
from veilset.methods import METHODS
from veilset.raw.transactions import Transactions

Case = Callable[[], Verdict]
"""Runs one case."""

WITHOUT_NOISE = Fraction(10**6)
"""An epsilon at which an outcome is what the database would say without noise."""

LEAST_SAMPLES = 20


def cases(
    name: str, *, epsilon: Epsilon, samples: int, seed: int, pairs: Sequence[Pair] = PAIRS
) -> list[Case]:
    """The cases of a method, of "questions" (the gate's), or of "all"; `samples` runs on each database."""
    claim = exact_epsilon(epsilon)
    _check_samples(samples)
    sampled: list[Case] = [
        partial(sampled_verdict, subject, pair, epsilon=claim, samples=samples, seed=seed)
        for subject in _subjects(name)
        for pair in pairs
    ]
    if name not in {"questions", "all"}:
        return sampled
    exact = [partial(law, pair, epsilon=claim) for law in EXACT_LAWS for pair in pairs]
    low_bits = partial(audit_integer_noise, SecureNoise(), epsilon=claim, samples=samples)
    return [*exact, low_bits, *sampled]


def printed_cases(name: str, *, epsilon: Epsilon, samples: int, seed: int) -> list[Case]:
    """The leaking forms that a method's paper prints, or all of them."""
    claim = float(exact_epsilon(epsilon))
    _check_samples(samples)
    forms = [(form.method, form.audit) for form in PRINTED] + [("noise", audit_textbook_noise)]
    known = sorted({method for method, _ in forms})
    if name not in {"all", *known}:
        raise BadCall(f"no printed form that leaks under {name!r}; give all or one of {', '.join(known)}")
    return [
        partial(form, epsilon=claim, samples=samples, seed=seed)
        for method, form in forms
        if name in {"all", method}
    ]


def _subjects(name: str) -> list[Audited]:
    if name == "all":
        return [subject for method in METHODS for subject in of_method(method)] + of_questions()
    if name == "questions":
        return of_questions()
    if name in METHODS:
        return of_method(name)
    raise BadCall(
        f"nothing to audit under {name!r}; give all, questions, noise or one of {', '.join(METHODS)}"
    )


def _check_samples(samples: int) -> None:
    if samples < LEAST_SAMPLES:
        raise BadCall(f"{samples} samples show nothing; give at least {LEAST_SAMPLES}, better thousands")


def sampled_verdict(subject: Audited, pair: Pair, *, epsilon: Fraction, samples: int, seed: int) -> Verdict:
    """Many runs on both databases; seeds differ, because an attacker does not see the same noise twice."""
    with_unit, without_unit = pair.both()
    typical = [subject.outcome(data, epsilon=WITHOUT_NOISE, seed=seed) for data in (with_unit, without_unit)]
    bound = lower_bound(
        _outcomes(subject, with_unit, typical, epsilon, range(seed, seed + samples)),
        _outcomes(subject, without_unit, typical, epsilon, range(seed + samples, seed + 2 * samples)),
        delta=float(subject.delta),
    )
    case = f"{subject.case}; {pair.name}"
    return Verdict.of(
        bound,
        method=subject.name,
        case=case,
        printed=False,
        claim=float(epsilon),
        delta=float(subject.delta),
    )


def _outcomes(
    subject: Audited, data: Transactions, typical: Sequence[Outcome], epsilon: Fraction, seeds: range
) -> list[Outcome]:
    outcomes: list[Outcome] = []
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
    return sum(
        abs(outcome[name] - without_unit[name]) - abs(outcome[name] - with_unit[name]) for name in names
    )
