"""How long transactions are, as far as a noisy histogram tells, and what normalising leaves of a support.

Post-processing: everything here follows from noisy answers that were paid for.

A transaction of more than `limit` items counts limit / length for each of them. What an item keeps so depends on who
holds it: a transaction of length l holds it with a chance of l to some power, its tilt, which is about 1. Lengths are
asked for in few classes, and noise in a class far out, taken for transactions, would change everything. So laws speak
first: log-normal, Weibull and log-logistic ones, drawn by how near all classes are to them. A class then departs from
the law as far as its own noisy number says, weighed against how far classes usually do. Of these draws those are
likelier that explain the sum of all normalised supports.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import NoisyCount, NoisyHistogram
from veilset.methods.shared.discovery import LENGTH_CLASSES

LENGTHS = np.unique(np.append(np.arange(1.0, 21.0), np.rint(np.geomspace(21, 1000, 40))))
"""Lengths up to 20 one by one, then 40 up to 1000."""
POWERS = np.linspace(-1.5, 4.0, 45)
"""45 powers of the length, at which shares are reckoned; between them they are interpolated."""
SPREADS = {0.1: 0.08, 0.2: 0.06, 0.3: 0.06, 0.45: 0.1, 0.6: 0.15, 0.75: 0.2, 0.9: 0.2, 1.1: 0.15}
"""8 standard deviations of the logarithm of a length, for log-normal laws, and how usual each is."""
SHAPES = {0.5: 0.1, 0.7: 0.2, 1.0: 0.3, 1.4: 0.2, 2.0: 0.1, 3.0: 0.1}
"""Tails of Weibull laws fall like exp(-length ** 0.5) to exp(-length ** 3); 1 is a constant chance to go on."""
EXPONENTS = {1.2: 0.1, 1.5: 0.2, 2.0: 0.3, 2.7: 0.25, 4.0: 0.15}
"""Tails of log-logistic laws fall like 1 / length ** 1.2 to 4, as in sessions."""
KINDS = (0.45, 0.35, 0.2)
"""How usual the three kinds are."""
SCALES_OF_LENGTHS = np.linspace(-2.0, 5.5, 76)
"""76 logarithms of a length around which laws are."""
LEAST_OF_LAW = 1e-3
"""Laws with less than this where lengths can be are left out."""
USUAL_MIDDLE, MIDDLE_WITHIN = math.log(12), 1.0
"""12, within a factor of e = 2.7: of which length half of all held items are in shorter transactions, at first."""
USUAL_OF_CHOSEN = math.log(4)
"""4: the same where only a few items of a transaction count."""
DEPARTURE, DEPARTURE_BEYOND = 0.3, 0.25
"""0.3 is how far a class usually departs from a law, as a part of it; 25 % more for each class beyond the largest."""
MOST_DEPARTURE = 10.0
"""A class is up to 10 times as large, or as small, as a law has it."""
DEGREES_OF_CLASSES = 3.0
"""Departures have the tails of Student's t with 3 degrees of freedom: some class is off by much."""
LENGTH_DRAWS, SEED_OF_LENGTHS = 128, 0
"""128 draws of lengths tell how well they are known."""
LEAST_NUMBER = 1e-6
"""Each possible length has at least a millionth of a transaction: shares are never of nothing."""
ERROR_OF_SUM = 0.01
"""1 %: no draw explains the sum of all normalised supports better, since there are not very many draws."""
IN_CLASS = (
    np.searchsorted(LENGTH_CLASSES[1:], LENGTHS, side="right")[:, None] == np.arange(1, len(LENGTH_CLASSES))
).astype(np.float64)
"""Which class each length is in, those without items left out."""


