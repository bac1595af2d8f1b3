"""How many of some itemsets transactions contain, learned from a noisy histogram; and the cap to count them under.

Post-processing: everything here follows from noisy answers.

A transaction that contains n > cap of the itemsets counts cap / n for each. The noise is in proportion to the cap;
what the cap takes away is known on average, because the numbers n are known, but not for each itemset. `best_cap`
weighs the one against the other.

What a histogram tells is the mean of draws (`planned.histogram_laws`), each as a share of its total, and how far the
draws differ from it is how well that is known.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from veilset.arrays import FloatArray
from veilset.gate import Curator, NoisyHistogram
from veilset.itemsets import Itemsets
from veilset.methods.planned.histogram_laws import CLASSES, MOST, NUMBERS, Total, plausible_numbers
from veilset.methods.planned.measurements import TILTS
from veilset.methods.planned.settings import Settings

CAPS = tuple(sorted({*range(1, 9), *(round(8 * 1.2**step) for step in range(1, 21))}))
"""The caps to choose from."""
CHANCES = np.geomspace(1e-6, 1 - 1e-9, 200)
"""A grid for how likely each itemset that a transaction contains is a certain one."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """About how many transactions contain 1, 2, ..., MOST of the itemsets; `plausible` are draws of that, in rows.

    Where the itemsets are made of items that are not many, `few` is how many.
    """

    transactions: FloatArray
    settings: Settings
    plausible: FloatArray
    gaussian: GaussianOffer | None = None
    few: "FewItems | None" = None

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
        plausible = plausible_numbers(histogram, number, settings=settings, largest=largest, total=total)
        totals = plausible @ NUMBERS
        # Draws that differ in their total have the same say in how it is shared out, and so in what a cap keeps.
        transactions = np.exp(np.log(totals).mean()) * (plausible / totals[:, None]).mean(axis=0)
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
        return math.hypot(self.settings.unevenness_of_a_tilt * (1 - kept), misread)

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
        chances = containing(tilt, self.few)
        whole, under_cap = chances @ self.transactions, chances @ (self.transactions * weights)
        rare = supports * under_cap[0] / max(whole[0], 1e-9)
        counted = np.where(supports < whole[0], rare, np.interp(supports, whole, under_cap))
        # More than contain any: how many do is not known exactly.
        beyond = supports * under_cap[-1] / max(whole[-1], 1e-9)
        return np.where(supports > whole[-1], beyond, counted)

    def counted_by_tilt(self, supports: FloatArray, weights: FloatArray) -> FloatArray:
        """`counted_with` for each of TILTS; the same for all itemsets."""
        return np.stack([self.counted_with(supports, weights, tilt=tilt) for tilt in TILTS])[None]

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

    def errors_under(self, cap: Cap, supports: FloatArray, *, noise: float) -> FloatArray:
        """The errors of supports counted under a cap; `noise` is its scale for a count under a cap of 1.

        The standard deviation of the noise, scaled up, and of the uneven loss, together.
        """
        weights = root_weights_under(cap.most) if cap.is_root else weights_under(cap.most)
        unevenness = self.settings.unevenness_of_roots if cap.is_root else self.settings.unevenness
        kept = np.clip(self.counted_with(supports, weights) / supports, 1e-6, 1.0)
        errors: FloatArray = np.hypot(
            math.sqrt(2) * cap.noise * noise / kept, unevenness * (1 - kept) * supports
        )
        return errors

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
        containing_it = containing(1.0, self.few)
        whole = containing_it @ self.transactions
        if support < whole[0]:
            return support * np.array([self.kept(most) for most in CAPS])
        place = float(np.interp(support, whole, np.arange(whole.size)))
        before, after = containing_it[math.floor(place)], containing_it[math.ceil(place)]
        holding = (before + place % 1 * (after - before)) * self.transactions
        under_caps: FloatArray = holding @ np.minimum(1.0, np.array(CAPS) / NUMBERS[:, None])
        return under_caps * (support / max(float(holding.sum()), 1e-9))


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
    few = FewItems(curator.alphabet_size) if itemsets is None else FewItems.of(itemsets)
    return replace(overlap, gaussian=gaussian, few=few if few.items <= MOST else None)


def root_weights_under(most: int) -> FloatArray:
    """The same under a cap in the L2 norm."""
    weights: FloatArray = np.minimum(1.0, np.sqrt(most / NUMBERS))
    return weights


def weights_under(most: int) -> FloatArray:
    """What a transaction that contains 1, 2, ... of the itemsets counts for each of them under a cap."""
    weights: FloatArray = np.minimum(1.0, most / NUMBERS)
    return weights


@lru_cache(maxsize=32)
def containing(tilt: float = 1.0, few: "FewItems | None" = None) -> FloatArray:
    """The probability that an itemset is among the n = 1, ..., MOST that are contained, a row for each of CHANCES."""
    numbers = NUMBERS if few is None else few.as_many
    chances: FloatArray = -np.expm1(np.log1p(-CHANCES)[:, None] * numbers**tilt)
    return chances


@dataclass(frozen=True, slots=True)
class FewItems:
    """The number of items that counted itemsets are made of, if not large, and how many an itemset has, on average.

    Whoever has nearly all of these items had many draws, and so a rare one as well: it leans more to long transactions
    than in proportion to their length, and a rare itemset once more for each of its items.
    """

    items: int
    size: float = 1.0

    @classmethod
    def of(cls, itemsets: Itemsets) -> "FewItems":
        """Those that some itemsets are made of.

        >>> FewItems.of(Itemsets.of([(3, 5), (3, 7), (5,)]))
        FewItems(items=3, size=1.6666666666666667)
        """
        return cls(int(np.unique(itemsets.items).size), float(np.diff(itemsets.offsets).mean()))

    @property
    def as_many(self) -> FloatArray:
        """For n = 1, ..., MOST itemsets that are contained: of how many they would be in proportion.

        Those who contain n itemsets of a size have about as many items as it takes to make n of them.

        >>> FewItems(4).as_many[:4].round(2).tolist(), FewItems(4, 2.0).as_many[[0, 2, 5]].round(2).tolist()
        ([1.0, 2.33, 4.33, 8.33], [1.34, 6.18, 25.61])
        """
        made_of = (NUMBERS * math.gamma(self.size + 1)) ** (1 / self.size) + (self.size - 1) / 2
        held = np.clip(made_of, 1.0, self.items)
        draws = np.interp(held, NUMBERS, draws_of_items(self.items))
        as_many: FloatArray = NUMBERS * (draws / held) ** self.size
        return as_many


def draws_of_items(items: int) -> FloatArray:
    """How many draws of one of some items it takes on average to have n = 1, ..., MOST different ones; all at most.

    >>> draws_of_items(4)[:5].round(2).tolist(), draws_of_items(1024)[9].round(2)
    ([1.0, 2.33, 4.33, 8.33, 8.33], np.float64(10.04))
    """
    each = items / np.maximum(items - NUMBERS + 1, 1)
    return np.cumsum(np.where(items >= NUMBERS, each, 0.0))
