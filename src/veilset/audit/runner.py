"""Which cases an audit has, and how one is run: outcomes on two neighbouring databases against the claim.

An audit has many cases, and each could be unlucky. So that the whole is wrong in at most 5 % of audits, the error that
is allowed is shared by all cases that are sampled.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from veilset.audit.command_lines import CommandLine, Shell, command_lines
from veilset.audit.floats import audit_integer_noise, audit_textbook_noise
from veilset.audit.lower_bound import BOUND_CONFIDENCE, Bound, Outcome, lower_bound, samples_needed
from veilset.audit.neighbours import PAIRS, PERSON_PAIRS, Pair
from veilset.audit.outcomes import checksum, only_counts, with_evidence
from veilset.audit.printed import PRINTED
from veilset.audit.question_examples import AUDITED_DELTA
from veilset.audit.subjects import SPENT, Audited, RawCount, of_method, of_questions
from veilset.audit.transcripts.losses import MOST_SAMPLED, largest_loss
from veilset.audit.verdicts import Verdict
from veilset.errors import BadCall
from veilset.gate import Epsilon, Noise, SecureNoise, SeededNoise, exact_epsilon
from veilset.methods import METHODS
from veilset.raw.transactions import Transactions

Case = Callable[[], Verdict]
"""Runs one case."""

RunOnce = Callable[[Fraction, int], Outcome]
"""One run on a database with an epsilon and a seed."""

WITHOUT_NOISE = Fraction(10**6)
"""An epsilon at which an outcome is what the database would say without noise."""

LEAST_SAMPLES = 20
COMMAND_SAMPLES = 300
"""A command takes 20 milliseconds, so no more runs than these, or than twice what it takes to refute the claim."""
ALL_PAIRS = (*PAIRS, *PERSON_PAIRS)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a case is sampled: the epsilon that is claimed, runs on each database, the confidence of a bound."""

    epsilon: Fraction
    samples: int
    seed: int
    confidence: float = BOUND_CONFIDENCE

    def shared_by(self, cases: int) -> "Sampling":
        """The same where the error is shared by a number of cases."""
        return replace(self, confidence=1 - (1 - self.confidence) / max(1, cases))

    def of_commands(self) -> "Sampling":
        """The same with fewer samples, where fewer can refute the claim as well."""
        needed = samples_needed(float(self.epsilon), float(AUDITED_DELTA), confidence=self.confidence)
        return replace(self, samples=min(self.samples, max(COMMAND_SAMPLES, 2 * needed)))


def cases(
    name: str,
    *,
    epsilon: Epsilon,
    samples: int,
    seed: int,
    pairs: Sequence[Pair] = ALL_PAIRS,
    shell: Shell | None = None,
) -> list[Case]:
    """The cases of a method, of "questions" (the gate's), of "commands" (the shell's), or of "all"; controls first."""
    _check_samples(samples)
    claim = exact_epsilon(epsilon)
    sampling = Sampling(claim, samples, seed)
    found = exact_cases(name, pairs, claim)
    if samples > 0:
        found += sampled_cases(name, pairs, sampling, shell)
    if not found:
        raise BadCall(f"nothing of {name} can be computed; give samples, at least {LEAST_SAMPLES}")
    return [partial(timed, case) for case in found]


def exact_cases(name: str, pairs: Sequence[Pair], epsilon: Fraction) -> list[Case]:
    """Transcripts whose probabilities are computed: a control, then every subject on every pair that it can be."""
    in_lockstep = [
        (subject, pair)
        for subject in _subjects(name)
        for pair in pairs
        if _is_small(subject, pair) and _has_unit_of(subject, pair)
    ]
    controls = [(RawCount(), pairs[0])] if in_lockstep else []
    return [
        partial(exact_verdict, subject, pair, epsilon=epsilon) for subject, pair in (*controls, *in_lockstep)
    ]


def _is_small(subject: Audited, pair: Pair) -> bool:
    """Whether all samples can be run through, where one is drawn."""
    return not subject.draws_sample or len(pair.with_unit()) <= MOST_SAMPLED


def _has_unit_of(subject: Audited, pair: Pair) -> bool:
    """Whether there are persons with several transactions, where a subject is about them."""
    return pair.is_of_persons or not subject.needs_persons


def exact_verdict(subject: Audited, pair: Pair, *, epsilon: Fraction) -> Verdict:
    """The worst transcript of a subject on a pair; all answers of the gate are compared, whole."""

    def run(data: Transactions, noise: Noise) -> tuple[Outcome, list[object]]:
        answers: list[object] = []
        return subject.outcome(data, epsilon=epsilon, noise=noise, answers=answers), answers

    loss = largest_loss(run, pair, delta=subject.delta, spent=_spent)
    return Verdict.of(
        Bound(loss.epsilon, loss.event, confidence=1.0, samples=0),
        method=subject.name,
        case=f"{subject.case}; {pair.name} (exact)",
        printed=False,
        claim=float(epsilon),
        delta=float(subject.delta),
    )


def _spent(published: Any) -> float:  # noqa: ANN401 - what `run` of `exact_verdict` returns, or an error
    """What the trace of a run says was spent; everything where it has none."""
    return published[0].get(SPENT, math.inf) / 10**9 if isinstance(published, tuple) else math.inf