def drawn_lengths(
    histogram: NoisyHistogram, number: NoisyCount, *, longest: int, middle: float
) -> FloatArray:
    """Draws of how many transactions have each of LENGTHS, a row each: equally likely after the histogram.

    None is longer than `longest`. Draws are seeded: nothing is left to protect.
    """
    laws, prior = _possible_laws(middle, longest)
    public = np.random.default_rng(SEED_OF_LENGTHS)
    noise = math.sqrt(2) * float(histogram.mechanism.scale)
    seen, in_classes = histogram.values[1:].astype(np.float64), laws @ IN_CLASS
    held = _number_held(histogram, number, in_classes)
    expected = held[:, None] * in_classes
    beyond = np.maximum(np.arange(seen.size) - expected.argmax(axis=1)[:, None], 0)
    departs = DEPARTURE * (1 + DEPARTURE_BEYOND * beyond) * expected
    log_weights = np.log(prior) + _log_likelihoods(histogram, expected, departs, longest)
    log_weights -= (number.value - histogram.values[0] - held) ** 2 / (
        2 * (noise**2 + 2 * scale_of(number) ** 2)
    )
    reached = np.cumsum(np.exp(log_weights - log_weights.max()))
    drawn = np.searchsorted(reached / reached[-1], (np.arange(LENGTH_DRAWS) + 0.5) / LENGTH_DRAWS)
    mean, departs = expected[drawn], departs[drawn]
    told = departs**2 / (departs**2 + noise**2 + LEAST_NUMBER)
    numbers = mean + told * (seen - mean) + departs * np.sqrt(1 - told) * public.standard_normal(mean.shape)
    factors = np.clip(numbers / np.maximum(mean, LEAST_NUMBER), 1 / MOST_DEPARTURE, MOST_DEPARTURE)
    lengths = held[drawn, None] * laws[drawn] * (factors @ IN_CLASS.T)
    drawn_numbers: FloatArray = np.maximum(lengths, LEAST_NUMBER * (longest >= LENGTHS))
    return drawn_numbers


@dataclass(frozen=True, slots=True, eq=False)
class LengthLaws:
    """Draws of how many transactions have each of LENGTHS, the weight of each, and what each makes of POWERS.

    For a tilt, `log_holders` is how many transactions hold an item, up to a factor, and `log_shares` what a limit
    leaves of its support, both as logarithms.
    """

    weights: FloatArray
    numbers: FloatArray
    limit: int
    log_holders: FloatArray
    log_shares: FloatArray

    @classmethod
    def of(cls, numbers: FloatArray, limit: int) -> "LengthLaws":
        """All draws equally likely."""
        chances = LENGTHS[:, None] ** POWERS
        holders = numbers @ chances
        counted = numbers @ (chances * np.minimum(1.0, limit / LENGTHS)[:, None])
        weights = np.full(len(numbers), 1 / len(numbers))
        return cls(weights, numbers, limit, np.log(holders), np.log(counted / holders))

    @property
    def mean(self) -> FloatArray:
        """How many transactions have each length, on average."""
        found: FloatArray = self.weights @ self.numbers
        return found

    def explaining_sum(self, value: float, error: float) -> "LengthLaws":
        """Weighed by how well they explain the sum of all normalised supports, with a standard deviation of noise."""
        expected = self.numbers @ np.minimum(LENGTHS, self.limit)
        away = (value - expected) / np.hypot(error, ERROR_OF_SUM * expected)
        return replace(self, weights=scaled_weights(self.weights * np.exp(-(away**2) / 2)))

    def log_shares_at(self, powers: FloatArray) -> FloatArray:
        """The logarithms of the shares at some powers (the last axes), for each draw."""
        return _between(self.log_shares, powers)

    def log_holders_at(self, powers: FloatArray) -> FloatArray:
        """The same of how many transactions hold an item, up to a factor."""
        return _between(self.log_holders, powers)


def scaled_weights(weights: FloatArray) -> FloatArray:
    """To a sum of 1; where nothing explains what was seen, all do as well."""
    raised = weights + 1e-290
    scaled: FloatArray = raised / raised.sum()
    return scaled


