"""The largest privacy loss that some transcripts of a method or a question show on two neighbouring databases."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from veilset.audit.neighbours import Pair
from veilset.audit.transcripts.lockstep import (
    Choose,
    LockstepNoise,
    Side,
    Transcript,
    drawn_by,
    most_telling,
    play,
)
from veilset.errors import BadCall
from veilset.gate import Noise, SeededNoise
from veilset.raw.transactions import Transactions

RunOn = Callable[[Transactions, Noise], object]
"""Runs a method or a question on a database, with this noise; returns all that is published."""

Spent = Callable[[Any], float]
"""What something that was published says was spent of epsilon."""

MOST_SAMPLED = 5
"""All 2^n samples of up to 5 transactions are run through, side by side."""

IN_STEPS = 1e-8
"""Sums of what was spent are in billionths."""

_THIRDS = 120


@dataclass(frozen=True, slots=True)
class Loss:
    """What one transcript gives away: an epsilon that really occurs, at the delta that is claimed."""

    epsilon: float
    event: str


def largest_loss(
    run: RunOn,
    pair: Pair,
    *,
    delta: Fraction = Fraction(0),
    seeds: Sequence[int] = (0, 1),
    spent: Spent = lambda _: math.inf,
) -> Loss:
    """The worst of several transcripts: those that tell most, and some as they are drawn; in both directions.

    Whoever tells more than what was published says was spent has told too much, whatever the budget was.
    """
    transcripts = _transcripts(run, pair, seeds)
    return max((_loss(each, side, delta, spent) for each, side in transcripts), key=lambda loss: loss.epsilon)


def _transcripts(run: RunOn, pair: Pair, seeds: Sequence[int]) -> Iterator[tuple[Transcript, str]]:
    sides = (pair.with_unit(), "with the unit"), (pair.without_unit(), "without the unit")
    for (one, name), (other, _) in (sides, sides[::-1]):
        for seed in seeds:
            ways: tuple[Choose, ...] = (most_telling, drawn_by(SeededNoise(seed)))
            for choose in ways:
                yield transcript_of(run, one, other, choose=choose, seed=seed), name


def transcript_loss(
    run: RunOn,
    one: Transactions,
    other: Transactions,
    *,
    choose: Choose,
    seed: int,
    delta: Fraction,
    side: str,
) -> Loss:
    """What one transcript tells in favour of the first database."""
    return _loss(transcript_of(run, one, other, choose=choose, seed=seed), side, delta, lambda _: math.inf)


def transcript_of(
    run: RunOn, one: Transactions, other: Transactions, *, choose: Choose, seed: int
) -> Transcript:
    """One transcript on both databases; where a sample is drawn, over all samples."""
    noise, others = LockstepNoise(seed), LockstepNoise(seed)
    transcript = play([(_bound(run, one), noise)], [(_bound(run, other), others)], choose)
    if noise.samples or others.samples:
        if max(len(one), len(other)) > MOST_SAMPLED:
            raise BadCall(
                f"a sample of {max(len(one), len(other))} transactions has too many outcomes to run through; "
                f"give databases of at most {MOST_SAMPLED}"
            )
        transcript = play(_every_sample(run, one, seed), _every_sample(run, other, seed), choose)
    return transcript


def _loss(transcript: Transcript, side: str, delta: Fraction, spent: Spent) -> Loss:
    epsilon, told = epsilon_of(transcript, float(delta)), spent(transcript.published)
    if told * (1 + IN_STEPS) + IN_STEPS < epsilon < math.inf:
        return Loss(math.inf, f"epsilon {epsilon:.4g} is used, where the trace says {told:.4g}")
    return Loss(epsilon, _event(transcript, side))


def _every_sample(run: RunOn, data: Transactions, seed: int) -> Side:
    samples = product((True, False), repeat=len(data))
    return [(_bound(run, data), LockstepNoise(seed, sampled)) for sampled in samples]


def _bound(run: RunOn, data: Transactions) -> Callable[[Noise], object]:
    return lambda noise: run(data, noise)


def _event(transcript: Transcript, side: str) -> str:
    if transcript.is_leaking:
        return transcript.leak
    decisions = len(transcript.decisions)
    return f"a transcript of {decisions} decision{'s' if decisions != 1 else ''}: likelier {side}"


def epsilon_of(transcript: Transcript, delta: float) -> float:
    """The epsilon that a transcript shows at a delta: costs of pure decisions add up, rho is converted once."""
    cost = transcript.cost
    if transcript.is_leaking or cost.delta > delta * (1 + 1e-9):
        return math.inf
    return max(0.0, cost.epsilon) + epsilon_of_rho(cost.rho, delta - cost.delta)


def epsilon_of_rho(rho: float, delta: float) -> float:
    """The least epsilon at which a rho-zCDP answer is private with that delta; infinite where there is no delta.

    By the formula of `gate.zcdp`, solved for epsilon, at the best order: with b = alpha - 1, it is
    (b + 1) rho + (ln(1 / delta) + (b + 1) ln(b / (b + 1)) - ln(b)) / b, which falls and then rises with b.

    >>> round(epsilon_of_rho(0.5, 1e-6), 3)
    5.222
    """
    if rho == 0:
        return 0.0
    if delta <= 0:
        return math.inf

    def at(log_b: float) -> float:
        b = math.exp(log_b)
        return (b + 1) * rho + (-math.log(delta) - (b + 1) * math.log1p(1 / b) - log_b) / b

    low, high = -20.0, 30.0
    for _ in range(_THIRDS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if at(left) < at(right) else (left, high)
    return max(0.0, at((low + high) / 2))
