"""A statistical lower bound on epsilon, from samples of a mechanism on two neighbouring databases.

Pure epsilon-differential privacy says P(E) <= e^epsilon Q(E) for every event E, with P and Q the laws of the
output on either database. So any event with ln(P(E) / Q(E)) above a claim refutes it. The event is chosen on
one half of the samples and measured on the other, where it is the only one tried: its two probabilities are
bounded by Clopper-Pearson intervals at half the error each. The bound holds with that confidence however many
events were tried on the first half.

With delta, the claim is P(E) <= e^epsilon Q(E) + delta, so ln((P(E) - delta) / Q(E)) is what refutes it: delta, which
is claimed, is taken from the bound on the likelier side.

Samples can show only as much as there are of them. The ceiling is the bound that they would give had the event come out
every time on one side and never on the other. Where it is not above the claim, nothing could have refuted it.

An outcome maps the names of statistics to whole numbers: whether an itemset was released, which label came
out, a noisy count. An event says that one statistic takes one of some values.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.audit.intervals import at_least, at_most

Outcome = Mapping[str, int]

BOUND_CONFIDENCE = 0.95
ABSENT = -(2**62)
"""What a statistic is where an outcome does not have it."""
LARGEST = 2**62
MOST_CLASSES = 64
"""Counts take many values: neighbouring ones are put together until at most 64 classes are left."""
_SIGMAS = 3.0  # wider than the test, so that rare events are not chosen for their luck


@dataclass(frozen=True, slots=True)
class Bound:
    """Epsilon is at least this much, with that confidence, because of this event.

    `ceiling` is the most that the samples could have shown; None where the law was computed instead of sampled.
    """

    epsilon: float
    event: str
    confidence: float
    samples: int
    ceiling: float | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A statistic lies in low to high; `promise` is about the bound that it would give."""

    statistic: str
    low: int
    high: int
    is_likelier_without: bool
    promise: float

    def number(self, values: Int64Array) -> int:
        """How many of the values it holds for."""
        return int(np.count_nonzero((values >= self.low) & (values <= self.high)))

    def __str__(self) -> str:
        side = "without" if self.is_likelier_without else "with"
        return f"{self.statistic} {_range(self.low, self.high)}: likelier {side} the unit"


def lower_bound(
    with_unit: Sequence[Outcome],
    without_unit: Sequence[Outcome],
    *,
    delta: float = 0.0,
    confidence: float = BOUND_CONFIDENCE,
) -> Bound:
    """The bound that outcomes on two neighbouring databases allow where delta is claimed, too; at least 0."""
    half = min(len(with_unit), len(without_unit)) // 2
    samples = len(with_unit) + len(without_unit)
    trials = len(with_unit) - half, len(without_unit) - half
    most = max(
        _log_ratio(trials[side], trials[side], 0, trials[1 - side], delta=delta, confidence=confidence)
        for side in (0, 1)
    )
    event = _chosen_event(with_unit[:half], without_unit[:half], delta)
    if event is None or event.promise <= 0:
        return Bound(0.0, "nothing stood out", confidence, samples, most)
    tested = [_values(outcomes[half:], event.statistic) for outcomes in (with_unit, without_unit)]
    likely, unlikely = reversed(tested) if event.is_likelier_without else tested
    shown = _log_ratio(
        event.number(likely),
        likely.size,
        event.number(unlikely),
        unlikely.size,
        delta=delta,
        confidence=confidence,
    )
    return Bound(shown, str(event), confidence, samples, most)


def ceiling(samples: int, *, delta: float = 0.0, confidence: float = BOUND_CONFIDENCE) -> float:
    """The largest bound that this number of samples on each database can give.

    >>> round(ceiling(100), 2), round(ceiling(1000), 2), round(ceiling(1000, delta=0.5), 2)
    (2.57, 4.91, 4.21)
    """
    trials = samples - samples // 2
    return _log_ratio(trials, trials, 0, trials, delta=delta, confidence=confidence)


def samples_needed(claim: float, delta: float = 0.0, *, confidence: float = BOUND_CONFIDENCE) -> int:
    """The fewest samples on each database whose ceiling is above the claim.

    >>> samples_needed(1), samples_needed(6), samples_needed(6, confidence=0.9999)
    (23, 2981, 8001)
    """

    def can_refute(samples: int) -> bool:
        return ceiling(samples, delta=delta, confidence=confidence) > refuted_from(claim)

    enough = 2
    while not can_refute(enough):
        enough *= 2
    return bisect_left(range(enough), True, lo=1, key=can_refute)  # noqa: FBT003 - False stands before True


