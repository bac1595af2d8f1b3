"""What is audited: every method of the registry and every question of the gate, each as a law of outcomes.

A subject turns a database and noise into an outcome, which is all that an attacker could see of one run. Where rows
have owners, the unit is a person, of whose transactions PERSON_LIMIT may count, or as many as are chosen privately.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import ClassVar, TypeVar, cast

from veilset.api import run_method
from veilset.audit.answers import Watched
from veilset.audit.lower_bound import Outcome
from veilset.audit.neighbours import PERSON_LIMIT
from veilset.audit.outcomes import of_document, seen_published, seen_release
from veilset.audit.question_examples import (
    AUDITED_DELTA,
    QUESTIONS,
    QUESTIONS_ABOUT_PERSONS,
    QUESTIONS_BEFORE_NAMES,
    QUESTIONS_ON_SAMPLES,
    QUESTIONS_UNDER_TRUNCATION,
    TRUNCATIONS,
    Ask,
    AskPersons,
    AskUnder,
    AskUnnamed,
    ask_root_counts_twice,
    unless_refused,
)
from veilset.audit.verdicts import CONTROL
from veilset.gate import Budget, Charge, Curator, Noise, PersonCurator, Truncation, UnnamedCurator
from veilset.methods import METHODS, Method, find_method
from veilset.opening import Access, ItemChoice
from veilset.raw.engines.local import LocalEngine
from veilset.raw.transactions import Alphabet, Transactions
from veilset.request import AUTO, PerOwner, PublishRequest, Request
from veilset.results.published import Published

Answers = list[object] | None
"""Where answers are kept, if anywhere."""

Run = Callable[[Transactions, Fraction, Noise, Answers], Outcome]

SPENT = "epsilon spent in billionths"
"""What the trace says was spent, rounded up."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A question that claims to cost epsilon."""

    name: str
    case: str
    ask: Ask
    draws_sample: bool = False
    delta: ClassVar[Fraction] = Fraction(0)
    needs_persons: ClassVar[bool] = False

    def outcome(
        self, data: Transactions, *, epsilon: Fraction, noise: Noise, answers: Answers = None
    ) -> Outcome:
        """One run, with a budget of exactly epsilon; the answers themselves are added to `answers`."""
        curator = watched(access_to(data, epsilon, noise).curator(data), answers)
        return asked_twice(lambda: self.ask(curator, epsilon), curator)


@dataclass(frozen=True, slots=True)
class UnlistedSubject:
    """A question that claims to cost epsilon and delta, on data whose items nobody knows."""

    name: str
    case: str
    run: Run
    delta: ClassVar[Fraction] = AUDITED_DELTA
    draws_sample: ClassVar[bool] = False
    needs_persons: ClassVar[bool] = False

    def outcome(
        self, data: Transactions, *, epsilon: Fraction, noise: Noise, answers: Answers = None
    ) -> Outcome:
        """One run, with a budget of exactly epsilon and delta; the answers themselves are added to `answers`."""
        return self.run(unlisted(data), epsilon, noise, answers)


@dataclass(frozen=True, slots=True)
class PersonSubject:
    """A question that claims to cost epsilon for a whole person, before it is known how many transactions count."""

    name: str
    case: str
    ask: AskPersons
    delta: ClassVar[Fraction] = Fraction(0)
    draws_sample: ClassVar[bool] = False
    needs_persons: ClassVar[bool] = False

    def outcome(
        self, data: Transactions, *, epsilon: Fraction, noise: Noise, answers: Answers = None
    ) -> Outcome:
        """One run, with a budget of exactly epsilon; the answers themselves are added to `answers`."""
        engine = LocalEngine(data, threads=1)
        curator = watched(PersonCurator(engine, budget=Budget(epsilon), noise=noise), answers)
        return asked_twice(lambda: self.ask(curator, epsilon), curator)


@dataclass(frozen=True, slots=True)
class MethodSubject:
    """A method that claims to cost epsilon; also delta, where it is to find the items first. Run as a caller does.

    `needs_persons` tells that it is also to choose, first, how many transactions of a person count.
    """

    method: Method
    case: str
    request: Request | PublishRequest
    delta: Fraction = Fraction(0)
    needs_persons: bool = False
    draws_sample: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The method's."""
        return self.method.label

    def outcome(
        self,
        data: Transactions,
        *,
        epsilon: Fraction,
        noise: Noise,
        answers: Answers = None,  # noqa: ARG002 - a release holds all of them
    ) -> Outcome:
        """One run from the data to all that is released, with a budget of exactly epsilon and delta."""
        held = unlisted(data) if self.delta else data
        limit = AUTO if self.needs_persons else PERSON_LIMIT
        access = access_to(held, epsilon, noise, delta=self.delta, limit=limit)
        result = run_method(self.method, self.request, access, held)
        seen = seen_published(result) if isinstance(result, Published) else seen_release(result)
        return {**seen, SPENT: in_billionths(result.trace)}


@dataclass(frozen=True, slots=True)
class RawCount:
    """The control: publishes how many transactions there are, as it is."""

    name: str = CONTROL
    case: str = "raw count (must be refuted)"
    delta: Fraction = AUDITED_DELTA
    draws_sample: ClassVar[bool] = False
    needs_persons: ClassVar[bool] = False

    def outcome(
        self,
        data: Transactions,
        *,
        epsilon: Fraction,  # noqa: ARG002 - there is no noise
        noise: Noise,  # noqa: ARG002
        answers: Answers = None,  # noqa: ARG002
    ) -> Outcome:
        """The same in every run."""
        return {"number of transactions": len(data)}


