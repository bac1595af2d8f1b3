"""What was done to an answer before it left: frozen descriptions; sentences and JSON derive from them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

from veilset.errors import BadCall
from veilset.wording import counted

NamingLaw = Literal["gaussian", "laplace"]
"""Which noise decides whether an item is named."""


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


def _check_cost(epsilon: Fraction, sensitivity: int) -> None:
    if epsilon <= 0:
        raise BadCall(f"a question at epsilon {epsilon} cannot be answered; its share must be above 0")
    if sensitivity < 1:
        raise BadCall(f"a sensitivity of {sensitivity} is not possible; one unit moves a count by at least 1")


def check_naming(epsilon: Fraction, delta: Fraction) -> None:
    """Raise BadCall where no item can be named at that price."""
    if epsilon <= 0:
        raise BadCall(f"items cannot be named at epsilon {epsilon}; give one above 0")
    if not 0 < delta < 1:
        raise BadCall(f"items cannot be named at delta {delta}; give one above 0 and below 1")


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
        _check_cost(self.epsilon, self.sensitivity)

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
        _check_cost(self.epsilon, self.sensitivity)
        if self.draws < 1:
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
        _check_cost(self.epsilon, self.sensitivity)
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
        _check_cost(self.epsilon, self.sensitivity)

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

    The price is what `gate.accounting.amplification` says; it depends on what else was asked on the same sample.
    """

    mechanism: Mechanism
    rate: Fraction
    epsilon: Fraction

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


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Integer noise with P(x) proportional to exp(-x^2 / (2 scale^2)), on every count.

    `squared_sensitivity` is the square of the L2 distance by which one privacy unit can move all counts together, in
    whole transactions. The answer is `rho`-zCDP; `epsilon` and `delta` are by how much it raises the cost of all
    questions with Gaussian noise (`gate.accounting.concentrated`): delta is paid by the first of them.
    """

    squared_sensitivity: int
    rho: Fraction
    epsilon: Fraction
    delta: Fraction
    steps: int

    def __post_init__(self) -> None:
        _check_cost(self.epsilon, self.squared_sensitivity)
        if self.rho <= 0:
            raise BadCall(f"Gaussian noise of rho {self.rho} cannot be drawn; give a rho above 0")

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in steps, rounded up to an integer: the root of D^2 / (2 rho)."""
        return Fraction(math.isqrt(math.ceil(self.squared_sensitivity * self.steps**2 / (2 * self.rho))) + 1)

    def sentence(self) -> str:
        """The mechanism in words."""
        scale = float(self.scale / self.steps)
        return (
            f"discrete Gaussian noise of scale {scale:.6g} (squared L2 sensitivity {self.squared_sensitivity}, "
            f"rho {float(self.rho):.4g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The mechanism as JSON values."""
        return {
            "mechanism": "discrete Gaussian",
            "squared_sensitivity": self.squared_sensitivity,
            "rho": str(self.rho),
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "scale": float(self.scale / self.steps),
            "steps": self.steps,
        }

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "DiscreteGaussian":
        """The mechanism that `to_dict` wrote."""
        rho, epsilon, delta = (Fraction(row[name]) for name in ("rho", "epsilon", "delta"))
        return cls(row["squared_sensitivity"], rho, epsilon, delta, row["steps"])


@dataclass(frozen=True, slots=True)
class ItemNaming:
    """Noise on weights of items, of which those that reach a threshold are named: see `selection.item_discovery`.

    An item of a transaction of n weighs 1 / sqrt(n) under Gaussian noise, 1 / n under Laplace noise; longer ones than
    `longest` are truncated to that. `scale` and `threshold` are in steps, `steps` of them for a whole weight.
    """

    law: NamingLaw
    longest: int
    sensitivity: int
    epsilon: Fraction
    delta: Fraction
    scale: Fraction
    threshold: int
    steps: int

    def __post_init__(self) -> None:
        _check_cost(self.epsilon, self.sensitivity)
        check_naming(self.epsilon, self.delta)

    def sentence(self) -> str:
        """The mechanism in words."""
        law, weight = ("Gaussian", "1/sqrt(n)") if self.law == "gaussian" else ("Laplace", "1/n")
        return (
            f"discrete {law} noise of scale {float(self.scale / self.steps):.6g} on sums of weights, {weight} for each "
            f"of the n items of a transaction, at most {self.longest} of them (sensitivity {self.sensitivity}); "
            f"items are named from a noisy sum of {float(Fraction(self.threshold, self.steps)):.6g}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The mechanism as JSON values."""
        return {
            "mechanism": "item naming",
            "law": self.law,
            "longest": self.longest,
            "sensitivity": self.sensitivity,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "scale": float(self.scale / self.steps),
            "scale_in_steps": str(self.scale),
            "threshold_in_steps": self.threshold,
            "steps": self.steps,
        }

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "ItemNaming":
        """The mechanism that `to_dict` wrote."""
        return cls(
            law=row["law"],
            longest=row["longest"],
            sensitivity=row["sensitivity"],
            epsilon=Fraction(row["epsilon"]),
            delta=Fraction(row["delta"]),
            scale=Fraction(row["scale_in_steps"]),
            threshold=row["threshold_in_steps"],
            steps=row["steps"],
        )


@dataclass(frozen=True, slots=True)
class Charge:
    """One row of the trace: one question whose answer left the raw data, and what it cost."""

    question: str
    mechanism: Mechanism

    def sentence(self) -> str:
        """The row in words."""
        delta = f", delta {float(self.mechanism.delta):.3g}" if self.mechanism.delta else ""
        return f"{self.question}: {self.mechanism.sentence()}, epsilon {self.mechanism.epsilon}{delta}"

    def to_dict(self) -> dict[str, Any]:
        """The row as JSON values."""
        return {"question": self.question, **self.mechanism.to_dict()}

    @classmethod
    def from_dict(cls, row: dict[str, Any]) -> "Charge":
        """The row that `to_dict` wrote."""
        return cls(row["question"], mechanism_from_dict(row))


_READ_BY_THEMSELVES: dict[str, Callable[[dict[str, Any]], Mechanism]] = {
    "discrete Gaussian": DiscreteGaussian.from_dict,
    "item naming": ItemNaming.from_dict,
}


def mechanism_from_dict(row: dict[str, Any]) -> Mechanism:
    """The mechanism that `to_dict` wrote."""
    epsilon = Fraction(row["epsilon"])
    if row["mechanism"] == "on a sample":
        return OnSample(mechanism_from_dict(row["on_the_sample"]), Fraction(row["rate"]), epsilon)
    if row["mechanism"] in _READ_BY_THEMSELVES:
        return _READ_BY_THEMSELVES[row["mechanism"]](row)
    sensitivity = row["sensitivity"]
    if row["mechanism"] == "exponential":
        return Exponential(row["draws"], sensitivity, epsilon, is_monotone=row["is_monotone"])
    if row["mechanism"] == "above threshold":
        account = None if row["account"] is None else tuple(map(Fraction, row["account"]))
        return AboveThreshold(row["wanted"], sensitivity, epsilon, account)
    if row["mechanism"] == "chained Laplace":
        return ChainedLaplace(sensitivity, epsilon, tuple(map(Fraction, row["largest_chain"])))
    return DiscreteLaplace(sensitivity, epsilon, row.get("steps", 1))
