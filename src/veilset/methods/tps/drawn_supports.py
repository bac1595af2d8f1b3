"""What classes of chosen items may have for supports: draws of lengths and of powers, weighed by a noisy sum.

Post-processing: everything here follows from noisy answers that were paid for.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from veilset.arrays import FloatArray
from veilset.methods.shared.noisy_values import KeptShares
from veilset.methods.tps.capped_sums import SUM_CAPS, UNEVENLY, capped_numbers
from veilset.methods.tps.leanings import CHANCES_OF_LINES, SupportClasses, saturated, student
from veilset.methods.tps.lengths import LENGTHS, LengthLaws, scaled_weights

FEW_DRAWS = 32
"""32 draws of lengths are enough to choose a cap."""
ERROR_OF_TOTAL = 0.01
"""1 %: no draw explains the sum of supports better."""
AWAY = np.array([-3.4, -2.1, -1.25, -0.6, 0.0, 0.6, 1.25, 2.1, 3.4])
"""9 places that stand for all powers of items around the line of their class."""
CHANCES_AWAY = student(AWAY) * np.gradient(AWAY) / float(student(AWAY) @ np.gradient(AWAY))
DEVIATIONS_AWAY = AWAY / math.sqrt(float(CHANCES_AWAY @ (AWAY**2 + np.gradient(AWAY) ** 2 / 2)))
"""The same in standard deviations, with the Laplace noise that fills the room between them."""
LEAST_UNEVEN, ALL_UNEVEN = 0.018, 0.1
"""0.018: the scale by which logarithms of shares differ at the least where 0.1 or more is lost; 0.035 as a standard
deviation was measured where rows are records of one length (accidents-15k, pumsb_star-de)."""
BEYOND_TOLD = 1.2
"""1.2 times as far apart as the number tells tilts are taken to be: on real data that no constant was chosen by
(dependencies of packages, calls in programs) intervals were too short without it."""
TOGETHER = (0.025, 0.5, 0.975)
"""95 % of what all shares together may be."""


@dataclass(frozen=True, slots=True)
class SumCap:
    """How many items a transaction may add to a sum of supports, and the error of it to expect, as a part of it."""

    most: int
    error: float


@dataclass(frozen=True, slots=True, eq=False)
class DrawnSupports:
    """Lengths, classes of chosen items, and for each draw (rows) and line (columns) its weight.

    For each class (the last axis) `powers` has its tilt on each line, and `log_shares` what a limit leaves of it.
    """

    laws: LengthLaws
    classes: SupportClasses
    held: FloatArray
    powers: FloatArray
    log_shares: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, laws: LengthLaws, classes: SupportClasses, *, number: int) -> "DrawnSupports":
        """Before the sum is known, for a number of transactions."""
        share = math.exp(float(laws.weights @ laws.log_shares_at(np.ones(1))[:, 0]))
        held = classes.counted / classes.sizes / share / max(number, 1)
        powers = classes.powers(held)
        log_shares = laws.log_shares_at(powers)
        return cls(laws, classes, held, powers, log_shares, laws.weights[:, None] * CHANCES_OF_LINES)

    @property
    def supports(self) -> FloatArray:
        """The sum of the supports of each class, for each draw and line."""
        found: FloatArray = self.classes.counted * np.exp(-self.log_shares)
        return found

    @property
    def mean_powers(self) -> FloatArray:
        """The power of each class, on average."""
        found: FloatArray = self.weights.sum(axis=0) @ self.powers
        return found

    @property
    def mean_supports(self) -> FloatArray:
        """The support of one item of each class, as a geometric mean."""
        logs = np.einsum("jm,jmc->c", self.weights, self.log_shares)
        found: FloatArray = self.classes.counted / self.classes.sizes * np.exp(-logs)
        return found

    def first(self, draws: int) -> "DrawnSupports":
        """The same with fewer draws of lengths."""
        laws = replace(
            self.laws,
            weights=scaled_weights(self.laws.weights[:draws]),
            numbers=self.laws.numbers[:draws],
            log_holders=self.laws.log_holders[:draws],
            log_shares=self.laws.log_shares[:draws],
        )
        weights = scaled_weights(self.weights[:draws])
        return replace(self, laws=laws, log_shares=self.log_shares[:draws], weights=weights)

    def chances(self) -> FloatArray:
        """The chance of an item of a transaction to be a chosen one, for each draw, line and length."""
        each = self.supports * np.exp(-self.laws.log_holders_at(self.powers))
        leaning = LENGTHS ** (self.powers[:, :, None] - 1)
        found: FloatArray = np.einsum("jmc,mcl->jml", each, leaning)
        return found

    def capped(self, chances: FloatArray, cap: int) -> FloatArray:
        """The sum of all supports, where a transaction adds up to the cap, for each draw and line."""
        found: FloatArray = np.einsum("jml,jl->jm", capped_numbers(chances, cap), self.laws.numbers)
        return found

    def choose_cap(self, noise: float) -> SumCap:
        """The one that leaves least doubt; `noise` is the standard deviation of a sum with a cap of 1."""
        return min(self.first(FEW_DRAWS)._caps(noise), key=lambda each: each.error)  # noqa: SLF001 - its own

    def _caps(self, noise: float) -> Iterator[SumCap]:
        """Each cap, up to the number of chosen items."""
        chances, whole = self.chances(), self.supports.sum(axis=2)
        number = int(self.classes.sizes.sum())
        for cap in sorted({min(each, number) for each in SUM_CAPS}):
            expected = self.capped(chances, cap)
            lacking = np.log(whole / expected)
            mean = float((self.weights * lacking).sum())
            doubt = float((self.weights * (lacking - mean) ** 2).sum())
            uneven = UNEVENLY * (1 - float((self.weights * expected).sum() / (self.weights * whole).sum()))
            of_noise = noise * cap / float((self.weights * expected).sum())
            yield SumCap(cap, math.sqrt(doubt + uneven**2 + of_noise**2))

    def explaining_total(self, total: float, scale: float, *, cap: int, error: float) -> "DrawnSupports":
        """Weighed by how well they explain a noisy sum of supports under a cap, with a scale of its noise.

        `error` is the standard deviation of the sum of the normalised supports, as a part of it.
        """
        expected = self.capped(self.chances(), cap)
        lost = np.maximum(1 - expected / self.supports.sum(axis=2), 0.0)
        parts = np.sqrt(ERROR_OF_TOTAL**2 + error**2 + (UNEVENLY * lost) ** 2)
        widths = np.hypot(scale, parts * expected)
        likely = np.exp(-np.abs(total - expected) / widths) / widths
        return replace(self, weights=scaled_weights(self.weights * likely))

    def kept(self, place: int, spread: float) -> KeptShares:
        """The law of the shares of items of a class, whose powers are `spread` around its line."""
        low, middle, high = _quantiles(self.log_shares[:, :, place].ravel(), self.weights.ravel())
        laws, power = self.laws, float(self.mean_powers[place])
        away = power + BEYOND_TOLD * spread * DEVIATIONS_AWAY * saturated(self.held[place : place + 1])
        logs = laws.log_shares_at(np.append(power, away))
        around = self.weights.sum(axis=1) @ (logs[:, 1:] - logs[:, :1])
        shares = np.minimum(np.exp(middle + around), 1.0)
        logs, gaps = np.log(shares), np.abs(np.gradient(np.log(shares))) / 2
        least = LEAST_UNEVEN * min(1.0, (1 - math.exp(middle)) / ALL_UNEVEN)
        # What tilts explain, as the square of a scale of Laplace noise.
        explained = float(CHANCES_AWAY @ ((logs - CHANCES_AWAY @ logs) ** 2 / 2 + gaps**2))
        lacking = max(least**2 - explained, 0.0) + self._chance(place) ** 2 / 2
        return KeptShares(shares, CHANCES_AWAY, np.sqrt(gaps**2 + lacking), (high - middle, middle - low))

    def _chance(self, place: int) -> float:
        """How far a share is off because an item has few holders: their lengths are as good as drawn."""
        holders = self.laws.mean * LENGTHS ** float(self.mean_powers[place])
        kept = np.minimum(1.0, self.laws.limit / LENGTHS)
        mean, square = float(np.average(kept, weights=holders)), float(np.average(kept**2, weights=holders))
        return math.sqrt(max(square / mean**2 - 1, 0.0) / max(float(self.mean_supports[place]), 1.0))


def _quantiles(values: FloatArray, weights: FloatArray) -> tuple[float, float, float]:
    """Below which value the chances TOGETHER are."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) - weights[order] / 2
    low, middle, high = np.interp(TOGETHER, reached, values[order]).tolist()
    return low, middle, high
