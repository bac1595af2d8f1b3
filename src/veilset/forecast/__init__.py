"""What a forecast is made from, and what it says. Forecasts of methods stand beside the methods."""

import math
from dataclasses import dataclass
from typing import Any

from veilset.arrays import FloatArray
from veilset.forecast.curve import SupportCurve
from veilset.forecast.laws import support_above_zero
from veilset.forecast.released import Accuracy
from veilset.gate import AboveThreshold, DiscreteLaplace, Exponential, ItemNaming, Mechanism, OnSample
from veilset.itemsets import Domain


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The public model: about how many rows, which share of them holds each item, and what follows.

    A method looks at the itemsets of `domain`, whose supports are `curve`. More may be asked for: `asked` has the
    supports of all of them, where they are not the same.

    `unevenness` tells how far transactions differ in how much they take of everything: 0 where all are alike, as
    records of a form are, and 1 where their activity is exponential and lengths are geometric, as those of baskets.
    `length` is their mean length, where the shares do not add up to it.
    """

    rows: int
    shares: FloatArray
    domain: Domain
    curve: SupportCurve
    asked: SupportCurve | None = None
    unevenness: float = 0.0
    length: float | None = None

    @property
    def shortened(self) -> float:
        """By which factor transactions are shorter than the shares of items would make them; 1 where they are not."""
        return 1.0 if self.length is None else min(1.0, self.length / float(self.shares.sum()))

    def kth_support(self, k: int) -> float:
        """Of all itemsets that are asked for, the k-th largest support."""
        return (self.asked or self.curve).at_rank(k)


@dataclass(frozen=True, slots=True)
class Stage:
    """A question that a method will ask, `times` times, and the mechanism that will answer it."""

    name: str
    mechanism: Mechanism
    times: int = 1

    @property
    def scale(self) -> float:
        """The typical size of the noise in transactions: on a count, or on a score that decides a choice."""
        return _scale(self.mechanism)

    def to_dict(self) -> dict[str, Any]:
        """The stage as JSON values."""
        return {"stage": self.name, "times": self.times, **self.mechanism.to_dict(), "scale": self.scale}


def _scale(mechanism: Mechanism) -> float:
    if isinstance(mechanism, OnSample):  # a transaction of the sample stands for several
        return _scale(mechanism.mechanism) / float(mechanism.rate)
    if isinstance(mechanism, Exponential):
        return float(1 / mechanism.rate)
    if isinstance(mechanism, DiscreteLaplace | ItemNaming):
        return float(mechanism.scale / mechanism.steps)
    if isinstance(
        mechanism, AboveThreshold
    ):  # on a support that is compared, where as many are found as may be
        return float(mechanism.wanted * mechanism.sensitivity / mechanism.epsilon)
    raise TypeError(f"no scale is known of {type(mechanism).__name__}")


@dataclass(frozen=True, slots=True)
class Forecast:
    """What to expect of one method at one epsilon; supports are numbers of transactions.

    Attributes:
        half_width: of the 95 % interval of a released support; the median, where they differ.
        relative_half_width: the same as a part of the support; the mean over those of the k best that are found.
        relative_error: what a released support is wrong by on average, as a part of it; the mean over the same.
        chosen_from: with this support an itemset is chosen with 95 % probability over ones that nobody holds.
        above_zero_from: with this support an interval excludes 0 with 95 % probability.
        kth_support: of the k-th most frequent itemset, in the model.
        found: the expected share of the true k best among the k released, which is also the F-score.
    """

    method: str
    max_size: int
    stages: tuple[Stage, ...]
    half_width: int
    relative_half_width: float
    relative_error: float
    chosen_from: int
    above_zero_from: int
    kth_support: int
    found: float

    @classmethod
    def of(
        cls,
        world: World,
        k: int,
        *,
        method: str,
        stages: tuple[Stage, ...],
        accuracy: Accuracy,
        chosen_from: int,
        found: float,
    ) -> "Forecast":
        """A forecast in a model of the data: what follows from accuracy and from the model is filled in."""
        half_width = math.ceil(accuracy.half_width)
        return cls(
            method,
            world.domain.max_size,
            stages,
            half_width,
            accuracy.relative_half_width,
            accuracy.relative_error,
            chosen_from,
            above_zero_from=support_above_zero(half_width),
            kth_support=round(world.kth_support(k)),
            found=min(1.0, found),
        )

    @property
    def error_at_kth(self) -> float:
        """The half width in relation to the support of the k-th itemset."""
        return self.half_width / max(self.kth_support, 1)

    def to_dict(self) -> dict[str, Any]:
        """The forecast as JSON values."""
        return {
            "method": self.method,
            "max_size": self.max_size,
            "stages": [stage.to_dict() for stage in self.stages],
            "half_width": self.half_width,
            "relative_half_width": self.relative_half_width,
            "relative_error": self.relative_error,
            "chosen_from": self.chosen_from,
            "above_zero_from": self.above_zero_from,
            "kth_support": self.kth_support,
            "error_at_kth": self.error_at_kth,
            "found": self.found,
        }
