"""How many of some itemsets transactions hold, learned from a noisy histogram; and the cap to count them under.

Post-processing: everything here follows from noisy answers.

A transaction that holds n > cap of the itemsets counts cap / n for each. The noise is in proportion to the cap;
what the cap takes away is known on average, because the numbers n are known, but not for each itemset. `best_cap`
weighs the one against the other.

The histogram has few classes that widen geometrically, and noise in each. Where the noise could explain a class, a
model speaks for it: the average of log-normal laws, weighted by how well they explain all classes. Lengths of
baskets, sessions and records are close to log-normal, and an average of laws does not jump where the noise does.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

from veilset.gate import Curator, NoisyHistogram
from veilset.itemsets import Itemsets

Floats = npt.NDArray[np.float64]

CLASSES = (0, 1, 2, 3, 5, 9, 17, 33, 65, 129, 257)
MOST = 1024
"""Numbers above are taken for this one."""
CAPS = tuple(sorted({*range(1, 9), *(round(8 * 1.2**step) for step in range(1, 21))}))
UNEVEN = 0.4
"""How far the share that an itemset keeps is from the average share, as a part of what the average one loses.

A standard deviation. On generated baskets it is 0.2 to 0.5 at every cap; see docs/methods/planned.md."""
CHANCES = np.geomspace(1e-6, 1 - 1e-9, 200)
BEYOND_NOISE = 3
"""A class is believed against the model where it is so many scales of noise away from it."""
EVERYWHERE = 1e-7 / np.arange(1, MOST + 1)
"""Added to the model, so that a class which it excludes can be believed against it."""
TYPICAL_WIDTH, WIDTH_SPREAD = 0.8, 0.4
"""Before any answer: log-normal laws have about this standard deviation, give or take."""


@dataclass(frozen=True, slots=True)
class Cap:
    """A cap, the share of an average support that it leaves, and the error of a support counted under it."""

    most: int
    kept: float
    error: float


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """About how many transactions hold 1, 2, ..., MOST of the itemsets."""

    transactions: Floats

    @classmethod
    def of(cls, histogram: NoisyHistogram, number: int) -> "Spread":
        """From the noisy histogram over CLASSES, and the number of transactions."""
        laws, in_classes, log_prior = _laws()
        scale = float(histogram.mechanism.scale)
        holding = max(number - min(max(int(histogram.values[0]), 0), number), 1)
        seen = histogram.values[1:]
        misfit = np.abs(seen - holding * in_classes).sum(axis=1) / scale
        weights = np.exp(log_prior - misfit - (log_prior - misfit).max())
        law = weights @ laws / weights.sum() + EVERYWHERE
        expected = holding * np.add.reduceat(law, np.array(CLASSES[1:]) - 1)
        is_clear = np.abs(seen - expected) > BEYOND_NOISE * scale
        factors = np.where(is_clear, np.maximum(seen, 0) / np.maximum(expected, 1e-9), 1.0)
        widths = np.diff([*CLASSES[1:], MOST + 1])
        return cls(holding * law * np.repeat(factors, widths))

    def kept(self, most: int) -> float:
        """The share of an average support that a cap leaves: an itemset is likelier where many are held."""
        numbers = np.arange(1, MOST + 1)
        total = float(numbers @ self.transactions)
        return float(np.minimum(numbers, most) @ self.transactions) / total if total > 0 else 1.0

    def counted(self, supports: Floats, most: int) -> Floats:
        """What is counted under a cap of itemsets of these supports.

        That of a rare itemset is `kept` of its support. One that most transactions hold cannot be the likelier the
        more they hold: a transaction that holds n has it with probability 1 - (1 - q)^n, where q makes the support.
        """
        left = np.minimum(1.0, most / np.arange(1, MOST + 1))
        whole, under_cap = _holding() @ self.transactions, _holding() @ (self.transactions * left)
        rare = supports * self.kept(most)
        counted: Floats = np.where(supports < whole[0], rare, np.interp(supports, whole, under_cap))
        return counted

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

    def _counted_under_caps(self, support: float) -> Floats:
        """`counted` for one support and each of CAPS."""
        whole = _holding() @ self.transactions
        if support < whole[0]:
            return support * np.array([self.kept(most) for most in CAPS])
        place = float(np.interp(support, whole, np.arange(whole.size)))
        before, after = _holding()[math.floor(place)], _holding()[math.ceil(place)]
        held = (before + place % 1 * (after - before)) * self.transactions
        under_caps: Floats = held @ np.minimum(1.0, np.array(CAPS) / np.arange(1, MOST + 1)[:, None])
        return under_caps


def ask_spread(curator: Curator, itemsets: Itemsets | None, *, number: int, epsilon: Fraction) -> Spread:
    """Pay for the histogram: of lengths, where no itemsets are given."""
    histogram = curator.ask_held(itemsets, classes=CLASSES, epsilon=epsilon)
    return Spread.of(histogram, number)


@cache
def _holding() -> Floats:
    """The probability to hold an itemset among n = 1, ..., MOST that are held, a row for each of CHANCES."""
    holding: Floats = -np.expm1(np.log1p(-CHANCES)[:, None] * np.arange(1, MOST + 1))
    return holding


@cache
def _laws() -> tuple[Floats, Floats, Floats]:
    """Log-normal laws on 1, ..., MOST: their probabilities, those of the classes, and ln of how usual they are."""
    middles, widths = np.linspace(-2, 5, 57), (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.25, 1.5, 1.8)
    edges = np.log(np.arange(1, MOST + 2) - 0.5)
    erf = np.vectorize(math.erf)
    laws, log_prior = [], []
    for middle, width in product(middles, widths):
        law = np.diff(erf((edges - middle) / (width * math.sqrt(2))))
        if law.sum() > 1e-4:
            laws.append(law / law.sum())
            log_prior.append(-(((width - TYPICAL_WIDTH) / WIDTH_SPREAD) ** 2) / 2)
    together = np.array(laws)
    return (
        together,
        np.add.reduceat(together, np.array(CLASSES[1:]) - 1, axis=1),
        np.array(log_prior),
    )
