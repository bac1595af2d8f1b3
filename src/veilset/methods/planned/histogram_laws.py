"""How many of some itemsets transactions contain: what a noisy histogram makes likely.

Post-processing: everything here follows from noisy answers.

The histogram has few classes that widen geometrically, and noise in each. A class far out has few transactions that
contain very much, so noise taken for them would change everything. A model speaks first: log-normal, Weibull and
log-logistic laws, drawn by how near all classes are to them. Lengths of baskets, sessions and records are close to
log-normal in the middle; what differs are the tails, which are shorter in baskets and longer in sessions, and the three
kinds end in a short, a middling and a long one. A class then departs from the law as far as its number makes it
likelier: the log of the factor has a Laplace law. Where the total of the supports is known about, draws that add up to
it are kept.
"""

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

import numpy as np

from veilset.arrays import BoolArray, FloatArray
from veilset.gate import NoisyHistogram
from veilset.methods.planned.settings import Settings
from veilset.methods.shared.discovery import LENGTH_CLASSES

CLASSES = LENGTH_CLASSES
"""Where the classes of a containment histogram begin, as those of lengths do."""
MOST = 1024
"""Numbers above are taken for this one."""
NUMBERS = np.arange(1, MOST + 1)
HARDLY_ANY = 1e-9
"""Transactions contain each number of itemsets at least: a model that rules out what is seen cannot be corrected."""
LEAST_WITHIN = 5e-5
"""Laws with less than this where numbers can be are left out."""
ERF_IS_ONE = 6.0
"""From 6 up the error function is 1 and needs no computing: it differs from 1 by less than a float can hold."""
MIDDLES = np.linspace(-2, 5, 29)
"""Where the laws that the model averages over have their middle: the logarithm of a number of itemsets."""
LAW_WIDTHS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.5, 1.8)
"""Standard deviations of the log-normal laws, on that scale."""
WEIBULL_SHAPES, TAIL_EXPONENTS = (0.35, 0.5, 0.7, 1.0, 1.5, 2.2), (1.1, 1.4, 1.8, 2.3, 3.0, 4.0)
"""Tails of Weibull laws fall like exp(-n ** shape), those of log-logistic laws like 1 / n ** exponent."""
WEIBULLS, LOG_LOGISTICS = 2.0, 0.3
"""The Weibull laws together are twice as usual as the log-normal ones, the log-logistic ones 0.3 times: so they explain
containment histograms of eight real and four generated datasets best."""
HISTOGRAM_DRAWS, SEED_OF_DRAWS = 32, 0
"""32 draws tell how well a histogram is known."""
DRAWS_BEFORE_TOTAL = 256
"""256 draws are made, of which 32 are kept by how well they add up to a total."""
AS_GOOD_AS_NONE = 1e-3
"""Transactions in a class that are as good as none."""
POSSIBLE_NUMBERS = np.geomspace(AS_GOOD_AS_NONE / 10, 1e10, 90)
"""How many transactions a class may have, whatever the noisy answer says."""
REACH_OF_NOISE = 8.0
"""8 scales on both sides of the answer are looked at more closely."""
LATER = 0.25
"""A class that is n classes beyond the largest one may depart 1 + n / 4 times as far from a law: tails differ most."""


@dataclass(frozen=True, slots=True)
class Total:
    """What the supports of itemsets add up to, about: `within` is the standard deviation of its logarithm."""

    value: float
    within: float