def _between(table: FloatArray, powers: FloatArray) -> FloatArray:
    """Rows of a table for POWERS, at powers between them."""
    places = np.clip((powers - POWERS[0]) / (POWERS[1] - POWERS[0]), 0.0, POWERS.size - 1.001)
    lower = places.astype(np.int64)
    part = places - lower
    found: FloatArray = table[:, lower] * (1 - part) + table[:, lower + 1] * part
    return found


def scale_of(count: NoisyCount) -> float:
    """The scale of its noise; 0 where it is public."""
    return 0.0 if count.mechanism is None else float(count.mechanism.scale)


def _number_held(histogram: NoisyHistogram, number: NoisyCount, in_classes: FloatArray) -> FloatArray:
    """How many transactions hold anything, where they follow each of some laws: the least squares."""
    noise = 2 * float(histogram.mechanism.scale) ** 2
    of_number = noise + 2 * scale_of(number) ** 2
    seen = (number.value - histogram.values[0]) / of_number + in_classes @ histogram.values[1:] / noise
    held: FloatArray = np.clip(
        seen / (1 / of_number + (in_classes**2).sum(axis=1) / noise), 1.0, max(number.value, 1)
    )
    return held


def _log_likelihoods(
    histogram: NoisyHistogram, expected: FloatArray, departs: FloatArray, longest: int
) -> FloatArray:
    """How likely the histogram is where laws expect these numbers in its classes, and classes depart that far."""
    variances = departs**2 + 2 * float(histogram.mechanism.scale) ** 2
    off = (histogram.values[1:] - expected) ** 2 / variances
    each = -(DEGREES_OF_CLASSES + 1) / 2 * np.log1p(off / DEGREES_OF_CLASSES) - np.log(variances) / 2
    found: FloatArray = each[:, np.array(LENGTH_CLASSES[1:]) <= longest].sum(axis=1)
    return found


def _possible_laws(middle: float, longest: int) -> tuple[FloatArray, FloatArray]:
    """Laws of lengths up to the longest, a row each, and how likely each is before anything is known."""
    laws, prior = _laws(middle)
    possible = laws * (longest >= LENGTHS)
    within = possible.sum(axis=1)
    is_law = within > LEAST_NUMBER
    return possible[is_law] / within[is_law, None], prior[is_law]


@cache
def _laws(middle: float) -> tuple[FloatArray, FloatArray]:
    """Laws of lengths, a row each, and how likely each is before anything is known but the middle."""
    rows, chances = [], []
    for usual, below in _kinds():
        laws = np.diff(below, axis=1)
        within = laws.sum(axis=1)
        laws = laws[within > LEAST_OF_LAW] / within[within > LEAST_OF_LAW, None]
        held = np.cumsum(laws * LENGTHS, axis=1)
        middles = np.log([np.interp(each[-1] / 2, each, LENGTHS) for each in held])
        # In each step of the middle there is as much, however many laws have theirs in it.
        prior = np.exp(-(((middles - middle) / MIDDLE_WITHIN) ** 2) / 2) * np.maximum(
            np.gradient(middles), 1e-3
        )
        rows.append(laws)
        chances.append(usual * prior / prior.sum())
    return np.vstack(rows), np.concatenate(chances)


def _kinds() -> Iterator[tuple[float, FloatArray]]:
    """How usual each shape of a law is, and how much of it is below the ends of LENGTHS, for all scales."""
    between = np.log((LENGTHS[1:] + LENGTHS[:-1]) / 2)
    ends = np.concatenate([[math.log(0.5)], between, [math.log(1.1 * LENGTHS[-1])]])
    apart = ends - SCALES_OF_LENGTHS[:, None]
    for spread, usual in SPREADS.items():
        yield KINDS[0] * usual, 0.5 * (1 + np.vectorize(math.erf)(apart / (spread * math.sqrt(2))))
    for shape, usual in SHAPES.items():
        yield KINDS[1] * usual, -np.expm1(-np.exp(np.minimum(shape * apart, 50.0)))
    for exponent, usual in EXPONENTS.items():
        yield KINDS[2] * usual, 1 / (1 + np.exp(-exponent * apart))
