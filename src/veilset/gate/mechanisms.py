"""What was done to an answer before it left: frozen descriptions; sentences and JSON derive from them."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from veilset.errors import BadCall
from veilset.integers import whole
from veilset.wording import counted


class Mechanism(Protocol):
    """A way to answer under differential privacy, and what it costs."""

    @property
    def epsilon(self) -> Fraction:
        """What the answer costs."""

    @property
    def delta(self) -> Fraction:
        """The probability with which that may fail; 0 for a pure mechanism."""

    def sentence(self) -> str:
        """The mechanism in words."""

    def to_dict(self) -> dict[str, Any]:
        """The mechanism as JSON values; `mechanism_from_dict` reads it back."""


def check_share(epsilon: Fraction) -> None:
    """Raise BadCall unless it is a Fraction, which is finite, and above 0."""
    if type(epsilon) is not Fraction:
        raise BadCall(f"epsilon {epsilon!r} is no exact number; give a Fraction above 0")
    if epsilon <= 0:
        raise BadCall(f"a question at epsilon {epsilon} cannot be answered; its share must be above 0")


def check_cost(epsilon: Fraction, sensitivity: int) -> None:
    """Raise BadCall unless there is a price, and something that it pays for."""
    check_share(epsilon)
    if type(sensitivity) is not int or sensitivity < 1:
        raise BadCall(
            f"a sensitivity of {sensitivity!r} is not possible; one unit moves a count by at least 1"
        )


class PureMechanism:
    """A mechanism that keeps epsilon without exception."""

    __slots__ = ()

    @property
    def delta(self) -> Fraction:
        """None."""
        return Fraction(0)


@dataclass(frozen=True, slots=True)
class DiscreteLaplace(PureMechanism):
    """Integer noise with P(x) proportional to exp(-|x| epsilon / sensitivity), on every count.

    `sensitivity` is the L1 distance by which one privacy unit can move all counts of the question together.
    Counts that are fractions of transactions are in integer steps, `steps` of them for a whole one.
    """

    sensitivity: int
    epsilon: Fraction
    steps: int = 1

    def __post_init__(self) -> None:
        check_cost(self.epsilon, self.sensitivity)
        whole(self.steps, "the number of steps", least=1)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, its typical size, in steps."""
        return self.sensitivity * self.steps / self.epsilon

    def half_width(self, confidence: float = 0.95) -> int:
        """The smallest t for which |noise| <= t with at least this probability.

        From P(|noise| > t) = 2 a^(t+1) / (1 + a) with a = exp(-1 / scale).
        >>> DiscreteLaplace(1, Fraction(1, 10)).half_width()
        30
        """
        per_step = float(1 / self.scale)
        steps = math.log(2 / ((1 - confidence) * (1 + math.exp(-per_step)))) / per_step
        return max(0, math.ceil(steps) - 1)

    def sentence(self) -> str:
        """The mechanism in words."""
        scale = float(self.scale / self.steps)
        return f"discrete Laplace noise of scale {scale:.6g} (sensitivity {self.sensitivity})"

    def to_dict(self) -> dict[str, Any]:
        """The mechanism as JSON values."""
        return {
            "mechanism": "discrete Laplace",
            "sensitivity": self.sensitivity,
            "epsilon": str(self.epsilon),
            "scale": float(self.scale / self.steps),
            **({"steps": self.steps} if self.steps > 1 else {}),
        }


@dataclass(frozen=True, slots=True)
class Exponential(PureMechanism):
    """`draws` candidates, one after another without replacement, with P proportional to exp(rate * score).

    One privacy unit raises or lowers scores by at most `sensitivity`. Where it moves all of them in the same
    direction (monotone: counts under add or remove) the rate is epsilon / (draws * sensitivity); otherwise
    half of that, because the score of the winner and the sum over all others can move apart.
    """

    draws: int
    sensitivity: int
    epsilon: Fraction
    is_monotone: bool = True

    def __post_init__(self) -> None:
        check_cost(self.epsilon, self.sensitivity)
        if whole(self.draws, "the number of draws") < 1:
            raise BadCall(f"{self.draws} draws choose nothing; ask for at least 1")

    @property
    def rate(self) -> Fraction:
        """How much the log of a candidate's chance grows with its score."""
        return self.epsilon / (self.draws * self.sensitivity * (1 if self.is_monotone else 2))

    def sentence(self) -> str:
        """The mechanism in words."""
        scores = "monotone scores" if self.is_monotone else "scores"
        return f"exponential mechanism, {counted(self.draws, 'draw')} on {scores} of sensitivity {self.sensitivity}"

    def to_dict(self) -> dict[str, Any]:
        """The mechanism as JSON values."""
        return {
            "mechanism": "exponential",
            "draws": self.draws,
            "sensitivity": self.sensitivity,
            "epsilon": str(self.epsilon),
            "is_monotone": self.is_monotone,
        }


