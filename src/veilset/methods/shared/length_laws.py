"""How many transactions have each length: what a noisy histogram of lengths makes likely.

Post-processing: everything here follows from noisy answers that were paid for.

A class far out has few transactions that hold very much, so noise taken for them would change everything. A model
speaks first: log-normal, Weibull and log-logistic laws, as likely as all classes are near to them. Lengths of baskets,
sessions and records are close to log-normal in the middle; what differs are the tails, which are shorter in baskets and
longer in sessions. A class then departs from the law as far as its number makes it likely.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import NoisyHistogram

OPEN_CLASS = 64
"""The class of 64 items is that of longer transactions as well, where there are that many classes."""
LONGER = np.array([1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0])
"""How much longer than the last class says its transactions may be."""
MIDDLES_OF_LENGTHS = np.linspace(-1.0, 4.6, 57)
"""Where laws have their middle: the logarithm of a length."""
LAW_WIDTHS_OF_LENGTHS = {
    0.03: 0.03,
    0.06: 0.03,
    0.1: 0.04,
    0.2: 0.06,
    0.3: 0.09,
    0.45: 0.15,
    0.6: 0.2,
    0.8: 0.2,
    1.0: 0.15,
    1.25: 0.05,
}
"""Standard deviations of the log-normal laws on that scale, and how usual each is."""
WEIBULL_SHAPES_OF_LENGTHS, TAIL_EXPONENTS_OF_LENGTHS = (
    (0.5, 0.7, 1.0, 1.5, 2.2, 3.2),
    (1.4, 1.8, 2.3, 3.0, 4.0),
)
"""Tails of Weibull laws fall like exp(-n ** shape), those of log-logistic laws like 1 / n ** exponent."""
WEIBULLS_OF_LENGTHS, LOG_LOGISTICS_OF_LENGTHS = 1.0, 0.1
"""The Weibull laws together are as usual as the log-normal ones, the log-logistic ones a tenth of that."""
RECORDS, OF_OTHER_LENGTHS = 0.1, 0.005
"""A tenth as usual as the log-normal laws are transactions that are all of one length, but for 0.5 % of them."""
USUAL_DEPARTURE = 0.4
"""0.4 of what a law expects is how far the number in a class is from that, as a standard deviation."""
DRAWS_OF_LENGTHS, SEED_OF_DRAWS_OF_LENGTHS = 256, 0
"""256 draws tell how well a histogram is known."""
TOTAL_WITHIN = 0.005
"""0.5 %: no draw is asked to explain a total better."""


@dataclass(frozen=True, slots=True, eq=False)
class LengthDraws:
    """Lengths, and draws of how many transactions have each of them: a row for each draw, with its weight."""

    lengths: FloatArray
    numbers: FloatArray
    weights: FloatArray

    @property
    def middle(self) -> FloatArray:
        """The numbers on average."""
        means: FloatArray = self.weights @ self.numbers
        return means

    def explaining_total(self, value: float, deviation: float, *, limit: int) -> "LengthDraws":
        """Weighed by how well they explain how many items are left of all transactions, where `limit` are at most."""
        totals = self.numbers @ np.minimum(self.lengths, limit)
        z = (totals - value) / np.hypot(deviation, TOTAL_WITHIN * totals)
        weights = self.weights * np.exp((np.min(z * z) - z * z) / 2)
        return replace(self, weights=weights / weights.sum())

    def share_within(self, holders: FloatArray, kept: FloatArray, *, least: float) -> float:
        """How far the logarithm of a share that is kept is off, where these parts of each length are holders."""
        drawn = self.numbers * holders
        logs = np.log(np.maximum(drawn @ kept / np.maximum(drawn.sum(axis=1), 1e-9), least))
        return math.sqrt(float(self.weights @ (logs - self.weights @ logs) ** 2))


@lru_cache(maxsize=16)
def plausible_lengths(histogram: NoisyHistogram) -> LengthDraws:
    """Draws of the lengths that are likely for a histogram. They are seeded: nothing is left to protect.

    A law is drawn by how near all classes are to it, then the number in each class by what is usual and by its noise.
    """
    public = np.random.default_rng(SEED_OF_DRAWS_OF_LENGTHS)
    seen, scale = histogram.values[1:].astype(np.float64), float(histogram.mechanism.scale)
    deviation = math.sqrt(2) * scale
    lengths, laws, log_usual = _laws(seen.size, is_open=seen.size >= OPEN_CLASS)
    in_classes = np.column_stack([laws[:, : seen.size - 1], laws[:, seen.size - 1 :].sum(axis=1)])
    expected = _totals(seen, in_classes, deviation)[:, None] * in_classes
    widths = np.hypot(scale, USUAL_DEPARTURE * expected)
    log_likely = log_usual + (-np.abs(seen - expected) / widths - np.log(widths)).sum(axis=1)
    weights = np.exp(log_likely - log_likely.max())
    drawn = public.choice(weights.size, DRAWS_OF_LENGTHS, p=weights / weights.sum())
    usual = USUAL_DEPARTURE * expected[drawn]
    trusted = usual**2 / (usual**2 + deviation**2)
    spread = np.sqrt(trusted) * deviation * public.standard_normal((DRAWS_OF_LENGTHS, seen.size))
    numbers = np.maximum(expected[drawn] + trusted * (seen - expected[drawn]) + spread, 0.0)
    within = laws[drawn, seen.size - 1 :]
    within = within / np.maximum(within.sum(axis=1, keepdims=True), 1e-300)
    numbers = np.column_stack([np.zeros(DRAWS_OF_LENGTHS), numbers[:, :-1], numbers[:, -1:] * within])
    return LengthDraws(lengths, numbers, np.full(DRAWS_OF_LENGTHS, 1 / DRAWS_OF_LENGTHS))


def _totals(seen: FloatArray, in_classes: FloatArray, deviation: float) -> FloatArray:
    """How many transactions there are, as each law fits best: by least squares, weighted by what is usual."""
    total = np.full(len(in_classes), max(float(seen.sum()), deviation))
    for _ in range(3):
        weights = 1 / (deviation**2 + (USUAL_DEPARTURE * total[:, None] * in_classes) ** 2)
        fitted = (weights * in_classes) @ seen / (weights * in_classes**2).sum(axis=1)
        total = np.maximum(fitted, deviation)
    return total


@cache
def _laws(classes: int, *, is_open: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Lengths, from 0 on, laws on them from 1 on, and ln of how usual these are.

    The last class is open where transactions may be longer.
    """
    last = classes * LONGER if is_open else np.array([float(classes)])
    lengths = np.append(np.arange(classes, dtype=np.float64), last)
    known = lengths[1:]
    ends = np.append(
        np.append(known[: classes - 1] + 0.5, np.sqrt(last[1:] * last[:-1])), known[-1] * 1.2 + 0.5
    )
    laws = np.diff(np.array(list(_laws_below(np.log(np.append(0.5, ends))))), axis=1)
    usual = [*LAW_WIDTHS_OF_LENGTHS.values()] + [WEIBULLS_OF_LENGTHS / len(WEIBULL_SHAPES_OF_LENGTHS)] * len(
        WEIBULL_SHAPES_OF_LENGTHS
    )
    usual += [LOG_LOGISTICS_OF_LENGTHS / len(TAIL_EXPONENTS_OF_LENGTHS)] * len(TAIL_EXPONENTS_OF_LENGTHS)
    within = laws.sum(axis=1, keepdims=True)
    possible = within[:, 0] > 1e-3
    log_usual = np.tile(np.log(usual), MIDDLES_OF_LENGTHS.size)[possible] - math.log(MIDDLES_OF_LENGTHS.size)
    records = (1 - OF_OTHER_LENGTHS) * np.eye(known.size) + OF_OTHER_LENGTHS * (known < classes) / classes
    log_records = np.full(known.size, math.log(RECORDS / known.size))
    laws = np.vstack([laws[possible] / within[possible], records])
    return lengths, laws, np.append(log_usual, log_records)


def _laws_below(logs: FloatArray) -> Iterator[FloatArray]:
    """How much of each law is below lengths with these logarithms."""
    for middle in MIDDLES_OF_LENGTHS.tolist():
        apart = logs - middle
        for width in LAW_WIDTHS_OF_LENGTHS:
            yield np.array([(1 + math.erf(each / (width * math.sqrt(2)))) / 2 for each in apart.tolist()])
        for shape in WEIBULL_SHAPES_OF_LENGTHS:
            yield -np.expm1(-np.exp(np.minimum(apart * shape, 50)))
        for exponent in TAIL_EXPONENTS_OF_LENGTHS:
            yield 1 / (1 + np.exp(-apart * exponent))
