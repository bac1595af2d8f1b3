"""Two databases, answered alike: every run stops at each decision until one outcome is chosen for all.

A side is a database. Usually it is run once. Where a decision that never leaves changes what is counted, as the draw of
a sample does, a side is run once for each way in which that can come out, each with its probability: the probability of
the answers on that side is the sum over its runs.

Random keys are the same on both sides, transaction by transaction, because they depend on what a transaction holds, and
the unit has numbers among equal ones that nobody else has: the laws are compared given the keys, and what holds for
each of them holds on average.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

from veilset.arrays import Int64Array
from veilset.audit.transcripts.label_laws import LabelsLaw
from veilset.audit.transcripts.laws import (
    BestLaw,
    CountsLaw,
    DecisionLaw,
    Evidence,
    GaussianCountsLaw,
    PlaceLaw,
    SubsetLaw,
    difference,
    log_sum,
)
from veilset.audit.transcripts.search_laws import SearchLaw
from veilset.audit.transcripts.threshold_laws import NamesLaw, PassingLaw
from veilset.errors import VeilsetError
from veilset.gate import (
    AboveThreshold,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    ItemNaming,
    Noise,
    SearchOutcome,
    SearchState,
)
from veilset.gate.draws import CountItemsets
from veilset.gate.selection.floored_supports import ExactScores
from veilset.gate.selection.item_discovery import NamedItems
from veilset.gate.selection.noisy_test import NoisyTest, PassedCounts, SparseCounts
from veilset.gate.selection.sparse_vector import Comparisons
from veilset.itemsets import Domain, Itemset
from veilset.raw.counts import ExactCounts
from veilset.raw.cuts.row_keys import NumberedRows, RowKeys, SipKeys
from veilset.raw.cuts.rows import Keys

RunWith = Callable[[Noise], object]
"""Runs a method or a question with this noise; returns all that is published."""

Choose = Callable[[Sequence[DecisionLaw], Sequence[DecisionLaw]], Sequence[Any]]
"""Outcomes to try, given the laws of the runs of both sides."""


class _Stopped(BaseException):
    """The audit has seen enough; not an error of what is audited."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A run is over: what it published, or how it was refused, as its user would see it; `crash` should not happen."""

    published: object
    crash: str = ""


