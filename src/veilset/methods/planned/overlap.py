"""How many of some itemsets transactions contain, learned from a noisy histogram; and the cap to count them under.

Post-processing: everything here follows from noisy answers.

A transaction that contains n > cap of the itemsets counts cap / n for each. The noise is in proportion to the cap;
what the cap takes away is known on average, because the numbers n are known, but not for each itemset. `best_cap`
weighs the one against the other.

The histogram has few classes that widen geometrically, and noise in each. A class far out has few transactions that
contain very much, so noise taken for them would change everything. A model speaks first: log-normal laws, drawn by how
well they explain all classes. Lengths of baskets, sessions and records are close to log-normal. A class then departs
from the law as far as its number makes it likelier: the log of the factor has a Laplace law. The mean of the logarithms
of all draws is what the histogram tells, and how far the draws differ from it is how well that is known.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator, NoisyHistogram
from veilset.itemsets import Itemsets
from veilset.methods.planned.measurements import TILTS
from veilset.methods.planned.settings import Settings
from veilset.methods.shared.discovery import LENGTH_CLASSES

CLASSES = LENGTH_CLASSES
"""Where the classes of a containment histogram begin, as those of lengths do."""
MOST = 1024
"""Numbers above are taken for this one."""
NUMBERS = np.arange(1, MOST + 1)
CAPS = tuple(sorted({*range(1, 9), *(round(8 * 1.2**step) for step in range(1, 21))}))
"""The caps to choose from."""
CHANCES = np.geomspace(1e-6, 1 - 1e-9, 200)
"""A grid for how likely each itemset that a transaction contains is a certain one."""
HARDLY_ANY = 1e-9
"""Transactions contain each number of itemsets at least: a model that rules out what is seen cannot be corrected."""
LEAST_WITHIN = 5e-5
"""Laws with less than this where numbers can be are left out."""
MIDDLES, LAW_WIDTHS = np.linspace(-2, 5, 57), (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.5, 1.8)
"""Of the log-normal laws that the model averages over."""


HISTOGRAM_DRAWS, SEED_OF_DRAWS = 32, 0
"""32 draws tell how well a histogram is known."""
LOGS_OF_FACTORS = np.linspace(-10, 40, 1001)
"""ln of how many times what a law expects may be in a class."""
LATER = 0.25
"""A class that is n classes beyond the largest one may depart 1 + n / 4 times as far from a law: tails differ most."""
ROOT_CAPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""The caps in the L2 norm to choose from."""


@dataclass(frozen=True, slots=True)
class Cap:
    """A cap, the share of an average support that is kept under it, and the error of a support counted under it.

    `noise` is the deviation of the noise, in deviations of Laplace noise under a cap of 1 at the same price. A cap that
    `is_root` is one in the L2 norm, with Gaussian noise.
    """

    most: int
    kept: float
    error: float
    noise: float
    is_root: bool = False


@dataclass(frozen=True, slots=True)
class GaussianOffer:
    """The chance to put Gaussian noise on counts, where there is a delta, of units of some transactions.

    `rho_for` tells the rho of a question at a price, which grows with what questions of this kind have cost before.
    """

    rho_for: Callable[[Fraction], Fraction]
    transactions: int

    def deviation(self, noise: float) -> float:
        """Of a count that one unit moves by 1 in the L2 norm, at the price at which Laplace noise has that scale."""
        epsilon = Fraction(self.transactions / noise).limit_denominator(10**6)
        return self.transactions / math.sqrt(2 * self.rho_for(epsilon)) if epsilon > 0 else math.inf