Audited = Subject | UnlistedSubject | PersonSubject | MethodSubject | RawCount


TARGETS: Mapping[str, Mapping[str, Request | PublishRequest]] = {
    "mine": {
        "k = 2": Request.of(k=2, max_size=2),
        "support 4": Request.of(min_support=4, max_size=2),
    },
    "items": {
        "k = 2": Request.of(k=2, max_size=1),
    },
    "publish": {
        "fan-out 2": PublishRequest(fan_out=2),
        "fan-out 10": PublishRequest(fan_out=10),
    },
}
"""For each task, what its methods are asked for under the audit."""

AFTER_DISCOVERY: Mapping[str, tuple[str, Request | PublishRequest]] = {
    "mine": ("k = 2, items found privately", Request.of(k=2)),
    "items": ("k = 2, items found privately", Request.of(k=2, max_size=1)),
    "publish": ("items found privately", PublishRequest()),
}
"""The same for the default method of each task, on data whose items nobody knows."""


LIMIT_CHOSEN = "limit per owner chosen privately"


def of_method(name: str) -> list[Audited]:
    """A method with everything it can be asked for.

    The default of each task also on items that are found privately, and with a limit that is chosen privately.
    """
    method = METHODS[name]
    listed: list[Audited] = [
        MethodSubject(method, case, request) for case, request in TARGETS.get(method.task, {}).items()
    ]
    if find_method(None, task=method.task).label == name:
        case, request = AFTER_DISCOVERY[method.task]
        listed.append(MethodSubject(method, case, request, AUDITED_DELTA))
        case, request = next(iter(TARGETS[method.task].items()))
        listed.append(MethodSubject(method, f"{case}, {LIMIT_CHOSEN}", request, needs_persons=True))
    return listed


def of_questions() -> list[Audited]:
    """Every question of the gate; those that take a truncation, under each kind of it; those before the others."""
    plain = [Subject("questions", name, ask) for name, ask in QUESTIONS.items()]
    of_samples = [
        Subject("questions", name, ask, draws_sample=True) for name, ask in QUESTIONS_ON_SAMPLES.items()
    ]
    truncated = [
        Subject("questions", f"{name} under {how}", _under(ask, truncation))
        for name, ask in QUESTIONS_UNDER_TRUNCATION.items()
        for how, truncation in TRUNCATIONS.items()
    ]
    unnamed = [
        UnlistedSubject("questions", name, partial(_of_unnamed, ask))
        for name, ask in QUESTIONS_BEFORE_NAMES.items()
    ]
    rooted = UnlistedSubject("questions", "counts under a cap in the L2 norm", _root_counts)
    persons = [PersonSubject("questions", name, ask) for name, ask in QUESTIONS_ABOUT_PERSONS.items()]
    return [*plain, *of_samples, *truncated, *unnamed, rooted, *persons]


def access_to(
    data: Transactions,
    epsilon: Fraction,
    noise: Noise,
    *,
    delta: Fraction = Fraction(0),
    limit: PerOwner = PERSON_LIMIT,
) -> Access:
    """How a caller opens the data; on one core, because the databases are small."""
    return Access(
        epsilon=epsilon,
        noise=noise,
        items=ItemChoice(delta=delta or None),
        per_owner=None if data.owners is None else limit,
        threads=1,
    )


def unlisted(data: Transactions) -> Transactions:
    """The same data without a public list of its items."""
    return replace(data, alphabet=Alphabet(data.alphabet.names, is_given=False))


def seen_trace(curator: Curator | UnnamedCurator | PersonCurator) -> Outcome:
    """What a trace tells of the questions that were asked."""
    charges = curator.budget.charges
    return {**of_document([charge.to_dict() for charge in charges], "trace"), SPENT: in_billionths(charges)}


def in_billionths(trace: Sequence[Charge]) -> int:
    """The sum of what was charged."""
    return math.ceil(10**9 * sum((charge.mechanism.epsilon for charge in trace), Fraction(0)))


Door = TypeVar("Door", Curator, UnnamedCurator, PersonCurator)


def watched(curator: Door, answers: Answers) -> Door:
    """The same curator, whose answers are kept where that is wanted."""
    return curator if answers is None else cast("Door", Watched(curator, answers))


def _root_counts(data: Transactions, epsilon: Fraction, noise: Noise, answers: Answers) -> Outcome:
    curator = watched(access_to(data, epsilon, noise, delta=AUDITED_DELTA).curator(data), answers)
    return asked_twice(lambda: ask_root_counts_twice(curator, epsilon), curator)


def _of_unnamed(
    ask: AskUnnamed, data: Transactions, epsilon: Fraction, noise: Noise, answers: Answers
) -> Outcome:
    curator = watched(access_to(data, epsilon, noise, delta=AUDITED_DELTA).unnamed_curator(data), answers)
    return asked_twice(lambda: ask(curator, epsilon), curator)


def asked_twice(ask: Callable[[], Outcome], curator: Curator | UnnamedCurator | PersonCurator) -> Outcome:
    """What a question tells that costs all there is, with its trace; asked again, it must be refused."""
    told = {**ask(), **seen_trace(curator)}
    return {**told, **{f"again: {name}": value for name, value in unless_refused(ask).items()}}


def _under(ask: AskUnder, truncation: Callable[[int], Truncation]) -> Ask:
    return lambda curator, epsilon: ask(curator, epsilon, truncation(curator.alphabet_size))