def sampled_cases(name: str, pairs: Sequence[Pair], sampling: Sampling, shell: Shell | None) -> list[Case]:
    """What is run many times: a control, then every subject, for either unit, then the command line."""
    if name == "commands" and shell is None:
        raise BadCall("to audit commands, give a shell to run them in")
    by_unit = [[pair for pair in pairs if pair.is_of_persons == persons] for persons in (False, True)]
    in_process = [
        (subject, same)
        for subject in _subjects(name)
        for same in by_unit
        if same and _has_unit_of(subject, same[0])
    ]
    by_command = command_lines() if shell is not None and name in {"commands", "all"} else []
    looks_at_digits = name in {"questions", "all"}
    shared = sampling.shared_by(len(in_process) + len(by_command) + looks_at_digits)
    found: list[Case] = []
    if in_process:
        found.append(partial(sampled_verdict, RawCount(), pairs[0], **asdict(shared)))
    if looks_at_digits:
        found.append(partial(_integer_noise, shared))
    found += [partial(sampled_on_worst, subject, same, shared) for subject, same in in_process]
    if shell is not None:
        found += [partial(command_verdict, line, shell, shared.of_commands()) for line in by_command]
    return found


def printed_cases(name: str, *, epsilon: Epsilon, samples: int, seed: int) -> list[Case]:
    """The leaking forms that a method's paper prints, or all of them."""
    claim = float(exact_epsilon(epsilon))
    _check_samples(samples)
    if samples == 0:
        raise BadCall(f"most printed forms can only be sampled; give samples, at least {LEAST_SAMPLES}")
    forms = [(form.method, form.audit) for form in PRINTED] + [("noise", audit_textbook_noise)]
    known = sorted({method for method, _ in forms})
    if name not in {"all", *known}:
        raise BadCall(f"no printed form that leaks under {name!r}; give all or one of {', '.join(known)}")
    return [
        partial(timed, partial(form, epsilon=claim, samples=samples, seed=seed))
        for method, form in forms
        if name in {"all", method}
    ]


def _subjects(name: str) -> list[Audited]:
    if name == "all":
        return [subject for method in METHODS for subject in of_method(method)] + of_questions()
    if name == "questions":
        return of_questions()
    if name == "commands":
        return []
    if name in METHODS:
        return of_method(name)
    raise BadCall(
        f"nothing to audit under {name!r}; give all, questions, commands, noise or one of {', '.join(METHODS)}"
    )


def _check_samples(samples: int) -> None:
    if samples != 0 and samples < LEAST_SAMPLES:
        raise BadCall(
            f"{samples} samples show nothing; give at least {LEAST_SAMPLES}, better thousands, or 0 for what can be "
            "computed alone"
        )


def timed(case: Case) -> Verdict:
    """The verdict of a case, with the seconds that it took."""
    start = time.perf_counter()
    found = case()
    return replace(found, seconds=round(time.perf_counter() - start, 3))


def sampled_verdict(
    subject: Audited,
    pair: Pair,
    *,
    epsilon: Fraction,
    samples: int,
    seed: int,
    confidence: float = BOUND_CONFIDENCE,
) -> Verdict:
    """Many runs of a subject on both databases of a pair."""
    runs = [partial(_run_subject, subject, data) for data in pair.both()]
    sampling = Sampling(epsilon, samples, seed, confidence)
    return _verdict(
        runs, sampling, method=subject.name, case=f"{subject.case}; {pair.name}", delta=subject.delta
    )


def sampled_on_worst(subject: Audited, pairs: Sequence[Pair], sampling: Sampling) -> Verdict:
    """Many runs on the pair of databases on which computed probabilities tell most: samples are dear."""
    judged = [pair for pair in pairs if _is_small(subject, pair)] if len(pairs) > 1 else []
    worst = max(
        judged or pairs[:1],
        key=lambda pair: exact_verdict(subject, pair, epsilon=sampling.epsilon).bound if judged else 0.0,
    )
    return sampled_verdict(subject, worst, **asdict(sampling))


def _run_subject(subject: Audited, data: Transactions, epsilon: Fraction, seed: int) -> Outcome:
    return subject.outcome(data, epsilon=epsilon, noise=SeededNoise(seed))


def command_verdict(line: CommandLine, shell: Shell, sampling: Sampling) -> Verdict:
    """Many runs of a command on a file with somebody, and on the same without; the noise is the one that ships."""
    with line.files() as folders:
        runs = [partial(_run_command, line, shell, folder) for folder in folders]
        return _verdict(runs, sampling, method=line.name, case=line.case, delta=line.delta)


def _run_command(line: CommandLine, shell: Shell, folder: Path, epsilon: Fraction, _: int) -> Outcome:
    return line.outcome(shell, folder, epsilon)


def _verdict(
    runs: Sequence[RunOnce], sampling: Sampling, *, method: str, case: str, delta: Fraction
) -> Verdict:
    """Every case and either database has seeds of its own: nobody sees the same noise twice."""
    first = sampling.seed + (checksum(f"{method}: {case}") << 32)
    typical = [only_counts(run(WITHOUT_NOISE, first)) for run in runs]
    outcomes = [
        [
            with_evidence(run(sampling.epsilon, seed), typical)
            for seed in range(start, start + sampling.samples)
        ]
        for run, start in zip(runs, (first, first + sampling.samples), strict=True)
    ]
    bound = lower_bound(*outcomes, delta=float(delta), confidence=sampling.confidence)
    return Verdict.of(
        bound, method=method, case=case, printed=False, claim=float(sampling.epsilon), delta=float(delta)
    )


def _integer_noise(sampling: Sampling) -> Verdict:
    return audit_integer_noise(
        SecureNoise(), epsilon=sampling.epsilon, samples=sampling.samples, confidence=sampling.confidence
    )
