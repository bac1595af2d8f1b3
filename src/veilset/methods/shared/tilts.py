"""How far items differ in who holds them: one number, asked for, tells how well is known what truncation takes.

Privacy argument. One question, `ask_unlikeness`, of a sensitivity that follows from public numbers: the sum over some
items of |a - average b|, a and b supports over normalised transactions, where a transaction moves the sum by at most
the larger of average - 1 and limit - average, and what rounding adds. Items, limit and average follow from earlier
answers. All else is post-processing.

Supports and lengths say how much likelier a longer transaction holds an item (`shared.holders`). Around that, an item
is likelier held by a power of the length, its *tilt*. Datasets differ by a factor of ten in how far tilts are apart:
baskets of a supermarket are long or short and much alike, visitors of a site with one click have come for other pages
than those who stay. But transactions that hold the same things whatever their length make the number small, and the
further tilts are apart, the larger it is: so it tells their spread.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from veilset.arrays import FloatArray, Int64Array
from veilset.gate import Curator
from veilset.methods.shared.holders import Holding
from veilset.methods.shared.length_laws import LengthDraws
from veilset.methods.shared.truncation import AWAY_OF_ITEMS, TiltLaw, kept_at_random, tilt_density

SHARE_FOR_TILTS = Fraction(1, 100)
"""1/100 of what remains of epsilon pays for the number."""
LEAST_TAKEN = 0.01
"""Where truncation takes less than 1 % of an item, nothing is asked: the noise is more than that."""
COMPARED_LENGTHS_OF_ITEMS = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 32, 48, 64)
"""Lengths up to which transactions are told apart, to choose from."""
PARTS_OF_ITEMS = 8
"""Average lengths are in parts of 1/8, as the question has them."""
ROUNDED_OF_ITEMS = Fraction(1, 100)
"""1/100 is what rounding adds to the sensitivity, about."""
MOST_COMPARED_OF_ITEMS, FEWEST_COMPARED_OF_ITEMS = 100, 5
"""100 items at most are compared; with fewer than 5 that stand out from noise, nothing is asked."""
EASY_TO_TELL_OF_ITEMS = (0.2, 0.6)
"""A limit is best that tells a spread of 0.2 from one of 0.6."""
SPREADS_OF_ITEMS = np.geomspace(0.05, 2.0, 19)
"""How far tilts may be apart, as standard deviations."""
USUAL_SPREAD_OF_ITEMS, SPREADS_WITHIN_OF_ITEMS = 0.35, 0.5
"""0.35 is the usual spread, and 0.5 how far its logarithm is from that before it is asked for, with the tails of
Student's t with 3 degrees of freedom."""
MODEL_WITHIN_OF_ITEMS = 0.18
"""0.18 of the expected number is how far it is off because tilts are a model: the scale of a Laplace law."""
OF_FEW = 0.75
"""0.75 is the standard deviation of the absolute value of a normal number, as a part of its mean: what few items make
together is that far off, divided by the root of how many there are."""
OF_LONG = 0.9
"""0.9 of that spread shows in what truncation takes: short transactions differ more from each other than long ones."""


@dataclass(frozen=True, slots=True, eq=False)
class ComparedItems:
    """Items that stand out from noise, with their supports and who holds them: each of a class of `holding`."""

    items: Int64Array
    supports: FloatArray
    classes: Int64Array
    holding: Holding
    lengths: FloatArray
    numbers: FloatArray

    @classmethod
    def of(
        cls, supports: FloatArray, *, clear: float, holding: Holding, lengths: FloatArray, numbers: FloatArray
    ) -> "ComparedItems":
        """The most frequent of those whose noisy supports are clear."""
        order = np.argsort(-supports, kind="stable")[:MOST_COMPARED_OF_ITEMS]
        items = np.sort(order[supports[order] > clear]).astype(np.int64)
        return cls(items, supports[items], holding.classes_of(supports[items]), holding, lengths, numbers)

    def expected(self, contrast: "ItemContrast", spreads: FloatArray) -> FloatArray:
        """The number to expect for each of some spreads of tilts.

        An item of a tilt adds its support times the average weight where it is held; and as it is held by some
        transactions and not by others, as much as a sum of that many draws is off.
        """
        logs, weights = np.log(np.maximum(self.lengths, 1.0)), contrast.weights(self.lengths)
        known, of_each = np.unique(self.classes, return_inverse=True)
        middle = float(self.numbers @ logs) / max(float(self.numbers.sum()), 1e-9)
        tilted = (spreads[:, None] * AWAY_OF_ITEMS)[..., None, None] * (logs - middle)
        held = self.numbers * np.exp(self.holding.logs[known] + tilted)
        held /= held.sum(axis=-1, keepdims=True)
        means, squares = held @ weights, held @ weights**2
        rest = 2 / math.pi * np.maximum(squares - means**2, 0.0)[..., of_each]
        added = np.sqrt((self.supports * means[..., of_each]) ** 2 + self.supports * rest)
        expected: FloatArray = added.sum(axis=-1) @ CHANCES_AWAY_OF_ITEMS
        return expected

    @property
    def alike(self) -> float:
        """How many items of one support would be as many, where large ones have most of the say."""
        return float(self.supports.sum() ** 2 / (self.supports**2).sum())

    def best_contrast(self, truncated_to: int) -> "ItemContrast | None":
        """The one that tells spreads apart best, for its sensitivity; None where few items stand out from noise.

        Short transactions may hold other things than those a little longer, but truncation takes nothing from either:
        only limits of what it takes from are considered.
        """
        if self.items.size < FEWEST_COMPARED_OF_ITEMS:
            return None
        contrasts = [
            ItemContrast.up_to(limit, self.lengths, self.numbers)
            for limit in COMPARED_LENGTHS_OF_ITEMS
            if limit >= truncated_to
        ]
        few, many = np.array([self.expected(each, np.array(EASY_TO_TELL_OF_ITEMS)) for each in contrasts]).T
        told = (many - few) / np.array([each.moved for each in contrasts])
        return contrasts[int(np.argmax(told))]


