"""How far items differ in who holds them: one number, asked for, tells how well is known what truncation takes.

Privacy argument. One question, `ask_unlikeness`, of the sensitivity that `methods.shared.length_contrast` tells: items,
limit and average follow from earlier answers. All else is post-processing.

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
from veilset.methods.shared.length_contrast import (
    COMPARED_LENGTHS,
    FEWEST_COMPARED,
    MOST_COMPARED,
    LengthContrast,
    best_contrast,
)
from veilset.methods.shared.length_laws import LengthDraws
from veilset.methods.shared.truncation import AWAY_OF_ITEMS, TiltLaw, kept_at_random, tilt_density

SHARE_FOR_TILTS = Fraction(1, 100)
"""1/100 of what remains of epsilon pays for the number."""
LEAST_TAKEN = 0.01
"""Where truncation takes less than 1 % of an item, nothing is asked: the noise is more than that."""
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
        order = np.argsort(-supports, kind="stable")[:MOST_COMPARED]
        items = np.sort(order[supports[order] > clear]).astype(np.int64)
        return cls(items, supports[items], holding.classes_of(supports[items]), holding, lengths, numbers)

    def expected(self, contrast: "LengthContrast", spreads: FloatArray) -> FloatArray:
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

    def best_contrast(self, truncated_to: int) -> "LengthContrast | None":
        """The one that tells spreads apart best, for its sensitivity; None where few items stand out from noise.

        Short transactions may hold other things than those a little longer, but truncation takes nothing from either:
        only limits of what it takes from are considered.
        """
        if self.items.size < FEWEST_COMPARED:
            return None
        limits = (limit for limit in COMPARED_LENGTHS if limit >= truncated_to)
        return best_contrast(
            (LengthContrast.up_to(limit, self.lengths, self.numbers) for limit in limits), self.expected
        )


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
    found = contrast.ask(curator, compared.items, epsilon=epsilon)
    expected = compared.expected(contrast, SPREADS_OF_ITEMS)
    return tilts_told_of(found.value, expected, noise=found.noise, items=compared.alike)


def tilts_told_of(
    answer: float, expected: FloatArray, *, noise: float, items: float = MOST_COMPARED
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