def plausible_numbers(
    histogram: NoisyHistogram, number: int, *, settings: Settings, largest: int, total: Total | None
) -> FloatArray:
    """Draws of how many transactions contain each number, from what the histogram makes likely.

    A law is drawn, then how far each class departs from it; of these, some are drawn by how well they add up to the
    total. Draws are seeded: nothing is left to protect.
    """
    public = np.random.default_rng(SEED_OF_DRAWS)
    laws, chances, any_of_them = _weighed_laws(histogram, number, settings=settings, largest=largest)
    drawn = public.choice(chances.size, DRAWS_BEFORE_TOTAL, p=chances)
    transactions = any_of_them[drawn, None] * laws[drawn]
    transactions[:, :largest] = np.maximum(transactions[:, :largest], HARDLY_ANY)
    starts = np.array(CLASSES[1:]) - 1
    expected = np.add.reduceat(transactions, starts, axis=1)
    factors = _factors(histogram, expected, usual=settings.usual_factor, public=public)
    totals = (np.add.reduceat(transactions * NUMBERS, starts, axis=1) * factors).sum(axis=1)
    if total is None:
        kept = np.arange(HISTOGRAM_DRAWS)
    else:
        z = np.log(totals / total.value) / total.within
        weights = np.exp((np.min(z * z) - z * z) / 2)
        kept = public.choice(DRAWS_BEFORE_TOTAL, HISTOGRAM_DRAWS, p=weights / weights.sum())
    return _bent(transactions[kept], factors[kept])


def _bent(transactions: FloatArray, factors: FloatArray) -> FloatArray:
    """Laws whose classes are a factor larger; within a class they lean towards the neighbour that gains more."""
    starts, widths = np.array(CLASSES[1:]) - 1, np.diff([*CLASSES[1:], MOST + 1])
    wanted = np.add.reduceat(transactions, starts, axis=1) * factors
    middles = np.log(np.sqrt(starts + 1) * np.sqrt(starts + widths))
    bent = np.array(
        [
            law * np.exp(np.interp(np.log(NUMBERS), middles, logs))
            for law, logs in zip(transactions, np.log(factors), strict=True)
        ]
    )
    have = np.add.reduceat(bent, starts, axis=1)
    return bent * np.repeat(wanted / np.maximum(have, 1e-300), widths, axis=1)