@dataclass(frozen=True, slots=True)
class Total:
    """What the supports of itemsets add up to, about: `within` is the standard deviation of its logarithm."""

    value: float
    within: float


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """About how many transactions contain 1, 2, ..., MOST of the itemsets; `plausible` are draws of that, in rows."""

    transactions: FloatArray
    settings: Settings
    plausible: FloatArray
    gaussian: GaussianOffer | None = None

    @classmethod
    def of(
        cls,
        histogram: NoisyHistogram,
        number: int,
        *,
        settings: Settings,
        largest: int = MOST,
        total: Total | None = None,
    ) -> "Overlap":
        """From the noisy histogram over CLASSES, the number of transactions, and what else is known.

        No transaction contains more than `largest` of the itemsets; their supports add up to about `total`, if given.
        """
        plausible = _plausible(histogram, number, settings=settings, largest=largest, total=total)
        transactions = np.zeros(MOST)
        transactions[:largest] = np.exp(np.log(plausible[:, :largest]).mean(axis=0))
        return cls(transactions, settings, plausible)

    @classmethod
    def known(cls, transactions: FloatArray, settings: Settings) -> "Overlap":
        """Where there is nothing to be misread."""
        return cls(transactions, settings, transactions[None, :])

    def unevenness(self, weights: FloatArray) -> float:
        """How far what is counted of a support may be from what it should be, as a part of it.

        What an itemset loses, but for its tilt; and how far the histogram may be misread, by what its draws tell.
        """
        kept = self.kept_with(weights)
        drawn = self.plausible @ (NUMBERS * weights) / np.maximum(self.plausible @ NUMBERS, 1e-9)
        misread = math.sqrt(float(np.mean((drawn / max(kept, 1e-9) - 1) ** 2)))
        return math.hypot(
            self.settings.unevenness_of_a_tilt * (1 - kept), self.settings.doubt_of_histograms * misread
        )

    def kept(self, most: int) -> float:
        """The share of an average support that is kept under a cap: an itemset is likelier where many are contained."""
        return self.kept_with(weights_under(most))

    def kept_with(self, weights: FloatArray) -> float:
        """The same where a transaction that contains 1, 2, ... of the itemsets counts `weights` for each of them."""
        total = float(NUMBERS @ self.transactions)
        return float((NUMBERS * weights) @ self.transactions) / total if total > 0 else 1.0

    def counted(self, supports: FloatArray, most: int) -> FloatArray:
        """What is counted under a cap of itemsets of these supports.

        Of a rare itemset `kept` of its support is. One that most transactions contain cannot be the likelier the more
        they contain: a transaction that contains n has it with probability 1 - (1 - q)^n, where q makes the support.
        """
        return self.counted_with(supports, weights_under(most))

    def counted_with(self, supports: FloatArray, weights: FloatArray, *, tilt: float = 1.0) -> FloatArray:
        """The same where a transaction that contains 1, 2, ... of the itemsets counts `weights` for each of them.

        An itemset of a tilt is contained as if transactions contained n ** tilt of the itemsets.
        """
        containing = _containing(tilt)
        whole, under_cap = containing @ self.transactions, containing @ (self.transactions * weights)
        rare = supports * under_cap[0] / max(whole[0], 1e-9)
        counted = np.where(supports < whole[0], rare, np.interp(supports, whole, under_cap))
        # More than contain any: how many do is not known exactly.
        beyond = supports * under_cap[-1] / max(whole[-1], 1e-9)
        return np.where(supports > whole[-1], beyond, counted)

    def counted_by_tilt(self, supports: FloatArray, weights: FloatArray) -> FloatArray:
        """`counted_with` for each of TILTS."""
        return np.stack([self.counted_with(supports, weights, tilt=tilt) for tilt in TILTS])

    def best_cap(self, *, support: float, noise: float) -> Cap:
        """The cap with the least error for a support; `noise` is its scale for a count under a cap of 1.

        The error is the standard deviation of the noise, scaled up, and of the uneven loss, together.
        """
        support = max(support, 1.0)
        kept = np.maximum(self._counted_under_caps(support) / support, 1e-6)
        scaled_up = math.sqrt(2) * np.array(CAPS) * noise / kept
        errors = np.hypot(scaled_up, self.settings.unevenness * (1 - kept) * support)
        best = int(np.argmin(errors))
        cap = Cap(CAPS[best], float(kept[best]), float(errors[best]), float(CAPS[best]))
        return min([cap, *self._root_caps(support, noise)], key=lambda each: each.error)

    def _root_caps(self, support: float, noise: float) -> Iterator[Cap]:
        """The caps in the L2 norm, where there is an offer of Gaussian noise."""
        if self.gaussian is None:
            return
        deviation = self.gaussian.deviation(noise)
        for most in ROOT_CAPS:
            counted = float(self.counted_with(np.array([support]), root_weights_under(most))[0])
            kept, of_noise = max(counted / support, 1e-6), deviation * math.sqrt(most)
            error = math.hypot(of_noise / kept, self.settings.unevenness_of_roots * (1 - kept) * support)
            yield Cap(most, kept, error, of_noise / (math.sqrt(2) * noise), is_root=True)

    def _counted_under_caps(self, support: float) -> FloatArray:
        """`counted` for one support and each of CAPS."""
        whole = _containing() @ self.transactions
        if support < whole[0]:
            return support * np.array([self.kept(most) for most in CAPS])
        place = float(np.interp(support, whole, np.arange(whole.size)))
        before, after = _containing()[math.floor(place)], _containing()[math.ceil(place)]
        containing = (before + place % 1 * (after - before)) * self.transactions
        under_caps: FloatArray = containing @ np.minimum(1.0, np.array(CAPS) / NUMBERS[:, None])
        return under_caps * (support / max(float(containing.sum()), 1e-9))


def ask_overlap(
    curator: Curator,
    itemsets: Itemsets | None,
    *,
    number: int,
    epsilon: Fraction,
    settings: Settings,
    total: Total | None = None,
    gaussian: GaussianOffer | None = None,
) -> Overlap:
    """Pay for the containment histogram: of lengths, where no itemsets are given."""
    histogram = curator.ask_containment(itemsets, classes=CLASSES, epsilon=epsilon)
    largest = curator.alphabet_size if itemsets is None else len(itemsets)
    overlap = Overlap.of(histogram, number, settings=settings, largest=largest, total=total)
    return replace(overlap, gaussian=gaussian)


def root_weights_under(most: int) -> FloatArray:
    """The same under a cap in the L2 norm."""
    weights: FloatArray = np.minimum(1.0, np.sqrt(most / NUMBERS))
    return weights