@dataclass(frozen=True, slots=True)
class ItemContrast:
    """How long transactions are told from short ones: up to a limit, around an average length."""

    limit: int
    average: Fraction

    @classmethod
    def up_to(cls, limit: int, lengths: FloatArray, numbers: FloatArray) -> "ItemContrast":
        """Around the average of noisy lengths, taken for the limit where they are above it."""
        held = numbers * (lengths >= 1)
        capped = float(np.minimum(lengths, limit) @ held) / max(float(held.sum()), 1e-9)
        parts = round(PARTS_OF_ITEMS * min(max(capped, 1.0), limit))
        return cls(limit, Fraction(parts, PARTS_OF_ITEMS))

    @property
    def moved(self) -> int:
        """By how much one transaction moves what is asked, at most, where there are not very many items."""
        return math.ceil(max(self.average - 1, self.limit - self.average + ROUNDED_OF_ITEMS))

    def weights(self, lengths: FloatArray) -> FloatArray:
        """What an item of a transaction of each length adds."""
        at_least_1 = np.maximum(lengths, 1.0)
        weights: FloatArray = np.minimum(self.limit / at_least_1, 1.0) - float(self.average) / at_least_1
        return weights


def is_worth_asking(draws: LengthDraws, limit: int) -> bool:
    """Whether truncation to a limit takes enough of items to ask how far they differ in that."""
    return kept_at_random(draws, size=1, limit=limit).middle <= 1 - LEAST_TAKEN


def ask_item_tilts(
    curator: Curator, compared: ComparedItems, *, truncated_to: int, epsilon: Fraction
) -> TiltLaw:
    """How far tilts of the most frequent items are apart; nothing is asked where few items stand out."""
    contrast = compared.best_contrast(truncated_to)
    if contrast is None:
        return USUAL_TILTS
    found = curator.ask_unlikeness(
        compared.items, limit=contrast.limit, average=contrast.average, epsilon=epsilon
    )
    steps, noise = found.mechanism.steps, float(found.mechanism.scale)
    return tilts_told_of(
        found.value / steps,
        compared.expected(contrast, SPREADS_OF_ITEMS),
        noise=noise / steps,
        items=compared.alike,
    )


def tilts_told_of(
    answer: float, expected: FloatArray, *, noise: float, items: float = MOST_COMPARED_OF_ITEMS
) -> TiltLaw:
    """What an answer says, where it is expected to be `expected` for each of SPREADS_OF_ITEMS, with noise of a scale.

    `items` of one support would tell as much.

    >>> told = [tilts_told_of(answer, 1000 * SPREADS_OF_ITEMS, noise=50.0) for answer in (100.0, 400.0, 1200.0)]
    >>> [round(each.spread, 2) for each in told]
    [0.19, 0.36, 1.0]
    """
    within = math.hypot(MODEL_WITHIN_OF_ITEMS, OF_FEW / math.sqrt(2 * items))
    widths = np.hypot(noise, within * expected)
    return _mixed(_log_prior() - np.abs(answer - expected) / widths - np.log(widths))


def _log_prior() -> FloatArray:
    """ln of how likely each of SPREADS_OF_ITEMS is before anything is asked."""
    off = np.log(SPREADS_OF_ITEMS / USUAL_SPREAD_OF_ITEMS) / SPREADS_WITHIN_OF_ITEMS
    prior: FloatArray = -2 * np.log1p(off * off / 3)
    return prior


def _mixed(log_weights: FloatArray) -> TiltLaw:
    """The law of tilts whose spread is one of SPREADS_OF_ITEMS, with these weights."""
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    return TiltLaw.mixed(OF_LONG * SPREADS_OF_ITEMS, weights)


CHANCES_AWAY_OF_ITEMS = tilt_density(AWAY_OF_ITEMS) / tilt_density(AWAY_OF_ITEMS).sum()
USUAL_TILTS = _mixed(_log_prior())
"""Where nothing was asked."""