def refuted_from(claim: float) -> float:
    """A bound above this refutes a claim; computed ones may be off in their last digits."""
    return claim * (1 + 1e-9)


def _log_ratio(
    likely: int, likely_trials: int, unlikely: int, unlikely_trials: int, *, delta: float, confidence: float
) -> float:
    """The bound that an event gives by how often it came out on either side; at least 0."""
    error = (1 - confidence) / 2
    low = at_least(likely, likely_trials, error=error) - delta
    high = at_most(unlikely, unlikely_trials, error=error)
    return math.log(low / high) if low > high else 0.0


def _chosen_event(
    with_unit: Sequence[Outcome], without_unit: Sequence[Outcome], delta: float
) -> "Event | None":
    """The most promising event over all statistics; None where every outcome is the same."""
    names = sorted({name for outcome in (*with_unit, *without_unit) for name in outcome})
    columns = ((name, _values(with_unit, name), _values(without_unit, name)) for name in names)
    events = (_best_event(*column, delta) for column in columns if _varies(*column[1:]))
    return max(events, key=lambda event: event.promise, default=None)


def _varies(with_unit: Int64Array, without_unit: Int64Array) -> bool:
    """Whether a statistic takes more than one value: most parts of a document never do."""
    first = with_unit[0]
    return bool((with_unit != first).any() or (without_unit != first).any())


def _values(outcomes: Sequence[Outcome], name: str) -> Int64Array:
    return np.array([outcome.get(name, ABSENT) for outcome in outcomes], dtype=np.int64)


def _best_event(name: str, with_unit: Int64Array, without_unit: Int64Array, delta: float) -> Event:
    """The most promising of: one class, all classes up to one, all from one on; in either direction."""
    starts = _starts(np.concatenate([with_unit, without_unit]))
    ends = np.append(starts[1:] - 1, LARGEST)
    counts = [
        np.bincount(np.searchsorted(starts, values, side="right") - 1, minlength=starts.size)
        for values in (with_unit, without_unit)
    ]
    events = []
    for is_likelier_without in (False, True):
        inside, outside = reversed(counts) if is_likelier_without else counts
        for add_up, lows, highs in (
            (_each, starts, ends),
            (np.cumsum, np.full_like(starts, starts[0]), ends),
            (_from_here_on, starts, np.full_like(ends, LARGEST)),
        ):
            promises = _promises(add_up(inside), add_up(outside), with_unit.size, delta)
            best = int(promises.argmax())
            event = Event(name, int(lows[best]), int(highs[best]), is_likelier_without, float(promises[best]))
            events.append(event)
    return max(events, key=lambda event: event.promise)


def _each(counts: Int64Array) -> Int64Array:
    return counts


def _from_here_on(counts: Int64Array) -> Int64Array:
    return np.cumsum(counts[::-1])[::-1]


def _starts(values: Int64Array) -> Int64Array:
    """Where classes begin: at every value, or at some of them where there are many."""
    distinct = np.unique(values)
    if distinct.size <= MOST_CLASSES:
        return distinct
    some = np.quantile(values, np.linspace(0, 1, MOST_CLASSES), method="nearest")
    return np.unique(np.append(some, distinct[0]))


def _promises(inside: Int64Array, outside: Int64Array, trials: int, delta: float) -> FloatArray:
    """About what bound each event would give: the same logarithm, with Wilson intervals."""
    low, high = _wilson(inside, trials, -1) - delta, _wilson(outside, trials, 1)
    promise: FloatArray = np.log(np.maximum(low, 1e-300) / high)
    return promise


def _wilson(successes: Int64Array, trials: int, sign: int) -> FloatArray:
    share, z = successes / trials, _SIGMAS**2 / trials
    half = np.sqrt(share * (1 - share) * z + z**2 / 4)
    bound: FloatArray = (share + z / 2 + sign * half) / (1 + z)
    return bound


def _range(low: int, high: int) -> str:
    if high == ABSENT:
        return "is absent"
    if low == ABSENT:
        return f"is absent or <= {high}"
    if high == LARGEST:
        return f">= {low}"
    return f"= {low}" if low == high else f"in {low} to {high}"