@dataclass(frozen=True, slots=True)
class AboveThreshold(PureMechanism):
    """Noisy supports compared with a noisy threshold, one after another; only the comparisons leave.

    `epsilon` was charged whole, before the look. `account` is what the comparisons used of it, one share for
    each part that was paid for (`gate.selection.sparse_vector`): it can be computed from the comparisons that were
    released and says nothing else, and it never adds up to more than `epsilon`. None until they are made.
    """

    wanted: int
    sensitivity: int
    epsilon: Fraction
    account: tuple[Fraction, ...] | None = None

    def __post_init__(self) -> None:
        check_cost(self.epsilon, self.sensitivity)
        whole(self.wanted, "the number of items wanted", least=1)
        for part in self.account or ():
            check_share(part)
        if self.used > self.epsilon:
            raise BadCall(
                f"comparisons used epsilon {self.used} of {self.epsilon}; this is a mistake in veilset"
            )

    @property
    def used(self) -> Fraction:
        """What the comparisons used of epsilon."""
        return sum(self.account or (), Fraction(0))

    def sentence(self) -> str:
        """The mechanism in words."""
        wanted = counted(self.wanted, "item")
        made = f"comparisons with a noisy threshold for up to {wanted} (sensitivity {self.sensitivity})"
        if self.account is None:
            return made
        return f"{made}, which used epsilon {float(self.used):.3g} in {counted(len(self.account), 'part')}"

    def to_dict(self) -> dict[str, Any]:
        """The mechanism as JSON values."""
        return {
            "mechanism": "above threshold",
            "wanted": self.wanted,
            "sensitivity": self.sensitivity,
            "epsilon": str(self.epsilon),
            "used": str(self.used),
            "account": None if self.account is None else [str(part) for part in self.account],
        }


@dataclass(frozen=True, slots=True)
class ChainedLaplace(PureMechanism):
    """Discrete Laplace noise on the sizes of partitions that hold different records, level by level.

    A record is in one partition at a time, so only the tests along its own chain of partitions cost it anything;
    none of them costs more than epsilon in all. `largest_chain` tells what the most expensive one did cost, test
    by test. The noise of a test at epsilon e has the scale sensitivity / e.
    """

    sensitivity: int
    epsilon: Fraction
    largest_chain: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        check_cost(self.epsilon, self.sensitivity)
        for share in self.largest_chain:
            check_share(share)
        if sum(self.largest_chain) > self.epsilon:
            raise BadCall(
                f"a chain spent epsilon {sum(self.largest_chain)} of {self.epsilon}; this is a mistake in veilset"
            )

    def sentence(self) -> str:
        """The mechanism in words."""
        levels = [f"{float(share):.4g}" for share in self.largest_chain]
        shown = [*levels[:3], "...", *levels[-2:]] if len(levels) > 6 else levels
        spent = f"epsilon {' + '.join(shown)} in {counted(len(levels), 'test')}" if levels else "nothing yet"
        return (
            f"discrete Laplace noise on sizes of disjoint partitions (sensitivity {self.sensitivity}); "
            f"the chain of tests that cost most spent {spent}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The mechanism as JSON values."""
        return {
            "mechanism": "chained Laplace",
            "sensitivity": self.sensitivity,
            "epsilon": str(self.epsilon),
            "largest_chain": [str(share) for share in self.largest_chain],
        }


@dataclass(frozen=True, slots=True)
class OnSample(PureMechanism):
    """A mechanism on a random sample of the transactions, where it costs more than `epsilon`, its price here.

    The price is what `gate.accounting.amplification` says; it depends on what else was asked on the same sample. Prices
    are rounded up, so that the price of all may stay where it was: then this one is 0.
    """

    mechanism: Mechanism
    rate: Fraction
    epsilon: Fraction

    def __post_init__(self) -> None:
        if type(self.epsilon) is not Fraction or self.epsilon < 0:
            raise BadCall(f"a price of {self.epsilon!r} is none; give a Fraction, 0 or above")
        if type(self.rate) is not Fraction or not 0 < self.rate <= 1:
            raise BadCall(f"a sample at rate {self.rate!r} is none; give a Fraction above 0, at most 1")
        if type(self.mechanism) not in _ON_SAMPLES:
            raise BadCall(
                f"a {type(self.mechanism).__name__} is no pure mechanism of the gate; samples have no other"
            )

    def sentence(self) -> str:
        """The mechanism in words."""
        inner = self.mechanism
        return (
            f"on a random sample at rate {float(self.rate):.4g}, where it costs epsilon {float(inner.epsilon):.6g}: "
            f"{inner.sentence()}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The mechanism as JSON values."""
        return {
            "mechanism": "on a sample",
            "rate": str(self.rate),
            "epsilon": str(self.epsilon),
            "on_the_sample": self.mechanism.to_dict(),
        }


_ON_SAMPLES = frozenset({DiscreteLaplace, Exponential, AboveThreshold, ChainedLaplace, OnSample})
"""All mechanisms without delta."""
