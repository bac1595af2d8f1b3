"""How many of some itemsets transactions hold, learned from a noisy histogram; and the cap to count them under.

Post-processing: everything here follows from noisy answers.

A transaction that holds n > cap of the itemsets counts cap / n for each. The noise is in proportion to the cap;
what the cap takes away is known on average, because the numbers n are known, but not for each itemset. `best_cap`
weighs the one against the other.

The histogram has few classes that widen geometrically, and noise in each. A class far out has few transactions that
hold very much, so noise taken for them would change everything. A model speaks first: the average of log-normal laws,
weighted by how well they explain all classes. Lengths of baskets, sessions and records are close to log-normal, and an
average of laws does not jump where the noise does. A class then departs from the model as far as its number makes it
likelier: the log of the factor has a Laplace law.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator, NoisyHistogram
from veilset.itemsets import Itemsets

CLASSES = (0, 1, 2, 3, 5, 9, 17, 33, 65, 129, 257)
MOST = 1024
"""Numbers above are taken for this one."""
CAPS = tuple(sorted({*range(1, 9), *(round(8 * 1.2**step) for step in range(1, 21))}))
UNEVEN = 0.4
"""How far the share that an itemset keeps is from the average share, as a part of what the average one loses.

A standard deviation; see docs/methods/planned.md for what it is on generated baskets."""
CHANCES = np.geomspace(1e-6, 1 - 1e-9, 200)
USUAL_FACTOR = 0.5
"""A class has so many times what the model expects, or so few: ln of it, on average."""
TOTAL_WITHIN = 0.25
"""Supports that are already believed add up to what they will, give or take: a standard deviation of the logarithm."""
HARDLY_ANY = 1e-9
"""So many transactions hold each number at least: a model that rules out what is seen could not be corrected."""
LEAST_WITHIN = 5e-5
"""Laws with less than this where numbers can be are left out."""
TYPICAL_WIDTH, WIDTH_SPREAD = 0.8, 0.4
"""Before any answer: log-normal laws have about this standard deviation, give or take."""


@dataclass(frozen=True, slots=True)
class Cap:
    """A cap, the share of an average support that it leaves, and the error of a support counted under it."""

    most: int
    kept: float
    error: float


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """About how many transactions hold 1, 2, ..., MOST of the itemsets."""

    transactions: FloatArray

    @classmethod
    def of(
        cls,
        histogram: NoisyHistogram,
        number: int,
        *,
        largest: int = MOST,
        total: float = 0.0,
        within: float = TOTAL_WITHIN,
    ) -> "Overlap":
        """From the noisy histogram over CLASSES, the number of transactions, and what else is known.

        No transaction holds more than `largest` of the itemsets; their supports add up to about `total`, if given,
        with a standard deviation of `within` in the logarithm.
        """
        scale = float(histogram.mechanism.scale)
        without, seen = int(histogram.values[0]), histogram.values[1:]
        laws, in_classes, log_prior = _laws(min(largest, MOST))
        holding = np.clip(
            (number - without + in_classes @ seen) / (1 + (in_classes**2).sum(axis=1)), 1, number
        )
        misfit = np.abs(seen - holding[:, None] * in_classes).sum(axis=1) + np.abs(number - holding - without)
        log_weights = log_prior - misfit / scale
        if total > 0:
            z = np.log(holding * (laws @ np.arange(1, MOST + 1)) / total) / within
            log_weights -= z * z / 2
        weights = np.exp(log_weights - log_weights.max())
        transactions = (weights * holding) @ laws / weights.sum()
        transactions[:largest] = np.maximum(transactions[:largest], HARDLY_ANY)
        expected = np.add.reduceat(transactions, np.array(CLASSES[1:]) - 1)
        widths = np.diff([*CLASSES[1:], MOST + 1])
        return cls(transactions * np.repeat(_factors(seen, expected, scale), widths))

    def kept(self, most: int) -> float:
        """The share of an average support that a cap leaves: an itemset is likelier where many are held."""
        numbers = np.arange(1, MOST + 1)
        total = float(numbers @ self.transactions)
        return float(np.minimum(numbers, most) @ self.transactions) / total if total > 0 else 1.0

    def counted(self, supports: FloatArray, most: int) -> FloatArray:
        """What is counted under a cap of itemsets of these supports.

        That of a rare itemset is `kept` of its support. One that most transactions hold cannot be the likelier the
        more they hold: a transaction that holds n has it with probability 1 - (1 - q)^n, where q makes the support.
        """
        left = np.minimum(1.0, most / np.arange(1, MOST + 1))
        whole, under_cap = _holding() @ self.transactions, _holding() @ (self.transactions * left)
        rare = supports * self.kept(most)
        counted = np.where(supports < whole[0], rare, np.interp(supports, whole, under_cap))
        beyond = (
            supports * under_cap[-1] / max(whole[-1], 1e-9)
        )  # more than hold any: those are not known exactly
        return np.where(supports > whole[-1], beyond, counted)

    def best_cap(self, *, support: float, unit: float) -> Cap:
        """The cap with the least error for a support; `unit` is the noise of a count under a cap of 1.

        The error is the standard deviation of the noise, scaled up, and of the uneven loss, together.
        """
        support = max(support, 1.0)
        kept = np.maximum(self._counted_under_caps(support) / support, 1e-6)
        noise = math.sqrt(2) * np.array(CAPS) * unit / kept
        errors = np.hypot(noise, UNEVEN * (1 - kept) * support)
        best = int(np.argmin(errors))
        return Cap(CAPS[best], float(kept[best]), float(errors[best]))

    def _counted_under_caps(self, support: float) -> FloatArray:
        """`counted` for one support and each of CAPS."""
        whole = _holding() @ self.transactions
        if support < whole[0]:
            return support * np.array([self.kept(most) for most in CAPS])
        place = float(np.interp(support, whole, np.arange(whole.size)))
        before, after = _holding()[math.floor(place)], _holding()[math.ceil(place)]
        held = (before + place % 1 * (after - before)) * self.transactions
        under_caps: FloatArray = held @ np.minimum(1.0, np.array(CAPS) / np.arange(1, MOST + 1)[:, None])
        return under_caps * (support / max(float(held.sum()), 1e-9))


def ask_overlap(
    curator: Curator,
    itemsets: Itemsets | None,
    *,
    number: int,
    epsilon: Fraction,
    total: float = 0.0,
    within: float = TOTAL_WITHIN,
) -> Overlap:
    """Pay for the histogram: of lengths, where no itemsets are given."""
    histogram = curator.ask_containment(itemsets, classes=CLASSES, epsilon=epsilon)
    largest = curator.alphabet_size if itemsets is None else len(itemsets)
    return Overlap.of(histogram, number, largest=largest, total=total, within=within)


@cache
def _holding() -> FloatArray:
    """The probability to hold an itemset among n = 1, ..., MOST that are held, a row for each of CHANCES."""
    holding: FloatArray = -np.expm1(np.log1p(-CHANCES)[:, None] * np.arange(1, MOST + 1))
    return holding


def _factors(seen: Int64Array, expected: FloatArray, scale: float) -> FloatArray:
    """How many times what the model expects is in each class: what explains the noisy number and is not unusual."""
    logs = np.linspace(-10, 40, 1001)
    expected = np.maximum(expected, 1e-9)
    log_chances = (
        -np.abs(seen[:, None] - expected[:, None] * np.exp(logs)) / scale - np.abs(logs) / USUAL_FACTOR
    )
    chances = np.exp(log_chances - log_chances.max(axis=1, keepdims=True))
    factors: FloatArray = np.exp(chances @ logs / chances.sum(axis=1))
    return factors


def _laws(largest: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Laws on 1, ..., largest: their probabilities, those of the classes, and ln of how usual they are."""
    laws, log_prior = _log_normals()
    within = laws[:, :largest].sum(axis=1)
    possible = within > LEAST_WITHIN
    truncation = np.zeros((int(possible.sum()), MOST))
    truncation[:, :largest] = laws[possible, :largest] / within[possible, None]
    return truncation, np.add.reduceat(truncation, np.array(CLASSES[1:]) - 1, axis=1), log_prior[possible]


@cache
def _log_normals() -> tuple[FloatArray, FloatArray]:
    """Log-normal laws, how much of each is at 1, ..., MOST; and ln of how usual they are."""
    middles, widths = np.linspace(-2, 5, 57), (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.5, 1.8)
    edges = np.log(np.arange(1, MOST + 2) - 0.5)
    erf = np.vectorize(math.erf)
    laws = [
        np.diff(erf((edges - middle) / (width * math.sqrt(2)))) / 2
        for middle, width in product(middles, widths)
    ]
    log_prior = [
        -(((width - TYPICAL_WIDTH) / WIDTH_SPREAD) ** 2) / 2 for _, width in product(middles, widths)
    ]
    return np.array(laws), np.array(log_prior)