class LockstepNoise(Noise):
    """Asks for the outcome of every decision, and waits for it."""

    is_private = False

    def __init__(self, seed: int, sampled: tuple[bool, ...] | None = None) -> None:
        self.log_weight, self.samples = 0.0, 0
        self.laws: SimpleQueue[DecisionLaw | Ended] = SimpleQueue()
        self.outcomes: SimpleQueue[Any] = SimpleQueue()
        self._seed, self._sampled, self._decided, self._drawn = seed, sampled, 0, 0

    def _decide(self, law: DecisionLaw) -> Any:  # noqa: ANN401 - whatever the decision answers
        self.laws.put(law)
        outcome = self.outcomes.get()
        if isinstance(outcome, _Stopped):
            raise outcome
        self._decided, self._drawn = self._decided + 1, 0
        return outcome

    def keys(self) -> SipKeys:
        """The same for the same transactions, whatever was drawn for earlier questions."""
        rng = np.random.default_rng([self._seed, self._decided, self._drawn])
        self._drawn += 1
        return SipKeys(rng.integers(0, 2**64, size=2, dtype=np.uint64))

    def sample_keys(self, *, rate: Fraction) -> RowKeys:
        """Keys by which just those transactions are in the sample that were said to be; only one can be drawn."""
        if rate == 1:  # everybody is in it
            return self.keys()
        self.samples += 1
        return self.keys() if self._sampled is None else _SaidKeys(self.keys().secret, self, rate)

    def said_keys(self, number: int, rate: Fraction) -> Keys:
        """The keys of the transactions of a sample, as was said; what that is worth is noted."""
        sampled = self._sampled or ()
        here, missing = sampled[:number], len(sampled) - number
        self.log_weight += sum(math.log(rate if is_in else 1 - rate) for is_in in here)
        # What is said of transactions that are not there, because an owner has too many, changes nothing.
        self.log_weight -= math.log(2) * missing
        first_out = int(rate * 2**32)  # at the edge: whoever samples at another rate has others in it
        return np.array([first_out - is_in for is_in in here], dtype=np.uint32)

    def counts(self, exact: ExactCounts, mechanism: DiscreteLaplace | DiscreteGaussian) -> Int64Array:
        """Decided for all runs."""
        if isinstance(mechanism, DiscreteGaussian):
            return self._decide(GaussianCountsLaw(exact, mechanism))  # type: ignore[no-any-return]
        return self._decide(CountsLaw(exact, mechanism))  # type: ignore[no-any-return]

    def best(
        self, scores: ExactScores, mechanism: Exponential, *, domain: Domain | None = None
    ) -> tuple[Itemset, ...]:
        """Decided for all runs."""
        return self._decide(BestLaw(scores, mechanism, domain))  # type: ignore[no-any-return]

    def place(self, scores: Int64Array, mechanism: Exponential, *, steps: int = 1) -> int:
        """Decided for all runs."""
        return self._decide(PlaceLaw(scores, mechanism, steps))  # type: ignore[no-any-return]

    def subset(self, margins: Int64Array, mechanism: Exponential, *, least: int, most: int) -> list[int]:
        """Decided for all runs."""
        return self._decide(SubsetLaw(margins, mechanism, least, most))  # type: ignore[no-any-return]

    def labels(
        self, supports: Int64Array, mechanism: AboveThreshold, *, threshold: int, by_blocks: bool
    ) -> Comparisons:
        """Decided for all runs."""
        law = LabelsLaw(supports, mechanism, threshold=threshold, by_blocks=by_blocks)
        return self._decide(law)  # type: ignore[no-any-return]

    def search(
        self, count: CountItemsets, mechanism: AboveThreshold, *, threshold: int, start: SearchState
    ) -> SearchOutcome:
        """Decided for all runs."""
        law = SearchLaw(count, mechanism, threshold=threshold, start=start)
        return self._decide(law)  # type: ignore[no-any-return]

    def passing(self, counts: SparseCounts, test: NoisyTest) -> PassedCounts:
        """Decided for all runs."""
        return self._decide(PassingLaw(counts, test))  # type: ignore[no-any-return]

    def named(self, weights: ExactCounts, mechanism: ItemNaming) -> NamedItems:
        """Decided for all runs."""
        return self._decide(NamesLaw(weights, mechanism))  # type: ignore[no-any-return]

    def discrete_laplace(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """Nobody draws noise but by a decision."""
        raise AssertionError(f"noise of scale {scale} on {counts} outside of every decision")

    def discrete_gaussian(self, counts: ExactCounts, *, scale: Fraction) -> Int64Array:
        """Nobody draws noise but by a decision."""
        raise AssertionError(f"noise of scale {scale} on {counts} outside of every decision")

    def below(self, bound: int) -> int:
        """Nobody draws a number but by a decision."""
        raise AssertionError(f"a number below {bound} outside of every decision")


@dataclass(frozen=True, repr=False, eq=False)
class _SaidKeys(SipKeys):
    """Keys of transactions, in their order, by what was said of each; all other keys are as usual."""

    noise: LockstepNoise
    rate: Fraction

    def of_rows(self, numbered: NumberedRows) -> Keys:
        """Just below the rate, or just at it."""
        return self.noise.said_keys(numbered.numbers.size, self.rate)


Side = Sequence[tuple[RunWith, LockstepNoise]]
"""The runs on one database."""


class _Running:
    """One run, in a thread of its own."""

    def __init__(self, run: RunWith, noise: LockstepNoise) -> None:
        self.noise = noise
        self.log_chance = 0.0
        self._thread = Thread(target=self._work, args=(run,), daemon=True)
        self._thread.start()

    def _work(self, run: RunWith) -> None:
        try:
            self.noise.laws.put(Ended(run(self.noise)))
        except _Stopped:
            pass
        except VeilsetError as error:
            self.noise.laws.put(Ended(f"{type(error).__name__}: {error}"))
        except Exception as error:  # noqa: BLE001 - a mistake of what is audited, which must not pass for an answer
            self.noise.laws.put(Ended(None, crash=f"it fails with {type(error).__name__}: {error}"))

    def stop(self) -> None:
        """Let the thread end."""
        self.noise.outcomes.put(_Stopped())
        self._thread.join(timeout=60)


@dataclass(slots=True)
class Transcript:
    """What happened: the decisions, what they cost, and what came past the gate, if anything did."""

    cost: Evidence = field(default_factory=Evidence)
    decisions: list[str] = field(default_factory=list)
    leak: str = ""
    published: object = None

    @property
    def is_leaking(self) -> bool:
        """Whether something depends on the data without having been decided by noise."""
        return bool(self.leak)


def play(
    one: Sequence[tuple[RunWith, LockstepNoise]],
    other: Sequence[tuple[RunWith, LockstepNoise]],
    choose: Choose,
) -> Transcript:
    """RunWith both sides to their end, decision by decision; costs are in favour of the first side."""
    with _started(one) as favoured, _started(other) as against:
        return _Play(favoured, against).to_the_end(choose)


@contextmanager
def _started(side: Side) -> Iterator[list[_Running]]:
    runs = [_Running(run, noise) for run, noise in side]
    try:
        yield runs
    finally:
        for run in runs:
            run.stop()


class _Play:
    """Both sides, and the transcript so far."""

    def __init__(self, favoured: list[_Running], against: list[_Running]) -> None:
        self._favoured, self._against = favoured, against
        self._is_mixed = len(favoured) + len(against) > 2
        self._transcript = Transcript()

    def to_the_end(self, choose: Choose) -> Transcript:
        """Decide until all runs are over, or until nothing more can be learnt."""
        while not self._transcript.is_leaking and self._transcript.cost.epsilon < math.inf:
            steps = [run.noise.laws.get() for run in (*self._favoured, *self._against)]
            crashes = [step.crash for step in steps if isinstance(step, Ended) and step.crash]
            if crashes:
                self._transcript.leak = crashes[0]
                break
            if all(isinstance(step, Ended) for step in steps):
                self._compare_published(steps)
                break
            if len({type(step) for step in steps}) > 1:
                self._transcript.leak = "the next question depends on the data"
                break
            if max(run.noise.samples for run in (*self._favoured, *self._against)) > 1:
                self._transcript.leak = "a second sample is drawn where one was paid for"
                break
            self._decide(steps, choose)
        return self._transcript

    def _compare_published(self, ended: Sequence[Any]) -> None:
        self._transcript.published = ended[0].published
        if any(each.published != ended[0].published for each in ended[1:]):
            self._transcript.leak = "the same answers of the gate are published differently"

    def _decide(self, laws: Sequence[Any], choose: Choose) -> None:
        """Take the outcome that tells most, tell it to all runs, and add up what it costs."""
        mine, others = laws[: len(self._favoured)], laws[len(self._favoured) :]
        best = max(choose(mine, others), key=lambda outcome: self._gain(mine, others, outcome))
        transcript = self._transcript
        transcript.decisions.append(type(mine[0]).__name__.removesuffix("DecisionLaw"))
        if len(laws) == 2:
            transcript.cost += mine[0].cost(others[0], best)
        else:
            transcript.cost = Evidence(self._gain(mine, others, best))
        for side, side_laws in ((self._favoured, mine), (self._against, others)):
            _tell(side, side_laws, best)

    def _gain(self, mine: Sequence[DecisionLaw], others: Sequence[DecisionLaw], outcome: Any) -> float:  # noqa: ANN401
        return difference(
            _log_chance(self._favoured, mine, outcome), _log_chance(self._against, others, outcome)
        )


def _tell(side: list[_Running], laws: Sequence[DecisionLaw], outcome: Any) -> None:  # noqa: ANN401
    """Let the runs of a side go on; one in which this could not have happened has ended."""
    for run, law in zip(side.copy(), laws, strict=True):
        run.log_chance += law.log_chance(outcome)
        if run.log_chance > -math.inf or len(side) == 1:
            run.noise.outcomes.put(outcome)
        else:
            run.stop()
            side.remove(run)


def _log_chance(runs: Sequence[_Running], laws: Sequence[DecisionLaw], outcome: Any) -> float:  # noqa: ANN401
    """The log of the probability of all answers so far and this one, over the runs of a side."""
    logs = [
        run.noise.log_weight + run.log_chance + law.log_chance(outcome)
        for run, law in zip(runs, laws, strict=True)
    ]
    return log_sum(np.array(logs)) if max(logs) > -math.inf else -math.inf


def most_telling(mine: Sequence[DecisionLaw], others: Sequence[DecisionLaw]) -> Sequence[Any]:
    """Every outcome that a law of the first side calls telling against one of the other side."""
    return [outcome for law in mine for other in others for outcome in law.telling(other)]


def drawn_by(noise: Noise) -> Choose:
    """One outcome, drawn as on the first database: what usually happens."""
    return lambda mine, others: [mine[0].draw(noise)]  # noqa: ARG005