def weights_under(most: int) -> FloatArray:
    """What a transaction that contains 1, 2, ... of the itemsets counts for each of them under a cap."""
    weights: FloatArray = np.minimum(1.0, most / NUMBERS)
    return weights


@cache
def _containing(tilt: float = 1.0) -> FloatArray:
    """The probability that an itemset is among the n = 1, ..., MOST that are contained, a row for each of CHANCES."""
    containing: FloatArray = -np.expm1(np.log1p(-CHANCES)[:, None] * NUMBERS**tilt)
    return containing


def _plausible(
    histogram: NoisyHistogram, number: int, *, settings: Settings, largest: int, total: Total | None
) -> FloatArray:
    """Draws of how many transactions contain each number, from what the histogram makes likely.

    A law is drawn, then how far each class departs from it. Draws are seeded: nothing is left to protect.
    """
    public = np.random.default_rng(SEED_OF_DRAWS)
    laws, chances, any_of_them = _weighed_laws(
        histogram, number, settings=settings, largest=largest, total=total
    )
    drawn = public.choice(chances.size, HISTOGRAM_DRAWS, p=chances)
    transactions = any_of_them[drawn, None] * laws[drawn]
    transactions[:, :largest] = np.maximum(transactions[:, :largest], HARDLY_ANY)
    expected = np.add.reduceat(transactions, np.array(CLASSES[1:]) - 1, axis=1)
    scale, seen = float(histogram.mechanism.scale), histogram.values[1:]
    factors = _factors(seen, expected, scale, usual=settings.usual_factor, public=public)
    widths = np.diff([*CLASSES[1:], MOST + 1])
    return transactions * np.repeat(factors, widths, axis=1)


def _weighed_laws(
    histogram: NoisyHistogram, number: int, *, settings: Settings, largest: int, total: Total | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Laws of how many itemsets are contained, how likely the histogram makes each, and for how many transactions."""
    scale = float(histogram.mechanism.scale)
    without, seen = int(histogram.values[0]), histogram.values[1:]
    laws, in_classes, log_prior = _laws(min(largest, MOST), settings)
    any_of_them = np.clip(
        (number - without + in_classes @ seen) / (1 + (in_classes**2).sum(axis=1)), 1, number
    )
    misfit = np.abs(seen - any_of_them[:, None] * in_classes).sum(axis=1)
    misfit += np.abs(number - any_of_them - without)
    log_weights = log_prior - misfit / scale
    if total is not None:
        z = np.log(any_of_them * (laws @ NUMBERS) / total.value) / total.within
        log_weights -= z * z / 2
    weights = np.exp(log_weights - log_weights.max())
    return laws, weights / weights.sum(), any_of_them


def _factors(
    seen: Int64Array, expected: FloatArray, scale: float, *, usual: float, public: np.random.Generator
) -> FloatArray:
    """How many times what a law expects is in each class, drawn from what explains the noisy number and is usual.

    One row for each law, whose numbers are expected; the log of a factor has a Laplace law.
    """
    misfit = np.abs(seen[:, None] - np.maximum(expected, 1e-9)[:, :, None] * np.exp(LOGS_OF_FACTORS)) / scale
    beyond = np.maximum(np.arange(seen.size) - expected.argmax(axis=1)[:, None], 0)
    within = usual * (1 + LATER * beyond)[:, :, None]
    log_chances = -misfit - np.abs(LOGS_OF_FACTORS) / within
    chances = np.exp(log_chances - log_chances.max(axis=2, keepdims=True)).cumsum(axis=2)
    reached = public.random(chances.shape[:2])[:, :, None] * chances[:, :, -1:]
    factors: FloatArray = np.exp(LOGS_OF_FACTORS[(chances < reached).sum(axis=2)])
    return factors


def _laws(largest: int, settings: Settings) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Laws on 1, ..., largest: their probabilities, those of the classes, and ln of how usual they are."""
    laws = _log_normals()
    within = laws[:, :largest].sum(axis=1)
    possible = within > LEAST_WITHIN
    truncated = np.zeros((int(possible.sum()), MOST))
    truncated[:, :largest] = laws[possible, :largest] / within[possible, None]
    in_classes = np.add.reduceat(truncated, np.array(CLASSES[1:]) - 1, axis=1)
    return truncated, in_classes, _log_prior(settings)[possible]


@cache
def _log_normals() -> FloatArray:
    """Log-normal laws: how much of each is at 1, ..., MOST."""
    edges = np.log(np.arange(1, MOST + 2) - 0.5)
    erf = np.vectorize(math.erf)
    return np.array(
        [
            np.diff(erf((edges - middle) / (width * math.sqrt(2)))) / 2
            for middle, width in product(MIDDLES, LAW_WIDTHS)
        ]
    )


def _log_prior(settings: Settings) -> FloatArray:
    """ln of how usual each of the laws is."""
    log_prior = [
        -(((width - settings.typical_width) / settings.width_within) ** 2) / 2 for width in LAW_WIDTHS
    ]
    return np.tile(log_prior, MIDDLES.size)