def _weighed_laws(
    histogram: NoisyHistogram, number: int, *, settings: Settings, largest: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Laws of how many itemsets are contained, how likely the histogram makes each, and for how many transactions.

    How likely a class makes a law is averaged over how far it may depart from it: a law that fits the classes of the
    many alone is no better than one that all classes are near to.
    """
    scale = float(histogram.mechanism.scale)
    without, seen = int(histogram.values[0]), histogram.values[1:]
    laws, in_classes, log_prior = _laws(min(largest, MOST), settings)
    any_of_them = np.clip(
        (number - without + in_classes @ seen) / (1 + (in_classes**2).sum(axis=1)), 1, number
    )
    chances = _chances_in_classes(
        histogram, any_of_them[:, None] * in_classes, steps=20, usual=settings.usual_factor
    )[1]
    is_possible = np.array(CLASSES[1:]) <= largest
    log_weights = log_prior + np.log(chances.sum(axis=2)[:, is_possible] + 1e-300).sum(axis=1)
    log_weights -= np.abs(number - any_of_them - without) / scale
    weights = np.exp(log_weights - log_weights.max())
    return laws, weights / weights.sum(), any_of_them


def _chances_in_classes(
    histogram: NoisyHistogram, expected: FloatArray, *, steps: int, usual: float
) -> tuple[FloatArray, FloatArray]:
    """Numbers of transactions that may be in each class, and how likely each is where a law expects `expected`.

    The logarithm of how many times the expected number there are has a Laplace law, and the noise of the answer
    another one. The numbers lie close together near the answer, some in each scale of its noise.
    """
    scale, seen = float(histogram.mechanism.scale), histogram.values[1:]
    near = seen[:, None] + scale * np.linspace(-REACH_OF_NOISE, REACH_OF_NOISE, 2 * steps + 1)
    far = np.broadcast_to(POSSIBLE_NUMBERS, (seen.size, POSSIBLE_NUMBERS.size))
    numbers = np.sort(np.concatenate([np.clip(near, far[:, :1], far[:, -1:]), far], axis=1), axis=1)
    logs = np.log(numbers)
    log_noise = -np.abs(seen[:, None] - numbers) / scale + np.log(np.gradient(logs, axis=1) + 1e-300)
    beyond = np.maximum(np.arange(seen.size) - expected.argmax(axis=1)[:, None], 0)
    within = usual * (1 + LATER * beyond)[:, :, None]
    # One array of a million numbers, in place: six of them would take more time to come by than to fill.
    chances: FloatArray = logs - np.log(np.maximum(expected, AS_GOOD_AS_NONE))[:, :, None]
    np.abs(chances, out=chances)
    chances /= within
    np.subtract(log_noise, chances, out=chances)
    np.exp(chances, out=chances)
    chances /= within
    return numbers, chances


def _factors(
    histogram: NoisyHistogram, expected: FloatArray, *, usual: float, public: np.random.Generator
) -> FloatArray:
    """How many times what a law expects is in each class, drawn from what explains the noisy number and is usual.

    One row for each law, whose numbers are expected.
    """
    numbers, chances = _chances_in_classes(histogram, expected, steps=60, usual=usual)
    reaching = chances.cumsum(axis=2)
    reached = public.random(chances.shape[:2])[:, :, None] * reaching[:, :, -1:]
    places = np.minimum((reaching < reached).sum(axis=2), numbers.shape[1] - 1)
    drawn = numbers[np.arange(len(numbers)), places]
    factors: FloatArray = np.where(expected > 0, drawn / np.maximum(expected, HARDLY_ANY), 1.0)
    return factors


def _laws(largest: int, settings: Settings) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Laws on 1, ..., largest: their probabilities, those of the classes, and ln of how usual they are."""
    truncated, in_classes, is_possible = _truncated_laws(largest)
    return truncated, in_classes, _log_prior(settings)[is_possible]


@lru_cache(maxsize=4)
def _truncated_laws(largest: int) -> tuple[FloatArray, FloatArray, BoolArray]:
    """The laws that can be on 1, ..., largest: their probabilities, those of the classes, and which laws they are."""
    laws = _all_laws()
    within = laws[:, :largest].sum(axis=1)
    is_possible: BoolArray = within > LEAST_WITHIN
    truncated = np.zeros((int(is_possible.sum()), MOST))
    truncated[:, :largest] = laws[is_possible, :largest] / within[is_possible, None]
    in_classes = np.add.reduceat(truncated, np.array(CLASSES[1:]) - 1, axis=1)
    return truncated, in_classes, is_possible


@cache
def _all_laws() -> FloatArray:
    """Log-normal, Weibull and log-logistic laws: how much of each is at 1, ..., MOST."""
    logs = np.log(np.arange(1, MOST + 2) - 0.5)
    apart = logs - MIDDLES[:, None, None]
    weibulls = -np.expm1(-np.exp(apart * np.array(WEIBULL_SHAPES)[:, None]))
    log_logistics = 1 / (1 + np.exp(-apart * np.array(TAIL_EXPONENTS)[:, None]))
    below = [_normal_below(logs), *(each.reshape(-1, logs.size) for each in (weibulls, log_logistics))]
    return np.diff(np.concatenate(below), axis=1)


def _normal_below(logs: FloatArray) -> FloatArray:
    """How much of each log-normal law is below numbers with these logarithms."""
    scaled = np.array(
        [(logs - middle) / (width * math.sqrt(2)) for middle, width in product(MIDDLES, LAW_WIDTHS)]
    )
    below = np.sign(scaled)
    is_between = np.abs(scaled) < ERF_IS_ONE
    values = scaled[is_between]
    below[is_between] = np.fromiter(map(math.erf, values.data), np.float64, values.size)
    half_open: FloatArray = (1 + below) / 2
    return half_open


def _log_prior(settings: Settings) -> FloatArray:
    """ln of how usual each of the laws is: log-normal ones by their width, the others all alike."""
    widths = np.exp(-(((np.array(LAW_WIDTHS) - settings.typical_width) / settings.width_within) ** 2) / 2)
    kinds = (
        widths / widths.sum(),
        np.full(len(WEIBULL_SHAPES), WEIBULLS / len(WEIBULL_SHAPES)),
        np.full(len(TAIL_EXPONENTS), LOG_LOGISTICS / len(TAIL_EXPONENTS)),
    )
    return np.concatenate([np.tile(np.log(each), MIDDLES.size) for each in kinds])
